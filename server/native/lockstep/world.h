/* What the others know of a process whose moments are kept, and that may be one made again. */
#pragma once

#include "page.h"
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)
void world_begin(void);
void world_forked(void);

/* A thread waits at ``here``, where it may be woken in another process; there it calls ``world_thread_begins``. */
void world_thread_waits(struct slot *slot, jmp_buf *here);
void world_thread_begins(struct slot *slot);

/* Fork a template of this process; all of its threads wait. Returns also in each process that is made of it. */
void world_fork(struct slot *slot);

/* As the kernel's, for those that were children of the process whose copy this is, too. */
pid_t world_wait(pid_t pid, int *status, int options, struct rusage *used);
/* Return a child of the ancestor that has ended, or 0 if none has, and below 0 if there is none. */
pid_t world_child(pid_t pid, int *status);
/* The kernel's number of the thread that the program knows as ``tid``. */
int world_thread(int tid);
/* A signal is about to be sent to a thread: its turn is not to depend on when it notices. */
void world_signals(struct page *shared, int pid, int tid, int number);
/* Whether a thread has a handler for a signal, and doesn't block it. */
int world_catches(int pid, int tid, int number);
#pragma GCC visibility pop
