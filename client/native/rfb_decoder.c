/* The state machine: messages, the rectangles of an update, and the bytes that each step waits for. */
#include "rfb_decoder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "rfb_internal.h"

enum message {
    FRAMEBUFFER_UPDATE = 0,
    SET_COLOUR_MAP_ENTRIES = 1,
    BELL = 2,
    SERVER_CUT_TEXT = 3,
    END_OF_CONTINUOUS_UPDATES = 150,
    FENCE = 248,
};

enum encoding {
    RAW = 0,
    COPYRECT = 1,
    TIGHT = 7,
    DESKTOP_SIZE = -223,
    LAST_RECT = -224,
    CURSOR = -239,
    EXTENDED_DESKTOP_SIZE = -308,
    EXTENDED_MOUSE_BUTTONS = -316,
};

#define SCREEN_BYTES 16
#define COLOUR_MAP_ENTRY_BYTES 6

static enum rfb_error take_message_type(struct rfb_decoder *decoder, const uint8_t *data);

/* -- Steps and memory ---------------------------------------------------------------------------------------------- */

enum rfb_error rfb_fail(struct rfb_decoder *decoder, enum rfb_error error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(decoder->message, sizeof decoder->message, format, arguments);
    va_end(arguments);
    return error;
}

static enum rfb_error out_of_memory(struct rfb_decoder *decoder) {
    return rfb_fail(decoder, RFB_OUT_OF_MEMORY, "out of memory");
}

void rfb_expect(struct rfb_decoder *decoder, size_t need, rfb_step step) {
    decoder->need = need;
    decoder->step = step;
}

bool rfb_buffer_reserve(struct rfb_buffer *buffer, size_t size) {
    if (size <= buffer->capacity) return true;
    uint8_t *bytes = realloc(buffer->bytes, size);
    if (!bytes) return false;
    buffer->bytes = bytes;
    buffer->capacity = size;
    return true;
}

/* Keeps bytes for a step that needs more. The buffer grows with what came, not with what was announced. */
static bool keep(struct rfb_decoder *decoder, const uint8_t *data, size_t size) {
    if (size == 0) return true;
    size_t wanted = decoder->have + size;
    if (wanted > decoder->pending.capacity) {
        size_t grown = wanted * 2 < 65536 ? 65536 : wanted * 2;
        if (!rfb_buffer_reserve(&decoder->pending, grown)) return false;
    }
    memcpy(decoder->pending.bytes + decoder->have, data, size);
    decoder->have = wanted;
    return true;
}

static enum rfb_error feed(struct rfb_decoder *decoder, const uint8_t *data, size_t size) {
    for (;;) {
        const uint8_t *whole = data;
        if (decoder->have == 0 && size >= decoder->need) {
            data += decoder->need;
            size -= decoder->need;
        } else {
            size_t missing = decoder->need - decoder->have, some = size < missing ? size : missing;
            if (!keep(decoder, data, some)) return out_of_memory(decoder);
            data += some;
            size -= some;
            if (decoder->have < decoder->need) return RFB_FINE;
            whole = decoder->pending.bytes;
            decoder->have = 0;
        }
        enum rfb_error error = decoder->step(decoder, whole);
        if (error) return error;
    }
}

enum rfb_error rfb_decoder_feed(struct rfb_decoder *decoder, const uint8_t *data, size_t size) {
    if (!decoder->dead && size > 0) decoder->dead = feed(decoder, data, size);
    return decoder->dead;
}

static enum rfb_error tell(struct rfb_decoder *decoder, const struct rfb_event *event) {
    return decoder->owner.event(decoder->owner.context, event) ? RFB_FINE : out_of_memory(decoder);
}

static void expect_message(struct rfb_decoder *decoder) {
    rfb_expect(decoder, 1, take_message_type);
}

/* -- Updates ------------------------------------------------------------------------------------------------------- */

static enum rfb_error take_rectangle_header(struct rfb_decoder *decoder, const uint8_t *data);

