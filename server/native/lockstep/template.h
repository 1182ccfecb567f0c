/* A template: a fork of a process that sleeps until it is asked to fork again. So a moment of a process is kept. */
#pragma once

/* Asks an X server for a template. */
#define XSERVER_SIGNAL (SIGRTMIN + 5)

#pragma GCC visibility push(hidden)

/* Find what the others need; before a signal may call them. */
void template_prepare(void);

/* Fork a template, which calls ``note`` and the socket ``hub``. It keeps what is in the memory that it shares with others,
 * but for the page. Return 0 in this process, and 1 in each that is made of the template, with all signals blocked. */
int template_fork(const char *hub, const void *page, void (*note)(void));

/* A process that was made of a template is all there: tell the hub, and let signals come. */
void template_begins(void);

#pragma GCC visibility pop
