/* Threads: a new one waits for its turn, and conditions, semaphores, mutexes and ends are waited for by turns. */
#include "lockstep.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int64_t at(const struct timespec *time, clockid_t clock) {
    return time->tv_sec * SECOND_NS + time->tv_nsec - clock_offset(clock);
}

struct beginning {
    void *(*function)(void *);
    void *argument;
    struct slot *slot;
};
static void *begin(void *given) {
    struct beginning beginning = *(struct beginning *)given;
    adopt_slot(beginning.slot);
    take_first_turn();
    free(given);
    return beginning.function(beginning.argument);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*function)(void *), void *argument) {
    struct beginning *beginning = malloc(sizeof *beginning);
    if (!beginning) return EAGAIN;
    *beginning = (struct beginning){function, argument, claim_slot(own_slot()->pid, 0)};
    struct slot *slot = beginning->slot;
    int error = REAL(pthread_create)(thread, how, begin, beginning);
    if (error) {
        free_slot(slot);
        free(beginning);
    }
    return error;
}

struct c11_beginning {
    thrd_start_t function;
    void *argument;
};
static void *begin_c11(void *given) {
    struct c11_beginning beginning = *(struct c11_beginning *)given;
    free(given);
    return (void *)(intptr_t)beginning.function(beginning.argument);
}
int thrd_create(thrd_t *thread, thrd_start_t function, void *argument) {
    struct c11_beginning *beginning = malloc(sizeof *beginning);
    if (!beginning) return thrd_nomem;
    *beginning = (struct c11_beginning){function, argument};
    int error = pthread_create(thread, NULL, begin_c11, beginning);
    if (error) free(beginning);
    return error ? thrd_error : thrd_success;
}

struct joined {
    pthread_t thread;
    void **result;
    int error;
};
static int look_join(void *what) {
    struct joined *joined = what;
    joined->error = pthread_tryjoin_np(joined->thread, joined->result);
    return joined->error != EBUSY;
}
int pthread_join(pthread_t thread, void **result) {
    struct joined joined = {thread, result, 0};
    while (wait_for(look_join, &joined, NEVER) < 0) continue;
    return joined.error;
}

int thrd_join(thrd_t thread, int *result) {
    void *end = NULL;
    int error = pthread_join(thread, &end);
    if (result) *result = (int)(intptr_t)end;
    return error ? thrd_error : thrd_success;
}

/* ── mutexes ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

struct locked {
    pthread_mutex_t *mutex;
    int error;
};
static int look_lock(void *what) {
    struct locked *locked = what;
    locked->error = pthread_mutex_trylock(locked->mutex);
    return locked->error != EBUSY;
}
static int lock_until(pthread_mutex_t *mutex, int64_t deadline) {
    struct locked locked = {mutex, 0};
    int result;
    while ((result = wait_for(look_lock, &locked, deadline)) < 0) continue;
    return result ? locked.error : ETIMEDOUT;
}
int pthread_mutex_lock(pthread_mutex_t *mutex) {
    int error = pthread_mutex_trylock(mutex);
    return error == EBUSY ? lock_until(mutex, NEVER) : error;
}
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time) {
    return lock_until(mutex, at(time, CLOCK_REALTIME));
}
int mtx_lock(mtx_t *mutex) { return pthread_mutex_lock((pthread_mutex_t *)mutex) ? thrd_error : thrd_success; }

/* Who waits for a mutex has its turn by the controller. The kernel would know its owner by a number that is another one in a
 * process that was made again. */
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *how, int protocol) {
    return REAL(pthread_mutexattr_setprotocol)(how, protocol == PTHREAD_PRIO_INHERIT ? PTHREAD_PRIO_NONE : protocol);
}

/* ── conditions ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

static int wait_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline) {
    pthread_mutex_unlock(mutex);
    int result = wait_called(condition, deadline);
    pthread_mutex_lock(mutex);
    /* A wait that ends without a reason is one that programs expect. */
    return result == EINTR ? 0 : result;
}
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    return wait_condition(condition, mutex, NEVER);
}
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time) {
    return wait_condition(condition, mutex, at(time, clock));
}
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time) {
    /* glibc keeps a condition's clock, which pthread_condattr_setclock gave it, in this bit. */
    clockid_t clock = condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    return pthread_cond_clockwait(condition, mutex, clock, time);
}
int pthread_cond_signal(pthread_cond_t *condition) {
    call(condition, 1);
    return 0;
}
int pthread_cond_broadcast(pthread_cond_t *condition) {
    call(condition, INT_MAX);
    return 0;
}
int cnd_wait(cnd_t *condition, mtx_t *mutex) {
    wait_condition((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, NEVER);
    return thrd_success;
}
int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *time) {
    int64_t deadline = at(time, CLOCK_REALTIME);
    return wait_condition((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, deadline) ? thrd_timedout : thrd_success;
}
int cnd_signal(cnd_t *condition) {
    call(condition, 1);
    return thrd_success;
}
int cnd_broadcast(cnd_t *condition) {
    call(condition, INT_MAX);
    return thrd_success;
}

/* ── semaphores ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Processes may share them, so they are looked at. */
static int look_semaphore(void *semaphore) { return sem_trywait(semaphore) == 0; }
static int wait_semaphore(sem_t *semaphore, int64_t deadline) {
    if (look_semaphore(semaphore)) return 0;
    int result = wait_for(look_semaphore, semaphore, deadline);
    if (result == 0) errno = ETIMEDOUT;
    return result > 0 ? 0 : -1;
}
int sem_wait(sem_t *semaphore) { return wait_semaphore(semaphore, NEVER); }
int sem_timedwait(sem_t *semaphore, const struct timespec *time) {
    return wait_semaphore(semaphore, at(time, CLOCK_REALTIME));
}
int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time) {
    return wait_semaphore(semaphore, at(time, clock));
}

