/* Tight: a control byte, then one colour, a JPEG picture, or pixels of which a filter made fewer or flatter bytes. */
#include "rfb_internal.h"

#define TIGHT_FILL 0x8
#define TIGHT_JPEG 0x9
#define TIGHT_EXPLICIT_FILTER 0x4
/* Fewer bytes than this are sent as they are: zlib would only add to them. */
#define TIGHT_MIN_TO_COMPRESS 12
/* Each length byte but the third says with its highest bit that another follows. */
#define LENGTH_MORE 0x80

enum { FILTER_COPY, FILTER_PALETTE, FILTER_GRADIENT };

static enum rfb_error take_control(struct rfb_decoder *decoder, const uint8_t *data);
static enum rfb_error take_fill(struct rfb_decoder *decoder, const uint8_t *data);
static enum rfb_error take_filter(struct rfb_decoder *decoder, const uint8_t *data);
static enum rfb_error take_palette_size(struct rfb_decoder *decoder, const uint8_t *data);
static enum rfb_error take_palette(struct rfb_decoder *decoder, const uint8_t *data);
static enum rfb_error expect_pixels(struct rfb_decoder *decoder);
static enum rfb_error take_plain(struct rfb_decoder *decoder, const uint8_t *data);
static enum rfb_error take_length_1(struct rfb_decoder *decoder, const uint8_t *data);
static enum rfb_error take_length_2(struct rfb_decoder *decoder, const uint8_t *data);
static enum rfb_error take_length_3(struct rfb_decoder *decoder, const uint8_t *data);
static enum rfb_error take_compressed(struct rfb_decoder *decoder, const uint8_t *data);

enum rfb_error rfb_begin_tight(struct rfb_decoder *decoder) {
    rfb_expect(decoder, 1, take_control);
    return RFB_FINE;
}

static enum rfb_error take_control(struct rfb_decoder *decoder, const uint8_t *data) {
    for (int i = 0; i < TIGHT_STREAMS; i++) {
        if (data[0] & 1 << i) rfb_inflater_reset(&decoder->tight[i]);
    }
    decoder->tight_control = data[0] >> 4;
    if (decoder->tight_control == TIGHT_FILL) {
        rfb_expect(decoder, RGB_BYTES, take_fill);
    } else if (decoder->tight_control == TIGHT_JPEG) {
        rfb_expect(decoder, 1, take_length_1);
    } else if (decoder->tight_control > TIGHT_JPEG) {
        return rfb_fail(decoder, RFB_BAD_DATA, "Tight compression %d is unknown", decoder->tight_control);
    } else if (decoder->tight_control & TIGHT_EXPLICIT_FILTER) {
        rfb_expect(decoder, 1, take_filter);
    } else {
        decoder->tight_filter = FILTER_COPY;
        return expect_pixels(decoder);
    }
    return RFB_FINE;
}

static enum rfb_error take_fill(struct rfb_decoder *decoder, const uint8_t *data) {
    const struct rfb_region *r = &decoder->rectangle;
    fill_rectangle(decoder, r->x, r->y, r->width, r->height, data);
    return rfb_rectangle_done(decoder);
}

static enum rfb_error take_filter(struct rfb_decoder *decoder, const uint8_t *data) {
    decoder->tight_filter = data[0];
    if (data[0] == FILTER_PALETTE) {
        rfb_expect(decoder, 1, take_palette_size);
        return RFB_FINE;
    }
    if (data[0] == FILTER_COPY || data[0] == FILTER_GRADIENT) return expect_pixels(decoder);
    return rfb_fail(decoder, RFB_BAD_DATA, "Tight filter %d is unknown", data[0]);
}

static enum rfb_error take_palette_size(struct rfb_decoder *decoder, const uint8_t *data) {
    decoder->tight_palette_size = data[0] + 1;
    rfb_expect(decoder, (size_t)decoder->tight_palette_size * RGB_BYTES, take_palette);
    return RFB_FINE;
}

static enum rfb_error take_palette(struct rfb_decoder *decoder, const uint8_t *data) {
    memcpy(decoder->tight_palette, data, (size_t)decoder->tight_palette_size * RGB_BYTES);
    return expect_pixels(decoder);
}

/* Bytes of one row before compression. */
static size_t row_bytes(const struct rfb_decoder *decoder) {
    size_t width = (size_t)decoder->rectangle.width;
    if (decoder->tight_filter != FILTER_PALETTE) return width * RGB_BYTES;
    return decoder->tight_palette_size <= 2 ? (width + 7) / 8 : width;
}

static size_t plain_bytes(const struct rfb_decoder *decoder) {
    return row_bytes(decoder) * (size_t)decoder->rectangle.height;
}

static enum rfb_error expect_pixels(struct rfb_decoder *decoder) {
    if (plain_bytes(decoder) < TIGHT_MIN_TO_COMPRESS) {
        rfb_expect(decoder, plain_bytes(decoder), take_plain);
    } else {
        rfb_expect(decoder, 1, take_length_1);
    }
    return RFB_FINE;
}

static enum rfb_error take_length_1(struct rfb_decoder *decoder, const uint8_t *data) {
    decoder->tight_length = data[0] & 0x7F;
    if (data[0] & LENGTH_MORE) {
        rfb_expect(decoder, 1, take_length_2);
    } else {
        rfb_expect(decoder, decoder->tight_length, take_compressed);
    }
    return RFB_FINE;
}

static enum rfb_error take_length_2(struct rfb_decoder *decoder, const uint8_t *data) {
    decoder->tight_length |= (size_t)(data[0] & 0x7F) << 7;
    if (data[0] & LENGTH_MORE) {
        rfb_expect(decoder, 1, take_length_3);
    } else {
        rfb_expect(decoder, decoder->tight_length, take_compressed);
    }
    return RFB_FINE;
}