static enum rfb_error end_update(struct rfb_decoder *decoder) {
    decoder->updates_done++;
    expect_message(decoder);
    const struct rfb_event event = {
        .kind = RFB_UPDATE_FINISHED, .rectangles = decoder->rectangles_done, .pixels = decoder->update_pixels,
    };
    return tell(decoder, &event);
}

static enum rfb_error next_rectangle(struct rfb_decoder *decoder) {
    if (decoder->rectangles_left == 0) return end_update(decoder);
    rfb_expect(decoder, 12, take_rectangle_header);
    return RFB_FINE;
}

static enum rfb_error take_update_header(struct rfb_decoder *decoder, const uint8_t *data) {
    decoder->rectangles_left = read_u16(data + 1);
    decoder->rectangles_done = 0;
    decoder->update_pixels = 0;
    if (decoder->owner.update_begins) decoder->owner.update_begins(decoder->owner.context);
    return next_rectangle(decoder);
}

enum rfb_error rfb_pseudo_rectangle_done(struct rfb_decoder *decoder) {
    decoder->rectangles_left--;
    return next_rectangle(decoder);
}

enum rfb_error rfb_rectangle_done(struct rfb_decoder *decoder) {
    decoder->rectangles_done++;
    decoder->update_pixels += decoder->painting;
    decoder->pixels_done += decoder->painting;
    if (decoder->painting) {
        struct rfb_region part = rfb_picture_update(&decoder->picture, decoder->rectangle, decoder->in_luma);
        if (decoder->owner.painted) decoder->owner.painted(decoder->owner.context, &part);
    }
    return rfb_pseudo_rectangle_done(decoder);
}

#define TEXT(number) #number
#define TEXT_OF(macro) TEXT(macro)

const char *rfb_screen_fault(int width, int height) {
    if (width < 1 || height < 1) return "it has no pixels";
    if (width > RFB_MAX_SIDE || height > RFB_MAX_SIDE) return "more than " TEXT_OF(RFB_MAX_SIDE) " pixels each way";
    if ((int64_t)width * height > RFB_MAX_PIXELS) return "more than " TEXT_OF(RFB_MAX_PIXELS) " pixels";
    return NULL;
}

static enum rfb_error resize(struct rfb_decoder *decoder, int width, int height) {
    if (width == decoder->width && height == decoder->height) return rfb_pseudo_rectangle_done(decoder);
    const char *wrong = rfb_screen_fault(width, height);
    if (wrong) return rfb_fail(decoder, RFB_LIMIT_EXCEEDED, "a screen of %dx%d: %s", width, height, wrong);
    uint8_t *pixels = decoder->owner.resize(decoder->owner.context, width, height);
    if (!pixels) return out_of_memory(decoder);
    decoder->pixels = pixels;
    decoder->width = width;
    decoder->height = height;
    if (!rfb_picture_resize(&decoder->picture, pixels, width, height)) return out_of_memory(decoder);
    const struct rfb_event event = {.kind = RFB_RESIZED, .width = width, .height = height};
    enum rfb_error error = tell(decoder, &event);
    return error ? error : rfb_pseudo_rectangle_done(decoder);
}

static enum rfb_error take_screens(struct rfb_decoder *decoder, const uint8_t *data) {
    (void)data; /* how several monitors lie side by side */
    const struct rfb_region *r = &decoder->rectangle;
    /* y other than 0: somebody's wish for another size was refused. */
    return r->y == 0 ? resize(decoder, r->width, r->height) : rfb_pseudo_rectangle_done(decoder);
}

static enum rfb_error take_screen_count(struct rfb_decoder *decoder, const uint8_t *data) {
    rfb_expect(decoder, (size_t)data[0] * SCREEN_BYTES, take_screens);
    return RFB_FINE;
}

