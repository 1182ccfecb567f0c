/* A template is a fork of a process, with one thread. It calls the hub (scraper/worlds.py), says what is on its way to
 * the process, and sleeps. Each order has it fork again: that child is given descriptors of its own in the place of
 * those that others share, and goes on where its ancestor was. Nothing of libc's fork, which would forget threads. */
#include "template.h"
#include "lockstep.h"
#include "watches.h"

#include <asm/termbits.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MASK_BYTES 8
#define CHUNK_BYTES 65536
#define MAPS_BYTES (1 << 20)
#define STACK_BYTES 16384
#define LARGE_BYTES (2ul << 20)

/* Memory that is shared, and files that an order brings: as many as a message takes. */
#define MOST_SHARED 64
#define SHARED_BYTES (256l << 20)
#define MOST_GIVEN 253
#define MOST_STEPS 1024

/* What a packet to the hub is about, where it isn't a descriptor. */
enum { KEPT = -1, BEGUN = -2, LEFT = -3, SHARED = -4 };

/* What worlds.py asks for. */
enum { PUT, EPOLL, WATCHES, LISTEN, TERMINAL, MAP, FOLDER };

/* Of memory: another template puts what was in it. */
#define OTHERS 0x100
struct step {
    int32_t what, file, from, flags;
    int64_t a, b;
};
/* The first message brings the steps, and each order what they put. */
static struct {
    int32_t steps;
    struct step step[MOST_STEPS];
} plan;
static int32_t given_count;
static int given[MOST_GIVEN];

static struct {
    char *at, *copy;
    size_t size;
} shared[MOST_SHARED];
static int shared_count;

static long (*kernel)(long, ...);
#define RAW(name, ...) kernel(SYS_##name, ##__VA_ARGS__)

static int hub, ancestor;
static uint64_t mask;

