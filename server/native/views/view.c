/* Pictures as agents ask for them, by the code with which their own driver would make them: protocol/native. */
#include "rfb_picture.c"

/* Writes what is wanted of a picture, RGB without gaps, to `out`, which has room for it. False: out of memory. */
bool make_view(const uint8_t *rgb, int width, int height, const struct rfb_picture_options *wanted, uint8_t *out) {
    struct rfb_picture picture = {.wanted = *wanted};
    bool made = rfb_picture_resize(&picture, rgb, width, height);
    if (made) {
        rfb_picture_update(&picture, (struct rfb_region){0, 0, width, height}, false);
        rfb_picture_copy(&picture, out);
    }
    rfb_picture_end(&picture);
    return made;
}
