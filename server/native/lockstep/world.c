/* A process of a world: what its template makes again beside memory and descriptors. That is its threads, each where it
 * waited (wait.c), and whom it and its family take each other for: the numbers of threads and processes are others. */
#include "world.h"
#include "lockstep.h"
#include "template.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RAW(name, ...) REAL(syscall)(SYS_##name, ##__VA_ARGS__)
#define MASK_BYTES 8
#define STACK_BYTES 32768

/* Where struct pthread has the number of its thread, as libc knows it: between these. */
#define LEAST_OFFSET 0x80
#define MOST_OFFSET 0x900

static struct place {
    jmp_buf *here;
    pthread_t thread;
    void *pointer, *robust;
    stack_t *signal_stack;
    uint64_t mask;
} places[SLOTS];

static __thread stack_t signal_stack = {.ss_flags = SS_DISABLE};

/* Who this process takes itself for, who it was when it began to, and who when its template was made; 0: it doesn't. */
static int known_as, parent_known_as, was, ancestor;
static size_t tid_at;
static _Atomic uint32_t begun;

static int is_mine(const struct slot *slot) { return slot->state != FREE && slot->pid == ancestor; }
static int *tid_of(pthread_t thread) { return (int *)((char *)thread + tid_at); }

static void *thread_pointer(void) {
#ifdef __x86_64__
    void *pointer;
    __asm__("mov %%fs:0,%0" : "=r"(pointer));
    return pointer;
#else
    return __builtin_thread_pointer();
#endif
}
void world_thread_waits(struct slot *slot, jmp_buf *here) {
    struct place *place = &places[slot - page()->slots];
    place->here = here;
    place->thread = pthread_self();
    place->pointer = thread_pointer();
    place->signal_stack = &signal_stack;
}

int sigaltstack(const stack_t *stack, stack_t *before) {
    int error = (int)RAW(sigaltstack, stack, before);
    if (stack && !error) signal_stack = *stack;
    return error;
}

/* ── what the kernel knows of a thread ──────────────────────────────────────────────────────────────────────────────── */

#define STATUS_BYTES 4096

