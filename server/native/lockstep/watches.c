/* Watches of files: what was watched is known to the kernel by inodes alone, and has to be by its name. */
#include "watches.h"
#include "lockstep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WATCHES 256

static struct watch {
    int file, number;
    uint32_t mask;
    char *path;
} watches[WATCHES];

static struct watch *watch_of(int file, int number) {
    for (struct watch *watch = watches; watch < watches + WATCHES; watch++)
        if (watch->path && watch->file == file && watch->number == number) return watch;
    return NULL;
}
static void forget(struct watch *watch) {
    free(watch->path);
    watch->path = NULL;
}

int inotify_add_watch(int file, const char *path, uint32_t mask) {
    int number = REAL(inotify_add_watch)(file, path, mask);
    if (number < 0) return number;
    struct watch *watch = watch_of(file, number);
    for (struct watch *free = watches; !watch && free < watches + WATCHES; free++)
        if (!free->path) watch = free;
    if (!watch) return number;
    uint32_t before = watch->path && mask & IN_MASK_ADD ? watch->mask : 0;
    forget(watch);
    mask &= ~(uint32_t)(IN_MASK_ADD | IN_MASK_CREATE);
    *watch = (struct watch){file, number, before | mask, names_of(path)};
    return number;
}
int inotify_rm_watch(int file, int number) {
    struct watch *watch = watch_of(file, number);
    if (watch) forget(watch);
    return REAL(inotify_rm_watch)(file, number);
}
void forget_watches(int file) {
    for (struct watch *watch = watches; watch < watches + WATCHES; watch++)
        if (watch->path && watch->file == file) forget(watch);
}

int watch_again(int file, int flags, int count) {
    int made = REAL(inotify_init1)(flags & (O_NONBLOCK | O_CLOEXEC)), last = 0;
    while (made >= 0 && count > 0) {
        struct watch *next = NULL;
        for (struct watch *watch = watches; watch < watches + WATCHES; watch++)
            if (watch->path && watch->file == file && watch->number > last && (!next || watch->number < next->number))
                next = watch;
        if (!next) break;
        /* Numbers go up by one, also over those that were given back. */
        for (last = 0; last < next->number;) {
            last = REAL(inotify_add_watch)(made, next->path, next->mask);
            if (last < 0) break;
            if (last < next->number) REAL(inotify_rm_watch)(made, last);
        }
        if (last != next->number) break;
        count--;
    }
    /* That some were given back is no news. */
    int size = 0;
    char news[4096];
    while (made >= 0 && !ioctl(made, FIONREAD, &size) && size > 0)
        if (REAL(syscall)(SYS_read, made, news, sizeof news) <= 0) break;
    if (made >= 0 && count) {
        REAL(syscall)(SYS_close, made);
        errno = ENOENT;
        return -1;
    }
    return made;
}
