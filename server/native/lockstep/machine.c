/* The machine as programs see it: one processor that nothing else runs on, which started when the clock did. */
#include "lockstep.h"

#include <sched.h>
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