static enum rfb_error take_length_3(struct rfb_decoder *decoder, const uint8_t *data) {
    decoder->tight_length |= (size_t)data[0] << 14;
    rfb_expect(decoder, decoder->tight_length, take_compressed);
    return RFB_FINE;
}

static void put_copied(struct rfb_decoder *decoder, const uint8_t *plain) {
    const struct rfb_region *r = &decoder->rectangle;
    for (int row = 0; row < r->height; row++) {
        memcpy(pixel_at(decoder, r->x, r->y + row), plain + (size_t)row * row_bytes(decoder), row_bytes(decoder));
    }
}

/* Colours as four bytes, so that each pixel is one store; the fourth is the next pixel's first, which comes after it. */
static void spread_palette(const struct rfb_decoder *decoder, uint8_t colours[][4]) {
    for (int i = 0; i < decoder->tight_palette_size; i++) {
        memcpy(colours[i], decoder->tight_palette + i * RGB_BYTES, RGB_BYTES);
        colours[i][RGB_BYTES] = 0;
    }
}

/* Indices of one bit each, the first in the highest, as bytes; up to seven more than `count` are written. */
static void spread_bits(uint8_t *restrict indices, const uint8_t *restrict bits, int count) {
    for (int i = 0; i < count; i += 8) {
        for (int bit = 0; bit < 8; bit++) indices[i + bit] = bits[i / 8] >> (7 - bit) & 1;
    }
}

static int highest(const uint8_t *bytes, int count) {
    uint8_t found = 0;
    for (int i = 0; i < count; i++) found = bytes[i] > found ? bytes[i] : found;
    return found;
}

static enum rfb_error put_palette(struct rfb_decoder *decoder, const uint8_t *plain) {
    const struct rfb_region *r = &decoder->rectangle;
    const int width = r->width, last = width - 1, size = decoder->tight_palette_size;
    if (width == 0) return RFB_FINE;
    uint8_t colours[256][4], greys[256], spread[RFB_MAX_SIDE];
    spread_palette(decoder, colours);
    rfb_luma_of(greys, decoder->tight_palette, size);
    decoder->in_luma = is_seen_in_luma(decoder);
    for (int row = 0; row < r->height; row++, plain += row_bytes(decoder)) {
        const uint8_t *indices = plain;
        if (size <= 2) {
            spread_bits(spread, plain, width);
            indices = spread;
        }
        int index = highest(indices, width);
        if (index >= size) return rfb_fail(decoder, RFB_BAD_DATA, "colour %d of a palette of %d", index, size);
        if (decoder->in_luma) {
            uint8_t *out = luma_at(decoder, r->x, r->y + row);
            for (int x = 0; x < width; x++) out[x] = greys[indices[x]];
        } else {
            uint8_t *out = pixel_at(decoder, r->x, r->y + row);
            for (int x = 0; x < last; x++, out += RGB_BYTES) memcpy(out, colours[indices[x]], 4);
            memcpy(out, colours[indices[last]], RGB_BYTES);
        }
    }
    return RFB_FINE;
}

static inline uint8_t clamped(int value) {
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Each byte is the difference to left + above - above left, where what is outside of the rectangle is 0. */
static void put_gradient(struct rfb_decoder *decoder, const uint8_t *plain) {
    const struct rfb_region *r = &decoder->rectangle;
    size_t stride = stride_of(decoder);
    for (int row = 0; row < r->height; row++, plain += row_bytes(decoder)) {
        uint8_t *out = pixel_at(decoder, r->x, r->y + row);
        for (int i = 0; i < r->width * RGB_BYTES; i++) {
            int left = i < RGB_BYTES ? 0 : out[i - RGB_BYTES];
            int above = row == 0 ? 0 : *(out + i - stride);
            int corner = row == 0 || i < RGB_BYTES ? 0 : *(out + i - stride - RGB_BYTES);
            out[i] = (uint8_t)(plain[i] + clamped(left + above - corner));
        }
    }
}

static enum rfb_error put_filtered(struct rfb_decoder *decoder, const uint8_t *plain) {
    enum rfb_error error = RFB_FINE;
    if (!decoder->wanted) {
        /* That it was inflated is enough: what follows in the stream builds on it. */
    } else if (decoder->tight_filter == FILTER_PALETTE) {
        error = put_palette(decoder, plain);
    } else if (decoder->tight_filter == FILTER_GRADIENT) {
        put_gradient(decoder, plain);
    } else {
        put_copied(decoder, plain);
    }
    return error ? error : rfb_rectangle_done(decoder);
}

static enum rfb_error take_plain(struct rfb_decoder *decoder, const uint8_t *data) {
    return put_filtered(decoder, data);
}

static enum rfb_error take_compressed(struct rfb_decoder *decoder, const uint8_t *data) {
    if (decoder->tight_control == TIGHT_JPEG) {
        enum rfb_error error = decoder->wanted ? rfb_jpeg_decode(decoder, data, decoder->tight_length) : RFB_FINE;
        return error ? error : rfb_rectangle_done(decoder);
    }
    size_t wanted = plain_bytes(decoder);
    if (!rfb_buffer_reserve(&decoder->scratch, wanted)) return rfb_fail(decoder, RFB_OUT_OF_MEMORY, "out of memory");
    struct rfb_inflater *inflater = &decoder->tight[decoder->tight_control & 3];
    enum rfb_error error =
        rfb_inflate_exactly(decoder, inflater, data, decoder->tight_length, decoder->scratch.bytes, wanted);
    return error ? error : put_filtered(decoder, decoder->scratch.bytes);
}
