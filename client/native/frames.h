/* Completed pictures of one screen: the decoder's thread publishes, one reader takes. Never torn, never copied twice.
 * The caller holds a lock around every call; only the pixels of a taken frame are read without it. */
#ifndef PLURIVERSE_FRAMES_H
#define PLURIVERSE_FRAMES_H

#include <stdatomic.h>

#include "rfb_picture.h"

/* A frame, with as many owners as hold a reference: the frames below, and each array that shows it. */
struct frame {
    atomic_int references;
    int width, height, channels;
    size_t block_bytes;
    uint64_t updates, pixels;
    double at;       /* UNIX seconds */
    uint8_t bytes[]; /* the picture's, then the block's */
};

struct frames {
    const struct rfb_picture *picture; /* the decoder's */
    int tiles_across, tiles_down;
    struct frame *fronts[2];
    /* One byte a tile: whether the front lacks what changed there. */
    uint8_t *stale[2];
    bool painted; /* since the last publication */
    int latest;   /* the front that was published last, or -1 */
    int taken;    /* the front that the reader has, or -1 */
};

/* Begins anew for a picture of the size that it has now; frames that were taken stay as they are. False: out of
 * memory. */
bool frames_begin(struct frames *frames, const struct rfb_picture *picture);
void frames_end(struct frames *frames);
/* This part of the picture changed. An empty one: something did on the screen. */
void frames_painted(struct frames *frames, const struct rfb_region *part);
/* Makes the picture the latest frame, if anything was painted. True: there is a new frame. */
bool frames_publish(struct frames *frames, uint64_t updates, uint64_t pixels, double at);
/* The latest frame if it wasn't taken yet, else NULL; the caller drops it. It stays as it is for as long as it is kept,
 * but memory is used again, instead of more being taken, where it is dropped before the frame after the next. */
struct frame *frames_take(struct frames *frames);

static inline size_t frame_picture_bytes(const struct frame *frame) {
    return (size_t)frame->width * (size_t)frame->height * (size_t)frame->channels;
}

void frame_drop(struct frame *frame);

#endif
