/* Reading the clock, sleeping, and buffer swaps, each of which waits for the next frame. */
#include "lockstep.h"

#include <errno.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* Reading the clock takes time, or loops that wait by reading it would never end. */
#define READS 4
#define TIRED_NS 400000

/* What a clock is ahead of the page's. */
int64_t clock_offset(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ? page()->epoch : 0;
}

/* Sleep a little if this was called ``limit`` times while the clock stood. */
void grow_tired(unsigned *times, unsigned limit) {
    static __thread int64_t at;
    if (now() != at) {
        at = now();
        *times = 0;
    }
    if (++*times < limit) return;
    *times = 0;
    sleep_until(later(TIRED_NS));
}

int64_t read_clock(void) {
    static __thread unsigned times;
    grow_tired(&times, READS);
    return now();
}

static int64_t ns_of(const struct timespec *time) { return time->tv_sec * SECOND_NS + time->tv_nsec; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    ASK("clock_gettime");
    int64_t ns = read_clock() + clock_offset(clock);
    *time = (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
    return 0;
}
int gettimeofday(struct timeval *time, void *zone) {
    ASK("gettimeofday");
    (void)zone;
    int64_t ns = read_clock() + page()->epoch;
    *time = (struct timeval){ns / SECOND_NS, ns % SECOND_NS / 1000};
    return 0;
}
time_t time(time_t *to) {
    ASK("time");
    time_t seconds = (read_clock() + page()->epoch) / SECOND_NS;
    if (to) *to = seconds;
    return seconds;
}
int timespec_get(struct timespec *time, int base) {
    ASK("timespec_get");
    clock_gettime(CLOCK_REALTIME, time);
    return base;
}
clock_t clock(void) {
    ASK("clock");
    return read_clock() / (SECOND_NS / CLOCKS_PER_SEC);
}
clock_t times(struct tms *used) {
    ASK("times");
    if (used) memset(used, 0, sizeof *used);
    return read_clock() / (SECOND_NS / sysconf(_SC_CLK_TCK));
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    int64_t deadline = flags & TIMER_ABSTIME ? ns_of(time) - clock_offset(clock) : later(ns_of(time));
    int error = sleep_until(deadline);
    if (left && !(flags & TIMER_ABSTIME)) {
        int64_t ns = error && deadline > now() ? deadline - now() : 0;
        *left = (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
    }
    return error;
}
int nanosleep(const struct timespec *time, struct timespec *left) {
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
    if (error) errno = error;
    return error ? -1 : 0;
}
int usleep(useconds_t us) { return nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000L}, NULL); }
unsigned sleep(unsigned seconds) {
    struct timespec left = {0, 0};
    nanosleep(&(struct timespec){seconds, 0}, &left);
    return (unsigned)left.tv_sec + (left.tv_nsec > 0);
}
int thrd_sleep(const struct timespec *time, struct timespec *left) { return nanosleep(time, left); }
int sched_yield(void) {
    static __thread unsigned times;
    grow_tired(&times, READS);
    take_turn();
    return 0;
}

void thrd_yield(void) { sched_yield(); }

/* ── buffer swaps ───────────────────────────────────────────────────────────────────────────────────────────────────── */

void SDL_GL_SwapWindow(void *window);
void SDL_GL_SwapBuffers(void);
void SDL_RenderPresent(void *renderer);
int SDL_UpdateWindowSurface(void *window);
void glXSwapBuffers(void *display, unsigned long drawable);
unsigned eglSwapBuffers(void *display, void *surface);

struct sought {
    const char *name;
    void *found, *ours;
};
static int seek_in(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct sought *sought = data;
    void *library = info->dlpi_name && *info->dlpi_name ? dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!library) return 0;
    void *found = dlsym(library, sought->name);
    dlclose(library);
    if (!found || found == sought->ours) return 0;
    sought->found = found;
    return 1;
}
/* Also of libraries that were loaded for one module alone, as Perl's and Python's are. */
static void *seek(const char *name, void *ours) {
    struct sought sought = {name, dlsym(RTLD_NEXT, name), ours};
    if (!sought.found) dl_iterate_phdr(seek_in, &sought);
    return sought.found;
}
#define SWAP(name, ...)                                                                                                \
    ({                                                                                                                 \
        static __typeof__(name) *real;                                                                                 \
        if (!real) real = (__typeof__(name) *)seek(#name, (void *)name);                                               \
        swaps++;                                                                                                       \
        real(__VA_ARGS__);                                                                                             \
    })

/* One swap may call another. */
static __thread int swaps;
static void swapped(void) {
    if (--swaps) return;
    int64_t frame = page()->frame;
    sleep_until((now() / frame + 1) * frame);
}
void SDL_GL_SwapWindow(void *window) {
    SWAP(SDL_GL_SwapWindow, window);
    swapped();
}
void SDL_GL_SwapBuffers(void) {
    SWAP(SDL_GL_SwapBuffers);
    swapped();
}
void SDL_RenderPresent(void *renderer) {
    SWAP(SDL_RenderPresent, renderer);
    swapped();
}
int SDL_UpdateWindowSurface(void *window) {
    int result = SWAP(SDL_UpdateWindowSurface, window);
    swapped();
    return result;
}
void glXSwapBuffers(void *display, unsigned long drawable) {
    SWAP(glXSwapBuffers, display, drawable);
    swapped();
}
unsigned eglSwapBuffers(void *display, void *surface) {
    unsigned result = SWAP(eglSwapBuffers, display, surface);
    swapped();
    return result;
}
