/* ZRLE: tiles of 64x64, each with its own way of saying few colours or long runs, all through one zlib stream. */
#include "rfb_internal.h"

#define MAX_PACKED_PALETTE 16
#define PLAIN_RLE 128
#define FIRST_PALETTE_RLE 130
#define MAX_PALETTE 127

struct cursor {
    const uint8_t *at, *end;
};

struct tile {
    int x, y, width, height;
};

static enum rfb_error take_zrle_data(struct rfb_decoder *decoder, const uint8_t *data);

static enum rfb_error cut_short(struct rfb_decoder *decoder) {
    return rfb_fail(decoder, RFB_BAD_DATA, "ZRLE data ends within a tile");
}

static const uint8_t *take(struct cursor *cursor, size_t count) {
    if ((size_t)(cursor->end - cursor->at) < count) return NULL;
    const uint8_t *taken = cursor->at;
    cursor->at += count;
    return taken;
}

static enum rfb_error put_raw_tile(struct rfb_decoder *decoder, struct cursor *cursor, const struct tile *tile) {
    for (int row = 0; row < tile->height; row++) {
        const uint8_t *data = take(cursor, (size_t)tile->width * RGB_BYTES);
        if (!data) return cut_short(decoder);
        put_bgr_row(pixel_at(decoder, tile->x, tile->y + row), data, tile->width);
    }
    return RFB_FINE;
}

static enum rfb_error put_packed_tile(struct rfb_decoder *decoder, struct cursor *cursor, const struct tile *tile,
                                      const uint8_t *palette, int colours) {
    int bits = colours == 2 ? 1 : colours <= 4 ? 2 : 4, mask = (1 << bits) - 1, per_byte = 8 / bits;
    for (int row = 0; row < tile->height; row++) {
        const uint8_t *data = take(cursor, (size_t)((tile->width + per_byte - 1) / per_byte));
        if (!data) return cut_short(decoder);
        uint8_t *out = pixel_at(decoder, tile->x, tile->y + row);
        for (int x = 0; x < tile->width; x++) {
            int index = data[x / per_byte] >> (8 - bits - x % per_byte * bits) & mask;
            if (index >= colours) {
                return rfb_fail(decoder, RFB_BAD_DATA, "colour %d of a palette of %d", index, colours);
            }
            put_bgr(out + x * RGB_BYTES, palette + index * RGB_BYTES);
        }
    }
    return RFB_FINE;
}

/* A run's length is 1 and its bytes added up; each byte of 255 says that another follows. */
static bool take_run(struct cursor *cursor, int limit, int *length) {
    *length = 1;
    for (;;) {
        const uint8_t *data = take(cursor, 1);
        if (!data) return false;
        *length += data[0];
        /* Past the limit the caller says what is wrong. */
        if (data[0] != 255 || *length > limit) return true;
    }
}

static void put_run(struct rfb_decoder *decoder, const struct tile *tile, int position, int length,
                    const uint8_t *bgr) {
    uint8_t rgb[RGB_BYTES];
    put_bgr(rgb, bgr);
    while (length > 0) {
        int x = position % tile->width, y = position / tile->width;
        int here = tile->width - x < length ? tile->width - x : length;
        fill_row(pixel_at(decoder, tile->x + x, tile->y + y), rgb, here);
        position += here;
        length -= here;
    }
}

static enum rfb_error put_runs(struct rfb_decoder *decoder, struct cursor *cursor, const struct tile *tile,
                               const uint8_t *palette, int colours) {
    int total = tile->width * tile->height, position = 0;
    while (position < total) {
        const uint8_t *colour = take(cursor, colours ? 1 : RGB_BYTES);
        if (!colour) return cut_short(decoder);
        int length = 1;
        bool is_run = true;
        if (colours) {
            int index = colour[0] & 127;
            is_run = colour[0] & 128;
            if (index >= colours) {
                return rfb_fail(decoder, RFB_BAD_DATA, "colour %d of a palette of %d", index, colours);
            }
            colour = palette + index * RGB_BYTES;
        }
        if (is_run && !take_run(cursor, total - position, &length)) return cut_short(decoder);
        if (length > total - position) return rfb_fail(decoder, RFB_BAD_DATA, "a run of ZRLE leaves its tile");
        put_run(decoder, tile, position, length, colour);
        position += length;
    }
    return RFB_FINE;
}

