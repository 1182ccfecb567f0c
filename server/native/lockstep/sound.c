/* A sound card that plays to the page: an I/O plug-in of ALSA's, which plays by the clock of who has it. Without a page,
 * time is real, and what is played goes to a file. */
#include "lockstep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Where what is played goes without a page. */
#define FILE_VARIABLE "PLURIVERSE_SOUND"

/* Of what is asked how much room it has, again and again at the same time. */
#define ASKS 64

/* ── what of <alsa/pcm_ioplug.h> is used; its VERSION is compared when a card is made ───────────────────────────────── */

enum { PLAYBACK = 0, S16_LE = 2, NO_WRAP = 4, VERSION = 0x010002 };
enum { ACCESS, FORMAT, CHANNELS, RATE, PERIOD_BYTES, BUFFER_BYTES };
struct area {
    char *at;
    unsigned first, step; /* in bits */
};
struct card {
    unsigned version;
    const char *name;
    unsigned flags;
    int poll_file;
    unsigned poll_events, mmap_rw;
    const struct calls *calls;
    void *own, *pcm;
    int direction, state;
    volatile unsigned long written, played;
    int nonblock, access, format;
    unsigned channels, rate;
    unsigned long period, buffer; /* in frames */
};
struct calls {
    int (*start)(struct card *), (*stop)(struct card *);
    long (*pointer)(struct card *);
    long (*transfer)(struct card *, const struct area *, unsigned long, unsigned long);
    int (*close)(struct card *), (*hw_params)(struct card *, void *), (*hw_free)(struct card *);
    int (*sw_params)(struct card *, void *), (*prepare)(struct card *), (*drain)(struct card *);
    int (*pause)(struct card *, int), (*resume)(struct card *), (*poll_count)(struct card *);
    int (*poll_files)(struct card *, struct pollfd *, unsigned);
    int (*poll_events)(struct card *, struct pollfd *, unsigned, unsigned short *);
    void *others[5];
};

/* ── a stream ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Its frame 0 is played at ``begins``; as much of it is ``written``, and what of that is yet to come is in ``queue``, too,
 * since it may be taken back. A stream that has nothing to play goes on later. */
struct stream {
    struct card card;
    struct sound *sound;
    int (*least_of)(const void *, unsigned long *);
    unsigned long least; /* room of which it is told */
    int64_t begins, written;
    int16_t queue[SOUND_BUFFER][SOUND_CHANNELS];
};

static int is_stepped;

static int64_t position(void) {
    static __thread unsigned times;
    struct timespec time;
    if (is_stepped) {
        grow_tired(&times, ASKS);
        return sound_position(now());
    }
    clock_gettime(CLOCK_MONOTONIC, &time);
    return sound_position(time.tv_sec * SECOND_NS + time.tv_nsec);
}
static int64_t played(const struct stream *stream) {
    int64_t frames = position() - stream->begins;
    return frames < stream->written ? frames : stream->written;
}
/* As much as it is told of: whole periods, as of a card that interrupts. ALSA's converters never wait for less. */
static int64_t told(const struct stream *stream) {
    int64_t frames = played(stream);
    return frames < stream->written ? frames - frames % (int64_t)stream->card.period : frames;
}

/* Have its descriptor be readable once it is told of enough room. */
static void set_alarm(const struct stream *stream) {
    int64_t period = (int64_t)stream->card.period, at = stream->written - (int64_t)(stream->card.buffer - stream->least);
    at = at > 0 ? (at + period - 1) / period * period : 0;
    at = stream->begins + (at < stream->written ? at : stream->written);
    int64_t ns = at > 0 ? (int64_t)(((__int128)at * SECOND_NS + SOUND_RATE - 1) / SOUND_RATE) : 1;
    struct itimerspec alarm = {{0, 0}, {ns / SECOND_NS, ns % SECOND_NS}};
    timerfd_settime(stream->card.poll_file, TFD_TIMER_ABSTIME, &alarm, NULL);
}

static int prepare(struct card *card) {
    struct stream *stream = card->own;
    stream->begins = stream->written = 0;
    set_alarm(stream);
    return 0;
}
static int start(struct card *card) {
    (void)card;
    return 0;
}
static int stop(struct card *card) {
    struct stream *stream = card->own;
    for (int64_t i = played(stream); i < stream->written; i++)
        for (int j = 0; j < SOUND_CHANNELS; j++)
            stream->sound->ring[(stream->begins + i) % SOUND_RING][j] -= stream->queue[i % SOUND_BUFFER][j];
    return prepare(card);
}
static int drain(struct card *card) {
    struct stream *stream = card->own;
    int64_t ns = (stream->written - played(stream)) * SECOND_NS / SOUND_RATE;
    return nanosleep(&(struct timespec){ns / SECOND_NS, ns % SECOND_NS}, NULL) ? -errno : 0;
}

