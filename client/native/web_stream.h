/* RFB in the binary messages of a WebSocket (RFC 6455): the client's end, without I/O; the twin of the protocol
 * package's web_stream.py. */
#ifndef PLURIVERSE_WEB_STREAM_H
#define PLURIVERSE_WEB_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest head of a message: its first two bytes, a length of eight, a mask of four. */
#define WEB_MAX_HEAD 14
#define WEB_MAX_CONTROL 125

enum web_opcode { WEB_CONTINUATION = 0, WEB_BINARY = 2, WEB_CLOSE = 8, WEB_PING = 9, WEB_PONG = 10 };

struct web_stream {
    uint64_t left; /* of the message that comes, so many bytes are still to come */
    enum web_opcode opcode;
    uint8_t head[WEB_MAX_HEAD];
    size_t head_size;
    uint8_t control[WEB_MAX_CONTROL];
    size_t control_size;
};

enum web_kind {
    WEB_NOTHING, /* a part of a head, or of what is of no account */
    WEB_BYTES,   /* of the stream */
    WEB_ASKED,   /* a ping: its bytes are to be sent back */
    WEB_CLOSED,  /* bytes: why */
    WEB_INVALID,
};

struct web_part {
    enum web_kind kind;
    const uint8_t *bytes;
    size_t size;
};

/* Reads the first so many bytes, and says what they were; at least one. */
size_t web_stream_read(struct web_stream *stream, const uint8_t *data, size_t size, struct web_part *part);
/* Writes a whole message to out, which has room for WEB_MAX_HEAD more than size; returns its size. */
size_t web_stream_write(uint8_t *out, enum web_opcode opcode, const uint8_t *data, size_t size);

#endif
