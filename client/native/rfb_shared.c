/* What the server compiles, too: protocol/native. */
#include "rfb_picture.c"