/* Whether anybody looks at any of the rectangle at hand. */
static bool is_wanted(const struct rfb_decoder *decoder) {
    for (size_t i = 0; i < decoder->region_count; i++) {
        if (rfb_regions_touch(&decoder->rectangle, &decoder->regions[i])) return true;
    }
    return decoder->region_count == 0;
}

static enum rfb_error begin_pixels(struct rfb_decoder *decoder, int encoding) {
    const struct rfb_region *r = &decoder->rectangle;
    if (r->x + r->width > decoder->width || r->y + r->height > decoder->height) {
        return rfb_fail(decoder, RFB_BAD_GEOMETRY, "a rectangle of %dx%d at (%d, %d) of a screen of %dx%d", r->width,
                        r->height, r->x, r->y, decoder->width, decoder->height);
    }
    decoder->painting = (uint64_t)r->width * (uint64_t)r->height;
    decoder->wanted = is_wanted(decoder);
    decoder->in_luma = false;
    switch (encoding) {
        case RAW: return rfb_begin_raw(decoder);
        case COPYRECT: return rfb_begin_copyrect(decoder);
        default: return rfb_begin_tight(decoder);
    }
}

static enum rfb_error take_rectangle_header(struct rfb_decoder *decoder, const uint8_t *data) {
    decoder->rectangle = (struct rfb_region){
        read_u16(data), read_u16(data + 2), read_u16(data + 4), read_u16(data + 6),
    };
    int encoding = (int)read_u32(data + 8);
    switch (encoding) {
        case RAW:
        case COPYRECT:
        case TIGHT: return begin_pixels(decoder, encoding);
        case CURSOR: return rfb_begin_cursor(decoder);
        case DESKTOP_SIZE: return resize(decoder, decoder->rectangle.width, decoder->rectangle.height);
        case EXTENDED_DESKTOP_SIZE: rfb_expect(decoder, 4, take_screen_count); return RFB_FINE;
        case EXTENDED_MOUSE_BUTTONS: decoder->extended_buttons = true; return rfb_pseudo_rectangle_done(decoder);
        case LAST_RECT: return end_update(decoder);
        default: return rfb_fail(decoder, RFB_UNKNOWN_ENCODING, "a rectangle of encoding %d, not asked for", encoding);
    }
}

/* -- Other messages ------------------------------------------------------------------------------------------------ */

static enum rfb_error take_colours(struct rfb_decoder *decoder, const uint8_t *data) {
    (void)data; /* some servers set up a map that true colour has no use for */
    expect_message(decoder);
    return RFB_FINE;
}

static enum rfb_error take_colour_count(struct rfb_decoder *decoder, const uint8_t *data) {
    rfb_expect(decoder, (size_t)read_u16(data + 3) * COLOUR_MAP_ENTRY_BYTES, take_colours);
    return RFB_FINE;
}

static enum rfb_error take_clipboard(struct rfb_decoder *decoder, const uint8_t *data) {
    const struct rfb_event event = {.kind = RFB_CLIPBOARD, .data = data, .size = decoder->need};
    expect_message(decoder);
    return tell(decoder, &event);
}

static enum rfb_error take_clipboard_size(struct rfb_decoder *decoder, const uint8_t *data) {
    uint32_t size = read_u32(data + 3);
    if (size > RFB_MAX_CLIPBOARD_BYTES) {
        return rfb_fail(decoder, RFB_LIMIT_EXCEEDED, "a clipboard of %lu bytes, more than %d", (unsigned long)size,
                        RFB_MAX_CLIPBOARD_BYTES);
    }
    rfb_expect(decoder, size, take_clipboard);
    return RFB_FINE;
}

static enum rfb_error take_fence(struct rfb_decoder *decoder, const uint8_t *data) {
    const struct rfb_event event = {
        .kind = RFB_FENCE, .flags = decoder->fence_flags, .data = data, .size = decoder->need,
    };
    expect_message(decoder);
    return tell(decoder, &event);
}

