/* A program in a terminal with all that might not come back: threads in each kind of wait, a recursive mutex that is held
 * by one that sleeps, threads and children that come and go, timers, pipes, signals, watches of files, and a file. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#define counter() __rdtsc()
#else
#define counter() 0ull
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static long counts[16], queue;
static __thread long own;
static volatile sig_atomic_t alarms, children, users;
static int pipes[2], event, watched;
static pthread_t listener;

static void on_alarm(int number) { (void)number; alarms++; }
static void on_child(int number) { (void)number; children++; }
static void on_user(int number) { (void)number; users += pthread_self() == listener ? 1 : 1000; }

/* A thread that is to leave the process' signals to the first one: else the kernel chooses, by what that one does. */
static void start(pthread_t *thread, void *(*body)(void *), void *given) {
    sigset_t process, before;
    sigemptyset(&process);
    sigaddset(&process, SIGALRM);
    sigaddset(&process, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &process, &before);
    pthread_create(thread, NULL, body, given);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
static void *produce(void *given) {
    for (;;) {
        usleep(13000);
        pthread_mutex_lock(&mutex);
        queue++;
        counts[0]++;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
        own++;
    }
    return given;
}
static void *consume(void *given) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (!queue) pthread_cond_wait(&condition, &mutex);
        queue--;
        counts[1]++;
        pthread_mutex_unlock(&mutex);
        if (++own % 3 == 0) sem_post(&semaphore);
    }
    return given;
}
static void *take(void *given) {
    for (;;) {
        while (sem_wait(&semaphore)) continue;
        counts[2] += ++own;
    }
    return given;
}
static void *hold(void *given) {
    for (;;) {
        if (pthread_mutex_lock(&recursive)) abort();
        usleep(31000);
        if (pthread_mutex_trylock(&recursive)) {
            counts[3] = -999999;
            continue;
        }
        usleep(9000);
        counts[3]++;
        if (pthread_mutex_unlock(&recursive) || pthread_mutex_unlock(&recursive)) counts[3] = -888888;
        usleep(2000);
    }
    return given;
}
static void *contend(void *given) {
    for (;;) {
        pthread_mutex_lock(&recursive);
        counts[4]++;
        pthread_mutex_unlock(&recursive);
        usleep(1000);
    }
    return given;
}
static void *read_pipe(void *given) {
    for (char byte;;)
        if (read(pipes[0], &byte, 1) == 1) counts[5] += byte;
    return given;
}
static void *listen_to(void *given) {
    int all = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec often = {{0, 70000000}, {0, 70000000}};
    timerfd_settime(timer, 0, &often, NULL);
    struct epoll_event events[] = {{EPOLLIN, {.fd = timer}}, {EPOLLIN, {.fd = event}}, {EPOLLIN, {.fd = watched}}};
    for (int i = 0; i < 3; i++) epoll_ctl(all, EPOLL_CTL_ADD, events[i].data.fd, &events[i]);
    for (;;) {
        struct epoll_event got[8];
        uint64_t value;
        char news[4096];
        int count = epoll_wait(all, got, 8, 500);
        counts[12] = users;
        while (count-- > 0) {
            int file = got[count].data.fd;
            if (file == watched) counts[10] += read(watched, news, sizeof news) > 0;
            else if (read(file, &value, sizeof value) == sizeof value) counts[file == timer ? 6 : 7] += value;
        }
    }
    return given;
}
static void *be_brief(void *given) {
    usleep(150000);
    counts[8]++;
    return (void *)((long)given * 3 + random() % 2);
}

int main(void) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &how);
    sem_init(&semaphore, 0, 0);
    pipe(pipes);
    event = eventfd(0, 0);
    watched = inotify_init();
    FILE *file = fopen("written.txt", "w+");
    setvbuf(file, NULL, _IONBF, 0);
    inotify_rm_watch(watched, inotify_add_watch(watched, "/", IN_DELETE));
    inotify_add_watch(watched, "written.txt", IN_MODIFY);
    signal(SIGALRM, on_alarm);
    signal(SIGCHLD, on_child);
    signal(SIGUSR1, on_user);
    struct itimerval often = {{0, 90000}, {0, 90000}};
    setitimer(ITIMER_REAL, &often, NULL);
    void *(*all[])(void *) = {produce, consume, take, hold, contend, read_pipe, listen_to};
    for (int i = 0; i < 7; i++) start(&listener, all[i], NULL);
    pid_t child = 0, killed = 0;
    long waited = 0, lines = 0, ended = 0, signalled = 0;
    int from_child[2];
    pthread_t last = 0;
    for (long i = 0;; i++) {
        if (!child) {
            pipe(from_child);
            if (!(child = fork())) {
                for (int k = 0; k < 12; k++) {
                    usleep(70000);
                    write(from_child[1], "x", 1);
                }
                _exit(42);
            }
            close(from_child[1]);
        }
        char byte;
        if (i % 4 == 0 && read(from_child[0], &byte, 1) == 1) lines++;
        int status;
        pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child) {
            waited += WEXITSTATUS(status);
            ended++;
            child = 0;
            close(from_child[0]);
        } else if (got < 0) waited = -777777;
        if (i % 10 == 3 && !(killed = fork()))
            for (;;) pause();
        if (i % 10 == 8) {
            kill(killed, SIGTERM);
            siginfo_t info;
            int error = waitid(P_PID, (id_t)killed, &info, WEXITED);
            if (error || info.si_pid != killed || info.si_status != SIGTERM) signalled = -666666;
            signalled++;
        }
        if (i % 25 == 7) {
            FILE *shell = popen("echo 7", "r");
            char text[8] = "";
            while (read(fileno(shell), text, sizeof text - 1) < 0) continue;
            counts[11] += atol(text) + WEXITSTATUS(pclose(shell));
        }
        if (i % 5 == 0) {
            if (last) {
                void *result;
                pthread_join(last, &result);
                counts[9] += (long)result;
            }
            start(&last, be_brief, (void *)i);
        }
        if (i % 6 == 0) pthread_kill(listener, SIGUSR1);
        byte = (char)(1 + i % 7);
        write(pipes[1], &byte, 1);
        uint64_t value = (uint64_t)i % 3 + 1;
        write(event, &value, sizeof value);
        fprintf(file, "%ld\n", i);
        long sum = 0, number;
        rewind(file);
        while (fscanf(file, "%ld", &number) == 1) sum += number;
        fseek(file, 0, SEEK_END);
        printf("%ld q%ld", i, queue);
        for (int k = 0; k < 13; k++) printf(" %ld", counts[k]);
        printf(" a%d c%d w%ld l%ld e%ld s%ld f%ld r%ld t%llu\n", (int)alarms, (int)children, waited, lines,
               ended, signalled, sum, random() % 1000, counter());
        fflush(stdout);
        usleep(20000);
    }
}
