/* Messages of a WebSocket, RFC 6455, section 5.2. */
#include "web_stream.h"

#include <string.h>
#include <sys/random.h>

#define FINAL 0x80
#define RESERVED 0x70
#define OPCODE 0x0F
#define MASKED 0x80
#define SHORT 125
#define TWO_BYTES 126
#define EIGHT_BYTES 127
#define LEAST_HEAD 2
#define MASK_BYTES 4
#define CODE_BYTES 2

static size_t smaller(size_t one, uint64_t other) {
    return one < other ? one : (size_t)other;
}

static size_t head_bytes(const struct web_stream *stream) {
    if (stream->head_size < LEAST_HEAD) return LEAST_HEAD;
    switch (stream->head[1]) {
        case TWO_BYTES: return LEAST_HEAD + 2;
        case EIGHT_BYTES: return LEAST_HEAD + 8;
        default: return LEAST_HEAD;
    }
}

/* A control message is whole. */
static void control(struct web_stream *stream, struct web_part *part) {
    size_t code = stream->opcode == WEB_CLOSE ? smaller(CODE_BYTES, stream->control_size) : 0;
    part->kind = stream->opcode == WEB_PING ? WEB_ASKED : stream->opcode == WEB_CLOSE ? WEB_CLOSED : WEB_NOTHING;
    part->bytes = stream->control + code;
    part->size = stream->control_size - code;
    stream->control_size = 0;
}

/* The head is whole. */
static void begin(struct web_stream *stream, struct web_part *part) {
    const uint8_t *head = stream->head;
    bool final = head[0] & FINAL;
    stream->opcode = (enum web_opcode)(head[0] & OPCODE);
    stream->left = stream->head_size == LEAST_HEAD ? head[1] : 0;
    for (size_t i = LEAST_HEAD; i < stream->head_size; i++) stream->left = stream->left << 8 | head[i];
    stream->head_size = 0;
    if (head[0] & RESERVED) {
        part->kind = WEB_INVALID;
        return;
    }
    switch (stream->opcode) {
        case WEB_CONTINUATION:
        case WEB_BINARY: break;
        case WEB_CLOSE:
        case WEB_PING:
        case WEB_PONG:
            if (!final || stream->left > WEB_MAX_CONTROL) {
                part->kind = WEB_INVALID;
            } else if (!stream->left) {
                control(stream, part);
            }
            break;
        default: part->kind = WEB_INVALID;
    }
}

size_t web_stream_read(struct web_stream *stream, const uint8_t *data, size_t size, struct web_part *part) {
    *part = (struct web_part){WEB_NOTHING, NULL, 0};
    if (!stream->left) {
        size_t count = smaller(size, head_bytes(stream) - stream->head_size);
        memcpy(stream->head + stream->head_size, data, count);
        stream->head_size += count;
        if (stream->head_size >= LEAST_HEAD && stream->head[1] & MASKED) {
            part->kind = WEB_INVALID; /* servers mask nothing */
        } else if (stream->head_size == head_bytes(stream)) {
            begin(stream, part);
        }
        return count;
    }
    size_t count = smaller(size, stream->left);
    stream->left -= count;
    if (stream->opcode == WEB_BINARY || stream->opcode == WEB_CONTINUATION) {
        *part = (struct web_part){WEB_BYTES, data, count};
        return count;
    }
    memcpy(stream->control + stream->control_size, data, count);
    stream->control_size += count;
    if (!stream->left) control(stream, part);
    return count;
}

size_t web_stream_write(uint8_t *out, enum web_opcode opcode, const uint8_t *data, size_t size) {
    uint8_t *at = out;
    *at++ = FINAL | (uint8_t)opcode;
    if (size <= SHORT) {
        *at++ = (uint8_t)(MASKED | size);
    } else {
        int bytes = size < 1u << 16 ? 2 : 8;
        *at++ = MASKED | (bytes == 2 ? TWO_BYTES : EIGHT_BYTES);
        for (int i = bytes - 1; i >= 0; i--) *at++ = (uint8_t)((uint64_t)size >> 8 * i);
    }
    uint8_t mask[MASK_BYTES] = {0};
    /* So that nobody between takes it for something else; without, it is still valid. */
    (void)!getrandom(mask, sizeof mask, GRND_NONBLOCK);
    memcpy(at, mask, sizeof mask);
    at += sizeof mask;
    for (size_t i = 0; i < size; i++) at[i] = data[i] ^ mask[i % MASK_BYTES];
    return (size_t)(at - out) + size;
}
