/* What the files of the decoder share. */
#ifndef PLURIVERSE_RFB_INTERNAL_H
#define PLURIVERSE_RFB_INTERNAL_H

#include <string.h>
#include <zlib.h>

#include "rfb_decoder.h"
#include "rfb_limits.h"

#define WIRE_PIXEL_BYTES 4
#define TIGHT_STREAMS 4

/* Takes exactly the bytes that were asked for with rfb_expect, and asks for the next. */
typedef enum rfb_error (*rfb_step)(struct rfb_decoder *decoder, const uint8_t *data);

struct rfb_jpeg;

/* Memory that is kept from one rectangle to the next. */
struct rfb_buffer {
    uint8_t *bytes;
    size_t capacity;
};

/* A zlib stream of the server: begun at its first use, as most servers use one or two of Tight's four. */
struct rfb_inflater {
    z_stream stream;
    bool begun;
};

struct rfb_decoder {
    int width, height;
    uint8_t *pixels; /* the owner's */
    struct rfb_owner owner;
    struct rfb_region *regions;
    size_t region_count;
    struct rfb_picture picture;

    rfb_step step;
    size_t need;
    struct rfb_buffer pending; /* the first `have` bytes of the `need` that came in earlier calls */
    size_t have;
    enum rfb_error dead;
    char message[160];

    bool extended_buttons;
    uint64_t updates_done, pixels_done;
    int rectangles_left, rectangles_done;
    uint64_t update_pixels;
    struct rfb_region rectangle;
    uint64_t painting; /* its pixels */
    bool wanted;       /* otherwise it is read, but need not be painted */
    bool in_luma;      /* it was painted on the picture's luma instead of the screen */

    int row; /* Raw: rows done. */

    /* Tight: what its control bytes said. */
    uint8_t tight_control;
    uint8_t tight_filter;
    size_t tight_length;
    int tight_palette_size;
    uint8_t tight_palette[256 * RGB_BYTES];
    struct rfb_inflater tight[TIGHT_STREAMS];

    struct rfb_buffer scratch;
    struct rfb_jpeg *jpeg;
    uint32_t fence_flags;
};

/* Sets the message and returns the error. */
enum rfb_error rfb_fail(struct rfb_decoder *decoder, enum rfb_error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void rfb_expect(struct rfb_decoder *decoder, size_t need, rfb_step step);
/* The rectangle at hand is complete; goes on to the next, or ends the update. */
enum rfb_error rfb_rectangle_done(struct rfb_decoder *decoder);
/* The same for one that isn't part of the picture. */
enum rfb_error rfb_pseudo_rectangle_done(struct rfb_decoder *decoder);
bool rfb_buffer_reserve(struct rfb_buffer *buffer, size_t size);

enum rfb_error rfb_begin_raw(struct rfb_decoder *decoder);
enum rfb_error rfb_begin_copyrect(struct rfb_decoder *decoder);
enum rfb_error rfb_begin_tight(struct rfb_decoder *decoder);
enum rfb_error rfb_begin_cursor(struct rfb_decoder *decoder);

/* Takes all of the input; the output must come to exactly `wanted` bytes. */
enum rfb_error rfb_inflate_exactly(struct rfb_decoder *decoder, struct rfb_inflater *inflater, const uint8_t *data,
                                   size_t size, uint8_t *out, size_t wanted);
void rfb_inflater_reset(struct rfb_inflater *inflater);
void rfb_inflater_end(struct rfb_inflater *inflater);

/* Decodes a JPEG picture into the rectangle at hand. */
enum rfb_error rfb_jpeg_decode(struct rfb_decoder *decoder, const uint8_t *data, size_t size);
void rfb_jpeg_free(struct rfb_jpeg *jpeg);

static inline uint16_t read_u16(const uint8_t *data) {
    return (uint16_t)(data[0] << 8 | data[1]);
}

static inline uint32_t read_u32(const uint8_t *data) {
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static inline uint8_t *pixel_at(const struct rfb_decoder *decoder, int x, int y) {
    return decoder->pixels + ((size_t)y * (size_t)decoder->width + (size_t)x) * RGB_BYTES;
}

static inline uint8_t *luma_at(const struct rfb_decoder *decoder, int x, int y) {
    return decoder->picture.luma + (size_t)y * (size_t)decoder->width + (size_t)x;
}

/* Whether the rectangle at hand may be painted on the luma alone: nobody sees a grey picture's colours but the block's. */
static inline bool is_seen_in_luma(const struct rfb_decoder *decoder) {
    return decoder->picture.luma && !rfb_regions_touch(&decoder->rectangle, &decoder->picture.wanted.block);
}

static inline size_t stride_of(const struct rfb_decoder *decoder) {
    return (size_t)decoder->width * RGB_BYTES;
}

/* `rgb` is three bytes on the way out, `bgr` at least three on the way in. */
static inline void put_bgr(uint8_t *rgb, const uint8_t *bgr) {
    rgb[0] = bgr[2];
    rgb[1] = bgr[1];
    rgb[2] = bgr[0];
}

static inline void put_rgb(uint8_t *out, const uint8_t *rgb) {
    out[0] = rgb[0];
    out[1] = rgb[1];
    out[2] = rgb[2];
}

static inline void put_bgrx_row(uint8_t *rgb, const uint8_t *bgrx, int count) {
    for (int i = 0; i < count; i++) put_bgr(rgb + i * RGB_BYTES, bgrx + i * WIRE_PIXEL_BYTES);
}

static inline void fill_row(uint8_t *out, const uint8_t *rgb, int count) {
    for (int i = 0; i < count; i++) put_rgb(out + i * RGB_BYTES, rgb);
}

static inline void fill_rectangle(struct rfb_decoder *decoder, int x, int y, int width, int height,
                                  const uint8_t *rgb) {
    if (width == 0 || height == 0) return;
    uint8_t *first = pixel_at(decoder, x, y);
    fill_row(first, rgb, width);
    for (int row = 1; row < height; row++) {
        memcpy(first + (size_t)row * stride_of(decoder), first, (size_t)width * RGB_BYTES);
    }
}

#endif
