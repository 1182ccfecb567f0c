/* Decodes what an RFB server says after ServerInit, straight into a framebuffer of RGB bytes. Knows no sockets, no
 * threads, no Python. The client has set the pixel format to 32 bits, little-endian, red 16, green 8, blue 0. */
#ifndef PLURIVERSE_RFB_DECODER_H
#define PLURIVERSE_RFB_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rfb_picture.h"

enum rfb_error {
    RFB_FINE,
    RFB_OUT_OF_MEMORY,
    RFB_UNKNOWN_MESSAGE,
    RFB_UNKNOWN_ENCODING,
    RFB_BAD_GEOMETRY,    /* a rectangle, tile or screen that doesn't fit */
    RFB_LIMIT_EXCEEDED,  /* more than rfb_limits.h allows */
    RFB_BAD_DATA,        /* compressed or tiled data that can't mean anything */
    RFB_BAD_WEB_SOCKET,  /* of a connection: the WebSocket around it is none */
};

enum rfb_event_kind {
    RFB_UPDATE_FINISHED,      /* count rectangles, pixels */
    RFB_RESIZED,              /* width, height */
    RFB_BELL,
    RFB_CLIPBOARD,            /* data, size: ISO 8859-1 */
    RFB_FENCE,                /* flags, data, size */
    RFB_END_OF_CONTINUOUS_UPDATES,
    RFB_CURSOR,               /* x, y: the hotspot; width, height; data: width*height BGRX, then the mask's rows */
};

struct rfb_event {
    enum rfb_event_kind kind;
    int x, y, width, height;
    uint32_t flags;
    int rectangles;
    uint64_t pixels;
    const uint8_t *data; /* valid during the call only */
    size_t size;
};

/* Who owns the decoder. All are called from within rfb_decoder_feed, by its thread. */
struct rfb_owner {
    void *context;
    /* A framebuffer of width*height*3 zero bytes to go on with, or NULL: out of memory. The owner frees the old one. */
    uint8_t *(*resize)(void *context, int width, int height);
    /* An update begins: its rectangles will now be written into the framebuffer. May be NULL. */
    void (*update_begins)(void *context);
    /* This part of the picture changed, or, where it is empty, something else on the screen. May be NULL. */
    void (*painted)(void *context, const struct rfb_region *part);
    /* False: out of memory. */
    bool (*event)(void *context, const struct rfb_event *event);
};

struct rfb_decoder;

/* `regions` are copied; a count of 0 is the whole screen. What lies outside of all of them may stay as it was; JPEG
 * tiles there aren't even decoded. */
struct rfb_decoder_options {
    const struct rfb_region *regions;
    size_t region_count;
    struct rfb_picture_options picture;
};

/* Why no screen can have this size, or NULL: it can. */
const char *rfb_screen_fault(int width, int height);

/* `pixels` is the owner's, width*height*3 bytes. NULL: out of memory. */
struct rfb_decoder *rfb_decoder_new(int width, int height, uint8_t *pixels, const struct rfb_decoder_options *options,
                                    const struct rfb_owner *owner);
void rfb_decoder_free(struct rfb_decoder *decoder);

/* Any chunking gives the same result. After an error the decoder is dead: it returns the same error for ever. */
enum rfb_error rfb_decoder_feed(struct rfb_decoder *decoder, const uint8_t *data, size_t size);

/* What was wrong, in words. */
const char *rfb_decoder_message(const struct rfb_decoder *decoder);
int rfb_decoder_width(const struct rfb_decoder *decoder);
int rfb_decoder_height(const struct rfb_decoder *decoder);
/* Whether the server takes pointer events with nine buttons. */
bool rfb_decoder_extended_buttons(const struct rfb_decoder *decoder);
uint64_t rfb_decoder_updates(const struct rfb_decoder *decoder);
uint64_t rfb_decoder_pixels(const struct rfb_decoder *decoder);
/* What is made of the screen; lives as long as the decoder. */
const struct rfb_picture *rfb_decoder_picture(const struct rfb_decoder *decoder);
/* Whether the server owes the rest of a message. */
bool rfb_decoder_mid_message(const struct rfb_decoder *decoder);

#endif