static char *number_to(char *at, int number) {
    if (number >= 10) at = number_to(at, number / 10);
    *at = (char)('0' + number % 10);
    return at + 1;
}
static int read_status(int pid, int tid, char *text) {
    char path[64] = "/proc/", *at = number_to(path + strlen(path), pid);
    at = number_to(stpcpy(at, "/task/"), tid);
    strcpy(at, "/status");
    int file = (int)RAW(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long size = file < 0 ? 0 : RAW(read, file, text, STATUS_BYTES - 1);
    if (file >= 0) RAW(close, file);
    text[size > 0 ? size : 0] = 0;
    return size > 0;
}
static uint64_t signals_of(const char *status, const char *which) {
    const char *line = strstr(status, which);
    return line ? strtoull(line + strlen(which), NULL, 16) : 0;
}

int world_catches(int pid, int tid, int number) {
    char text[STATUS_BYTES];
    uint64_t bit = 1ull << (number - 1);
    return read_status(pid, tid, text) && signals_of(text, "SigCgt:") & bit && !(signals_of(text, "SigBlk:") & bit);
}

static struct kin *kin_of(struct page *shared, int pid) {
    for (struct kin *kin = shared->kin; kin < shared->kin + KIN; kin++)
        if (kin->state == ALIVE && kin->pid == pid) return kin;
    return NULL;
}

/* Whether a signal that a program has said nothing of ends it. */
static int ends(int number) {
    static const int others[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (number == others[i]) return 0;
    return 1;
}

/* A signal is about to be sent: whom it wakes, or ends, has a turn, however soon it notices. */
void world_signals(struct page *shared, int pid, int tid, int number) {
    char text[STATUS_BYTES];
    atomic_store(&shared->calm, 0);
    if (number <= 0 || number > 64 || !read_status(pid, tid, text)) return;
    uint64_t bit = 1ull << (number - 1);
    if (number != SIGKILL && (signals_of(text, "SigBlk:") | signals_of(text, "SigIgn:")) & bit) return;
    int is_caught = (signals_of(text, "SigCgt:") & bit) != 0;
    if (!is_caught && !ends(number)) return;
    struct kin *kin = is_caught ? NULL : kin_of(shared, pid);
    if (kin) kin->status = number;
    for (uint32_t i = 0; i < shared->used; i++) {
        struct slot *slot = &shared->slots[i];
        uint32_t waits = WAITS;
        if (slot->pid != pid || (is_caught && slot->tid != tid)) continue;
        atomic_compare_exchange_strong(&slot->state, &waits, READY | INTERRUPTED);
    }
}

/* ── who it takes itself for ────────────────────────────────────────────────────────────────────────────────────────── */

/* The children of its ancestor aren't children of this process, nor is it one of its parent's: each says that it ends. */
static void say_end(int code) {
    struct kin *kin = kin_of(page(), (int)RAW(getpid));
    if (!kin) return;
    kin->status = (code & 0xff) << 8;
    atomic_store(&kin->state, DEAD);
    if (kin->parent <= 0) return;
    world_signals(page(), kin->parent, kin->parent, SIGCHLD);
    RAW(kill, kin->parent, SIGCHLD);
}
static void at_exit(int code, void *unused) {
    (void)unused;
    say_end(code);
}
_Noreturn void _exit(int code) {
    if (getenv(PAGE_VARIABLE)) say_end(code);
    for (;;) RAW(exit_group, code);
}
_Noreturn void _Exit(int code) { _exit(code); }

void world_begin(void) {
    on_exit(at_exit, NULL);
    int nobody = 0;
    was = (int)RAW(getpid);
    atomic_compare_exchange_strong(&page()->first, &nobody, was);
    const struct kin *kin = kin_of(page(), was);
    known_as = kin ? kin->named : page()->first == was ? FIRST : 0;
}
void world_forked(void) { known_as = parent_known_as = 0; }

pid_t getpid(void) { return known_as ? known_as : (pid_t)RAW(getpid); }
pid_t getppid(void) { return parent_known_as ? parent_known_as : (pid_t)RAW(getppid); }
pid_t gettid(void) {
    int tid = known_as && tid_at ? *tid_of(pthread_self()) : (int)RAW(gettid);
    return known_as && tid == was ? known_as : tid;
}

int kill(pid_t pid, int number) {
    int own = (int)RAW(getpid);
    if (known_as && pid == known_as) pid = own;
    for (struct kin *kin = page()->kin; kin < page()->kin + KIN; kin++)
        if (kin->state == ALIVE && kin->parent == own && kin->named == pid) pid = kin->pid;
    if (pid > 0) world_signals(page(), pid, pid, number);
    return (int)RAW(kill, pid, number);
}

static const struct slot *slot_of_thread(pthread_t thread) {
    int own = (int)RAW(getpid);
    for (uint32_t i = 0; i < page()->used; i++) {
        const struct slot *slot = &page()->slots[i];
        if (places[i].thread == thread && slot->pid == own && slot->state != FREE) return slot;
    }
    return NULL;
}
int pthread_kill(pthread_t thread, int number) {
    const struct slot *slot = slot_of_thread(thread);
    if (!slot) return ESRCH;
    world_signals(page(), slot->pid, slot->tid, number);
    return RAW(tgkill, slot->pid, slot->tid, number) ? errno : 0;
}
int world_thread(int tid) {
    for (uint32_t i = 0; known_as && tid_at && i < page()->used; i++) {
        const struct slot *slot = &page()->slots[i];
        if (slot->state == FREE || slot->pid != (int)RAW(getpid) || !places[i].thread) continue;
        if (*tid_of(places[i].thread) == tid) return slot->tid;
    }
    return tid;
}

pid_t world_child(pid_t pid, int *status) {
    int own = (int)RAW(getpid), has_any = 0;
    for (struct kin *kin = page()->kin; kin < page()->kin + KIN; kin++) {
        if (kin->state == NOBODY || kin->parent != own || !(pid == -1 || pid == 0 || pid == kin->named)) continue;
        has_any = 1;
        if (kin->state != DEAD) continue;
        *status = kin->status;
        kin->state = NOBODY;
        return kin->named;
    }
    return has_any ? 0 : -1;
}
pid_t world_wait(pid_t pid, int *status, int options, struct rusage *used) {
    int result = (int)RAW(wait4, pid, status, options, used), error = errno, ended = 0;
    if (result > 0) return result;
    pid_t kin = world_child(pid, &ended);
    if (kin > 0 && status) *status = ended;
    if (kin > 0 && used) memset(used, 0, sizeof *used);
    errno = error;
    return kin > 0 || (kin == 0 && result < 0 && error == ECHILD) ? kin : result;
}

/* ── the template ───────────────────────────────────────────────────────────────────────────────────────────────────── */

/* What the kernel alone knows of the others' threads. */
static void note_threads(const struct slot *leader) {
    for (size_t at = LEAST_OFFSET; !tid_at && at < MOST_OFFSET; at += sizeof(int))
        if (*(int *)((char *)pthread_self() + at) == leader->tid) tid_at = at;
    for (uint32_t i = 0; i < page()->used; i++) {
        const struct slot *slot = &page()->slots[i];
        size_t size;
        if (!is_mine(slot)) continue;
        if (RAW(get_robust_list, slot->tid, &places[i].robust, &size)) places[i].robust = NULL;
    }
}

/* In the template, since what this opens isn't to be seen in the process itself. */
static void note_masks(void) {
    char text[STATUS_BYTES];
    for (uint32_t i = 0; i < page()->used; i++) {
        const struct slot *slot = &page()->slots[i];
        if (is_mine(slot) && read_status(slot->pid, slot->tid, text)) places[i].mask = signals_of(text, "SigBlk:");
    }
}

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
#define RSEQ_BYTES 32
#ifdef __aarch64__
#define RSEQ_SIGNATURE 0xd428bc00
#else
#define RSEQ_SIGNATURE 0x53053053
#endif

/* Tell the kernel of this thread what it knew of its ancestor. */
static void register_thread(const struct place *place) {
    if (place->robust) RAW(set_robust_list, place->robust, 3 * sizeof(void *));
    if (&__rseq_size && __rseq_size) RAW(rseq, (char *)place->pointer + __rseq_offset, RSEQ_BYTES, 0, RSEQ_SIGNATURE);
    if (!(place->signal_stack->ss_flags & SS_DISABLE)) RAW(sigaltstack, place->signal_stack, NULL);
}
static int go_on(void *given) {
    const struct place *place = given;
    register_thread(place);
    _longjmp(*place->here, 1);
}
/* Called by a thread that was made again, at its own place. */
void world_thread_begins(struct slot *slot) {
    slot->pid = (int)RAW(getpid);
    slot->tid = (int)RAW(gettid);
    uint64_t mask = places[slot - page()->slots].mask;
    atomic_store(&begun, 1);
    RAW(futex, &begun, FUTEX_WAKE, 1, NULL, NULL, 0);
    RAW(rt_sigprocmask, SIG_SETMASK, &mask, NULL, MASK_BYTES);
}
static void make_thread(struct place *place) {
    /* Until it is at its place, and has its own stack; one after the other. */
    static char stack[STACK_BYTES] __attribute__((aligned(16)));
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS;
    flags |= CLONE_CHILD_CLEARTID;
    atomic_store(&begun, 0);
    int made = clone(go_on, stack + STACK_BYTES, flags, place, NULL, place->pointer, tid_of(place->thread));
    if (made < 0) RAW(exit_group, 1);
    while (!atomic_load(&begun)) RAW(futex, &begun, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void begin_again(struct slot *leader) {
    int own = (int)RAW(getpid);
    for (uint32_t i = 0; i < page()->used; i++)
        if (is_mine(&page()->slots[i]) && &page()->slots[i] != leader) make_thread(&places[i]);
    for (struct kin *kin = page()->kin; kin < page()->kin + KIN; kin++) {
        if (kin->pid == -ancestor) kin->pid = own;
        if (kin->parent == -ancestor) kin->parent = own;
    }
    if (page()->first == ancestor) page()->first = own;
    leader->pid = leader->tid = own;
    register_thread(&places[leader - page()->slots]);
    RAW(set_tid_address, tid_of(pthread_self()));
    names_follow();
    template_begins();
}

void world_fork(struct slot *slot) {
    int error = errno;
    ancestor = (int)RAW(getpid);
    if (!known_as) known_as = was = ancestor;
    if (!parent_known_as) parent_known_as = (int)RAW(getppid);
    note_threads(slot);
    if (template_fork(page()->hub, page(), note_masks)) {
        begin_again(slot);
    } else {
        atomic_store(&slot->state, WAITS);
        tell();
    }
    errno = error;
}
