/* Prints what the processor's counter says wherever it may be read, and what comes of faults; or with an argument, whether
 * it is trapped at first, and after two seconds. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static sigjmp_buf here;
static char *volatile nowhere;

static void print(const char *where) { printf("%s: %llu\n", where, __rdtsc()); }
static void on_fault(int number) { siglongjmp(here, number); }
static void *run(void *where) {
    print(where);
    return NULL;
}
static int print_mode(void) {
    int mode;
    prctl(PR_GET_TSC, &mode);
    return printf("%s\n", mode == PR_TSC_SIGSEGV ? "trapped" : "free");
}
#define CHILD(name, ...)                                                                                               \
    ({                                                                                                                 \
        int status;                                                                                                    \
        if (!fork()) {                                                                                                 \
            __VA_ARGS__;                                                                                               \
            _exit(9);                                                                                                  \
        }                                                                                                              \
        wait(&status);                                                                                                 \
        printf("%s: %d\n", name, status);                                                                              \
    })

int main(int count, char **arguments) {
    char *command[] = {"true", NULL};
    setbuf(stdout, NULL);
    if (count > 1) return print_mode() < 0 || sleep(2) || print_mode() < 0;
    unsigned processor;
    unsigned long long first = __rdtscp(&processor), spun;
    printf("processor: %u\n", processor);
    do spun = __rdtsc();
    while (spun < first + 3000000000);
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    printf("ahead of the clock: %lld\n", (long long)__rdtsc() - time.tv_sec * 1000000000 - time.tv_nsec);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    print("all blocked");
    signal(SIGSEGV, on_fault);
    for (int i = 0; i < 2; i++) {
        int number = sigsetjmp(here, 1);
        if (!number) *nowhere = 1;
        printf("handled: %d\n", number);
    }
    print("after faults");
    pthread_t thread;
    pthread_create(&thread, NULL, run, "thread");
    pthread_join(thread, NULL);
    CHILD("fork", print("child"); _exit(0));
    CHILD("execl", execl("/bin/true", "true", NULL));
    CHILD("execle", execle("/bin/true", "true", NULL, environ));
    CHILD("execlp", execlp("true", "true", NULL));
    CHILD("execv", execv("/bin/true", command));
    CHILD("execvp", execvp("true", command));
    CHILD("execve", execve("/bin/true", command, environ));
    printf("system: %d\n", system("true"));
    execv("/none", command);
    print("after what isn't there");
    signal(SIGSEGV, SIG_DFL);
    CHILD("fault", *nowhere = 1);
    CHILD("signal", raise(SIGSEGV));
    return 0;
}
