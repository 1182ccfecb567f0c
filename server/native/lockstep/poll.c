/* Waiting for descriptors and for children: what may come from outside is looked at, never slept on in the kernel. */
#include "lockstep.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_MASK_BYTES 8

/* What Xlib reads at a time, if there is so much. A socket holds more than twice that. */
#define ROOM_BYTES 4096

static int64_t ns_of(const struct timespec *time) { return time ? later(time->tv_sec * SECOND_NS + time->tv_nsec) : NEVER; }
static int64_t ms_from_now(int ms) { return ms < 0 ? NEVER : later(ms * 1000000LL); }

/* As wait_for, with another signal mask meanwhile. */
static int wait_masked(looker look, void *what, int64_t deadline, const sigset_t *mask) {
    sigset_t before;
    unsigned handled = interrupts();
    if (mask) pthread_sigmask(SIG_SETMASK, mask, &before);
    int result = wait_for_since(handled, look, what, deadline), error = errno;
    if (mask) pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return result;
}

static int look_nowhere(void *what) {
    (void)what;
    return 0;
}

struct polled {
    struct pollfd *files;
    nfds_t count;
};
static int look_poll(void *what) {
    struct polled *polled = what;
    struct timespec none = {0, 0};
    return (int)syscall(SYS_ppoll, polled->files, polled->count, &none, NULL, KERNEL_MASK_BYTES);
}
int ppoll(struct pollfd *files, nfds_t count, const struct timespec *time, const sigset_t *mask) {
    return wait_masked(look_poll, &(struct polled){files, count}, ns_of(time), mask);
}
int poll(struct pollfd *files, nfds_t count, int ms) {
    int64_t deadline = ms_from_now(ms), alone = count == 1 ? alone_until(files->fd) : 0;
    if (alone > now()) sleep_until(alone < deadline ? alone : deadline);
    return wait_for(look_poll, &(struct polled){files, count}, deadline);
}
int __poll_chk(struct pollfd *files, nfds_t count, int ms, size_t size);
int __poll_chk(struct pollfd *files, nfds_t count, int ms, size_t size) {
    (void)size;
    return poll(files, count, ms);
}

struct selected {
    int count;
    fd_set *sets[3], wanted[3];
};
static int look_select(void *what) {
    struct selected *selected = what;
    struct timespec none = {0, 0};
    /* Sets may be longer or shorter than fd_set. */
    size_t bytes = (size_t)(selected->count + 63) / 64 * 8;
    for (int i = 0; i < 3; i++)
        if (selected->sets[i]) memcpy(selected->sets[i], &selected->wanted[i], bytes);
    return (int)syscall(SYS_pselect6, selected->count, selected->sets[0], selected->sets[1], selected->sets[2], &none, NULL);
}
int pselect(int count, fd_set *in, fd_set *out, fd_set *bad, const struct timespec *time, const sigset_t *mask) {
    if (count < 0 || count > FD_SETSIZE) {
        errno = EINVAL;
        return -1;
    }
    struct selected selected = {count, {in, out, bad}, {{{0}}}};
    for (int i = 0; i < 3; i++)
        if (selected.sets[i]) memcpy(&selected.wanted[i], selected.sets[i], (size_t)(count + 63) / 64 * 8);
    return wait_masked(look_select, &selected, ns_of(time), mask);
}
int select(int count, fd_set *in, fd_set *out, fd_set *bad, struct timeval *time) {
    struct timespec limit = {0, 0};
    if (time) limit = (struct timespec){time->tv_sec + time->tv_usec / 1000000, time->tv_usec % 1000000 * 1000};
    int64_t deadline = ns_of(time ? &limit : NULL);
    int result = pselect(count, in, out, bad, time ? &limit : NULL, NULL);
    if (time) {
        int64_t left = deadline > now() ? deadline - now() : 0;
        *time = (struct timeval){left / SECOND_NS, left % SECOND_NS / 1000};
    }
    return result;
}

struct epolled {
    int file, count;
    struct epoll_event *events;
};
static int look_epoll(void *what) {
    struct epolled *epolled = what;
    return (int)syscall(SYS_epoll_pwait, epolled->file, epolled->events, epolled->count, 0, NULL, KERNEL_MASK_BYTES);
}
int epoll_pwait(int file, struct epoll_event *events, int count, int ms, const sigset_t *mask) {
    return wait_masked(look_epoll, &(struct epolled){file, count, events}, ms_from_now(ms), mask);
}
int epoll_wait(int file, struct epoll_event *events, int count, int ms) {
    return epoll_pwait(file, events, count, ms, NULL);
}
int epoll_pwait2(int file, struct epoll_event *events, int count, const struct timespec *time, const sigset_t *mask) {
    return wait_masked(look_epoll, &(struct epolled){file, count, events}, ns_of(time), mask);
}

