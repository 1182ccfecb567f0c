/* Says what differs between two runs of a program in real time: addresses, random numbers, dates, who comes first. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static char order[65];
static int count;
static void *run(void *name) {
    for (int i = 0; i < 16; i++) {
        pthread_mutex_lock(&mutex);
        order[count++] = *(char *)name;
        if (i % 3 == 0) pthread_cond_broadcast(&condition);
        if (i % 5 == 0 && count < 40) pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
        if (i % 4 == 0) usleep(1);
    }
    pthread_cond_broadcast(&condition);
    return NULL;
}

/* As much of a file as is read at once. */
static void print(const char *path) {
    char text[4096] = "";
    FILE *file = fopen(path, "r");
    if (file && fread(text, 1, sizeof text - 1, file)) printf("%s: %s", path, text);
}

int main(void) {
    unsigned number, other, third;
    getrandom(&number, sizeof number, 0);
    FILE *file = fopen("/dev/urandom", "r");
    if (fread(&other, sizeof other, 1, file) != 1) return 1;
    if (read(__open64_2("/dev/urandom", O_RDONLY), &third, sizeof third) != sizeof third) return 1;
    printf("%p %u %u %ld\n", malloc(100), number, other ^ third, (long)time(NULL));
    file = fopen("/proc/uptime", "r");
    struct sysinfo machine;
    char uptime[20];
    if (sysinfo(&machine) || fscanf(file, "%19s", uptime) != 1) return 1;
    printf("%s %ld %ld %d ", uptime, machine.uptime, sysconf(_SC_NPROCESSORS_ONLN), sched_getcpu());
    printf("%d %d\n", getpid(), getpid() == gettid() && kill(getpid(), 0) == 0);
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(folder));)
        if (atoi(entry->d_name)) printf("%s ", entry->d_name);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run, &"abcd"[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf("%s\n", order);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%ld %ld\n", used.ru_utime.tv_sec, sysconf(_SC_AVPHYS_PAGES) == get_avphys_pages() ? used.ru_maxrss : -1);
    print("/sys/devices/system/cpu/online");
    print("/proc/cpuinfo");
    print("/proc/meminfo");
    print("/proc/stat");
    return 0;
}
