/* Where what programs allocate is: at the same addresses each time, also where the machine gives each its own, as in Docker. */
#include "lockstep.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Above all programs, and far below all libraries. */
#ifdef __aarch64__
#define HEAP ((char *)0xc00000000000)
#else
#define HEAP ((char *)0x5f0000000000)
#endif

#define ASKED_ONLY 0xffffffff

/* Those of /proc/self/stat, counted from 1; it has 52. */
enum { CODE = 26, END_OF_CODE, STACK, DATA = 45, END_OF_DATA, ARGUMENTS = 48, END_OF_ARGUMENTS, ENVIRONMENT, END_OF_ENVIRONMENT };

/* Move what malloc takes its memory from, and have it take nothing from elsewhere; what it had is used up. */
void heap_begin(void) {
    char text[1024], *at;
    unsigned long of[64] = {0};
    if (personality(ASKED_ONLY) & ADDR_NO_RANDOMIZE) return;
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC);
    long size = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    text[size > 0 ? size : 0] = 0;
    at = strrchr(text, ')');
    /* The third is a letter. */
    for (int i = 4; at && i < 53; i++) of[i] = strtoul(i == 4 ? at + 3 : at, &at, 10);
    struct prctl_mm_map map = {
        .start_code = of[CODE],
        .end_code = of[END_OF_CODE],
        .start_stack = of[STACK],
        .start_data = of[DATA],
        .end_data = of[END_OF_DATA],
        .start_brk = (uintptr_t)HEAP,
        .brk = (uintptr_t)HEAP,
        .arg_start = of[ARGUMENTS],
        .arg_end = of[END_OF_ARGUMENTS],
        .env_start = of[ENVIRONMENT],
        .env_end = of[END_OF_ENVIRONMENT],
        .exe_fd = (uint32_t)-1,
    };
    if (prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) || brk(HEAP)) return;
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_ARENA_MAX, 1);
    for (size_t bytes = 65536; bytes >= 16; bytes /= 2) {
        char *found;
        do found = malloc(bytes);
        while (found && found < HEAP);
        free(found);
    }
}
