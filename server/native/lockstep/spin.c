/* A thread that looks for what another is to change, again and again, without a wait or a clock: it gives its turn, too.
 *
 * The controller has it look at itself each time it has computed for a while. Who computes is hardly ever twice where it
 * was before, with the same in its registers and on top of its stack. Who spins is in nothing but a few such states, and
 * stays there until somebody else goes on. So it is the same for the program when that is found. */
#include "spin.h"
#include "lockstep.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

/* Of a spin that calls a function or two. */
#define STATES 16

/* How often in a row it has to be in one of them. */
#define PROOF 32

/* How long it waits then: who spins wants to know soon. */
#define NAP_NS 2000000

#define STACK_BYTES 256

#ifdef __x86_64__
#define REGISTERS(context) (&(context)->gregs[REG_R8]), (REG_RIP - REG_R8 + 1) * sizeof(greg_t)
#define STACK(context) ((const char *)(context)->gregs[REG_RSP] - 128) /* with what is kept below it */
#else
#define REGISTERS(context) (&(context)->regs[0]), 33 * sizeof(unsigned long long) /* with sp and pc */
#define STACK(context) ((const char *)(context)->sp)
#endif

/* FNV-1a of eight bytes at a time. */
static uint64_t hash(uint64_t before, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i += 8) {
        uint64_t value;
        memcpy(&value, (const char *)bytes + i, 8);
        before = (before ^ value) * 0x100000001b3u;
        before ^= before >> 32;
    }
    return before;
}

/* Whether anybody could change what it looks for: or else it hangs. */
static int has_others(void) {
    for (uint32_t i = 0; i < page()->used; i++)
        if (page()->slots[i].state != FREE && &page()->slots[i] != own_slot()) return 1;
    return next_timer() != NEVER;
}

static void look_at_itself(int number, siginfo_t *info, void *given) {
    static __thread uint64_t states[STATES], turn;
    static __thread unsigned next, again;
    (void)number;
    (void)info;
    const mcontext_t *context = &((const ucontext_t *)given)->uc_mcontext;
    uint64_t state = hash(hash(0xcbf29ce484222325u, REGISTERS(context)), STACK(context), STACK_BYTES);
    if (turn != own_slot()->order && again < PROOF) again = 0;
    turn = own_slot()->order;
    for (int i = 0; i < STATES; i++) {
        if (states[i] != state) continue;
        if (again < PROOF) again++;
        own_slot()->spins = again == PROOF;
        if (again == PROOF && has_others()) sleep_until(later(NAP_NS));
        return;
    }
    again = 0;
    own_slot()->spins = 0;
    states[next++ % STATES] = state;
}

void spin_begin(void) {
    struct sigaction action = {.sa_sigaction = look_at_itself, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    REAL(sigaction)(SPIN_SIGNAL, &action, NULL);
}
