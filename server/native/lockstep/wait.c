/* Waiting: for a time, for a call of another thread, or for something that has to be looked at. */
#include "lockstep.h"
#include "tsc.h"
#include "world.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A loop that looks for something again and again, without a clock, would never end. */
#define LOOKS 100

/* Not by way of our own syscall. */
static long kernel_futex(_Atomic uint32_t *word, int what, uint32_t value, const struct timespec *limit) {
    return REAL(syscall)(SYS_futex, word, what, value, limit, NULL, 0);
}

/* Tell the controller that there is something new. */
void tell(void) {
    atomic_fetch_add(&page()->news, 1);
    if (atomic_load(&page()->listening)) kernel_futex(&page()->news, FUTEX_WAKE, 1, NULL);
}

/* Where this thread waits, and how many signals it has handled. */
static __thread struct slot *waits_in;
static __thread volatile unsigned handled;

unsigned interrupts(void) { return handled; }

/* A signal is being handled: a wait of this thread is over. */
void interrupt(void) {
    uint32_t waits = WAITS;
    handled++;
    if (waits_in && atomic_compare_exchange_strong(&waits_in->state, &waits, READY | INTERRUPTED)) tell();
}

/* Wait for this thread's turn, as what the slot says it waits for; return why it has come. */
static uint32_t await_turn(struct slot *slot, uint32_t waits_as) {
    volatile int error = errno;
    jmp_buf here;
    waits_in = slot;
    if (_setjmp(here)) {
        world_thread_begins(slot);
    } else {
        /* As soon as it waits, its process may be forked. */
        world_thread_waits(slot, &here);
        atomic_store(&slot->state, waits_as);
        tell();
    }
    for (;;) {
        uint32_t state = atomic_load(&slot->state);
        if ((state & PHASE) == RUNS && state != (RUNS | FORK)) {
            errno = error;
            return state & ~PHASE;
        }
        /* Each time, since a signal's handler may have waited elsewhere meanwhile. */
        world_thread_waits(slot, &here);
        if (state == (RUNS | FORK)) {
            world_fork(slot);
            continue;
        }
        kernel_futex(&slot->state, FUTEX_WAIT, state, NULL);
    }
}

static uint32_t await(int64_t deadline, const void *object, int looks) {
    struct slot *slot = own_slot();
    int64_t timer = next_timer();
    slot->deadline = timer < deadline ? timer : deadline;
    slot->object = (uint64_t)(uintptr_t)object;
    slot->looks = (uint32_t)looks;
    slot->order = atomic_fetch_add(&page()->orders, 1);
    uint32_t why = await_turn(slot, WAITS);
    slot->object = slot->looks = 0;
    tsc_rest();
    return why;
}

/* Wait for the first turn of a thread that was just made, in the order in which they were. */
void take_first_turn(void) {
    struct slot *slot = own_slot();
    slot->looks = slot->object = 0;
    await_turn(slot, READY | CALLED);
}

/* Let all others go first that can. */
void take_turn(void) {
    own_slot()->order = atomic_fetch_add(&page()->orders, 1);
    take_first_turn();
}

/* Return 0 when another thread has called ``object``, ETIMEDOUT if the deadline came first, or EINTR. */
int wait_called(const void *object, int64_t deadline) {
    for (unsigned before = handled;;) {
        if (await(deadline, object, 0) == CALLED) return 0;
        if (fire_timers() || handled != before) return EINTR;
        if (now() >= deadline) return ETIMEDOUT;
    }
}

/* The first thread of this process that waits for ``object``. */
static struct slot *first_waiting(const void *object) {
    struct slot *first = NULL;
    int pid = own_slot()->pid;
    for (uint32_t i = 0; i < page()->used; i++) {
        struct slot *slot = &page()->slots[i];
        if (slot->state != WAITS || slot->pid != pid || slot->object != (uint64_t)(uintptr_t)object) continue;
        if (!first || slot->order < first->order) first = slot;
    }
    return first;
}

/* Call up to ``most`` threads of this process that wait for ``object``, in their order; return how many there were. */
int call(const void *object, int most) {
    struct page *shared = page();
    int called = 0;
    for (struct slot *first; called < most && (first = first_waiting(object));) {
        uint32_t waits = WAITS;
        first->order = atomic_fetch_add(&shared->orders, 1);
        called += atomic_compare_exchange_strong(&first->state, &waits, READY | CALLED);
        stir();
    }
    return called;
}

/* Have up to ``most`` of those that wait for ``object`` wait for ``other``; return how many there were. */
int call_later(const void *object, const void *other, int most) {
    int moved = 0;
    for (struct slot *first; object != other && moved < most && (first = first_waiting(object)); moved++)
        first->object = (uint64_t)(uintptr_t)other;
    return moved;
}

/* Return 0 when the clock has got to ``deadline``, or EINTR. */
int sleep_until(int64_t deadline) {
    int result = wait_called(NULL, deadline);
    return result == ETIMEDOUT ? 0 : result;
}

/* Return what ``look`` returns as soon as that isn't 0; 0 at the deadline, which may be now; or -1 with EINTR.
 * The first look comes after all others stand, so that all is there that was on its way: how much of it a program finds
 * would be chance otherwise. While they still do, it comes at once, but for some, since others may wait for a turn. */
int wait_for(looker look, void *what, int64_t deadline) { return wait_for_since(handled, look, what, deadline); }

/* The same, of which signals count that were handled since there were ``before``. */
int wait_for_since(unsigned before, looker look, void *what, int64_t deadline) {
    static __thread unsigned times, at_once;
    if (deadline <= now()) grow_tired(&times, LOOKS);
    if (page()->calm && ++at_once % LOOKS) {
        int found = look(what);
        if (found || deadline <= now()) return found;
    }
    for (;;) {
        await(deadline, NULL, 1);
        int signalled = fire_timers();
        int found = look(what);
        signalled |= handled != before;
        if (!found && !signalled && now() < deadline) continue;
        own_slot()->ends++;
        if (found || !signalled) return found;
        errno = EINTR;
        return -1;
    }
}
