/* Waits in every way for a tenth of a second, or for what another thread or process does after that, and says how many
 * milliseconds each took by which clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <linux/futex.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define TENTH 100000000L

static long ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
static struct timespec in_a_tenth(clockid_t clock) {
    struct timespec then;
    clock_gettime(clock, &then);
    then.tv_nsec += TENTH;
    if (then.tv_nsec >= 1000000000) then.tv_sec++, then.tv_nsec -= 1000000000;
    return then;
}
static void is(const char *what, int good) { if (!good) printf("%s failed: %s\n", what, strerror(errno)); }
#define TIMED(what, ...) do { long began = ms(); __VA_ARGS__; printf("%s %ld\n", what, ms() - began); } while (0)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static volatile int spun;
static int ready, word, unwaited, operated, moved, owned;
static volatile sig_atomic_t alarms;
static void on_alarm(int signal) { (void)signal; alarms++; }
static void post(union sigval unused) { (void)unused; sem_post(&semaphore); }
static long futex(int *of, int what, int value, long more, int *other, int third) {
    return syscall(SYS_futex, of, what | FUTEX_PRIVATE_FLAG, value, more, other, third);
}
static void *later(void *unused) {
    is("lock", futex(&owned, FUTEX_LOCK_PI, 0, 0, NULL, 0) == 0);
    usleep(100000);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    usleep(100000);
    pthread_mutex_unlock(&mutex);
    usleep(100000);
    sem_post(&semaphore);
    usleep(100000);
    word = 1;
    futex(&word, FUTEX_WAKE, 1, 0, NULL, 0);
    usleep(100000);
    is("operation", futex(&unwaited, FUTEX_WAKE_OP, 1, 1, &operated, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_LT, 1)) == 1);
    usleep(100000);
    is("other word", futex(&moved, FUTEX_CMP_REQUEUE, 0, 1, &unwaited, 1) < 0 && errno == EAGAIN);
    is("requeue", futex(&moved, FUTEX_CMP_REQUEUE, 0, 1, &unwaited, 0) == 1);
    is("nobody", futex(&moved, FUTEX_WAKE, 1, 0, NULL, 0) == 0);
    is("the moved one", futex(&unwaited, FUTEX_WAKE, 1, 0, NULL, 0) == 1);
    usleep(100000);
    is("unlock", futex(&owned, FUTEX_UNLOCK_PI, 0, 0, NULL, 0) == 0);
    usleep(100000);
    spun = 1;
    return unused;
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct timespec tenth = {0, TENTH}, then;
    struct timeval tenth_us = {0, TENTH / 1000};
    int ends[2], many, timer;
    uint64_t times;
    struct epoll_event event;
    is("pipe", pipe(ends) == 0);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct pollfd polled = {ends[0], POLLIN, 0};
    sem_init(&semaphore, 0, 0);

    TIMED("nanosleep", is("nanosleep", nanosleep(&tenth, NULL) == 0));
    TIMED("clock_nanosleep", then = in_a_tenth(CLOCK_REALTIME); clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &then, NULL));
    TIMED("usleep", usleep(100000));
    TIMED("usleep by name", ((int (*)(useconds_t))dlsym(dlopen("libc.so.6", RTLD_LAZY), "usleep"))(100000));
    TIMED("thrd_sleep", thrd_sleep(&tenth, NULL));
    TIMED("poll", is("poll", poll(&polled, 1, 100) == 0));
    TIMED("ppoll", is("ppoll", ppoll(&polled, 1, &tenth, NULL) == 0));
    TIMED("select", is("select", select(ends[0] + 1, &set, NULL, NULL, &tenth_us) == 0));
    many = epoll_create1(0);
    TIMED("epoll_wait", is("epoll_wait", epoll_wait(many, &event, 1, 100) == 0));
    TIMED("sem_timedwait", then = in_a_tenth(CLOCK_REALTIME); is("sem", sem_timedwait(&semaphore, &then) < 0 && errno == ETIMEDOUT));
    pthread_mutex_lock(&mutex);
    TIMED("pthread_cond_timedwait", then = in_a_tenth(CLOCK_REALTIME); is("cond", pthread_cond_timedwait(&condition, &mutex, &then) == ETIMEDOUT));
    pthread_mutex_unlock(&mutex);
    TIMED("futex", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &tenth, NULL, 0));

    struct itimerspec once = {{0, 0}, {0, TENTH}}, thrice = {{0, TENTH / 4}, {0, TENTH / 2}};
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(timer, 0, &once, NULL);
    usleep(110000);
    timerfd_settime(timer, 0, &once, NULL);
    TIMED("timerfd read", is("read", read(timer, &times, 8) == 8 && times == 1));
    event.events = EPOLLIN;
    epoll_ctl(many, EPOLL_CTL_ADD, timer, &event);
    timerfd_settime(timer, 0, &thrice, NULL);
    TIMED("timerfd epoll", for (int i = 0; i < 3; i++) is("epoll", epoll_wait(many, &event, 1, -1) == 1 && read(timer, &times, 8) == 8));
    struct itimerval alarm_in = {{0, 0}, {0, TENTH / 1000}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &alarm_in, NULL);
    TIMED("setitimer", is("poll", poll(NULL, 0, -1) < 0 && errno == EINTR && alarms == 1));
    sigset_t of_timers;
    sigemptyset(&of_timers);
    sigaddset(&of_timers, SIGUSR1);
    sigprocmask(SIG_BLOCK, &of_timers, NULL);
    timer_t created;
    siginfo_t info;
    struct sigevent with_value = {.sigev_signo = SIGUSR1, .sigev_value.sival_int = 5};
    is("timer_create", timer_create(CLOCK_MONOTONIC, &with_value, &created) == 0);
    timer_settime(created, 0, &thrice, NULL);
    TIMED("a timer's signals", for (int i = 0; i < 3; i++) is("wait", sigwaitinfo(&of_timers, &info) == SIGUSR1 && info.si_value.sival_int == 5));
    timer_delete(created);
    TIMED("sigtimedwait", is("no signal", sigtimedwait(&of_timers, NULL, &tenth) < 0 && errno == EAGAIN));
    struct sigevent with_thread = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = post};
    timer_create(CLOCK_REALTIME, &with_thread, &created);
    then = in_a_tenth(CLOCK_REALTIME);
    timer_settime(created, TIMER_ABSTIME, &(struct itimerspec){{0, 0}, then}, NULL);
    TIMED("a timer's thread", sem_wait(&semaphore));
    alarms = 0;
    setitimer(ITIMER_REAL, &alarm_in, NULL);
    TIMED("pause", is("alarm", pause() < 0 && errno == EINTR && alarms == 1));

    pthread_t thread;
    pthread_create(&thread, NULL, later, NULL);
    pthread_mutex_lock(&mutex);
    TIMED("another thread's signal", while (!ready) pthread_cond_wait(&condition, &mutex));
    pthread_mutex_unlock(&mutex);
    TIMED("another thread's post", sem_wait(&semaphore));
    TIMED("another thread's futex", while (!word) futex(&word, FUTEX_WAIT, 0, 0, NULL, 0));
    TIMED("another thread's operation", while (!operated) futex(&operated, FUTEX_WAIT, 0, 0, NULL, 0));
    is("operated", operated == 3);
    TIMED("a wait that was moved", is("moved", futex(&moved, FUTEX_WAIT, 0, 0, NULL, 0) == 0));
    is("try", futex(&owned, FUTEX_TRYLOCK_PI, 0, 0, NULL, 0) < 0 && errno == EWOULDBLOCK);
    TIMED("another thread's lock", is("lock", futex(&owned, FUTEX_LOCK_PI, 0, 0, NULL, 0) == 0));
    is("unlock", futex(&owned, FUTEX_UNLOCK_PI, 0, 0, NULL, 0) == 0);
    is("not owned", futex(&owned, FUTEX_UNLOCK_PI, 0, 0, NULL, 0) < 0 && errno == EPERM);
    TIMED("a spin", while (!spun) continue);
    pthread_join(thread, NULL);

    pid_t child = fork();
    if (!child) {
        usleep(100000);
        is("write", write(ends[1], "x", 1) == 1);
        usleep(100000);
        _exit(3);
    }
    char byte;
    int status;
    TIMED("a child's byte", is("read", read(ends[0], &byte, 1) == 1));
    TIMED("a child's end", is("wait", waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3));
    char *argv[] = {"sleep", "0.1", NULL}, *shell[] = {"sh", "-c", "sleep 0.1; exit 0", NULL};
    extern char **environ;
    TIMED("a spawned program", posix_spawnp(&child, "sleep", NULL, NULL, argv, environ); waitpid(child, &status, 0));
    TIMED("a shell's child", posix_spawnp(&child, "sh", NULL, NULL, shell, environ); waitpid(child, &status, 0));
    TIMED("reading the clock", long until = ms() + 100; while (ms() < until) continue);
    TIMED("looking again and again", long until = ms() + 100; while (poll(&polled, 1, 0) == 0 && ms() < until) continue);
    return 0;
}