/* ── futexes ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A deadline of those that don't wait. */
#define TRIES 0

static long failed(int error) {
    if (error) errno = error;
    return error ? -1 : 0;
}
static int64_t futex_deadline(int what, const struct timespec *time) {
    int command = what & FUTEX_CMD_MASK;
    if (!time) return NEVER;
    if (command == FUTEX_WAIT) return later(time->tv_sec * SECOND_NS + time->tv_nsec);
    return at(time, command == FUTEX_LOCK_PI || what & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC);
}
static int wait_futex(uint32_t *word, uint32_t value, int64_t deadline) {
    return __atomic_load_n(word, __ATOMIC_SEQ_CST) == value ? wait_called(word, deadline) : EAGAIN;
}
/* What FUTEX_WAKE_OP does with its second word; return whether those that wait for that are woken, too. */
static int operate(uint32_t *word, uint32_t what) {
    int operand = (int)(what << 8) >> 20, compared = (int)(what << 20) >> 20;
    if (what >> 28 & FUTEX_OP_OPARG_SHIFT) operand = 1 << (operand & 31);
    uint32_t before = __atomic_load_n(word, __ATOMIC_SEQ_CST), after = 0;
    do {
        switch (what >> 28 & 7) {
        case FUTEX_OP_SET: after = (uint32_t)operand; break;
        case FUTEX_OP_ADD: after = before + (uint32_t)operand; break;
        case FUTEX_OP_OR: after = before | (uint32_t)operand; break;
        case FUTEX_OP_ANDN: after = before & ~(uint32_t)operand; break;
        case FUTEX_OP_XOR: after = before ^ (uint32_t)operand; break;
        default: return -1;
        }
    } while (!__atomic_compare_exchange_n(word, &before, after, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    switch (what >> 24 & 15) {
    case FUTEX_OP_CMP_EQ: return (int)before == compared;
    case FUTEX_OP_CMP_NE: return (int)before != compared;
    case FUTEX_OP_CMP_LT: return (int)before < compared;
    case FUTEX_OP_CMP_LE: return (int)before <= compared;
    case FUTEX_OP_CMP_GT: return (int)before > compared;
    case FUTEX_OP_CMP_GE: return (int)before >= compared;
    }
    return -1;
}
static int lock_owned(uint32_t *word, int64_t deadline) {
    uint32_t own = (uint32_t)gettid(), found = 0, waited = 0;
    while (!__atomic_compare_exchange_n(word, &found, own | waited, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        if ((found & FUTEX_TID_MASK) == own) return EDEADLK;
        if (deadline == TRIES) return EAGAIN;
        __atomic_or_fetch(word, waited = FUTEX_WAITERS, __ATOMIC_SEQ_CST);
        if (wait_called(word, deadline) == ETIMEDOUT) return ETIMEDOUT;
        found = 0;
    }
    return 0;
}
static int unlock_owned(uint32_t *word) {
    if ((*word & FUTEX_TID_MASK) != (uint32_t)gettid()) return EPERM;
    __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);
    call(word, 1);
    return 0;
}
/* Do it with those that wait by turns; false: it is the kernel's alone. */
static int futex(const long given[6], long *result) {
    uint32_t *word = (uint32_t *)given[0], *other = (uint32_t *)given[4], value = (uint32_t)given[5];
    int what = (int)given[1], most = (int)given[2], more = (int)given[3], both;
    const struct timespec *time = (const struct timespec *)given[3];
    switch (what & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: *result = failed(wait_futex(word, (uint32_t)most, futex_deadline(what, time))); return 1;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: *result = call(word, most); return *result != 0;
    case FUTEX_WAKE_OP:
        both = operate(other, value);
        *result = both < 0 ? failed(ENOSYS) : call(word, most) + (both ? call(other, more) : 0);
        return 1;
    case FUTEX_CMP_REQUEUE:
    case FUTEX_REQUEUE:
        both = (what & FUTEX_CMD_MASK) == FUTEX_CMP_REQUEUE;
        if (both && *word != value) *result = failed(EAGAIN);
        else *result = call(word, most), *result += call_later(word, other, more) * both;
        return 1;
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2: *result = failed(lock_owned(word, futex_deadline(what, time))); return 1;
    case FUTEX_TRYLOCK_PI: *result = failed(lock_owned(word, TRIES)); return 1;
    case FUTEX_UNLOCK_PI: *result = failed(unlock_owned(word)); return 1;
    }
    return 0;
}
/* GLib, Mesa, Qt and Rust have locks and conditions of their own, for which they ask the kernel. */
long syscall(long number, ...) {
    long given[6];
    va_list all;
    va_start(all, number);
    for (int i = 0; i < 6; i++) given[i] = va_arg(all, long);
    va_end(all);
    long result;
    if (number == SYS_write || number == SYS_writev || number == SYS_sendto || number == SYS_sendmsg) stir();
    if (number == SYS_futex && futex(given, &result)) return result;
    if (number == SYS_clock_gettime) return clock_gettime((clockid_t)given[0], (struct timespec *)given[1]);
    if (number == SYS_getrandom) return getrandom((void *)given[0], (size_t)given[1], (unsigned)given[2]);
    return REAL(syscall)(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
