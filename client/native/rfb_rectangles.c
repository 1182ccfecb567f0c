/* The simple encodings: Raw, CopyRect, and the pointer's picture. */
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
