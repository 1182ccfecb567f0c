/* One VNC connection after its handshake, served by a small pool of threads (pool.c) that need no GIL. */
#ifndef PLURIVERSE_CONNECTION_H
#define PLURIVERSE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frames.h"
#include "rfb_decoder.h"

enum connection_failure {
    CONNECTION_FINE,
    CONNECTION_INVALID, /* the server sent what it must not: see rfb_error */
    CONNECTION_LOST,    /* the server hung up, or the network broke */
    CONNECTION_SILENT,  /* the server owes an answer for too long */
    CONNECTION_STALLED, /* the server doesn't read what it is sent */
};

struct connection_options {
    int width, height;
    bool continuous; /* updates without requests, where the server can */
    struct rfb_decoder_options decoder;
    double silence_s;
    int waker; /* an eventfd to write to when there is a frame, or a failure; -1: none */
    const uint8_t *leftover; /* what came with the last bytes of the handshake */
    size_t leftover_size;
    int64_t web_left; /* RFB is in a WebSocket, of whose message so many bytes are still to come; -1: it is in none */
};

struct connection_state {
    int width, height;
    bool extended_buttons; /* see rfb_decoder_extended_buttons */
    uint64_t updates, pixels;
    enum connection_failure failure;
    enum rfb_error error;
    char message[200];
};

struct connection;

/* Takes over the socket, whatever happens. NULL: errno says why. */
struct connection *connection_open(int fd, const struct connection_options *options);
/* Sends now, or as soon as the server reads. False: the connection is closed or has failed. */
bool connection_send(struct connection *connection, const uint8_t *data, size_t size);
/* See frames_take. */
struct frame *connection_take(struct connection *connection);
bool connection_is_fresh(struct connection *connection);
bool connection_is_alive(struct connection *connection);
void connection_state(struct connection *connection, struct connection_state *state);
/* Sends what is still to be sent, hangs up, and waits until no thread of the pool knows the connection any more. */
void connection_close(struct connection *connection);

/* Frees it, after it was closed. */
void connection_free(struct connection *connection);

#endif
