/* Handlers of signals: a wait during which one was called ends, wherever its thread is then. The kernel only ends that of
 * one that sleeps: what it sends itself, as to a terminal's programs when their window changes, may come just before. */
#include "lockstep.h"
#include "tsc.h"

typedef void (*handler)(int, siginfo_t *, void *);

/* What a program's signals are handled by. Those that are ignored, or do what is usual, the kernel alone knows: who has
 * called vfork says so of itself, in its parent's memory. */
static _Atomic handler theirs[_NSIG];

static void handle(int number, siginfo_t *info, void *context) {
    interrupt();
    theirs[number](number, info, context);
}

int sigaction(int number, const struct sigaction *wanted, struct sigaction *before) {
    if (tsc_handles(number, wanted, before)) return 0;
    struct sigaction own;
    int known = number > 0 && number < _NSIG;
    handler was = known ? theirs[number] : NULL;
    if (wanted) {
        own = *wanted;
        sigdelset(&own.sa_mask, SIGSEGV);
        if (known && own.sa_handler != SIG_DFL && own.sa_handler != SIG_IGN) {
            theirs[number] = own.sa_sigaction;
            own.sa_sigaction = handle;
        }
    }
    int error = REAL(sigaction)(number, wanted ? &own : NULL, before);
    if (!error && before && before->sa_sigaction == handle) before->sa_sigaction = was;
    return error;
}
#define SIGNAL(name, flags)                                                                                            \
    sighandler_t name(int number, sighandler_t handler) {                                                              \
        struct sigaction action = {.sa_handler = handler, .sa_flags = flags};                                          \
        return sigaction(number, &action, &action) ? SIG_ERR : action.sa_handler;                                      \
    }
SIGNAL(signal, SA_RESTART)
SIGNAL(__sysv_signal, SA_RESETHAND | SA_NODEFER)
