/* Timers: descriptors, signals and threads that come at a time. Who waits next in a process waits for its timers, too. */
#include "lockstep.h"
#include "watches.h"
#include "world.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define TIMERS 64

/* ``file`` is an event descriptor in a timer's place, or below 0: then it does what ``event`` says. */
enum { OF_THE_PROCESS = -1, CREATED = -2 };
static struct timer {
    int used, file;
    clockid_t clock;
    int64_t at, every;
    int overrun;
    struct sigevent event;
    int is_alone;
} timers[TIMERS];

static struct timer *timer_of(int file) {
    for (int i = 0; i < TIMERS; i++)
        if (timers[i].used && timers[i].file == file) return &timers[i];
    return NULL;
}
static struct timer *new_timer(int file, clockid_t clock) {
    for (int i = 0; i < TIMERS; i++)
        if (!timers[i].used) {
            timers[i] = (struct timer){1, file, clock, NEVER, 0, 0, {.sigev_signo = SIGALRM}, 0};
            return &timers[i];
        }
    errno = EMFILE;
    return NULL;
}

int64_t next_timer(void) {
    int64_t next = NEVER;
    for (int i = 0; i < TIMERS; i++)
        if (timers[i].used && timers[i].at < next) next = timers[i].at;
    return next;
}

/* A timer that only those set who wait for it: what they wait for comes by itself, and nobody has to look meanwhile. */
void set_alone(int file) {
    struct timer *timer = timer_of(file);
    if (timer) timer->is_alone = 1;
}
/* Return when it goes off; 0: it isn't such a timer. */
int64_t alone_until(int file) {
    const struct timer *timer = file < 0 ? NULL : timer_of(file);
    return timer && timer->is_alone ? timer->at : 0;
}

static void *call_function(void *given) {
    struct timer timer = *(struct timer *)given;
    free(given);
    timer.event.sigev_notify_function(timer.event.sigev_value);
    return NULL;
}
/* Return whether this sent a signal. */
static int notify(const struct timer *timer) {
    const struct sigevent *event = &timer->event;
    if (event->sigev_notify == SIGEV_NONE) return 0;
    if (event->sigev_notify == SIGEV_THREAD) {
        pthread_t thread;
        struct timer *copy = malloc(sizeof *copy);
        if (copy) *copy = *timer;
        if (!copy || pthread_create(&thread, NULL, call_function, copy)) free(copy);
        else pthread_detach(thread);
        return 0;
    }
    siginfo_t info = {.si_signo = event->sigev_signo, .si_code = timer->file == CREATED ? SI_TIMER : SI_KERNEL};
    info.si_value = event->sigev_value;
    info.si_overrun = timer->overrun;
    int own = (int)syscall(SYS_getpid), is_for_one = event->sigev_notify == SIGEV_THREAD_ID;
    world_signals(page(), own, is_for_one ? world_thread(event->_sigev_un._tid) : own, event->sigev_signo);
    if (is_for_one)
        syscall(SYS_rt_tgsigqueueinfo, own, world_thread(event->_sigev_un._tid), info.si_signo, &info);
    else syscall(SYS_rt_sigqueueinfo, own, info.si_signo, &info);
    return 1;
}

/* Let those go off whose time has come. Return whether there was a signal. */
int fire_timers(void) {
    int signals = 0;
    for (int i = 0; i < TIMERS; i++) {
        struct timer *timer = &timers[i];
        if (!timer->used || timer->at > now()) continue;
        uint64_t times = timer->every ? (uint64_t)((now() - timer->at) / timer->every + 1) : 1;
        timer->at = timer->every ? timer->at + (int64_t)times * timer->every : NEVER;
        timer->overrun = (int)times - 1;
        if (timer->file < 0) signals += notify(timer);
        else syscall(SYS_write, timer->file, &times, sizeof times);
    }
    return signals;
}

/* What a process begins without. */
void forget_timers(void) { memset(timers, 0, sizeof timers); }

static struct timespec time_of(int64_t ns) { return (struct timespec){ns / SECOND_NS, ns % SECOND_NS}; }
static int64_t ns_of(struct timespec time) { return time.tv_sec * SECOND_NS + time.tv_nsec; }

