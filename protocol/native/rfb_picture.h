/* What is made of a screen while it is decoded: a part of it, smaller or larger, in grey. */
#ifndef PLURIVERSE_RFB_PICTURE_H
#define PLURIVERSE_RFB_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RGB_BYTES 3

struct rfb_region {
    int x, y, width, height;
};

/* A width of 0: of `crop` the whole screen, of `block` none, of `width` as large as the crop. */
struct rfb_picture_options {
    struct rfb_region crop;
    int width, height;
    int scale; /* without a size: each pixel is the mean of scale*scale, and what is left over is cut off */
    bool grey; /* one channel, the luma of ITU-R BT.601 */
    struct rfb_region block; /* pixels that are kept as they are on the screen, whatever the picture is */
};

/* A column of the crop, and how much of it a pixel gets. */
struct rfb_tap {
    int column;
    uint32_t part;
};

struct rfb_picture {
    struct rfb_picture_options wanted;
    int width, height, channels;
    const uint8_t *pixels;
    size_t stride;

    /* Of the screen at hand; `screen` is the decoder's, RGB. */
    const uint8_t *screen;
    int screen_width, screen_height;
    struct rfb_region crop; /* may reach beyond the screen, where it is black */
    uint8_t *luma;          /* of all of the screen, if the picture is grey */
    uint8_t *own;           /* the picture's memory, unless it is a part of the screen or of its luma */
    uint32_t *sums;         /* a row of the crop */
    struct rfb_tap *taps;   /* of each pixel of a row of the picture that isn't a whole number of the screen's wide */
    int taps_each;
    /* Lengths of a pixel of the screen and of one of the picture, in a unit that both are multiples of. */
    int screen_x, screen_y, picture_x, picture_y;
};

/* Begins anew, black, for this screen. False: out of memory. */
bool rfb_picture_resize(struct rfb_picture *picture, const uint8_t *screen, int width, int height);
void rfb_picture_end(struct rfb_picture *picture);
/* Takes over what was painted on the screen, or, `in_luma`, on its luma; returns what that changed of the picture. */
struct rfb_region rfb_picture_update(struct rfb_picture *picture, struct rfb_region painted, bool in_luma);
/* Copies the picture's pixels, without gaps. */
void rfb_picture_copy(const struct rfb_picture *picture, uint8_t *out);
/* Grey of RGB. */
void rfb_luma_of(uint8_t *luma, const uint8_t *rgb, int count);
/* Copies the pixels of the block, RGB; those that are not on the screen are black. */
void rfb_picture_block(const struct rfb_picture *picture, uint8_t *rgb);

static inline bool rfb_regions_touch(const struct rfb_region *one, const struct rfb_region *other) {
    return one->x < other->x + other->width && other->x < one->x + one->width && one->y < other->y + other->height &&
           other->y < one->y + one->height;
}

#endif
