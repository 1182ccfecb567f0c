#pragma once

#include <signal.h>

#pragma GCC visibility push(hidden)
void tsc_begin(void);
/* Do what sigaction does, if it is of the signal by which the counter is trapped. */
int tsc_handles(int number, const struct sigaction *wanted, struct sigaction *before);
/* A thread waits: it need not be trapped for ever. */
void tsc_rest(void);
/* What a thread executes, or spawns, has its start before it has our handler: let go, and trap as ``before`` again. */
int tsc_let_go(void);
void tsc_trap(int before);
#define LET_GO(call)                                                                                                   \
    ({                                                                                                                 \
        int before = tsc_let_go(), error = call;                                                                       \
        tsc_trap(before);                                                                                              \
        error;                                                                                                         \
    })
#pragma GCC visibility pop