/* ── reading ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Return 0 when there is something to read, or this descriptor's reads don't wait; or -1 with EINTR. */
static int await_input(int file, int flags) {
    struct pollfd input = {file, POLLIN, 0};
    struct polled polled = {&input, 1};
    struct stat kind;
    /* What comes through a socket comes from others, maybe in parts; the rest is there or isn't. */
    if ((fstat(file, &kind) || !S_ISSOCK(kind.st_mode)) && look_poll(&polled)) return 0;
    int nonblocking = flags & MSG_DONTWAIT || fcntl(file, F_GETFL) & O_NONBLOCK;
    return wait_for(look_poll, &polled, nonblocking ? now() : NEVER) < 0 ? -1 : 0;
}
ssize_t read(int file, void *to, size_t size) {
    return await_input(file, 0) ? -1 : syscall(SYS_read, file, to, size);
}
ssize_t __read_chk(int file, void *to, size_t size, size_t room);
ssize_t __read_chk(int file, void *to, size_t size, size_t room) {
    (void)room;
    return read(file, to, size);
}
ssize_t readv(int file, const struct iovec *to, int count) {
    return await_input(file, 0) ? -1 : syscall(SYS_readv, file, to, count);
}
/* An X server that had more to say than there was room for goes on. */
static ssize_t made_room(ssize_t got) {
    if (got >= ROOM_BYTES) stir();
    return got;
}
ssize_t recvfrom(int file, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *length) {
    return await_input(file, flags) ? -1 : made_room(syscall(SYS_recvfrom, file, to, size, flags, from, length));
}
ssize_t recv(int file, void *to, size_t size, int flags) { return recvfrom(file, to, size, flags, NULL, NULL); }
ssize_t recvmsg(int file, struct msghdr *message, int flags) {
    return await_input(file, flags) ? -1 : made_room(syscall(SYS_recvmsg, file, message, flags));
}
int accept4(int file, struct sockaddr *from, socklen_t *length, int flags) {
    return await_input(file, 0) ? -1 : (int)syscall(SYS_accept4, file, from, length, flags);
}
int accept(int file, struct sockaddr *from, socklen_t *length) { return accept4(file, from, length, 0); }

/* ── writing ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Whom it reaches may have an answer: an X server has no turns. */
ssize_t write(int file, const void *from, size_t size) { return syscall(SYS_write, file, from, size); }
ssize_t writev(int file, const struct iovec *from, int count) { return syscall(SYS_writev, file, from, count); }
ssize_t sendmsg(int file, const struct msghdr *message, int flags) { return syscall(SYS_sendmsg, file, message, flags); }
ssize_t sendto(int file, const void *from, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
    return syscall(SYS_sendto, file, from, size, flags, to, length);
}
ssize_t send(int file, const void *from, size_t size, int flags) { return sendto(file, from, size, flags, NULL, 0); }

/* ── signals ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

struct signalled {
    const sigset_t *wanted;
    siginfo_t *info;
};
static int look_signal(void *what) {
    struct signalled *signalled = what;
    struct timespec none = {0, 0};
    long got = syscall(SYS_rt_sigtimedwait, signalled->wanted, signalled->info, &none, KERNEL_MASK_BYTES);
    return got > 0 ? (int)got : 0;
}
int sigtimedwait(const sigset_t *wanted, siginfo_t *info, const struct timespec *time) {
    int result = wait_for(look_signal, &(struct signalled){wanted, info}, ns_of(time));
    if (result == 0) errno = EAGAIN;
    return result > 0 ? result : -1;
}
int sigwaitinfo(const sigset_t *wanted, siginfo_t *info) { return sigtimedwait(wanted, info, NULL); }
int sigwait(const sigset_t *wanted, int *number) {
    while ((*number = sigwaitinfo(wanted, NULL)) < 0) continue;
    return 0;
}
int sigsuspend(const sigset_t *mask) { return wait_masked(look_nowhere, NULL, NEVER, mask); }
int pause(void) { return wait_for(look_nowhere, NULL, NEVER); }

/* ── children ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

struct awaited {
    pid_t pid;
    int *status, options;
    struct rusage *used;
};
static int look_wait(void *what) {
    struct awaited *awaited = what;
    return world_wait(awaited->pid, awaited->status, awaited->options | WNOHANG, awaited->used);
}
pid_t wait4(pid_t pid, int *status, int options, struct rusage *used) {
    struct awaited awaited = {pid, status, options, used};
    return wait_for(look_wait, &awaited, options & WNOHANG ? now() : NEVER);
}
struct awaited_end {
    idtype_t type;
    id_t id;
    siginfo_t *info;
    int options;
};
static int look_waitid(void *what) {
    struct awaited_end *awaited = what;
    int status = 0;
    awaited->info->si_pid = 0;
    long error = syscall(SYS_waitid, awaited->type, awaited->id, awaited->info, awaited->options | WNOHANG, NULL);
    if (!error && awaited->info->si_pid) return 1;
    if (awaited->type == P_PIDFD || awaited->options & WNOWAIT || !(awaited->options & WEXITED)) return (int)error;
    pid_t pid = world_child(awaited->type == P_PID ? (pid_t)awaited->id : -1, &status);
    if (pid > 0) {
        *awaited->info = (siginfo_t){.si_signo = SIGCHLD, .si_code = WIFEXITED(status) ? CLD_EXITED : CLD_KILLED};
        awaited->info->si_pid = pid;
        awaited->info->si_status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
        return 1;
    }
    return error && !(pid == 0 && errno == ECHILD) ? -1 : 0;
}
int waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
    siginfo_t unused;
    struct awaited_end awaited = {type, id, info ? info : &unused, options};
    return wait_for(look_waitid, &awaited, options & WNOHANG ? now() : NEVER) < 0 ? -1 : 0;
}
pid_t waitpid(pid_t pid, int *status, int options) { return wait4(pid, status, options, NULL); }
pid_t wait(int *status) { return wait4(-1, status, 0, NULL); }
pid_t wait3(int *status, int options, struct rusage *used) { return wait4(-1, status, options, used); }
