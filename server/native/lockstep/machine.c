/* The machine as programs see it: one processor that nothing else runs on, which started when the clock did. */
#include "lockstep.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

int get_nprocs(void) { return 1; }
int get_nprocs_conf(void) { return 1; }
long sysconf(int name) {
    return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? 1 : REAL(sysconf)(name);
}
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

/* The text of a file of how long it runs, and what it is busy with; return its length, 0: it is another file. */
size_t machine_told(const char *path, char text[static TOLD_BYTES]) {
    if (!path || strncmp(path, "/proc/", 6)) return 0;
    if (!strcmp(path, "/proc/uptime"))
        return (size_t)sprintf(text, "%lld.%02lld 0.00\n", (long long)(now() / SECOND_NS), (long long)(now() % SECOND_NS / (SECOND_NS / 100)));
    if (!strcmp(path, "/proc/loadavg")) return (size_t)sprintf(text, "0.00 0.00 0.00 1/1 1\n");
    if (strcmp(path, "/proc/stat")) return 0;
    static const char busy[] = "0 0 0 0 0 0 0 0 0 0";
    return (size_t)sprintf(text, "cpu  %s\ncpu0 %s\nbtime %lld\n", busy, busy, (long long)(page()->epoch / SECOND_NS));
}
