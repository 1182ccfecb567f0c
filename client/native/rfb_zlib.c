/* The server's zlib streams. Each goes on from rectangle to rectangle, so every byte of input has to be taken. */
#include "rfb_internal.h"

static enum rfb_error begin(struct rfb_decoder *decoder, struct rfb_inflater *inflater) {
    if (inflater->begun) return RFB_FINE;
    memset(&inflater->stream, 0, sizeof inflater->stream);
    if (inflateInit(&inflater->stream) != Z_OK) return rfb_fail(decoder, RFB_OUT_OF_MEMORY, "out of memory");
    inflater->begun = true;
    return RFB_FINE;
}

void rfb_inflater_reset(struct rfb_inflater *inflater) {
    if (inflater->begun) inflateReset(&inflater->stream);
}

void rfb_inflater_end(struct rfb_inflater *inflater) {
    if (inflater->begun) inflateEnd(&inflater->stream);
    inflater->begun = false;
}

/* Inflates into out[0..capacity); `got` is how much came. Stops early where there is no more input or no more room. */
static enum rfb_error run(struct rfb_decoder *decoder, z_stream *stream, uint8_t *out, size_t capacity, size_t *got) {
    stream->next_out = out;
    stream->avail_out = (uInt)capacity;
    int result = Z_OK;
    while (stream->avail_out > 0 && result == Z_OK) result = inflate(stream, Z_SYNC_FLUSH);
    *got = capacity - stream->avail_out;
    if (result == Z_MEM_ERROR) return rfb_fail(decoder, RFB_OUT_OF_MEMORY, "out of memory");
    /* Z_BUF_ERROR: all of the input is used up. Z_STREAM_END: the server ended a stream that goes on. */
    if (result != Z_OK && result != Z_BUF_ERROR && result != Z_STREAM_END) {
        return rfb_fail(decoder, RFB_BAD_DATA, "zlib data is damaged: %s", stream->msg ? stream->msg : "no reason");
    }
    return RFB_FINE;
}

/* After the last pixel there may be the marker of a flush, which gives no output, but has to be taken. */
static enum rfb_error take_the_rest(struct rfb_decoder *decoder, z_stream *stream, size_t wanted) {
    uint8_t spare;
    size_t got;
    enum rfb_error error = run(decoder, stream, &spare, sizeof spare, &got);
    if (error) return error;
    if (got > 0) return rfb_fail(decoder, RFB_BAD_DATA, "zlib data is longer than the %zu bytes it stands for", wanted);
    return RFB_FINE;
}

enum rfb_error rfb_inflate_exactly(struct rfb_decoder *decoder, struct rfb_inflater *inflater, const uint8_t *data,
                                   size_t size, uint8_t *out, size_t wanted) {
    enum rfb_error error = begin(decoder, inflater);
    if (error) return error;
    z_stream *stream = &inflater->stream;
    stream->next_in = (Bytef *)data;
    stream->avail_in = (uInt)size;
    size_t got;
    error = run(decoder, stream, out, wanted, &got);
    if (error) return error;
    if (got < wanted) return rfb_fail(decoder, RFB_BAD_DATA, "zlib data gave %zu of %zu bytes", got, wanted);
    return take_the_rest(decoder, stream, wanted);
}
