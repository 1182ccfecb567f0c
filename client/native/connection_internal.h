/* What connection.c and pool.c share. */
#ifndef PLURIVERSE_CONNECTION_INTERNAL_H
#define PLURIVERSE_CONNECTION_INTERNAL_H

#include <pthread.h>

#include "connection.h"
#include "web_stream.h"

struct worker;

struct connection {
    unsigned generation; /* of the process: a fork's child can't use its parent's */
    int fd;
    bool web; /* RFB is in a WebSocket's messages, of the stream */
    int waker; /* an eventfd to write to when there is a frame, or a failure; -1: none */

    /* Of the pool, under its lock; the worker's end also under the connection's. */
    struct worker *worker;
    struct connection *next;
    bool closing, dropped, was_last;

    /* Of the worker alone. */
    struct rfb_decoder *decoder;
    uint8_t *screen;
    bool continuous_wanted, continuous;
    double silence_s, heard_at;
    bool probed;
    struct web_stream stream;
    bool whole; /* something was received to its end */
    struct rfb_region view; /* the part of the screen that is asked for */
    struct rfb_region wanted_view;

    /* Of everyone, under the lock. */
    pthread_mutex_t lock;
    struct frames frames;
    struct connection_state state;
    uint8_t *unsent;
    size_t unsent_size, unsent_capacity;

    atomic_bool fresh, failed;
};

/* Seconds of a clock that never jumps. */
double monotonic_now(void);

/* The worker's part; epoll's events. */
void connection_serve(struct connection *connection, uint32_t events, uint8_t *buffer, size_t buffer_size);
/* Now and then: fails a connection whose server is silent for too long. */
void connection_check(struct connection *connection, double now);

/* The pool. False: errno says why. */
bool pool_add(struct connection *connection);
/* Returns once no worker knows it; ends the worker that has nothing left to do. */
void pool_remove(struct connection *connection);
/* Under the connection's lock. Which events to tell of: reading always, writing while something is unsent. */
void pool_watch(struct connection *connection, bool writing);
/* Under the connection's lock, or by its worker. */
void pool_forget(struct connection *connection);
unsigned pool_generation(void);

#endif
