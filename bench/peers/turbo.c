/* Bare libjpeg-turbo: decodes JPEG tiles into one framebuffer, and says what that took.
 *
 *     turbo WIDTH HEIGHT rgb < TILES
 *     turbo WIDTH HEIGHT grey8 < TILES
 *
 * Grey is of an eighth of the size, the least that there is to do: hardly more than Huffman's codes are left of it.
 *
 * A tile is x, y, width, height and the length of its data, five 32-bit numbers of this machine, and then its data.
 * Prints the CPU nanoseconds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

struct tile {
    uint32_t x, y, width, height, length;
    unsigned char data[];
};

static unsigned char *read_all(size_t *size) {
    size_t room = 1 << 20;
    unsigned char *data = malloc(room);
    *size = 0;
    for (size_t got; data && (got = fread(data + *size, 1, room - *size, stdin)) > 0;) {
        *size += got;
        if (*size == room) data = realloc(data, room *= 2);
    }
    if (!data) abort();
    return data;
}

static void decode(struct jpeg_decompress_struct *jpeg, const struct tile *tile, unsigned char *screen, size_t stride,
                   unsigned scale) {
    jpeg_mem_src(jpeg, tile->data, tile->length);
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = scale == 1 ? JCS_EXT_RGB : JCS_GRAYSCALE;
    jpeg->scale_num = 1;
    jpeg->scale_denom = scale;
    unsigned char *first = screen + tile->y / scale * stride + 3 * (tile->x / scale);
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW rows[16];
        for (unsigned i = 0; i < 16; i++) rows[i] = first + (jpeg->output_scanline + i) * stride;
        unsigned left = jpeg->output_height - jpeg->output_scanline;
        jpeg_read_scanlines(jpeg, rows, left < 16 ? left : 16);
    }
    jpeg_finish_decompress(jpeg);
}

static long long cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1000000000LL * now.tv_sec + now.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    unsigned scale = strcmp(argv[3], "grey8") ? 1 : 8;
    size_t stride = 3 * (size_t)atoi(argv[1]), size;
    /* Some rows more: pointers to rows beyond a tile's end are made, but not used. */
    unsigned char *screen = calloc(stride, (size_t)atoi(argv[2]) + 16), *tiles = read_all(&size);
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct jpeg = {.err = jpeg_std_error(&errors)};
    jpeg_create_decompress(&jpeg);
    long long began = cpu_ns();
    for (size_t at = 0; at < size;) {
        const struct tile *tile = (const struct tile *)(tiles + at);
        decode(&jpeg, tile, screen, stride, scale);
        /* The next one begins where a 32-bit number may. */
        at += sizeof *tile + (tile->length + 3) / 4 * 4;
    }
    printf("%lld\n", cpu_ns() - began);
    jpeg_destroy_decompress(&jpeg);
    return 0;
}