static enum rfb_error take_fence_header(struct rfb_decoder *decoder, const uint8_t *data) {
    decoder->fence_flags = read_u32(data + 3);
    if (data[7] > RFB_MAX_FENCE_BYTES) {
        return rfb_fail(decoder, RFB_LIMIT_EXCEEDED, "a fence of %d bytes, more than %d", data[7],
                        RFB_MAX_FENCE_BYTES);
    }
    rfb_expect(decoder, data[7], take_fence);
    return RFB_FINE;
}

static enum rfb_error simple_message(struct rfb_decoder *decoder, enum rfb_event_kind kind) {
    const struct rfb_event event = {.kind = kind};
    expect_message(decoder);
    return tell(decoder, &event);
}

static enum rfb_error take_message_type(struct rfb_decoder *decoder, const uint8_t *data) {
    switch (data[0]) {
        case FRAMEBUFFER_UPDATE: rfb_expect(decoder, 3, take_update_header); return RFB_FINE;
        case SET_COLOUR_MAP_ENTRIES: rfb_expect(decoder, 5, take_colour_count); return RFB_FINE;
        case BELL: return simple_message(decoder, RFB_BELL);
        case SERVER_CUT_TEXT: rfb_expect(decoder, 7, take_clipboard_size); return RFB_FINE;
        case END_OF_CONTINUOUS_UPDATES: return simple_message(decoder, RFB_END_OF_CONTINUOUS_UPDATES);
        case FENCE: rfb_expect(decoder, 8, take_fence_header); return RFB_FINE;
        default: return rfb_fail(decoder, RFB_UNKNOWN_MESSAGE, "a message of unknown type %d", data[0]);
    }
}

/* -- Making and asking --------------------------------------------------------------------------------------------- */

struct rfb_decoder *rfb_decoder_new(int width, int height, uint8_t *pixels, const struct rfb_decoder_options *options,
                                    const struct rfb_owner *owner) {
    struct rfb_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    size_t count = options->region_count;
    decoder->regions = calloc(count + 1, sizeof *decoder->regions);
    decoder->picture.wanted = options->picture;
    if (!decoder->regions || !rfb_picture_resize(&decoder->picture, pixels, width, height)) {
        rfb_decoder_free(decoder);
        return NULL;
    }
    if (count > 0) memcpy(decoder->regions, options->regions, count * sizeof *decoder->regions);
    decoder->region_count = count;
    decoder->width = width;
    decoder->height = height;
    decoder->pixels = pixels;
    decoder->owner = *owner;
    expect_message(decoder);
    return decoder;
}

void rfb_decoder_free(struct rfb_decoder *decoder) {
    if (!decoder) return;
    for (int i = 0; i < TIGHT_STREAMS; i++) rfb_inflater_end(&decoder->tight[i]);
    rfb_jpeg_free(decoder->jpeg);
    free(decoder->pending.bytes);
    free(decoder->scratch.bytes);
    free(decoder->regions);
    rfb_picture_end(&decoder->picture);
    free(decoder);
}

const char *rfb_decoder_message(const struct rfb_decoder *decoder) {
    return decoder->message;
}

int rfb_decoder_width(const struct rfb_decoder *decoder) {
    return decoder->width;
}

int rfb_decoder_height(const struct rfb_decoder *decoder) {
    return decoder->height;
}

bool rfb_decoder_extended_buttons(const struct rfb_decoder *decoder) {
    return decoder->extended_buttons;
}

uint64_t rfb_decoder_updates(const struct rfb_decoder *decoder) {
    return decoder->updates_done;
}

uint64_t rfb_decoder_pixels(const struct rfb_decoder *decoder) {
    return decoder->pixels_done;
}

const struct rfb_picture *rfb_decoder_picture(const struct rfb_decoder *decoder) {
    return &decoder->picture;
}

bool rfb_decoder_mid_message(const struct rfb_decoder *decoder) {
    return decoder->have > 0 || decoder->step != take_message_type;
}
