/* What the parts of the preloaded library know of each other. */
#pragma once

#include "page.h"
#include "real.h"
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <time.h>

/* Where the page is; the controller sets it. */
#define PAGE_VARIABLE "PLURIVERSE_CLOCK"

/* Programs have functions of these names, too. */
#pragma GCC visibility push(hidden)

/* slot.c: this program's page and this thread's slot. */
struct page *page(void);
struct slot *claim_slot(int pid, int tid);
struct slot *own_slot(void);
void adopt_slot(struct slot *slot);
void free_slot(struct slot *slot);
void stir(void);

/* wait.c: what all waiting comes down to. */
typedef int (*looker)(void *what);
void tell(void);
void take_first_turn(void);
void take_turn(void);
int wait_called(const void *object, int64_t deadline);
int call(const void *object, int most);
int call_later(const void *object, const void *other, int most);
int sleep_until(int64_t deadline);
int wait_for(looker look, void *what, int64_t deadline);
int wait_for_since(unsigned before, looker look, void *what, int64_t deadline);
unsigned interrupts(void);
void interrupt(void);

/* clock.c */
int64_t clock_offset(clockid_t clock);
void grow_tired(unsigned *times, unsigned limit);
int64_t read_clock(void);

/* asked.c */
void count_asked(const char *what, const void *caller);
#define ASK(what)                                                                                                      \
    do {                                                                                                               \
        if (page()->counting) count_asked(what, __builtin_return_address(0));                                         \
    } while (0)

/* machine.c */
#define TOLD_BYTES 256
size_t machine_told(const char *path, char text[static TOLD_BYTES]);

/* heap.c */
void heap_begin(void);

/* names.c */
void names_begin(void);
int names_hold(int file);
char *names_of(const char *path);
void names_follow(void);
int names_spawn(int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                             char *const[], char *const[]),
                pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *how,
                char *const argv[], char *const env[]);

/* timers.c */
int64_t next_timer(void);
int fire_timers(void);
void forget_timers(void);
void set_alone(int file);
int64_t alone_until(int file);

static inline int64_t now(void) { return atomic_load_explicit(&page()->now, memory_order_acquire); }
static inline int64_t later(int64_t ns) { return ns < NEVER - now() ? now() + ns : NEVER; }

#pragma GCC visibility pop
