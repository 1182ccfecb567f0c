/* What a server may send at most: the numbers of pluriverse/rfb/limits.py, which says why. A test compares them. */
#ifndef PLURIVERSE_RFB_LIMITS_H
#define PLURIVERSE_RFB_LIMITS_H

#define RFB_MAX_SIDE 16384
#define RFB_MAX_PIXELS 67108864
#define RFB_MAX_CLIPBOARD_BYTES 1048576
#define RFB_MAX_CURSOR_SIDE 1024
#define RFB_MAX_FENCE_BYTES 64

#endif
