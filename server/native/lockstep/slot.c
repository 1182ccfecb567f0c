/* Threads and processes: each gets a slot before it runs, so that nobody takes it for standing meanwhile. */
#include "lockstep.h"
#include "spin.h"
#include "tsc.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct page *mapped;
static __thread struct slot *own;
static __thread struct slot *unborn;

static _Noreturn void give_up(const char *what) {
    fprintf(stderr, "the preloaded clock: %s: %s\n", what, strerror(errno));
    _exit(127);
}

static void lock_slots(void) {
    uint32_t open = 0;
    while (!atomic_compare_exchange_weak(&mapped->claiming, &open, 1)) open = 0;
}
static void unlock_slots(void) { atomic_store(&mapped->claiming, 0); }

/* Others may have something to do now. */
void stir(void) {
    if (mapped) atomic_store(&mapped->calm, 0);
}

static struct slot *slot_of(int tid) {
    for (uint32_t i = 0; i < mapped->used; i++)
        if (mapped->slots[i].tid == tid && mapped->slots[i].state != FREE) return &mapped->slots[i];
    return NULL;
}

/* The slot with which ``parent`` has spawned this process, if it hasn't noted yet whose it is. */
static struct slot *spawned_by(int parent) {
    struct slot *found = NULL;
    for (uint32_t i = 0; i < mapped->used; i++) {
        struct slot *slot = &mapped->slots[i];
        if (slot->state != RUNS || slot->tid || slot->pid != parent) continue;
        if (found) return NULL;
        found = slot;
    }
    return found;
}

/* Return the slot of thread ``tid``, or a free one; 0 is a thread that doesn't exist yet. */
struct slot *claim_slot(int pid, int tid) {
    stir();
    lock_slots();
    struct slot *slot = tid ? slot_of(tid) : NULL;
    if (!slot && tid) slot = spawned_by((int)syscall(SYS_getppid));
    uint64_t order = slot ? slot->order : atomic_fetch_add(&mapped->orders, 1);
    for (uint32_t i = 0; !slot && i < SLOTS; i++)
        if (mapped->slots[i].state == FREE) slot = &mapped->slots[i];
    if (!slot) {
        errno = EAGAIN;
        give_up("too many threads");
    }
    uint32_t number = (uint32_t)(slot - mapped->slots);
    if (number >= mapped->used) mapped->used = number + 1;
    slot->pid = pid;
    slot->tid = tid;
    slot->object = slot->spins = 0;
    slot->order = order;
    atomic_store(&slot->state, RUNS);
    unlock_slots();
    return slot;
}

void free_slot(struct slot *slot) {
    stir();
    slot->pid = slot->tid = 0;
    atomic_store(&slot->state, FREE);
    tell();
}

/* Be the thread of ``slot`` from here on. It keeps it until the controller finds that it is gone, since what a thread
 * does at its end would run beside others. */
void adopt_slot(struct slot *slot) {
    own = slot;
    slot->pid = (int)syscall(SYS_getpid);
    slot->tid = (int)syscall(SYS_gettid);
}

static void before_fork(void) { unborn = claim_slot(own_slot()->pid, 0); }
static void after_fork(void) {
    world_forked();
    adopt_slot(unborn);
    forget_timers();
    take_first_turn();
}

/* The page of this program's clock; a program that was given none doesn't run. */
struct page *page(void) {
    if (mapped) return mapped;
    const char *path = getenv(PAGE_VARIABLE);
    if (!path) {
        errno = EINVAL;
        give_up(PAGE_VARIABLE);
    }
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (file < 0) give_up(path);
    struct page *found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (found == MAP_FAILED || found->magic != PAGE_MAGIC) give_up(path);
    mapped = found;
    pthread_atfork(before_fork, NULL, after_fork);
    return mapped;
}

struct slot *own_slot(void) {
    if (!own) {
        page();
        adopt_slot(claim_slot((int)syscall(SYS_getpid), (int)syscall(SYS_gettid)));
    }
    return own;
}

/* Programs that are only loaded by a controller have no page: see control.c. */
__attribute__((constructor)) static void begin(void) {
    if (!getenv(PAGE_VARIABLE)) return;
    heap_begin();
    own_slot();
    names_begin();
    world_begin();
    spin_begin();
    tsc_begin();
    take_first_turn();
}

pid_t vfork(void) { return fork(); }

/* Between its start and its first function of ours, a program that was spawned already has a slot. */
static int spawned(struct slot *slot, int error, pid_t pid) {
    lock_slots();
    struct slot *own = error ? NULL : slot_of(pid);
    if (!error && !own) slot->pid = slot->tid = pid;
    unlock_slots();
    if (error || (own && own != slot)) free_slot(slot);
    return error;
}
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *how,
                char *const argv[], char *const env[]) {
    pid_t child = 0;
    struct slot *slot = claim_slot(own_slot()->pid, 0);
    int error = names_spawn(REAL(posix_spawn), &child, path, actions, how, argv, env);
    if (pid) *pid = child;
    return spawned(slot, error, child);
}
int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *how,
                 char *const argv[], char *const env[]) {
    pid_t child = 0;
    struct slot *slot = claim_slot(own_slot()->pid, 0);
    int error = names_spawn(REAL(posix_spawnp), &child, file, actions, how, argv, env);
    if (pid) *pid = child;
    return spawned(slot, error, child);
}
