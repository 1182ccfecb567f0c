/* Where games keep scores, saves and locks is a copy of it: all may write there, and the next episode finds nothing of this
 * one. The scraper (outside.py) makes it. */
#include "outside.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#define GAMES "/var/games"
#define OWN "/games"

static const char *placed(const char *path, char own[static PATH_MAX]) {
    const size_t size = strlen(GAMES);
    if (!path || strncmp(path, GAMES, size) || (path[size] && path[size] != '/') || !*outside_folder()) return path;
    snprintf(own, PATH_MAX, "%s" OWN "%s", outside_folder(), path + size);
    return own;
}
#define PLACED(path) placed(path, (char[PATH_MAX]){0})

#define OPEN(name, ...)                                                                                                \
    va_list given;                                                                                                     \
    va_start(given, flags);                                                                                            \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(given, mode_t) : 0;                                         \
    va_end(given);                                                                                                     \
    return REAL(name)(__VA_ARGS__, flags, mode)
int open(const char *path, int flags, ...) { OPEN(open, PLACED(path)); }
int open64(const char *path, int flags, ...) { OPEN(open64, PLACED(path)); }
int openat(int folder, const char *path, int flags, ...) { OPEN(openat, folder, PLACED(path)); }
int openat64(int folder, const char *path, int flags, ...) { OPEN(openat64, folder, PLACED(path)); }
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
FILE *fopen(const char *path, const char *mode) { return REAL(fopen)(PLACED(path), mode); }
FILE *fopen64(const char *path, const char *mode) { return REAL(fopen64)(PLACED(path), mode); }
DIR *opendir(const char *path) { return REAL(opendir)(PLACED(path)); }
int chdir(const char *path) { return REAL(chdir)(PLACED(path)); }

int stat(const char *path, struct stat *to) { return REAL(stat)(PLACED(path), to); }
int stat64(const char *path, struct stat64 *to) { return REAL(stat64)(PLACED(path), to); }
int lstat(const char *path, struct stat *to) { return REAL(lstat)(PLACED(path), to); }
int lstat64(const char *path, struct stat64 *to) { return REAL(lstat64)(PLACED(path), to); }
/* Those of programs that were built before glibc 2.33. */
#define OLD_STAT(name, type)                                                                                           \
    int name(int version, const char *path, struct type *to);                                                          \
    int name(int version, const char *path, struct type *to) { return REAL(name)(version, PLACED(path), to); }
OLD_STAT(__xstat, stat)
OLD_STAT(__xstat64, stat64)
OLD_STAT(__lxstat, stat)
OLD_STAT(__lxstat64, stat64)
int fstatat(int folder, const char *path, struct stat *to, int flags) { return REAL(fstatat)(folder, PLACED(path), to, flags); }
int fstatat64(int folder, const char *path, struct stat64 *to, int flags) {
    return REAL(fstatat64)(folder, PLACED(path), to, flags);
}
int statx(int folder, const char *path, int flags, unsigned mask, struct statx *to) {
    return REAL(statx)(folder, PLACED(path), flags, mask, to);
}
int access(const char *path, int mode) { return REAL(access)(PLACED(path), mode); }
int faccessat(int folder, const char *path, int mode, int flags) { return REAL(faccessat)(folder, PLACED(path), mode, flags); }

int unlink(const char *path) { return REAL(unlink)(PLACED(path)); }
int unlinkat(int folder, const char *path, int flags) { return REAL(unlinkat)(folder, PLACED(path), flags); }
int remove(const char *path) { return REAL(remove)(PLACED(path)); }
int rmdir(const char *path) { return REAL(rmdir)(PLACED(path)); }
int mkdir(const char *path, mode_t mode) { return REAL(mkdir)(PLACED(path), mode); }
int rename(const char *path, const char *to) { return REAL(rename)(PLACED(path), PLACED(to)); }
int renameat(int folder, const char *path, int other, const char *to) {
    return REAL(renameat)(folder, PLACED(path), other, PLACED(to));
}
int renameat2(int folder, const char *path, int other, const char *to, unsigned flags) {
    return REAL(renameat2)(folder, PLACED(path), other, PLACED(to), flags);
}
int link(const char *path, const char *to) { return REAL(link)(PLACED(path), PLACED(to)); }
int symlink(const char *path, const char *to) { return REAL(symlink)(PLACED(path), PLACED(to)); }
int chmod(const char *path, mode_t mode) { return REAL(chmod)(PLACED(path), mode); }
int chown(const char *path, uid_t user, gid_t group) { return REAL(chown)(PLACED(path), user, group); }
int truncate(const char *path, off_t size) { return REAL(truncate)(PLACED(path), size); }
int utime(const char *path, const struct utimbuf *times) { return REAL(utime)(PLACED(path), times); }
