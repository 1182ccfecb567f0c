/* The simple encodings: Raw, CopyRect, Hextile, and the pointer's picture. */
#include "rfb_internal.h"

/* -- Raw ----------------------------------------------------------------------------------------------------------- */

static enum rfb_error take_raw_row(struct rfb_decoder *decoder, const uint8_t *data) {
    const struct rfb_region *r = &decoder->rectangle;
    if (decoder->wanted) put_bgrx_row(pixel_at(decoder, r->x, r->y + decoder->row), data, r->width);
    if (++decoder->row == r->height) return rfb_rectangle_done(decoder);
    return RFB_FINE;
}

enum rfb_error rfb_begin_raw(struct rfb_decoder *decoder) {
    if (decoder->painting == 0) return rfb_rectangle_done(decoder);
    decoder->row = 0;
    rfb_expect(decoder, (size_t)decoder->rectangle.width * WIRE_PIXEL_BYTES, take_raw_row);
    return RFB_FINE;
}

/* -- CopyRect ------------------------------------------------------------------------------------------------------ */

static enum rfb_error take_copyrect(struct rfb_decoder *decoder, const uint8_t *data) {
    const struct rfb_region *r = &decoder->rectangle;
    int x = read_u16(data), y = read_u16(data + 2);
    if (x + r->width > decoder->width || y + r->height > decoder->height) {
        return rfb_fail(decoder, RFB_BAD_GEOMETRY, "a copy of %dx%d from (%d, %d) of a screen of %dx%d", r->width,
                        r->height, x, y, decoder->width, decoder->height);
    }
    /* Source and target may overlap: go through the rows away from the target. */
    bool upwards = y < r->y;
    for (int i = 0; i < r->height; i++) {
        int row = upwards ? r->height - 1 - i : i;
        memmove(pixel_at(decoder, r->x, r->y + row), pixel_at(decoder, x, y + row), (size_t)r->width * RGB_BYTES);
    }
    return rfb_rectangle_done(decoder);
}

enum rfb_error rfb_begin_copyrect(struct rfb_decoder *decoder) {
    rfb_expect(decoder, 4, take_copyrect);
    return RFB_FINE;
}

/* -- Hextile ------------------------------------------------------------------------------------------------------- */

enum { HEXTILE_RAW = 1, HEXTILE_BACKGROUND = 2, HEXTILE_FOREGROUND = 4, HEXTILE_SUBRECTS = 8, HEXTILE_COLOURED = 16 };

static enum rfb_error take_hextile_flags(struct rfb_decoder *decoder, const uint8_t *data);

static int tile_width(const struct rfb_decoder *decoder) {
    int left = decoder->rectangle.width - decoder->tile_x;
    return left < HEXTILE_SIDE ? left : HEXTILE_SIDE;
}

static int tile_height(const struct rfb_decoder *decoder) {
    int left = decoder->rectangle.height - decoder->tile_y;
    return left < HEXTILE_SIDE ? left : HEXTILE_SIDE;
}

static enum rfb_error tile_done(struct rfb_decoder *decoder) {
    decoder->tile_x += HEXTILE_SIDE;
    if (decoder->tile_x >= decoder->rectangle.width) {
        decoder->tile_x = 0;
        decoder->tile_y += HEXTILE_SIDE;
        if (decoder->tile_y >= decoder->rectangle.height) return rfb_rectangle_done(decoder);
    }
    rfb_expect(decoder, 1, take_hextile_flags);
    return RFB_FINE;
}

static enum rfb_error take_hextile_raw(struct rfb_decoder *decoder, const uint8_t *data) {
    int width = tile_width(decoder), height = tile_height(decoder);
    for (int row = 0; row < height; row++) {
        uint8_t *out = pixel_at(decoder, decoder->rectangle.x + decoder->tile_x,
                                decoder->rectangle.y + decoder->tile_y + row);
        put_bgrx_row(out, data + row * width * WIRE_PIXEL_BYTES, width);
    }
    return tile_done(decoder);
}

static size_t subrect_bytes(const struct rfb_decoder *decoder) {
    return decoder->tile_flags & HEXTILE_COLOURED ? WIRE_PIXEL_BYTES + 2 : 2;
}

