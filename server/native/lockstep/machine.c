/* The machine as programs see it: one processor that nothing else runs on, which started when the clock did. */
#include "lockstep.h"

#include <dirent.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define PROC_ROOT 1 /* the number of /proc itself there */

int get_nprocs(void) { return 1; }
int get_nprocs_conf(void) { return 1; }
long sysconf(int name) {
    if (name == _SC_AVPHYS_PAGES) return get_avphys_pages();
    return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? 1 : REAL(sysconf)(name);
}
/* Half of the memory is free, whatever others have. */
long get_avphys_pages(void) { return REAL(sysconf)(_SC_PHYS_PAGES) / 2; }
/* Those that take turns are all on one processor, which is another one each time. */
int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *processors) {
    int error = REAL(sched_getaffinity)(thread, size, processors);
    if (error) return error;
    memset(processors, 0, size);
    CPU_SET_S(0, size, processors);
    return 0;
}
int sched_getcpu(void) { return 0; }
int getcpu(unsigned *processor, unsigned *node) {
    if (processor) *processor = 0;
    if (node) *node = 0;
    return 0;
}

int sysinfo(struct sysinfo *info) {
    int error = REAL(sysinfo)(info);
    if (error) return error;
    info->uptime = now() / SECOND_NS;
    memset(info->loads, 0, sizeof info->loads);
    info->procs = 1;
    info->sharedram = info->bufferram = 0;
    info->freeram = info->totalram / 2;
    info->freeswap = info->totalswap;
    return 0;
}

/* What a process took of the processor is the time that has passed. */
int getrusage(__rusage_who_t who, struct rusage *used) {
    int error = REAL(getrusage)(who, used);
    if (error) return error;
    memset(used, 0, sizeof *used);
    used->ru_utime = (struct timeval){now() / SECOND_NS, now() % SECOND_NS / 1000};
    return 0;
}

/* The text of a file of what it has, how long it runs, and what it is busy with; return its length, 0: it is another file. */
size_t machine_told(const char *path, char text[static TOLD_BYTES]) {
    static const char processors[] = "/sys/devices/system/cpu/";
    if (path && !strncmp(path, processors, strlen(processors))) {
        const char *which = path + strlen(processors);
        if (strcmp(which, "online") && strcmp(which, "possible") && strcmp(which, "present")) return 0;
        return (size_t)sprintf(text, "0\n");
    }
    if (!path || strncmp(path, "/proc/", 6)) return 0;
    if (!strcmp(path, "/proc/cpuinfo")) return (size_t)sprintf(text, "processor\t: 0\n\n");
    if (!strcmp(path, "/proc/meminfo")) {
        long all = REAL(sysconf)(_SC_PHYS_PAGES) * (sysconf(_SC_PAGESIZE) / 1024);
        return (size_t)sprintf(text, "MemTotal: %ld kB\nMemFree: %ld kB\nMemAvailable: %ld kB\n", all, all / 2, all / 2);
    }
    if (!strcmp(path, "/proc/uptime"))
        return (size_t)sprintf(text, "%lld.%02lld 0.00\n", (long long)(now() / SECOND_NS), (long long)(now() % SECOND_NS / (SECOND_NS / 100)));
    if (!strcmp(path, "/proc/loadavg")) return (size_t)sprintf(text, "0.00 0.00 0.00 1/1 1\n");
    if (strcmp(path, "/proc/stat")) return 0;
    static const char busy[] = "0 0 0 0 0 0 0 0 0 0";
    return (size_t)sprintf(text, "cpu  %s\ncpu0 %s\nbtime %lld\n", busy, busy, (long long)(page()->epoch / SECOND_NS));
}

/* No process of the machine's is in /proc: they come and go. */
static int is_process(DIR *folder, const char *name) {
    struct statfs system;
    struct stat itself;
    if (*name < '0' || *name > '9' || fstatfs(dirfd(folder), &system) || system.f_type != PROC_SUPER_MAGIC) return 0;
    return !fstat(dirfd(folder), &itself) && itself.st_ino == PROC_ROOT;
}
struct dirent *readdir(DIR *folder) {
    struct dirent *entry;
    while ((entry = REAL(readdir)(folder)) && is_process(folder, entry->d_name)) continue;
    return entry;
}
struct dirent64 *readdir64(DIR *folder) {
    struct dirent64 *entry;
    while ((entry = REAL(readdir64)(folder)) && is_process(folder, entry->d_name)) continue;
    return entry;
}
