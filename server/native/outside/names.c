/* What runs a program has no name that it knows, neither machine nor user, and disks of one size: what programs show is
 * the same wherever they run. */
#include "outside.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

/* x11/connection.py knows it, too: cookies are for a machine by name. */
#define MACHINE "computer"
#define USER "user"
#define DISK_BYTES (64ull << 30)

int uname(struct utsname *told) {
    int error = REAL(uname)(told);
    if (!error) strcpy(told->nodename, MACHINE);
    return error;
}
int gethostname(char *name, size_t size) {
    strncpy(name, MACHINE, size);
    if (size >= sizeof MACHINE) return 0;
    errno = ENAMETOOLONG;
    return -1;
}
int __gethostname_chk(char *name, size_t size, size_t all);
int __gethostname_chk(char *name, size_t size, size_t all) {
    (void)all;
    return gethostname(name, size);
}

static struct passwd *this_user(struct passwd *to) {
    *to = (struct passwd){USER, "x", getuid(), getgid(), "", getenv("HOME"), "/bin/bash"};
    return to;
}
struct passwd *getpwuid(uid_t user) {
    static struct passwd told;
    return user == getuid() ? this_user(&told) : REAL(getpwuid)(user);
}
int getpwuid_r(uid_t user, struct passwd *to, char *room, size_t size, struct passwd **found) {
    if (user != getuid()) return REAL(getpwuid_r)(user, to, room, size, found);
    *found = this_user(to);
    return 0;
}
struct passwd *getpwnam(const char *name) { return strcmp(name, USER) ? REAL(getpwnam)(name) : getpwuid(getuid()); }
int getpwnam_r(const char *name, struct passwd *to, char *room, size_t size, struct passwd **found) {
    return strcmp(name, USER) ? REAL(getpwnam_r)(name, to, room, size, found) : getpwuid_r(getuid(), to, room, size, found);
}
char *getlogin(void) { return USER; }

static struct group *this_group(struct group *to) {
    static char *nobody[] = {NULL};
    *to = (struct group){USER, "x", getgid(), nobody};
    return to;
}
struct group *getgrgid(gid_t group) {
    static struct group told;
    return group == getgid() ? this_group(&told) : REAL(getgrgid)(group);
}
int getgrgid_r(gid_t group, struct group *to, char *room, size_t size, struct group **found) {
    if (group != getgid()) return REAL(getgrgid_r)(group, to, room, size, found);
    *found = this_group(to);
    return 0;
}

/* Half of it is free. File systems without a size, such as /proc, stay so. */
#define DISK(name, type, place, where, unit)                                                                           \
    int name(place, struct type *told) {                                                                               \
        int error = REAL(name)(where, told);                                                                           \
        if (error || !told->f_blocks) return error;                                                                    \
        told->f_blocks = told->f_files = DISK_BYTES / (unsigned long long)told->unit;                                  \
        told->f_bfree = told->f_bavail = told->f_ffree = told->f_blocks / 2;                                           \
        return 0;                                                                                                      \
    }
DISK(statfs, statfs, const char *path, path, f_bsize)
DISK(statfs64, statfs64, const char *path, path, f_bsize)
DISK(fstatfs, statfs, int file, file, f_bsize)
DISK(fstatfs64, statfs64, int file, file, f_bsize)
DISK(statvfs, statvfs, const char *path, path, f_frsize)
DISK(statvfs64, statvfs64, const char *path, path, f_frsize)
DISK(fstatvfs, statvfs, int file, file, f_frsize)
DISK(fstatvfs64, statvfs64, int file, file, f_frsize)