static enum rfb_error take_hextile_subrects(struct rfb_decoder *decoder, const uint8_t *data) {
    int left = decoder->rectangle.x + decoder->tile_x, top = decoder->rectangle.y + decoder->tile_y;
    uint8_t colour[RGB_BYTES];
    put_rgb(colour, decoder->foreground);
    for (int i = 0; i < decoder->tile_subrects; i++) {
        if (decoder->tile_flags & HEXTILE_COLOURED) {
            put_bgr(colour, data);
            data += WIRE_PIXEL_BYTES;
        }
        int x = data[0] >> 4, y = data[0] & 15, width = (data[1] >> 4) + 1, height = (data[1] & 15) + 1;
        if (x + width > tile_width(decoder) || y + height > tile_height(decoder)) {
            return rfb_fail(decoder, RFB_BAD_GEOMETRY, "a Hextile subrectangle leaves its tile");
        }
        fill_rectangle(decoder, left + x, top + y, width, height, colour);
        data += 2;
    }
    return tile_done(decoder);
}

static enum rfb_error take_hextile_colours(struct rfb_decoder *decoder, const uint8_t *data) {
    if (decoder->tile_flags & HEXTILE_BACKGROUND) {
        put_bgr(decoder->background, data);
        data += WIRE_PIXEL_BYTES;
    }
    if (decoder->tile_flags & HEXTILE_FOREGROUND) {
        put_bgr(decoder->foreground, data);
        data += WIRE_PIXEL_BYTES;
    }
    fill_rectangle(decoder, decoder->rectangle.x + decoder->tile_x, decoder->rectangle.y + decoder->tile_y,
                   tile_width(decoder), tile_height(decoder), decoder->background);
    if (!(decoder->tile_flags & HEXTILE_SUBRECTS)) return tile_done(decoder);
    decoder->tile_subrects = data[0];
    rfb_expect(decoder, (size_t)decoder->tile_subrects * subrect_bytes(decoder), take_hextile_subrects);
    return RFB_FINE;
}

static enum rfb_error take_hextile_flags(struct rfb_decoder *decoder, const uint8_t *data) {
    decoder->tile_flags = data[0];
    if (data[0] & HEXTILE_RAW) {
        size_t pixels = (size_t)tile_width(decoder) * (size_t)tile_height(decoder);
        rfb_expect(decoder, pixels * WIRE_PIXEL_BYTES, take_hextile_raw);
        return RFB_FINE;
    }
    size_t need = 0;
    if (data[0] & HEXTILE_BACKGROUND) need += WIRE_PIXEL_BYTES;
    if (data[0] & HEXTILE_FOREGROUND) need += WIRE_PIXEL_BYTES;
    if (data[0] & HEXTILE_SUBRECTS) need += 1;
    rfb_expect(decoder, need, take_hextile_colours);
    return RFB_FINE;
}

enum rfb_error rfb_begin_hextile(struct rfb_decoder *decoder) {
    decoder->tile_x = decoder->tile_y = 0;
    memset(decoder->background, 0, sizeof decoder->background);
    memset(decoder->foreground, 0, sizeof decoder->foreground);
    if (decoder->painting == 0) return rfb_rectangle_done(decoder);
    rfb_expect(decoder, 1, take_hextile_flags);
    return RFB_FINE;
}

/* -- Cursor -------------------------------------------------------------------------------------------------------- */

static size_t cursor_bytes(const struct rfb_region *r) {
    size_t width = (size_t)r->width, height = (size_t)r->height;
    return width * height * WIRE_PIXEL_BYTES + (width + 7) / 8 * height;
}

static enum rfb_error take_cursor(struct rfb_decoder *decoder, const uint8_t *data) {
    const struct rfb_region *r = &decoder->rectangle;
    const struct rfb_event event = {
        .kind = RFB_CURSOR, .x = r->x, .y = r->y, .width = r->width, .height = r->height,
        .data = data, .size = cursor_bytes(r),
    };
    if (!decoder->owner.event(decoder->owner.context, &event)) {
        return rfb_fail(decoder, RFB_OUT_OF_MEMORY, "out of memory");
    }
    return rfb_pseudo_rectangle_done(decoder);
}

enum rfb_error rfb_begin_cursor(struct rfb_decoder *decoder) {
    const struct rfb_region *r = &decoder->rectangle;
    if (r->width > RFB_MAX_CURSOR_SIDE || r->height > RFB_MAX_CURSOR_SIDE) {
        return rfb_fail(decoder, RFB_LIMIT_EXCEEDED, "a pointer's picture of %dx%d, more than %d each way", r->width,
                        r->height, RFB_MAX_CURSOR_SIDE);
    }
    rfb_expect(decoder, cursor_bytes(r), take_cursor);
    return RFB_FINE;
}
