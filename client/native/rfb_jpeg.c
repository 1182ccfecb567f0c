/* JPEG tiles of Tight, through libjpeg-turbo's classic interface: unlike TurboJPEG's, its static library can be linked
 * into an extension module on Debian, and rows go straight into the framebuffer. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "rfb_internal.h"

#ifndef JCS_EXTENSIONS
#error "this is not libjpeg-turbo: it can't write RGB bytes; install libjpeg62-turbo-dev (Debian)"
#endif

struct rfb_jpeg {
    struct jpeg_decompress_struct decompress;
    struct jpeg_error_mgr errors;
    jmp_buf escape;
    char message[JMSG_LENGTH_MAX];
};

static struct rfb_jpeg *owner_of(j_common_ptr common) {
    return common->client_data;
}

static void on_error(j_common_ptr common) {
    struct rfb_jpeg *jpeg = owner_of(common);
    common->err->format_message(common, jpeg->message);
    longjmp(jpeg->escape, 1);
}

/* A warning is data that is cut short or damaged; what libjpeg makes up for it is nobody's pixels. */
static void on_message(j_common_ptr common, int level) {
    if (level < 0) on_error(common);
}

static void print_nothing(j_common_ptr common) {
    (void)common;
}

static bool create(struct rfb_jpeg *jpeg) {
    jpeg->decompress.err = jpeg_std_error(&jpeg->errors);
    jpeg->errors.error_exit = on_error;
    jpeg->errors.emit_message = on_message;
    jpeg->errors.output_message = print_nothing;
    jpeg->decompress.client_data = jpeg;
    if (setjmp(jpeg->escape)) return false;
    jpeg_create_decompress(&jpeg->decompress);
    return true;
}

/* Not inlined where another setjmp is. */
__attribute__((noinline)) static struct rfb_jpeg *new_jpeg(void) {
    struct rfb_jpeg *jpeg = calloc(1, sizeof *jpeg);
    if (jpeg && create(jpeg)) return jpeg;
    free(jpeg);
    return NULL;
}

void rfb_jpeg_free(struct rfb_jpeg *jpeg) {
    if (!jpeg) return;
    jpeg_destroy_decompress(&jpeg->decompress);
    free(jpeg);
}

static void decode_rows(struct rfb_decoder *decoder, struct jpeg_decompress_struct *decompress) {
    const struct rfb_region *r = &decoder->rectangle;
    JSAMPROW rows[16];
    while (decompress->output_scanline < decompress->output_height) {
        int first = (int)decompress->output_scanline, count = r->height - first;
        if (count > 16) count = 16;
        for (int i = 0; i < count; i++) {
            int y = r->y + first + i;
            rows[i] = decoder->in_luma ? luma_at(decoder, r->x, y) : pixel_at(decoder, r->x, y);
        }
        jpeg_read_scanlines(decompress, rows, (JDIMENSION)count);
    }
}

enum rfb_error rfb_jpeg_decode(struct rfb_decoder *decoder, const uint8_t *data, size_t size) {
    if (!decoder->jpeg && !(decoder->jpeg = new_jpeg())) return rfb_fail(decoder, RFB_OUT_OF_MEMORY, "out of memory");
    struct rfb_jpeg *jpeg = decoder->jpeg;
    struct jpeg_decompress_struct *decompress = &jpeg->decompress;
    if (setjmp(jpeg->escape)) {
        jpeg_abort_decompress(decompress);
        return rfb_fail(decoder, RFB_BAD_DATA, "JPEG data is damaged: %.100s", jpeg->message);
    }
    jpeg_mem_src(decompress, (unsigned char *)data, (unsigned long)size);
    jpeg_read_header(decompress, TRUE);
    const struct rfb_region *r = &decoder->rectangle;
    if ((int)decompress->image_width != r->width || (int)decompress->image_height != r->height) {
        unsigned width = decompress->image_width, height = decompress->image_height;
        jpeg_abort_decompress(decompress);
        return rfb_fail(decoder, RFB_BAD_DATA, "a JPEG picture of %ux%u in a rectangle of %dx%d", width, height,
                        r->width, r->height);
    }
    /* No VNC server makes them, and a few kilobytes of empty scans can keep a decoder busy for hours. */
    if (jpeg_has_multiple_scans(decompress) || decompress->arith_code) {
        jpeg_abort_decompress(decompress);
        return rfb_fail(decoder, RFB_BAD_DATA, "a JPEG picture of a kind that VNC servers don't send");
    }
    decoder->in_luma = is_seen_in_luma(decoder);
    decompress->out_color_space = decoder->in_luma ? JCS_GRAYSCALE : JCS_EXT_RGB;
    jpeg_start_decompress(decompress);
    decode_rows(decoder, decompress);
    jpeg_finish_decompress(decompress);
    return RFB_FINE;
}
