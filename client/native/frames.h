/* Completed frames of one screen: the decoder's thread publishes, one reader takes. Never torn, never copied twice.
 * The caller holds a lock around every call; only the pixels of a taken frame are read without it. */
#ifndef PLURIVERSE_FRAMES_H
#define PLURIVERSE_FRAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame, with as many owners as hold a reference: the frames below, and each array that shows it. */
struct frame {
    atomic_int references;
    int width, height, channels;
    uint64_t updates, pixels;
    double at; /* UNIX seconds */
    uint8_t bytes[];
};

struct frame_options {
    int scale; /* each pixel is the mean of scale*scale */
    bool grey; /* one channel, the luma of ITU-R BT.601 */
};

struct frames {
    struct frame_options options;
    int width, height; /* the screen's */
    int tiles_across, tiles_down;
    struct frame *fronts[2];
    /* One byte a tile: whether the front lacks what was painted there. */
    uint8_t *stale[2];
    bool painted; /* since the last publication */
    int latest;   /* the front that was published last, or -1 */
    int taken;    /* the front that the reader has, or -1 */
};

void frames_begin(struct frames *frames, struct frame_options options);
/* Begins anew for a screen of this size; frames that were taken stay as they are. False: out of memory. */
bool frames_resize(struct frames *frames, int width, int height);
void frames_end(struct frames *frames);
void frames_painted(struct frames *frames, int x, int y, int width, int height);
/* Makes the screen's pixels (RGB) the latest frame, if anything was painted. True: there is a new frame. */
bool frames_publish(struct frames *frames, const uint8_t *screen, uint64_t updates, uint64_t pixels, double at);
/* The latest frame if it wasn't taken yet, else NULL; the caller drops it. It stays as it is for as long as it is kept,
 * but memory is used again, instead of more being taken, where it is dropped before the frame after the next. */
struct frame *frames_take(struct frames *frames);

void frame_keep(struct frame *frame);
void frame_drop(struct frame *frame);

#endif