void template_prepare(void) {
    if (!kernel) kernel = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

/* ── what is kept ───────────────────────────────────────────────────────────────────────────────────────────────────── */

static void tell_hub(int32_t about, int32_t number, const void *bytes, size_t size) {
    int32_t head[2] = {about, number};
    struct iovec parts[2] = {{head, sizeof head}, {(void *)bytes, size}};
    if (RAW(writev, hub, parts, 2) < 0) RAW(exit_group, 1);
}

/* The line that is being typed in the terminal that this is the master of. Only without lines it can be read: it is taken
 * out, and typed again. */
static void tell_typed(int master) {
    int terminal = (int)RAW(ioctl, master, TIOCGPTPEER, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), lines = 0;
    if (terminal < 0) return;
    struct pollfd all_there = {.fd = terminal, .events = POLLIN};
    struct timespec now = {0};
    struct termios modes, own;
    char typed[4096];
    RAW(ppoll, &all_there, 1, &now, NULL, MASK_BYTES);
    if (!RAW(ioctl, terminal, FIONREAD, &lines) && lines) tell_hub(master, lines, NULL, 0);
    if (!lines && !RAW(ioctl, terminal, TCGETS, &modes) && modes.c_lflag & ICANON) {
        own = modes;
        own.c_lflag = 0;
        RAW(ioctl, terminal, TCSETS, &own);
        long size = RAW(read, terminal, typed, sizeof typed);
        memset(own.c_cc, 0, sizeof own.c_cc);
        own.c_iflag &= IXON;
        own.c_lflag = ICANON;
        RAW(ioctl, terminal, TCSETS, &own);
        if (size > 0) {
            tell_hub(master, 0, typed, (size_t)size);
            RAW(write, master, typed, (size_t)size);
            RAW(ppoll, &all_there, 1, &now, NULL, MASK_BYTES);
        }
        RAW(ioctl, terminal, TCSETS, &modes);
    }
    RAW(close, terminal);
}
/* The bytes that a socket or a pipe holds for this process, which stay there; of a terminal, how many they are. */
static void tell_pending(int file) {
    struct stat kind;
    int count = 0;
    if (RAW(fstat, file, &kind) || !(S_ISSOCK(kind.st_mode) || S_ISFIFO(kind.st_mode) || S_ISCHR(kind.st_mode))) return;
    if (S_ISCHR(kind.st_mode)) tell_typed(file);
    if (RAW(ioctl, file, FIONREAD, &count) || count <= 0) return;
    if (S_ISCHR(kind.st_mode)) {
        tell_hub(file, count, NULL, 0);
        return;
    }
    char *bytes = (char *)RAW(mmap, NULL, (size_t)count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int copy[2];
    long got = 0;
    if (S_ISSOCK(kind.st_mode)) {
        got = RAW(recvfrom, file, bytes, (size_t)count, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
    } else if ((RAW(fcntl, file, F_GETFL) & O_ACCMODE) == O_RDONLY && !RAW(pipe2, copy, O_NONBLOCK)) {
        RAW(fcntl, copy[1], F_SETPIPE_SZ, count);
        got = RAW(tee, file, copy[1], (size_t)count, 0x02 /* SPLICE_F_NONBLOCK */);
        if (got > 0) got = RAW(read, copy[0], bytes, (size_t)got);
        RAW(close, copy[0]);
        RAW(close, copy[1]);
    }
    for (long at = 0; at < got; at += CHUNK_BYTES)
        tell_hub(file, count, bytes + at, (size_t)(got - at < CHUNK_BYTES ? got - at : CHUNK_BYTES));
    if (got <= 0 && S_ISSOCK(kind.st_mode)) tell_hub(file, count, NULL, 0);
    RAW(munmap, bytes, (size_t)count);
}
static void tell_all_pending(void) {
    struct entry {
        uint64_t number;
        int64_t offset;
        unsigned short size;
        unsigned char kind;
        char name[];
    };
    char entries[4096] __attribute__((aligned(8)));
    int folder = (int)RAW(openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long size; (size = RAW(getdents64, folder, entries, sizeof entries)) > 0;)
        for (long at = 0; at < size; at += ((struct entry *)(entries + at))->size) {
            int file = 0;
            const char *digit = ((struct entry *)(entries + at))->name;
            if (*digit == '.') continue;
            while (*digit) file = 10 * file + *digit++ - '0';
            if (file != folder && file != hub) tell_pending(file);
        }
    RAW(close, folder);
}

static size_t whole_pages(size_t size) { return (size + LARGE_BYTES - 1) & ~(LARGE_BYTES - 1); }
static void free_memory(char *memory, size_t size) { RAW(munmap, memory, whole_pages(size)); }

/* Return new memory for what is kept: in large pages, which take a tenth of the time, where the kernel has some. */
static char *new_memory(size_t size) {
    size_t whole = whole_pages(size);
    int private = MAP_PRIVATE | MAP_ANONYMOUS;
    char *found = (char *)RAW(mmap, NULL, whole + LARGE_BYTES, PROT_READ | PROT_WRITE, private, -1, 0);
    if (found == MAP_FAILED) return NULL;
    char *begin = (char *)(((uintptr_t)found + LARGE_BYTES - 1) & ~(LARGE_BYTES - 1));
    if (begin > found) RAW(munmap, found, (size_t)(begin - found));
    if (begin < found + LARGE_BYTES) RAW(munmap, begin + whole, (size_t)(found + LARGE_BYTES - begin));
    if (size > LARGE_BYTES / 2) RAW(madvise, begin, whole, MADV_HUGEPAGE);
    return begin;
}
static int keep_memory(char *at, size_t size) {
    size_t all = size;
    for (int i = 0; i < shared_count; i++) all += shared[i].size;
    if (shared_count == MOST_SHARED || all > SHARED_BYTES) return 0;
    char *copy = new_memory(size);
    if (!copy) return 0;
    memcpy(copy, at, size);
    shared[shared_count].at = at;
    shared[shared_count].copy = copy;
    shared[shared_count++].size = size;
    return 1;
}

/* Keep what is in memory that others write to as well, and tell of it. Return how much that is, in KiB and at least 1;
 * 0: too much. */
static int keep_shared(const void *page) {
    char *text = (char *)RAW(mmap, NULL, MAPS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int file = (int)RAW(openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC), kept = 1;
    size_t size = 0;
    for (long more; (more = RAW(read, file, text + size, MAPS_BYTES - 1 - size)) > 0;) size += (size_t)more;
    RAW(close, file);
    if (size == MAPS_BYTES - 1) kept = 0;
    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        char *end, *mode;
        char *from = (char *)strtoul(line, &end, 16), *to = (char *)strtoul(end + 1, &mode, 16);
        int is_page = from <= (const char *)page && (const char *)page < to;
        const char *path = strchr(line, '/'), *next = strchr(line, '\n');
        /* What has no name any more somebody else may write to. */
        int is_gone = mode[1] == 'r' && next - line > 10 && !strncmp(next - 10, " (deleted)", 10);
        if (mode[4] != 's' || (mode[2] != 'w' && !is_gone)) continue;
        int is_device = path && path < next && !strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9) &&
                        strncmp(path, "/dev/zero", 9);
        if (is_device || (!is_page && !keep_memory(from, (size_t)(to - from)))) kept = 0;
        tell_hub(SHARED, 0, line, (size_t)(next - line));
    }
    RAW(munmap, text, MAPS_BYTES);
    size_t size_kept = 1024;
    for (int i = 0; i < shared_count; i++) size_kept += shared[i].size;
    return kept ? (int)(size_kept >> 10) : 0;
}

/* ── orders ─────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static int receive(void *bytes, size_t most) {
    static char room[CMSG_SPACE(sizeof given)];
    struct iovec to = {bytes, most};
    struct msghdr message = {.msg_iov = &to, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    long size = RAW(recvmsg, hub, &message, MSG_CMSG_CLOEXEC);
    if (size < (long)sizeof(int32_t) || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) return 0;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head) memcpy(given, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
    return 1;
}

static int put(int file, int at, int flags) {
    int failed = RAW(dup3, file, at, flags & O_CLOEXEC) < 0;
    RAW(close, file);
    return failed;
}
static int map(const struct step *step) {
    int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
    return (void *)RAW(mmap, step->a, step->b, step->flags & ~OTHERS, flags, given[step->from], (off_t)step->file << 12) == MAP_FAILED;
}
static int carry_out(const struct step *step) {
    struct epoll_event event = {.events = (uint32_t)step->a, .data.u64 = (uint64_t)step->b};
    switch (step->what) {
    case PUT: return RAW(dup3, given[step->from], step->file, step->flags & O_CLOEXEC) < 0;
    case EPOLL: return put((int)RAW(epoll_create1, 0), step->file, step->flags);
    case LISTEN: return RAW(epoll_ctl, step->file, EPOLL_CTL_ADD, step->from, &event) < 0;
    case TERMINAL: return RAW(ioctl, step->file, TIOCSCTTY, 0) < 0;
    case MAP: return map(step);
    case FOLDER: return RAW(fchdir, given[step->from]) < 0;
    case WATCHES: return put(watch_again(step->file, step->flags, (int)step->a), step->file, step->flags);
    }
    return 1;
}

static void leave_copy(const char *at) {
    for (int i = 0; i < shared_count; i++) {
        if (shared[i].at != at) continue;
        free_memory(shared[i].copy, shared[i].size);
        shared[i] = shared[--shared_count];
    }
}
/* Let go of what is made anew for each world: held here, too, it would never come to an end for the ancestor. */
static void leave_what_is_made(void) {
    int nothing = (int)RAW(openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < plan.steps; i++) {
        const struct step *step = &plan.step[i];
        int is_made = step->what == EPOLL || step->what == WATCHES || step->what == PUT;
        if (is_made) RAW(dup3, nothing, step->file, O_CLOEXEC);
        if (step->what == MAP && step->flags & OTHERS) leave_copy((const char *)step->a);
    }
    RAW(close, nothing);
    tell_hub(LEFT, 0, NULL, 0);
}

/* Be a process of a world: returns in one that was made of the template. */
static void wait_for_orders(void) {
    if (receive(&plan, sizeof plan)) leave_what_is_made();
    while (receive(&given_count, sizeof given_count)) {
        /* A child of whoever has the template, and of nobody that the program knows. */
        long made = RAW(clone, CLONE_PARENT, NULL, NULL, NULL, NULL);
        if (!made) return;
        if (made < 0) tell_hub(BEGUN, 0, (int32_t[2]){-1, errno}, 2 * sizeof(int32_t));
        for (int i = 0; i < given_count; i++) RAW(close, given[i]);
    }
    RAW(exit_group, 0);
}

static int failed_at, why;
static char name[16];
static void be_another(void) {
    RAW(prctl, PR_SET_NAME, name, 0, 0, 0);
    RAW(setsid); /* what becomes of its ancestor's terminal is not its affair */
    failed_at = -1;
    for (int i = 0; i < plan.steps && failed_at < 0; i++)
        if (carry_out(&plan.step[i])) failed_at = i, why = errno;
    for (; shared_count && failed_at < 0; shared_count--) {
        memcpy(shared[shared_count - 1].at, shared[shared_count - 1].copy, shared[shared_count - 1].size);
        free_memory(shared[shared_count - 1].copy, shared[shared_count - 1].size);
    }
    for (int i = 0; i < given_count; i++) RAW(close, given[i]);
}

void template_begins(void) {
    tell_hub(BEGUN, (int)RAW(getpid), (int32_t[2]){failed_at, why}, 2 * sizeof(int32_t));
    RAW(close, hub);
    RAW(rt_sigprocmask, SIG_SETMASK, &mask, NULL, MASK_BYTES);
}

static int call_hub(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    hub = (int)RAW(socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return hub < 0 || RAW(connect, hub, &address, sizeof address) < 0;
}

/* In a process between the two that shares the memory and ends at once: so the template is no child of the program. */
static jmp_buf at_fork;
static int not_forked;
static int fork_once(void *unused) {
    (void)unused;
    long made = RAW(clone, 0, NULL, NULL, NULL, NULL);
    if (!made) _longjmp(at_fork, 1);
    not_forked = made < 0 ? errno : 0;
    RAW(exit, 0);
    return 0;
}

int template_fork(const char *path, const void *page, void (*note)(void)) {
    static char stack[STACK_BYTES] __attribute__((aligned(16)));
    template_prepare();
    ancestor = (int)RAW(getpid);
    uint64_t all = ~0ull;
    RAW(rt_sigprocmask, SIG_SETMASK, &all, &mask, MASK_BYTES);
    not_forked = 0;
    if (!_setjmp(at_fork)) {
        int between = clone(fork_once, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, NULL);
        if (between < 0) not_forked = errno;
        /* An X server that sleeps passes for one that has drawn all. */
        else while (!RAW(wait4, between, NULL, __WALL | WNOHANG, NULL)) RAW(sched_yield);
        if (not_forked && !call_hub(path)) {
            RAW(writev, hub, &(struct iovec){(int32_t[2]){ancestor, -not_forked}, 2 * sizeof(int32_t)}, 1);
            RAW(close, hub);
        }
        RAW(rt_sigprocmask, SIG_SETMASK, &mask, NULL, MASK_BYTES);
        return 0;
    }
    RAW(setsid);
    RAW(prctl, PR_GET_NAME, name, 0, 0, 0);
    RAW(prctl, PR_SET_NAME, "template", 0, 0, 0);
    uint64_t processors[16];
    memset(processors, 0xff, sizeof processors);
    RAW(sched_setaffinity, 0, sizeof processors, processors);
    if (call_hub(path)) RAW(exit_group, 1);
    tell_hub(ancestor, (int)RAW(getpid), &hub, sizeof hub);
    if (note) note();
    tell_all_pending();
    tell_hub(KEPT, keep_shared(page), NULL, 0);
    wait_for_orders();
    be_another();
    return 1;
}
