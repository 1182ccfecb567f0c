/* Commands that a program has a shell run: libc's own wait for them in the kernel, of which the clock knows nothing. */
#include "lockstep.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHELL "/bin/sh"
#define STREAMS 64

extern char **environ;

static struct stream {
    FILE *file;
    pid_t pid;
} streams[STREAMS];

static int end_of(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

int system(const char *command) {
    if (!command) return 1;
    char *arguments[] = {"sh", "-c", (char *)command, NULL};
    struct sigaction ignored = {.sa_handler = SIG_IGN}, interrupt, quit;
    sigset_t child, before, defaults;
    posix_spawnattr_t how;
    pid_t pid;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigaction(SIGINT, &ignored, &interrupt);
    sigaction(SIGQUIT, &ignored, &quit);
    pthread_sigmask(SIG_BLOCK, &child, &before);
    sigemptyset(&defaults);
    if (interrupt.sa_handler != SIG_IGN) sigaddset(&defaults, SIGINT);
    if (quit.sa_handler != SIG_IGN) sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &before);
    posix_spawnattr_setsigdefault(&how, &defaults);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(&pid, SHELL, NULL, &how, arguments, environ);
    int status = error ? 127 << 8 : end_of(pid);
    posix_spawnattr_destroy(&how);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

FILE *popen(const char *command, const char *mode) {
    char *arguments[] = {"sh", "-c", (char *)command, NULL};
    int reads = !!strchr(mode, 'r'), ends[2], error;
    struct stream *stream = streams;
    while (stream < streams + STREAMS && stream->file) stream++;
    if (stream == streams + STREAMS || reads == !!strchr(mode, 'w')) {
        errno = stream == streams + STREAMS ? EMFILE : EINVAL;
        return NULL;
    }
    if (pipe2(ends, O_CLOEXEC)) return NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[reads], reads);
    error = posix_spawn(&stream->pid, SHELL, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[reads]);
    stream->file = error ? NULL : fdopen(ends[!reads], reads ? "r" : "w");
    if (!stream->file) {
        close(ends[!reads]);
        if (error) errno = error;
        return NULL;
    }
    return stream->file;
}
int pclose(FILE *file) {
    struct stream *stream = streams;
    while (stream < streams + STREAMS && stream->file != file) stream++;
    if (stream == streams + STREAMS) return REAL(pclose)(file);
    stream->file = NULL;
    fclose(file);
    return end_of(stream->pid);
}
