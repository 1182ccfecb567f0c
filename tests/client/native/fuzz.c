/* Feeds damaged streams to the decoder, and its screens to the frames. Built with sanitizers by a test, which also
 * makes the streams: a file is a screen's width and height (two bytes each), and what a server says after ServerInit.
 *
 *     fuzz ITERATIONS SEED FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "rfb_decoder.h"

#define MAX_STREAM (1 << 20)
#define MAX_MUTATIONS 8
/* A stream may well ask for the largest screen, for which sanitizers take too long: there is no memory for that. */
#define MAX_FUZZED_PIXELS (1 << 20)

struct stream {
    int width, height;
    size_t size;
    uint8_t *bytes;
};

struct screen {
    uint8_t *pixels;
    int width, height;
    struct frames frames;
    struct frame *taken;
    struct rfb_decoder *decoder;
};

static uint64_t state;

/* xorshift64*: the same streams everywhere for the same seed. */
static uint32_t chance(uint32_t below) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % below;
}

static uint8_t *on_resize(void *context, int width, int height) {
    struct screen *screen = context;
    if ((int64_t)width * height > MAX_FUZZED_PIXELS) return NULL;
    free(screen->pixels);
    screen->pixels = calloc((size_t)width * (size_t)height, RGB_BYTES);
    if (!screen->pixels) abort();
    return screen->pixels;
}

static void on_painted(void *context, const struct rfb_region *part) {
    struct screen *screen = context;
    frames_painted(&screen->frames, part);
}

static volatile uint8_t sink;

static bool on_event(void *context, const struct rfb_event *event) {
    struct screen *screen = context;
    /* Reads what the event says it has, for the sanitizer to see. */
    for (size_t i = 0; i < event->size; i++) sink = event->data[i];
    if (event->kind == RFB_RESIZED && !frames_begin(&screen->frames, rfb_decoder_picture(screen->decoder))) abort();
    if (event->kind == RFB_UPDATE_FINISHED) {
        frames_publish(&screen->frames, rfb_decoder_updates(screen->decoder), event->pixels, 0);
        struct frame *frame = frames_take(&screen->frames);
        if (frame) {
            frame_drop(screen->taken);
            screen->taken = frame;
        }
    }
    return true;
}

static size_t mutate(uint8_t *bytes, size_t size) {
    for (uint32_t left = chance(MAX_MUTATIONS + 1); left > 0 && size > 1; left--) {
        size_t at = chance((uint32_t)size), length = 1 + chance(16);
        if (length > size - at) length = size - at;
        switch (chance(6)) {
            case 0: bytes[at] ^= (uint8_t)(1 << chance(8)); break;
            case 1: bytes[at] = (uint8_t)chance(256); break;
            case 2: bytes[at] = chance(2) ? 0xFF : 0; break;
            case 3: size = at + 1; break;
            case 4:
                memmove(bytes + at, bytes + at + length, size - at - length);
                size -= length;
                break;
            default:
                if (size + length > MAX_STREAM) break;
                memmove(bytes + at + length, bytes + at, size - at);
                size += length;
        }
    }
    return size;
}

static enum rfb_error feed(struct rfb_decoder *decoder, const uint8_t *bytes, size_t size) {
    enum rfb_error error = RFB_FINE;
    uint32_t largest = chance(2) ? 64 : 1 << 16;
    for (size_t at = 0; at < size;) {
        size_t some = 1 + chance(largest);
        if (some > size - at) some = size - at;
        /* A copy of just these bytes: reading beyond them is seen. */
        uint8_t *chunk = malloc(some);
        if (!chunk) abort();
        memcpy(chunk, bytes + at, some);
        error = rfb_decoder_feed(decoder, chunk, some);
        free(chunk);
        at += some;
    }
    return error;
}

static enum rfb_error run(const struct stream *stream, const uint8_t *bytes, size_t size) {
    struct screen screen = {.width = stream->width, .height = stream->height};
    const struct rfb_region regions[] = {{3, 5, 40, 30}, {100, 0, 200, 8}};
    struct rfb_decoder_options options = {regions, chance(2) * 2, {.scale = 1 + (int)chance(4), .grey = chance(2)}};
    if (chance(2)) options.picture.crop = (struct rfb_region){(int)chance(200), (int)chance(90), 1 + (int)chance(99), 30};
    if (chance(2)) options.picture.block = (struct rfb_region){(int)chance(200), (int)chance(90), 6, 2};
    if (chance(2)) options.picture.width = options.picture.height = 1 + (int)chance(60);
    const struct rfb_owner owner = {&screen, on_resize, NULL, on_painted, on_event};
    if (!on_resize(&screen, stream->width, stream->height)) abort();
    screen.decoder = rfb_decoder_new(stream->width, stream->height, screen.pixels, &options, &owner);
    if (!screen.decoder || !frames_begin(&screen.frames, rfb_decoder_picture(screen.decoder))) abort();
    enum rfb_error error = feed(screen.decoder, bytes, size);
    rfb_decoder_free(screen.decoder);
    frames_end(&screen.frames);
    frame_drop(screen.taken);
    free(screen.pixels);
    return error;
}

static struct stream load(const char *path) {
    struct stream stream = {0};
    uint8_t head[4];
    FILE *file = fopen(path, "rb");
    stream.bytes = malloc(MAX_STREAM);
    if (!file || !stream.bytes || fread(head, 1, sizeof head, file) != sizeof head) {
        fprintf(stderr, "fuzz: %s can't be read\n", path);
        exit(2);
    }
    stream.width = head[0] << 8 | head[1];
    stream.height = head[2] << 8 | head[3];
    stream.size = fread(stream.bytes, 1, MAX_STREAM, file);
    fclose(file);
    return stream;
}

int main(int count, char **arguments) {
    if (count < 4) {
        fprintf(stderr, "usage: fuzz ITERATIONS SEED FILE...\n");
        return 2;
    }
    long iterations = strtol(arguments[1], NULL, 10), fine = 0;
    state = strtoull(arguments[2], NULL, 10) | 1;
    int files = count - 3;
    struct stream *streams = calloc((size_t)files, sizeof *streams);
    uint8_t *bytes = malloc(MAX_STREAM);
    if (!streams || !bytes) return 2;
    for (int i = 0; i < files; i++) streams[i] = load(arguments[3 + i]);
    for (int i = 0; i < files; i++) {
        enum rfb_error error = run(&streams[i], streams[i].bytes, streams[i].size);
        if (error) {
            fprintf(stderr, "fuzz: %s is not fine before it is damaged: error %d\n", arguments[3 + i], error);
            return 1;
        }
    }
    for (long i = 0; i < iterations; i++) {
        const struct stream *stream = &streams[chance((uint32_t)files)];
        memcpy(bytes, stream->bytes, stream->size);
        fine += run(stream, bytes, mutate(bytes, stream->size)) == RFB_FINE;
    }
    printf("%ld of %ld damaged streams were taken as fine\n", fine, iterations);
    for (int i = 0; i < files; i++) free(streams[i].bytes);
    free(streams);
    free(bytes);
    return 0;
}
