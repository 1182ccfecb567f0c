/* What programs find by a name that is the same in all worlds, and isn't the same thing: page, HOME and X server. */
#include "lockstep.h"
#include "tsc.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Where the scraper's home.py has HOME held. */
#define HELD 9
#define HELD_HOME "/proc/self/fd/9"

#define SCREENS "/tmp/.X11-unix/X"
#define ENTRY PAGE_VARIABLE "="

static int holds_home;

/* A program that was started by one that closes all descriptors has HOME, too. */
void names_begin(void) {
    const char *home = getenv("HOME");
    if (!home || strcmp(home, HELD_HOME) || !*page()->home) return;
    holds_home = 1;
    if (fcntl(HELD, F_GETFD) >= 0) return;
    int file = (int)syscall(SYS_openat, AT_FDCWD, page()->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (file < 0 || file == HELD) return;
    dup2(file, HELD);
    syscall(SYS_close, file);
}
int names_hold(int file) { return holds_home && file == HELD; }

/* Return a new name of a file by which each world has its own, where that is in HOME. */
char *names_of(const char *path) {
    char real[PATH_MAX], home[PATH_MAX], *name;
    if (!realpath(path, real)) return NULL;
    size_t size = holds_home && realpath(HELD_HOME, home) ? strlen(home) : 0;
    if (!size || strncmp(real, home, size) || (real[size] && real[size] != '/')) return strdup(real);
    return asprintf(&name, HELD_HOME "%s", real + size) < 0 ? NULL : name;
}

/* Programs show it, and its length is where their words begin. HELD_HOME is the shorter name. */
char *getcwd(char *buffer, size_t size) {
    char *found = REAL(getcwd)(buffer, size), *name = found ? names_of(found) : NULL;
    if (name) strcpy(found, name);
    free(name);
    return found;
}

/* In a process that was made again: its children are of the same world. */
void names_follow(void) {
    char *path = getenv(PAGE_VARIABLE);
    if (path && strlen(path) == strlen(page()->path)) memcpy(path, page()->path, strlen(path));
}

/* Shells have a copy of their environment, which names the page of another world. */
static void follow(char *const env[], const char *to[], char *entry) {
    strcpy(stpcpy(entry, ENTRY), page()->path);
    for (; *env; env++) *to++ = strncmp(*env, ENTRY, strlen(ENTRY)) ? *env : entry;
    *to = NULL;
}
static size_t count(char *const env[]) {
    size_t entries = 0;
    while (env[entries]) entries++;
    return entries + 1;
}
int execve(const char *path, char *const argv[], char *const env[]) {
    char *none[] = {NULL}, entry[sizeof ENTRY + PATH_MAX];
    const char *own[count(env ? env : none)];
    follow(env ? env : none, own, entry);
    return LET_GO(REAL(execve)(path, argv, (char *const *)own));
}
int names_spawn(int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                             char *const[], char *const[]),
                pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *how,
                char *const argv[], char *const env[]) {
    char entry[sizeof ENTRY + PATH_MAX];
    const char *own[count(env)];
    follow(env, own, entry);
    return LET_GO(spawn(pid, path, actions, how, argv, (char *const *)own));
}

int connect(int file, const struct sockaddr *address, socklen_t size) {
    stir();
    struct sockaddr_un wanted = {0};
    const size_t start = offsetof(struct sockaddr_un, sun_path);
    memcpy(&wanted, address, size < sizeof wanted ? size : sizeof wanted - 1);
    int is_abstract = !wanted.sun_path[0];
    char *name = wanted.sun_path + is_abstract;
    if (wanted.sun_family != AF_UNIX || size <= start || !*page()->screen || strncmp(name, SCREENS, strlen(SCREENS)))
        return (int)syscall(SYS_connect, file, address, size);
    size_t room = sizeof wanted.sun_path - (size_t)is_abstract;
    snprintf(name, room, "%s", page()->screen);
    return (int)syscall(SYS_connect, file, &wanted, start + (size_t)is_abstract + strlen(name) + !is_abstract);
}
