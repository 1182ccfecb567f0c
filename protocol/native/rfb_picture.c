#include "rfb_picture.h"

#include <stdlib.h>
#include <string.h>

/* Loops over all pixels, which compilers make several times as fast for processors of this century. Resolvers of such
 * functions run before a sanitizer is ready. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define FAST __attribute__((target_clones("avx2", "default")))
#else
#define FAST
#endif

/* Luma of red, green and blue in 256ths. */
#define LUMA_RED 77
#define LUMA_GREEN 150
#define LUMA_BLUE 29

static int larger(int a, int b) {
    return a > b ? a : b;
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static int common_divisor(int a, int b) {
    return b ? common_divisor(b, a % b) : a;
}

/* -- Sizes --------------------------------------------------------------------------------------------------------- */

/* How many pixels the picture has of `length`, of which with a scale only a part may be shown. */
static int pixels_of(int *length, int wanted, int scale) {
    if (wanted > 0) return wanted;
    int pixels = larger(1, *length / scale);
    *length = smaller(*length, pixels * scale);
    return pixels;
}

static void choose_sizes(struct rfb_picture *picture) {
    const struct rfb_picture_options *wanted = &picture->wanted;
    picture->crop = wanted->crop;
    if (wanted->crop.width == 0) {
        picture->crop = (struct rfb_region){0, 0, picture->screen_width, picture->screen_height};
    }
    struct rfb_region *crop = &picture->crop;
    picture->width = pixels_of(&crop->width, wanted->width, wanted->scale);
    picture->height = pixels_of(&crop->height, wanted->height, wanted->scale);
    picture->channels = wanted->grey ? 1 : RGB_BYTES;
    int across = common_divisor(crop->width, picture->width), down = common_divisor(crop->height, picture->height);
    picture->screen_x = picture->width / across;
    picture->picture_x = crop->width / across;
    picture->screen_y = picture->height / down;
    picture->picture_y = crop->height / down;
}

/* Each pixel has equally many, of which some may be of nothing: a loop without conditions is twice as fast. */
static bool choose_taps(struct rfb_picture *picture) {
    const int box = picture->picture_x, length = picture->screen_x, last = picture->crop.width - 1;
    if (length == 1) return true;
    picture->taps_each = (box - 1) / length + 2;
    struct rfb_tap *tap = calloc((size_t)picture->width * (size_t)picture->taps_each, sizeof *tap);
    picture->taps = tap;
    for (int x = 0; tap && x < picture->width; x++) {
        const int begin = x * box, end = begin + box;
        for (int i = 0; i < picture->taps_each; i++, tap++) {
            int column = begin / length + i;
            tap->column = smaller(column, last) * picture->channels;
            tap->part = (uint32_t)larger(0, smaller(end, (column + 1) * length) - larger(begin, column * length));
        }
    }
    return tap != NULL;
}

static const uint8_t *source_of(const struct rfb_picture *picture) {
    return picture->luma ? picture->luma : picture->screen;
}

static bool is_part_of_screen(const struct rfb_picture *picture) {
    const struct rfb_region *crop = &picture->crop;
    return picture->width == crop->width && picture->height == crop->height &&
           crop->x + crop->width <= picture->screen_width && crop->y + crop->height <= picture->screen_height;
}

bool rfb_picture_resize(struct rfb_picture *picture, const uint8_t *screen, int width, int height) {
    rfb_picture_end(picture);
    picture->screen = screen;
    picture->screen_width = width;
    picture->screen_height = height;
    choose_sizes(picture);
    size_t channels = (size_t)picture->channels;
    if (picture->wanted.grey && !(picture->luma = calloc((size_t)width, (size_t)height))) return false;
    if (is_part_of_screen(picture)) {
        picture->stride = (size_t)width * channels;
        picture->pixels = source_of(picture) + (size_t)picture->crop.y * picture->stride + (size_t)picture->crop.x * channels;
        return true;
    }
    picture->stride = (size_t)picture->width * channels;
    picture->own = calloc((size_t)picture->height, picture->stride);
    picture->sums = calloc((size_t)picture->crop.width * channels, sizeof *picture->sums);
    picture->pixels = picture->own;
    return picture->own && picture->sums && choose_taps(picture);
}

void rfb_picture_end(struct rfb_picture *picture) {
    free(picture->luma);
    free(picture->own);
    free(picture->sums);
    free(picture->taps);
    picture->luma = picture->own = NULL;
    picture->sums = NULL;
    picture->taps = NULL;
}

/* -- Averaging ----------------------------------------------------------------------------------------------------- */

/* The columns first..last-1 of the rows of the crop that row y of the picture is made of, added up by their parts. */
static inline void add_rows(const struct rfb_picture *picture, int y, int first, int last) {
    const int channels = picture->channels, row_length = picture->screen_y;
    const int begin = y * picture->picture_y, end = begin + picture->picture_y;
    uint32_t *sums = picture->sums + first * channels;
    const int count = (smaller(last, picture->screen_width - picture->crop.x) - first) * channels;
    memset(sums, 0, (size_t)((last - first) * channels) * sizeof *sums);
    for (int row = begin / row_length; row * row_length < end && picture->crop.y + row < picture->screen_height; row++) {
        uint32_t part = (uint32_t)(smaller(end, (row + 1) * row_length) - larger(begin, row * row_length));
        const uint8_t *in = source_of(picture) + ((size_t)(picture->crop.y + row) * (size_t)picture->screen_width +
                                                  (size_t)(picture->crop.x + first)) * (size_t)channels;
        for (int i = 0; i < count; i++) sums[i] += part * in[i];
    }
}

/* Means without a division: sums are below 256 times the area, and with areas of up to 16 bits this is exact. */
struct mean {
    uint64_t area, factor;
};

static inline uint8_t mean_of(uint64_t sum, struct mean mean) {
    sum += mean.area / 2;
    return (uint8_t)(mean.factor ? sum * mean.factor >> 40 : sum / mean.area);
}

/* Pixels of the picture that are a whole number of the screen's wide. */
static inline void put_boxes(uint8_t *out, const uint32_t *sums, int count, int box, int channels, struct mean mean) {
    for (int x = 0; x < count; x++) {
        for (int channel = 0; channel < channels; channel++) {
            uint64_t sum = 0;
            for (int i = 0; i < box; i++) sum += sums[(x * box + i) * channels + channel];
            out[x * channels + channel] = mean_of(sum, mean);
        }
    }
}

/* The same where the area is a power of 2, in numbers that vectors have more of. */
static inline void put_squares(uint8_t *out, const uint32_t *sums, int count, int box, int channels) {
    const uint32_t area = (uint32_t)(box * box), shift = (uint32_t)__builtin_ctz(area);
    for (int x = 0; x < count; x++) {
        for (int channel = 0; channel < channels; channel++) {
            uint32_t sum = area / 2;
            for (int i = 0; i < box; i++) sum += sums[(x * box + i) * channels + channel];
            out[x * channels + channel] = (uint8_t)(sum >> shift);
        }
    }
}

static inline void put_parts(const struct rfb_picture *picture, uint8_t *out, int left, int count, int channels,
                             struct mean mean) {
    const int each = picture->taps_each;
    const struct rfb_tap *taps = picture->taps + (size_t)left * (size_t)each;
    for (int x = 0; x < count; x++, taps += each) {
        for (int channel = 0; channel < channels; channel++) {
            uint64_t sum = 0;
            for (int i = 0; i < each; i++) sum += (uint64_t)taps[i].part * picture->sums[taps[i].column + channel];
            *out++ = mean_of(sum, mean);
        }
    }
}

FAST static void average(const struct rfb_picture *picture, const struct rfb_region *dirty) {
    const int box = picture->picture_x, channels = picture->channels, count = dirty->width;
    const int left = dirty->x, right = left + count;
    const int first = left * box / picture->screen_x, last = (right * box - 1) / picture->screen_x + 1;
    struct mean mean = {.area = (uint64_t)box * (uint64_t)picture->picture_y};
    if (mean.area < 1 << 16) mean.factor = (UINT64_C(1) << 40) / mean.area + 1;
    for (int y = dirty->y; y < dirty->y + dirty->height; y++) {
        uint8_t *out = picture->own + (size_t)y * picture->stride + (size_t)(left * channels);
        const uint32_t *sums = picture->sums + left * box * channels;
        add_rows(picture, y, first, last);
        if (picture->screen_x != 1) {
            channels == 1 ? put_parts(picture, out, left, count, 1, mean)
                          : put_parts(picture, out, left, count, RGB_BYTES, mean);
        } else if (mean.area == 4 && box == 2) {
            channels == 1 ? put_squares(out, sums, count, 2, 1) : put_squares(out, sums, count, 2, RGB_BYTES);
        } else if (mean.area == 16 && box == 4) {
            channels == 1 ? put_squares(out, sums, count, 4, 1) : put_squares(out, sums, count, 4, RGB_BYTES);
        } else {
            channels == 1 ? put_boxes(out, sums, count, box, 1, mean) : put_boxes(out, sums, count, box, RGB_BYTES, mean);
        }
    }
}

/* -- Updates ------------------------------------------------------------------------------------------------------- */

/* Were the count read from memory, it could be among the bytes that are written, and this would not become vectors. */
FAST void rfb_luma_of(uint8_t *luma, const uint8_t *rgb, int count) {
    for (int i = 0; i < count; i++, rgb += RGB_BYTES) {
        luma[i] = (uint8_t)((LUMA_RED * rgb[0] + LUMA_GREEN * rgb[1] + LUMA_BLUE * rgb[2] + 128) >> 8);
    }
}

static void put_luma(const struct rfb_picture *picture, const struct rfb_region *part) {
    for (int row = part->y; row < part->y + part->height; row++) {
        size_t at = (size_t)row * (size_t)picture->screen_width + (size_t)part->x;
        rfb_luma_of(picture->luma + at, picture->screen + at * RGB_BYTES, part->width);
    }
}

static struct rfb_region overlap(const struct rfb_region *one, const struct rfb_region *other) {
    int left = larger(one->x, other->x), right = smaller(one->x + one->width, other->x + other->width);
    int top = larger(one->y, other->y), bottom = smaller(one->y + one->height, other->y + other->height);
    return (struct rfb_region){left, top, larger(0, right - left), larger(0, bottom - top)};
}

struct rfb_region rfb_picture_update(struct rfb_picture *picture, struct rfb_region painted, bool in_luma) {
    struct rfb_region part = overlap(&painted, &picture->crop);
    if (part.width == 0 || part.height == 0) return (struct rfb_region){0, 0, 0, 0};
    if (picture->luma && !in_luma) put_luma(picture, &part);
    /* The pixels of the picture that the part has anything of. */
    int left = part.x - picture->crop.x, right = left + part.width;
    int top = part.y - picture->crop.y, bottom = top + part.height;
    left = left * picture->screen_x / picture->picture_x;
    right = (right * picture->screen_x - 1) / picture->picture_x + 1;
    top = top * picture->screen_y / picture->picture_y;
    bottom = (bottom * picture->screen_y - 1) / picture->picture_y + 1;
    struct rfb_region dirty = {left, top, right - left, bottom - top};
    if (picture->own) average(picture, &dirty);
    return dirty;
}

void rfb_picture_copy(const struct rfb_picture *picture, uint8_t *out) {
    size_t row = (size_t)picture->width * (size_t)picture->channels;
    for (int y = 0; y < picture->height; y++) memcpy(out + (size_t)y * row, picture->pixels + (size_t)y * picture->stride, row);
}

void rfb_picture_block(const struct rfb_picture *picture, uint8_t *rgb) {
    const struct rfb_region *block = &picture->wanted.block;
    size_t row_bytes = (size_t)block->width * RGB_BYTES;
    memset(rgb, 0, row_bytes * (size_t)block->height);
    int width = smaller(block->width, picture->screen_width - block->x);
    for (int row = 0; width > 0 && row < block->height && block->y + row < picture->screen_height; row++) {
        size_t at = (size_t)(block->y + row) * (size_t)picture->screen_width + (size_t)block->x;
        memcpy(rgb + (size_t)row * row_bytes, picture->screen + at * RGB_BYTES, (size_t)width * RGB_BYTES);
    }
}