static long pointer(struct card *card) {
    return (long)told(card->own);
}
static long transfer(struct card *card, const struct area *areas, unsigned long offset, unsigned long frames) {
    struct stream *stream = card->own;
    if (stream->written == played(stream)) stream->begins = position() - stream->written;
    for (unsigned long i = 0; i < frames; i++, stream->written++) {
        for (int j = 0; j < SOUND_CHANNELS; j++) {
            int16_t sample = *(int16_t *)(areas[j].at + (areas[j].first + (offset + i) * areas[j].step) / 8);
            stream->queue[stream->written % SOUND_BUFFER][j] = sample;
            stream->sound->ring[(stream->begins + stream->written) % SOUND_RING][j] += sample;
        }
    }
    set_alarm(stream);
    return (long)frames;
}

static int sw_params(struct card *card, void *params) {
    struct stream *stream = card->own;
    int error = stream->least_of(params, &stream->least);
    if (stream->least > card->buffer) stream->least = card->buffer;
    return error;
}
static int poll_events(struct card *card, struct pollfd *files, unsigned count, unsigned short *events) {
    const struct stream *stream = card->own;
    unsigned long room = card->buffer - (unsigned long)(stream->written - told(stream));
    (void)files, (void)count;
    *events = room >= stream->least ? POLLOUT : 0;
    if (!*events) set_alarm(stream);
    return 0;
}

static int close_stream(struct card *card) {
    struct stream *stream = card->own;
    if (!is_stepped) munmap(stream->sound, sizeof *stream->sound);
    close(card->poll_file);
    free(stream);
    return 0;
}

/* ── the card ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

static struct sound *find_sound(void) {
    is_stepped = getenv(PAGE_VARIABLE) != NULL;
    if (is_stepped) return &page()->sound;
    const char *path = getenv(FILE_VARIABLE);
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct sound *found = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    return found == MAP_FAILED ? NULL : found;
}

/* By this ALSA knows its version. */
char __snd_pcm_pluriverse_open_dlsym_pcm_001;

/* Called by ALSA for a "type pluriverse"; by which one there is, since some programs bring their own. */
int _snd_pcm_pluriverse_open(void **pcm, const char *name, void *root, void *table, int direction, int mode);
int _snd_pcm_pluriverse_open(void **pcm, const char *name, void *root, void *table, int direction, int mode) {
    static const struct calls calls = {.start = start, .stop = stop, .pointer = pointer, .transfer = transfer,
                                       .close = close_stream, .sw_params = sw_params, .prepare = prepare, .drain = drain,
                                       .poll_events = poll_events};
    static const unsigned accesses[] = {0, 1, 3, 4}, format = S16_LE;
    const unsigned frame = SOUND_CHANNELS * sizeof(int16_t);
    (void)root, (void)table;
    Dl_info caller;
    void *alsa = dladdr(__builtin_return_address(0), &caller) ? dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!alsa || direction != PLAYBACK) return -ENODEV;
    int (*create)(struct card *, const char *, int, int) = dlsym(alsa, "snd_pcm_ioplug_create");
    int (*allow)(struct card *, int, unsigned, const unsigned *) = dlsym(alsa, "snd_pcm_ioplug_set_param_list");
    int (*limit)(struct card *, int, unsigned, unsigned) = dlsym(alsa, "snd_pcm_ioplug_set_param_minmax");
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) return -ENOMEM;
    stream->least_of = dlsym(alsa, "snd_pcm_sw_params_get_avail_min");
    stream->sound = find_sound();
    struct card *card = &stream->card;
    *card = (struct card){.version = VERSION, .name = "pluriverse", .flags = NO_WRAP, .poll_events = POLLIN, .calls = &calls, .own = stream};
    card->poll_file = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (is_stepped) set_alone(card->poll_file);
    int error = stream->sound && card->poll_file >= 0 ? create(card, name, direction, mode) : -ENODEV;
    if (error < 0) {
        if (card->poll_file >= 0) close(card->poll_file);
        free(stream);
        return error;
    }
    allow(card, ACCESS, 4, accesses);
    allow(card, FORMAT, 1, &format);
    limit(card, CHANNELS, SOUND_CHANNELS, SOUND_CHANNELS);
    limit(card, RATE, SOUND_RATE, SOUND_RATE);
    limit(card, PERIOD_BYTES, SOUND_BUFFER / 128 * frame, SOUND_BUFFER / 2 * frame);
    limit(card, BUFFER_BYTES, SOUND_BUFFER / 64 * frame, SOUND_BUFFER * frame);
    *pcm = card->pcm;
    return 0;
}
