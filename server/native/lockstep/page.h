/* The page that a clock's programs and its controller share. A slot is a thread; its state is the futex on which that
 * thread waits for its turn. Only one thread has its turn at a time: whose it is next is the controller's to say. */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_MAGIC 0x706c6b31u
#define SLOTS 256
#define SECOND_NS 1000000000LL
#define NEVER INT64_MAX

/* The two lower bits of a slot's state. RUNS is also what a slot is whose thread is only being made. */
enum { FREE, RUNS, WAITS, READY, PHASE = 3 };

/* Above them: why its wait is over. The last is an order to fork a template (world.c), after which it waits on. */
enum { DUE = 0, LOOK = 4, CALLED = 8, INTERRUPTED = 12, FORK = 16 };

struct slot {
    _Atomic uint32_t state;
    _Atomic uint32_t looks; /* whether it waits for something that it has to look at itself: a descriptor, a child */
    _Atomic uint32_t ends;  /* how many of its waits have come to an end */
    _Atomic int32_t pid, tid;
    _Atomic uint32_t spins; /* whether it was found out to */
    _Atomic int64_t deadline;
    _Atomic uint64_t order;  /* of those that wait or are ready, who came first */
    _Atomic uint64_t object; /* the condition or semaphore that it waits for, an address of its process */
    char unused[72];
};

/* How often something was asked for by a module: a program or a library. Its names hold once it is NAMED. */
#define ASKED 256
enum { UNUSED, NAMING, NAMED };
struct asked {
    _Atomic uint32_t state;
    _Atomic uint32_t times;
    char what[24];
    char module[96];
};

/* A process that was made again, and who its parent takes it for: neither is the other's child for the kernel. Below 0,
 * pid and parent are those of an ancestor that is yet to be made again. */
#define KIN 64
/* Who a program's first process takes itself for: some draw from that number. */
#define FIRST 1000
enum { NOBODY, ALIVE, DEAD };
struct kin {
    _Atomic int32_t state, parent, named, pid, status;
};

/* What is played, as programs add it up: frame n of all time at n % SOUND_RING, until it was heard. No program may have more
 * than SOUND_BUFFER frames ahead, so there is as much for who hears late, in real time. */
#define SOUND_RATE 44100
#define SOUND_CHANNELS 2
#define SOUND_BUFFER 8192
#define SOUND_RING (2 * SOUND_BUFFER)
struct sound {
    _Atomic int32_t ring[SOUND_RING][SOUND_CHANNELS];
};
/* The frame of a time. Frames of a program begin at whole nanoseconds, so these at the nearest. */
static inline int64_t sound_position(int64_t ns) {
    return ns / SECOND_NS * SOUND_RATE + (ns % SECOND_NS * SOUND_RATE + SECOND_NS / 2) / SECOND_NS;
}

/* As long as a Unix socket's. */
#define PATH_BYTES 108

struct page {
    _Atomic uint32_t magic;
    _Atomic uint32_t claiming; /* a lock, held while slots are given out */
    _Atomic uint32_t news;     /* counts what the controller may wait for; a futex */
    _Atomic uint32_t listening;
    _Atomic uint32_t used; /* slots from here on were never used */
    _Atomic uint64_t orders;
    /* Whether, since all stood, the thread that has its turn did nothing that others could notice: it may look at once. */
    _Atomic uint32_t calm;
    _Atomic int64_t now; /* of CLOCK_MONOTONIC, in ns */
    int64_t epoch;       /* what CLOCK_REALTIME is ahead of it */
    int64_t frame;       /* between two buffer swaps, in ns */
    uint64_t seed;
    _Atomic uint32_t counting; /* whether to count what is asked for */
    struct slot slots[SLOTS];
    struct asked asked[ASKED];
    struct kin kin[KIN];
    _Atomic int32_t first; /* the first process */
    struct sound sound;
    /* From here on: of this page, also when another moment is put back. */
    char path[PATH_MAX];     /* its own */
    char hub[PATH_BYTES];    /* the socket that templates call */
    char home[PATH_MAX];     /* what HELD_HOME is, if the program has it so */
    char screen[PATH_BYTES]; /* where the X server of a world that was made again listens, whatever DISPLAY says */
    _Atomic uint32_t left;   /* whether time is real again, for the X server of a program that has no such clock */
};
#define OF_THE_PAGE offsetof(struct page, path)
