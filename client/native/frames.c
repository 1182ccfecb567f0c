#include "frames.h"

#include <stdlib.h>
#include <string.h>

#define RGB_BYTES 3
/* Small enough that a sprite doesn't drag much of the screen along, large enough that rows are worth a memcpy. */
#define TILE_SIDE 64
/* Luma of red, green and blue in 256ths. */
#define LUMA_RED 77
#define LUMA_GREEN 150
#define LUMA_BLUE 29

static int at_least_one(int value) {
    return value > 0 ? value : 1;
}

static struct frame *new_frame(const struct frames *frames) {
    int width = at_least_one(frames->width / frames->options.scale);
    int height = at_least_one(frames->height / frames->options.scale);
    int channels = frames->options.grey ? 1 : RGB_BYTES;
    struct frame *frame = calloc(1, sizeof *frame + (size_t)width * (size_t)height * (size_t)channels);
    if (!frame) return NULL;
    atomic_init(&frame->references, 1);
    frame->width = width;
    frame->height = height;
    frame->channels = channels;
    return frame;
}

void frame_keep(struct frame *frame) {
    atomic_fetch_add(&frame->references, 1);
}

void frame_drop(struct frame *frame) {
    if (frame && atomic_fetch_sub(&frame->references, 1) == 1) free(frame);
}

void frames_begin(struct frames *frames, struct frame_options options) {
    memset(frames, 0, sizeof *frames);
    frames->options = options;
    frames->latest = frames->taken = -1;
}

void frames_end(struct frames *frames) {
    for (int i = 0; i < 2; i++) {
        frame_drop(frames->fronts[i]);
        free(frames->stale[i]);
        frames->fronts[i] = NULL;
        frames->stale[i] = NULL;
    }
    frames->latest = frames->taken = -1;
}

bool frames_resize(struct frames *frames, int width, int height) {
    frames_end(frames);
    frames->width = width;
    frames->height = height;
    frames->tiles_across = (width + TILE_SIDE - 1) / TILE_SIDE;
    frames->tiles_down = (height + TILE_SIDE - 1) / TILE_SIDE;
    frames->painted = false;
    for (int i = 0; i < 2; i++) {
        frames->fronts[i] = new_frame(frames);
        frames->stale[i] = calloc((size_t)frames->tiles_across, (size_t)frames->tiles_down);
        if (!frames->fronts[i] || !frames->stale[i]) return false;
    }
    return true;
}

void frames_painted(struct frames *frames, int x, int y, int width, int height) {
    int first = x / TILE_SIDE, last = (x + width - 1) / TILE_SIDE;
    for (int row = y / TILE_SIDE; row <= (y + height - 1) / TILE_SIDE; row++) {
        for (int i = 0; i < 2; i++) {
            memset(frames->stale[i] + row * frames->tiles_across + first, 1, (size_t)(last - first + 1));
        }
    }
    frames->painted = true;
}

/* The pixel at (x, y) of a smaller frame: the mean of its square of the screen, rounded. */
static void put_mean(const struct frames *frames, const uint8_t *screen, int x, int y, uint8_t *rgb) {
    int scale = frames->options.scale;
    unsigned sums[RGB_BYTES] = {0};
    unsigned count = 0;
    for (int row = y * scale; row < (y + 1) * scale && row < frames->height; row++) {
        const uint8_t *at = screen + ((size_t)row * (size_t)frames->width + (size_t)(x * scale)) * RGB_BYTES;
        for (int i = 0; i < scale && x * scale + i < frames->width; i++, count++) {
            for (int channel = 0; channel < RGB_BYTES; channel++) sums[channel] += *at++;
        }
    }
    for (int channel = 0; channel < RGB_BYTES; channel++) rgb[channel] = (uint8_t)((sums[channel] + count / 2) / count);
}

static uint8_t luma(const uint8_t *rgb) {
    return (uint8_t)((LUMA_RED * rgb[0] + LUMA_GREEN * rgb[1] + LUMA_BLUE * rgb[2] + 128) >> 8);
}

/* Columns first..last-1 of one row of the frame. */
static void put_row(const struct frames *frames, const uint8_t *screen, struct frame *frame, int y, int first,
                    int last) {
    uint8_t *out = frame->bytes + ((size_t)y * (size_t)frame->width + (size_t)first) * (size_t)frame->channels;
    if (frames->options.scale == 1) {
        const uint8_t *in = screen + ((size_t)y * (size_t)frames->width + (size_t)first) * RGB_BYTES;
        if (!frames->options.grey) {
            memcpy(out, in, (size_t)(last - first) * RGB_BYTES);
            return;
        }
        for (int i = 0; i < last - first; i++) out[i] = luma(in + i * RGB_BYTES);
        return;
    }
    for (int x = first; x < last; x++, out += frame->channels) {
        uint8_t rgb[RGB_BYTES];
        put_mean(frames, screen, x, y, rgb);
        if (frames->options.grey) {
            *out = luma(rgb);
        } else {
            memcpy(out, rgb, RGB_BYTES);
        }
    }
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

/* Brings a run of stale tiles up to date. */
static void put_tiles(const struct frames *frames, const uint8_t *screen, struct frame *frame, int row, int first,
                      int last) {
    int scale = frames->options.scale;
    /* What is left over beyond the last whole pixel isn't shown. */
    int top = row * TILE_SIDE / scale, bottom = smaller(((row + 1) * TILE_SIDE + scale - 1) / scale, frame->height);
    int left = first * TILE_SIDE / scale, right = smaller((last * TILE_SIDE + scale - 1) / scale, frame->width);
    for (int y = top; y < bottom && left < right; y++) put_row(frames, screen, frame, y, left, right);
}

static void bring_up_to_date(struct frames *frames, int front, const uint8_t *screen) {
    for (int row = 0; row < frames->tiles_down; row++) {
        uint8_t *stale = frames->stale[front] + row * frames->tiles_across;
        for (int first = 0; first < frames->tiles_across; first++) {
            if (!stale[first]) continue;
            int last = first;
            while (last < frames->tiles_across && stale[last]) stale[last++] = 0;
            put_tiles(frames, screen, frames->fronts[front], row, first, last);
            first = last;
        }
    }
}

/* An array may still show the frame that was taken before last: then that frame is left to it. */
static bool make_own(struct frames *frames, int front) {
    if (atomic_load(&frames->fronts[front]->references) == 1) return true;
    struct frame *frame = new_frame(frames);
    if (!frame) return false;
    frame_drop(frames->fronts[front]);
    frames->fronts[front] = frame;
    memset(frames->stale[front], 1, (size_t)frames->tiles_across * (size_t)frames->tiles_down);
    return true;
}

bool frames_publish(struct frames *frames, const uint8_t *screen, uint64_t updates, uint64_t pixels, double at) {
    if (!frames->painted) return false;
    /* Never the one that the reader has; of a frame that nobody took only what is newer is made. */
    int front = frames->taken == 0 ? 1 : 0;
    if (!make_own(frames, front)) return false;
    frames->painted = false;
    bring_up_to_date(frames, front, screen);
    frames->fronts[front]->updates = updates;
    frames->fronts[front]->pixels = pixels;
    frames->fronts[front]->at = at;
    frames->latest = front;
    return true;
}

struct frame *frames_take(struct frames *frames) {
    if (frames->latest == frames->taken) return NULL;
    frames->taken = frames->latest;
    struct frame *frame = frames->fronts[frames->taken];
    frame_keep(frame);
    return frame;
}
