#pragma once

#include <signal.h>

/* Has a thread find out whether it spins. */
#define SPIN_SIGNAL (SIGRTMIN + 7)

#pragma GCC visibility push(hidden)
void spin_begin(void);
#pragma GCC visibility pop