static void set(struct timer *timer, int is_absolute, const struct itimerspec *wanted) {
    int64_t value = ns_of(wanted->it_value);
    if (value) value = is_absolute ? value - clock_offset(timer->clock) : later(value);
    timer->at = value ? value : NEVER;
    timer->every = ns_of(wanted->it_interval);
}
static void tell_left(const struct timer *timer, struct itimerspec *to) {
    int64_t left = timer && timer->at != NEVER ? timer->at - now() : 0;
    *to = (struct itimerspec){time_of(timer ? timer->every : 0), time_of(left > 0 ? left : 0)};
}

int timerfd_create(clockid_t clock, int flags) {
    int file = eventfd(0, flags);
    if (file >= 0 && !new_timer(file, clock)) {
        syscall(SYS_close, file);
        return -1;
    }
    return file;
}
int timerfd_settime(int file, int flags, const struct itimerspec *wanted, struct itimerspec *before) {
    struct timer *timer = timer_of(file);
    if (!timer) {
        errno = EINVAL;
        return -1;
    }
    if (before) tell_left(timer, before);
    /* What went off before, and was never read, counts no more. */
    uint64_t times;
    struct pollfd left = {file, POLLIN, 0};
    if (syscall(SYS_ppoll, &left, 1, &(struct timespec){0, 0}, NULL, 0) > 0) syscall(SYS_read, file, &times, sizeof times);
    set(timer, flags & TFD_TIMER_ABSTIME, wanted);
    return 0;
}
int timerfd_gettime(int file, struct itimerspec *left) {
    tell_left(timer_of(file), left);
    return 0;
}
int close(int file) {
    if (names_hold(file)) return 0;
    stir();
    struct timer *timer = file >= 0 ? timer_of(file) : NULL;
    if (timer) timer->used = 0;
    forget_watches(file);
    return (int)syscall(SYS_close, file);
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *to) {
    struct timer *timer = new_timer(CREATED, clock);
    if (!timer) return -1;
    *to = timer;
    if (event) timer->event = *event;
    else timer->event.sigev_value.sival_ptr = timer;
    return 0;
}
int timer_settime(timer_t timer, int flags, const struct itimerspec *wanted, struct itimerspec *before) {
    if (before) tell_left(timer, before);
    set(timer, flags & TIMER_ABSTIME, wanted);
    return 0;
}
int timer_gettime(timer_t timer, struct itimerspec *left) {
    tell_left(timer, left);
    return 0;
}
int timer_getoverrun(timer_t timer) { return ((struct timer *)timer)->overrun; }
int timer_delete(timer_t timer) {
    ((struct timer *)timer)->used = 0;
    return 0;
}

int getitimer(__itimer_which_t which, struct itimerval *left) {
    if (which != ITIMER_REAL) return (int)syscall(SYS_getitimer, which, left);
    struct itimerspec exact;
    tell_left(timer_of(OF_THE_PROCESS), &exact);
    left->it_interval = (struct timeval){exact.it_interval.tv_sec, exact.it_interval.tv_nsec / 1000};
    left->it_value = (struct timeval){exact.it_value.tv_sec, exact.it_value.tv_nsec / 1000};
    return 0;
}
int setitimer(__itimer_which_t which, const struct itimerval *wanted, struct itimerval *before) {
    if (which != ITIMER_REAL) return (int)syscall(SYS_setitimer, which, wanted, before);
    if (before) getitimer(which, before);
    struct timer *timer = timer_of(OF_THE_PROCESS);
    if (!timer && !(timer = new_timer(OF_THE_PROCESS, CLOCK_MONOTONIC))) return -1;
    struct timeval value = wanted->it_value, every = wanted->it_interval;
    set(timer, 0, &(struct itimerspec){{every.tv_sec, every.tv_usec * 1000}, {value.tv_sec, value.tv_usec * 1000}});
    return 0;
}
unsigned alarm(unsigned seconds) {
    struct itimerval before;
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {seconds, 0}}, &before);
    return (unsigned)before.it_value.tv_sec + (before.it_value.tv_usec > 0);
}
