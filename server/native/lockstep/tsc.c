/* The processor's counter, which programs read without a call: that faults, and they get the page's time in nanoseconds. A
 * program's own faults are its handler's. Only who reads it in its first second is trapped for longer: a switch to a thread
 * that is takes some virtual machines 16 us. */
#include "tsc.h"
#include "lockstep.h"

#ifdef __x86_64__
#include <errno.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

/* Of the code that the kernel maps into each process, with some room: nothing else is near. */
#define KERNELS_BYTES 16384

static struct sigaction theirs;
static int64_t trapped_until;
static uintptr_t kernels;

void tsc_trap(int before) {
    int error = errno;
    prctl(PR_SET_TSC, before);
    errno = error;
}
int tsc_let_go(void) {
    int before = PR_TSC_ENABLE;
    prctl(PR_GET_TSC, &before);
    if (before != PR_TSC_ENABLE) tsc_trap(PR_TSC_ENABLE);
    return before;
}
void tsc_rest(void) {
    static __thread int rests;
    if (rests || now() < trapped_until) return;
    rests = 1;
    tsc_let_go();
}

/* The size of the instruction at ``code`` if it reads the counter, or 0. */
static int size_of(const uint8_t *code) {
    if (code[0] != 0x0f) return 0;
    return code[1] == 0x31 ? 2 : code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;
}
static uint64_t counter(uintptr_t at) {
    if (at - kernels < KERNELS_BYTES) {
        /* The kernel's function for the machine's time, which libc calls. */
        int before = tsc_let_go();
        uint64_t real = __rdtsc();
        tsc_trap(before);
        return real;
    }
    if (page()->counting) count_asked("rdtsc", (const void *)at);
    trapped_until = NEVER;
    return (uint64_t)read_clock();
}

static void on_fault(int number, siginfo_t *info, void *given) {
    greg_t *registers = ((ucontext_t *)given)->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)registers[REG_RIP];
    int size = info->si_code == SI_KERNEL ? size_of(code) : 0, is_sent = info->si_code <= 0;
    if (size) {
        int error = errno;
        uint64_t value = counter((uintptr_t)code);
        registers[REG_RAX] = (uint32_t)value;
        registers[REG_RDX] = (greg_t)(value >> 32);
        if (size == 3) registers[REG_RCX] = 0; /* of processor 0 */
        registers[REG_RIP] += size;
        errno = error;
        return;
    }
    struct sigaction how = theirs;
    if (how.sa_handler == SIG_IGN && is_sent) return;
    if (how.sa_handler == SIG_IGN || how.sa_handler == SIG_DFL) {
        /* It ends when it does the same again. */
        REAL(sigaction)(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        if (is_sent) syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
        return;
    }
    if (how.sa_flags & SA_RESETHAND) theirs.sa_handler = SIG_DFL;
    if (!(how.sa_flags & SA_NODEFER)) sigaddset(&how.sa_mask, number);
    REAL(pthread_sigmask)(SIG_BLOCK, &how.sa_mask, NULL);
    how.sa_sigaction(number, info, given);
}

int tsc_handles(int number, const struct sigaction *wanted, struct sigaction *before) {
    struct sigaction was = theirs;
    if (!trapped_until || number != SIGSEGV) return 0;
    if (wanted) theirs = *wanted;
    if (before) *before = was;
    return 1;
}

/* Who blocked it would be ended by reading the counter. */
#define MASK(name)                                                                                                     \
    int name(int how, const sigset_t *wanted, sigset_t *before) {                                                      \
        sigset_t own;                                                                                                  \
        if (wanted) {                                                                                                  \
            own = *wanted;                                                                                             \
            if (how != SIG_UNBLOCK) sigdelset(&own, SIGSEGV);                                                          \
        }                                                                                                              \
        return REAL(name)(how, wanted ? &own : NULL, before);                                                          \
    }
MASK(sigprocmask)
MASK(pthread_sigmask)

/* Other ways than execve of executing a program: libc's own don't call ours. */
#define LISTED(first, execute)                                                                                         \
    va_list given;                                                                                                     \
    size_t count = first != NULL;                                                                                      \
    va_start(given, first);                                                                                            \
    while (first && va_arg(given, char *)) count++;                                                                    \
    va_end(given);                                                                                                     \
    char *argv[count + 1];                                                                                             \
    va_start(given, first);                                                                                            \
    for (size_t i = 0; i <= count; i++) argv[i] = i ? va_arg(given, char *) : (char *)first;                           \
    int error = execute;                                                                                               \
    va_end(given);                                                                                                     \
    return error
int execv(const char *path, char *const argv[]) { return execve(path, argv, environ); }
int execvpe(const char *file, char *const argv[], char *const env[]) { return LET_GO(REAL(execvpe)(file, argv, env)); }
int execvp(const char *file, char *const argv[]) { return execvpe(file, argv, environ); }
int fexecve(int file, char *const argv[], char *const env[]) { return LET_GO(REAL(fexecve)(file, argv, env)); }
int execl(const char *path, const char *first, ...) { LISTED(first, execve(path, argv, environ)); }
int execlp(const char *file, const char *first, ...) { LISTED(first, execvpe(file, argv, environ)); }
int execle(const char *path, const char *first, ...) { LISTED(first, execve(path, argv, va_arg(given, char **))); }

void tsc_begin(void) {
    sigset_t own;
    kernels = getauxval(AT_SYSINFO_EHDR);
    sigemptyset(&own);
    sigaddset(&own, SIGSEGV);
    REAL(pthread_sigmask)(SIG_UNBLOCK, &own, NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    REAL(sigaction)(SIGSEGV, &action, &theirs);
    trapped_until = later(SECOND_NS);
    tsc_trap(PR_TSC_SIGSEGV);
}
#else
void tsc_begin(void) {}
int tsc_handles(int number, const struct sigaction *wanted, struct sigaction *before) {
    (void)number, (void)wanted, (void)before;
    return 0;
}
void tsc_rest(void) {}
int tsc_let_go(void) { return 0; }
void tsc_trap(int before) { (void)before; }
#endif