static enum rfb_error put_tile(struct rfb_decoder *decoder, struct cursor *cursor, const struct tile *tile) {
    const uint8_t *kind = take(cursor, 1);
    if (!kind) return cut_short(decoder);
    if (*kind == 0) return put_raw_tile(decoder, cursor, tile);
    if (*kind == PLAIN_RLE) return put_runs(decoder, cursor, tile, NULL, 0);
    if ((*kind > MAX_PACKED_PALETTE && *kind < PLAIN_RLE) || *kind == PLAIN_RLE + 1) {
        return rfb_fail(decoder, RFB_BAD_DATA, "ZRLE tile type %d is unknown", *kind);
    }
    int colours = *kind >= FIRST_PALETTE_RLE ? *kind - PLAIN_RLE : *kind;
    const uint8_t *palette = take(cursor, (size_t)colours * RGB_BYTES);
    if (!palette) return cut_short(decoder);
    if (colours == 1) {
        uint8_t rgb[RGB_BYTES];
        put_bgr(rgb, palette);
        fill_rectangle(decoder, tile->x, tile->y, tile->width, tile->height, rgb);
        return RFB_FINE;
    }
    if (*kind <= MAX_PACKED_PALETTE) return put_packed_tile(decoder, cursor, tile, palette, colours);
    return put_runs(decoder, cursor, tile, palette, colours);
}

static enum rfb_error put_tiles(struct rfb_decoder *decoder, struct cursor *cursor) {
    const struct rfb_region *r = &decoder->rectangle;
    for (int y = 0; y < r->height; y += ZRLE_SIDE) {
        for (int x = 0; x < r->width; x += ZRLE_SIDE) {
            const struct tile tile = {
                r->x + x, r->y + y,
                r->width - x < ZRLE_SIDE ? r->width - x : ZRLE_SIDE,
                r->height - y < ZRLE_SIDE ? r->height - y : ZRLE_SIDE,
            };
            enum rfb_error error = put_tile(decoder, cursor, &tile);
            if (error) return error;
        }
    }
    if (cursor->at != cursor->end) return rfb_fail(decoder, RFB_BAD_DATA, "ZRLE data goes on after its last tile");
    return rfb_rectangle_done(decoder);
}

/* The most that a rectangle can come to: every pixel a run of its own, every tile with the largest palette. */
static size_t most_bytes(const struct rfb_region *r) {
    size_t across = ((size_t)r->width + ZRLE_SIDE - 1) / ZRLE_SIDE;
    size_t down = ((size_t)r->height + ZRLE_SIDE - 1) / ZRLE_SIDE;
    return (size_t)r->width * (size_t)r->height * (RGB_BYTES + 1) + across * down * (1 + MAX_PALETTE * RGB_BYTES);
}

static enum rfb_error take_zrle_data(struct rfb_decoder *decoder, const uint8_t *data) {
    size_t got;
    enum rfb_error error = rfb_inflate_all(decoder, &decoder->zrle, data, decoder->zrle_length,
                                           most_bytes(&decoder->rectangle), &got);
    if (error) return error;
    if (!decoder->wanted) return rfb_rectangle_done(decoder);
    struct cursor cursor = {decoder->scratch.bytes, decoder->scratch.bytes + got};
    return put_tiles(decoder, &cursor);
}

static enum rfb_error take_zrle_length(struct rfb_decoder *decoder, const uint8_t *data) {
    decoder->zrle_length = read_u32(data);
    if (decoder->zrle_length > RFB_MAX_ZRLE_BYTES) {
        return rfb_fail(decoder, RFB_LIMIT_EXCEEDED, "%zu bytes of ZRLE, more than %d", decoder->zrle_length,
                        RFB_MAX_ZRLE_BYTES);
    }
    rfb_expect(decoder, decoder->zrle_length, take_zrle_data);
    return RFB_FINE;
}

enum rfb_error rfb_begin_zrle(struct rfb_decoder *decoder) {
    rfb_expect(decoder, 4, take_zrle_length);
    return RFB_FINE;
}
