/* What has changed on an X screen, and from its order of colours to that of agents. Called from Python, as control.c is. */
#include <stdint.h>
#include <string.h>

static uint32_t turned(const uint8_t *pixel) {
    uint32_t value;
    memcpy(&value, pixel, sizeof value);
    return __builtin_bswap32(value) >> 8;
}

/* Write ``width`` times ``height`` pixels of blue, green, red and an unused byte, in rows that are ``stride`` bytes apart,
 * as red, green and blue without gaps. */
__attribute__((visibility("default"))) void lockstep_rgb(const uint8_t *from, int64_t stride, int width, int height,
                                                         uint8_t *to) {
    for (int y = 0; y < height; y++, from += stride) {
        int x = 0;
        /* Four pixels are twelve bytes, the lowest of a word first. */
        for (; x + 4 <= width; x += 4, to += 12) {
            uint32_t a = turned(from + 4 * x), b = turned(from + 4 * x + 4);
            uint32_t c = turned(from + 4 * x + 8), d = turned(from + 4 * x + 12);
            uint64_t first = a | (uint64_t)b << 24 | (uint64_t)c << 48;
            uint32_t second = c >> 16 | d << 8;
            memcpy(to, &first, sizeof first);
            memcpy(to + sizeof first, &second, sizeof second);
        }
        for (; x < width; x++, to += 3)
            for (int channel = 0; channel < 3; channel++) to[channel] = from[4 * x + 2 - channel];
    }
}

/* Rows that lie no further apart are one run: each run takes a call. */
#define NEAR 8

/* Write rows of ``size`` bytes, ``stride`` bytes apart, over those of ``seen`` that differ, without gaps. Return how many
 * runs of them do, and for each its first row and how many they are. */
__attribute__((visibility("default"))) int lockstep_changes(const uint8_t *from, int64_t stride, int64_t size, int height,
                                                            uint8_t *seen, int32_t (*runs)[2]) {
    int count = 0;
    for (int y = 0; y < height; y++, from += stride, seen += size) {
        if (!memcmp(from, seen, (size_t)size)) continue;
        memcpy(seen, from, (size_t)size);
        if (!count || y - runs[count - 1][0] - runs[count - 1][1] > NEAR) runs[count++][0] = y;
        runs[count - 1][1] = y + 1 - runs[count - 1][0];
    }
    return count;
}
