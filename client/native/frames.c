#include "frames.h"

#include <stdlib.h>
#include <string.h>

/* Small enough that a sprite doesn't drag much of the screen along, large enough that rows are worth a memcpy. */
#define TILE_SIDE 64

static struct frame *new_frame(const struct rfb_picture *picture) {
    const struct rfb_region *block = &picture->wanted.block;
    struct frame shape = {
        .width = picture->width,
        .height = picture->height,
        .channels = picture->channels,
        .block_bytes = (size_t)block->width * (size_t)block->height * RGB_BYTES,
    };
    struct frame *frame = calloc(1, sizeof *frame + frame_picture_bytes(&shape) + shape.block_bytes);
    if (!frame) return NULL;
    memcpy(frame, &shape, sizeof shape);
    atomic_init(&frame->references, 1);
    return frame;
}

void frame_drop(struct frame *frame) {
    if (frame && atomic_fetch_sub(&frame->references, 1) == 1) free(frame);
}

void frames_end(struct frames *frames) {
    for (int i = 0; i < 2; i++) {
        frame_drop(frames->fronts[i]);
        free(frames->stale[i]);
    }
    memset(frames, 0, sizeof *frames);
    frames->latest = frames->taken = -1;
}

bool frames_begin(struct frames *frames, const struct rfb_picture *picture) {
    frames_end(frames);
    frames->picture = picture;
    frames->tiles_across = (picture->width + TILE_SIDE - 1) / TILE_SIDE;
    frames->tiles_down = (picture->height + TILE_SIDE - 1) / TILE_SIDE;
    for (int i = 0; i < 2; i++) {
        frames->fronts[i] = new_frame(picture);
        frames->stale[i] = calloc((size_t)frames->tiles_across, (size_t)frames->tiles_down);
        if (!frames->fronts[i] || !frames->stale[i]) return false;
    }
    return true;
}

void frames_painted(struct frames *frames, const struct rfb_region *part) {
    frames->painted = true;
    if (part->width == 0 || part->height == 0) return;
    int first = part->x / TILE_SIDE, last = (part->x + part->width - 1) / TILE_SIDE;
    for (int row = part->y / TILE_SIDE; row <= (part->y + part->height - 1) / TILE_SIDE; row++) {
        for (int i = 0; i < 2; i++) {
            memset(frames->stale[i] + row * frames->tiles_across + first, 1, (size_t)(last - first + 1));
        }
    }
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

/* Brings a run of stale tiles up to date. */
static void copy_tiles(const struct rfb_picture *picture, struct frame *frame, int row, int first, int last) {
    size_t channels = (size_t)frame->channels, stride = (size_t)frame->width * channels;
    size_t left = (size_t)(first * TILE_SIDE) * channels;
    size_t size = (size_t)smaller(last * TILE_SIDE, frame->width) * channels - left;
    for (int y = row * TILE_SIDE; y < smaller((row + 1) * TILE_SIDE, frame->height); y++) {
        memcpy(frame->bytes + (size_t)y * stride + left, picture->pixels + (size_t)y * picture->stride + left, size);
    }
}

static void bring_up_to_date(struct frames *frames, int front) {
    for (int row = 0; row < frames->tiles_down; row++) {
        uint8_t *stale = frames->stale[front] + row * frames->tiles_across;
        for (int first = 0; first < frames->tiles_across; first++) {
            if (!stale[first]) continue;
            int last = first;
            while (last < frames->tiles_across && stale[last]) stale[last++] = 0;
            copy_tiles(frames->picture, frames->fronts[front], row, first, last);
            first = last;
        }
    }
}

/* An array may still show the frame that was taken before last: then that frame is left to it. */
static bool make_own(struct frames *frames, int front) {
    if (atomic_load(&frames->fronts[front]->references) == 1) return true;
    struct frame *frame = new_frame(frames->picture);
    if (!frame) return false;
    frame_drop(frames->fronts[front]);
    frames->fronts[front] = frame;
    memset(frames->stale[front], 1, (size_t)frames->tiles_across * (size_t)frames->tiles_down);
    return true;
}

bool frames_publish(struct frames *frames, uint64_t updates, uint64_t pixels, double at) {
    if (!frames->painted) return false;
    /* Never the one that the reader has; of a frame that nobody took only what is newer is made. */
    int front = frames->taken == 0 ? 1 : 0;
    if (!make_own(frames, front)) return false;
    frames->painted = false;
    bring_up_to_date(frames, front);
    struct frame *frame = frames->fronts[front];
    if (frame->block_bytes) rfb_picture_block(frames->picture, frame->bytes + frame_picture_bytes(frame));
    frame->updates = updates;
    frame->pixels = pixels;
    frame->at = at;
    frames->latest = front;
    return true;
}

struct frame *frames_take(struct frames *frames) {
    if (frames->latest == frames->taken) return NULL;
    frames->taken = frames->latest;
    struct frame *frame = frames->fronts[frames->taken];
    atomic_fetch_add(&frame->references, 1);
    return frame;
}
