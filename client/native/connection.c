/* One connection: what is asked of the server, what comes of it, and when to give it up. */
#include "connection_internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Some thousand key and pointer events. A server that leaves that many unread won't get to them in time. */
#define MAX_UNSENT_BYTES (256 * 1024)
/* One connection may keep its worker for this long before the next is looked at. */
#define TURN_S 0.005
/* At close: for the server to take the last events and to hang up in turn. */
#define HANG_UP_GRACE_MS 50
/* Of the time that a server may be silent, this part passes before it is asked for a sign of life. */
#define PROBE_AFTER 0.5
/* A dead machine or a cut cable, which no FIN tells of: probes after 5 s, every 2 s, given up after the third. */
#define KEEPALIVE_IDLE_S 5
#define KEEPALIVE_INTERVAL_S 2
#define KEEPALIVE_COUNT 3
#define UNACKNOWLEDGED_MS 10000

#define FENCE_REQUEST 0x80000000u
/* The flags that this side knows: block before, block after, synchronise next. */
#define FENCE_KNOWN 0x7u

/* RFB has 16 bits for each side of a screen. */
#define WHOLE_SIDE 65535

enum client_message { UPDATE_REQUEST = 3, ENABLE_CONTINUOUS_UPDATES = 150, CLIENT_FENCE = 248 };

double monotonic_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double unix_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void wake(struct connection *connection) {
    if (connection->waker >= 0) eventfd_write(connection->waker, 1);
}

/* -- Failing ------------------------------------------------------------------------------------------------------- */

static void fail(struct connection *connection, enum connection_failure failure, enum rfb_error error,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

static void fail(struct connection *connection, enum connection_failure failure, enum rfb_error error,
                 const char *format, ...) {
    pthread_mutex_lock(&connection->lock);
    /* The first failure is the reason of the others. */
    if (connection->state.failure == CONNECTION_FINE) {
        connection->state.failure = failure;
        connection->state.error = error;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(connection->state.message, sizeof connection->state.message, format, arguments);
        va_end(arguments);
    }
    atomic_store(&connection->failed, true);
    pool_forget(connection);
    if (connection->fd >= 0) shutdown(connection->fd, SHUT_RDWR);
    pthread_mutex_unlock(&connection->lock);
    wake(connection);
}

/* -- Sending ------------------------------------------------------------------------------------------------------- */

/* Under the lock. Sends what the socket takes; false: it is broken, which reading will tell of. */
static bool send_some(struct connection *connection, const uint8_t *data, size_t size, size_t *sent) {
    ssize_t result;
    *sent = 0;
    while (*sent < size) {
        result = send(connection->fd, data + *sent, size - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (result >= 0) {
            *sent += (size_t)result;
        } else if (errno != EINTR) {
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
    }
    return true;
}

static bool keep_unsent(struct connection *connection, const uint8_t *data, size_t size) {
    size_t wanted = connection->unsent_size + size;
    if (wanted > MAX_UNSENT_BYTES) return false;
    if (wanted > connection->unsent_capacity) {
        uint8_t *grown = realloc(connection->unsent, wanted * 2);
        if (!grown) return false;
        connection->unsent = grown;
        connection->unsent_capacity = wanted * 2;
    }
    memcpy(connection->unsent + connection->unsent_size, data, size);
    connection->unsent_size = wanted;
    return true;
}

/* Under the lock. False: the server doesn't read. */
static bool send_or_keep(struct connection *connection, const uint8_t *data, size_t size) {
    size_t sent = 0;
    bool was_empty = connection->unsent_size == 0;
    if (was_empty && !send_some(connection, data, size, &sent)) return true;
    if (sent == size) return true;
    if (!keep_unsent(connection, data + sent, size - sent)) return false;
    if (was_empty) pool_watch(connection, true);
    return true;
}

static bool send_bytes(struct connection *connection, const uint8_t *data, size_t size) {
    pthread_mutex_lock(&connection->lock);
    bool open = connection->fd >= 0 && !atomic_load(&connection->failed);
    bool taken = open && send_or_keep(connection, data, size);
    pthread_mutex_unlock(&connection->lock);
    if (open && !taken) {
        fail(connection, CONNECTION_STALLED, RFB_FINE, "the server left %d bytes of input unread", MAX_UNSENT_BYTES);
    }
    return taken;
}

static bool send_web(struct connection *connection, enum web_opcode opcode, const uint8_t *data, size_t size) {
    uint8_t *message = malloc(size + WEB_MAX_HEAD);
    if (!message) return false;
    bool taken = send_bytes(connection, message, web_stream_write(message, opcode, data, size));
    free(message);
    return taken;
}

bool connection_send(struct connection *connection, const uint8_t *data, size_t size) {
    if (connection->generation != pool_generation()) return false;
    if (connection->web && size > 0) return send_web(connection, WEB_BINARY, data, size);
    return send_bytes(connection, data, size);
}

static void send_unsent(struct connection *connection) {
    pthread_mutex_lock(&connection->lock);
    size_t sent;
    if (!send_some(connection, connection->unsent, connection->unsent_size, &sent)) sent = connection->unsent_size;
    memmove(connection->unsent, connection->unsent + sent, connection->unsent_size - sent);
    connection->unsent_size -= sent;
    if (connection->unsent_size == 0) pool_watch(connection, false);
    pthread_mutex_unlock(&connection->lock);
}

static uint8_t *put_u16(uint8_t *out, int value) {
    out[0] = (uint8_t)(value >> 8);
    out[1] = (uint8_t)value;
    return out + 2;
}

static void send_with_rectangle(struct connection *connection, uint8_t type, uint8_t flag,
                                const struct rfb_region *region) {
    uint8_t message[10] = {type, flag};
    uint8_t *at = put_u16(put_u16(message + 2, region->x), region->y);
    put_u16(put_u16(at, region->width), region->height);
    connection_send(connection, message, sizeof message);
}

static void request_update(struct connection *connection, bool incremental) {
    send_with_rectangle(connection, UPDATE_REQUEST, incremental, &connection->view);
}

static void enable_continuous_updates(struct connection *connection) {
    send_with_rectangle(connection, ENABLE_CONTINUOUS_UPDATES, 1, &connection->view);
}

static void answer_fence(struct connection *connection, const struct rfb_event *event) {
    uint8_t message[9 + 255] = {CLIENT_FENCE};
    uint32_t flags = event->flags & FENCE_KNOWN;
    put_u16(put_u16(message + 4, (int)(flags >> 16)), (int)(flags & 0xFFFF));
    message[8] = (uint8_t)event->size;
    memcpy(message + 9, event->data, event->size);
    connection_send(connection, message, 9 + event->size);
}

/* -- What the decoder tells ---------------------------------------------------------------------------------------- */

static int limited(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
}

/* The part of the wanted view that is on the screen; all of the screen if none is. */
static void choose_view(struct connection *connection, int width, int height) {
    const struct rfb_region *wanted = &connection->wanted_view;
    int left = limited(wanted->x, 0, width), right = limited(wanted->x + wanted->width, 0, width);
    int top = limited(wanted->y, 0, height), bottom = limited(wanted->y + wanted->height, 0, height);
    connection->view = (struct rfb_region){left, top, right - left, bottom - top};
    if (right <= left || bottom <= top) connection->view = (struct rfb_region){0, 0, width, height};
}

static uint8_t *on_resize(void *context, int width, int height) {
    struct connection *connection = context;
    uint8_t *screen = calloc((size_t)width * (size_t)height, RGB_BYTES);
    if (!screen) return NULL;
    free(connection->screen);
    connection->screen = screen;
    return screen;
}

static bool begin_frames(struct connection *connection, int width, int height) {
    pthread_mutex_lock(&connection->lock);
    bool begun = frames_begin(&connection->frames, rfb_decoder_picture(connection->decoder));
    connection->state.width = width;
    connection->state.height = height;
    atomic_store(&connection->fresh, false);
    pthread_mutex_unlock(&connection->lock);
    choose_view(connection, width, height);
    return begun;
}

static bool resized(struct connection *connection, int width, int height) {
    if (!begin_frames(connection, width, height)) return false;
    if (connection->continuous) enable_continuous_updates(connection);
    request_update(connection, false);
    return true;
}

/* The next update is asked for while this one comes in, so that the way to the server costs no frame. */
static void on_update_begins(void *context) {
    struct connection *connection = context;
    if (!connection->continuous) request_update(connection, true);
}

static void on_painted(void *context, const struct rfb_region *part) {
    struct connection *connection = context;
    pthread_mutex_lock(&connection->lock);
    frames_painted(&connection->frames, part);
    pthread_mutex_unlock(&connection->lock);
}

static void publish(struct connection *connection) {
    double at = unix_now();
    pthread_mutex_lock(&connection->lock);
    struct connection_state *state = &connection->state;
    state->extended_buttons = rfb_decoder_extended_buttons(connection->decoder);
    state->updates = rfb_decoder_updates(connection->decoder);
    state->pixels = rfb_decoder_pixels(connection->decoder);
    bool published = frames_publish(&connection->frames, state->updates, state->pixels, at);
    if (published) atomic_store(&connection->fresh, true);
    pthread_mutex_unlock(&connection->lock);
    if (published) wake(connection);
}

static bool on_event(void *context, const struct rfb_event *event) {
    struct connection *connection = context;
    connection->whole = true;
    switch (event->kind) {
        case RFB_UPDATE_FINISHED: publish(connection); break;
        case RFB_FENCE:
            if (event->flags & FENCE_REQUEST) answer_fence(connection, event);
            break;
        case RFB_END_OF_CONTINUOUS_UPDATES:
            if (connection->continuous_wanted && !connection->continuous) {
                connection->continuous = true;
                enable_continuous_updates(connection);
            }
            break;
        case RFB_RESIZED: return resized(connection, event->width, event->height);
        case RFB_BELL:
        case RFB_CLIPBOARD:
        case RFB_CURSOR: break;
    }
    return true;
}

/* -- The worker's part --------------------------------------------------------------------------------------------- */

static void feed(struct connection *connection, const uint8_t *data, size_t size) {
    bool began = !rfb_decoder_mid_message(connection->decoder);
    connection->whole = false;
    enum rfb_error error = rfb_decoder_feed(connection->decoder, data, size);
    /* A server that sends an update a byte at a time has stalled, too. */
    if (began || connection->whole || !rfb_decoder_mid_message(connection->decoder)) {
        connection->heard_at = monotonic_now();
        connection->probed = false;
    }
    if (error) fail(connection, CONNECTION_INVALID, error, "%s", rfb_decoder_message(connection->decoder));
}

static void lose(struct connection *connection, const char *why) {
    bool within = rfb_decoder_mid_message(connection->decoder);
    fail(connection, CONNECTION_LOST, RFB_FINE, "%s%s", why, within ? " in the middle of a message" : "");
}

/* The server's reason is of any bytes. */
static void closed(struct connection *connection, const struct web_part *why) {
    char text[WEB_MAX_CONTROL + 1] = "no reason given";
    for (size_t i = 0; i < why->size; i++) {
        text[i] = why->bytes[i] >= ' ' && why->bytes[i] <= '~' ? (char)why->bytes[i] : '?';
        text[i + 1] = 0;
    }
    fail(connection, CONNECTION_LOST, RFB_FINE, "the server hung up: %s", text);
}

static void feed_web(struct connection *connection, const uint8_t *data, size_t size) {
    while (size > 0 && !atomic_load(&connection->failed)) {
        struct web_part part;
        size_t read = web_stream_read(&connection->stream, data, size, &part);
        switch (part.kind) {
            case WEB_NOTHING: break;
            case WEB_BYTES: feed(connection, part.bytes, part.size); break;
            case WEB_ASKED: send_web(connection, WEB_PONG, part.bytes, part.size); break;
            case WEB_CLOSED: closed(connection, &part); break;
            case WEB_INVALID:
                fail(connection, CONNECTION_INVALID, RFB_BAD_WEB_SOCKET,
                     "a message of a WebSocket came that is invalid, or not binary");
        }
        data += read;
        size -= read;
    }
}

static void receive(struct connection *connection, uint8_t *buffer, size_t buffer_size) {
    double end = monotonic_now() + TURN_S;
    while (!atomic_load(&connection->failed)) {
        ssize_t got = recv(connection->fd, buffer, buffer_size, MSG_DONTWAIT);
        if (got > 0) {
            (connection->web ? feed_web : feed)(connection, buffer, (size_t)got);
            if ((size_t)got < buffer_size || monotonic_now() > end) return;
        } else if (got == 0) {
            lose(connection, "the server hung up");
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR) {
            lose(connection, strerror(errno));
        }
    }
}

void connection_serve(struct connection *connection, uint32_t events, uint8_t *buffer, size_t buffer_size) {
    if (events & EPOLLOUT && !atomic_load(&connection->failed)) send_unsent(connection);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(connection, buffer, buffer_size);
}

void connection_check(struct connection *connection, double now) {
    if (atomic_load(&connection->failed)) return;
    double silent = now - connection->heard_at;
    if (silent > connection->silence_s) {
        const char *what = rfb_decoder_mid_message(connection->decoder)
                               ? "the server has not finished an update in %.1f s"
                               : "the server has been silent for %.1f s though a pixel was requested";
        fail(connection, CONNECTION_SILENT, RFB_FINE, what, silent);
    } else if (silent > connection->silence_s * PROBE_AFTER && !connection->probed) {
        connection->probed = true;
        /* A screen may well stay as it is; but a pixel that is asked for outright has to be sent. */
        const struct rfb_region pixel = {connection->view.x, connection->view.y, 1, 1};
        send_with_rectangle(connection, UPDATE_REQUEST, 0, &pixel);
    }
}

/* -- Opening and closing ------------------------------------------------------------------------------------------- */

/* Not all of them fit a socket that isn't of TCP, which loses nothing. */
static void set_socket_options(int fd) {
    const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
        {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof options[i].value);
    }
}

/* The smallest rectangle around all regions. */
static struct rfb_region around(const struct rfb_decoder_options *options) {
    struct rfb_region view = {0, 0, WHOLE_SIDE, WHOLE_SIDE};
    for (size_t i = 0; i < options->region_count; i++) {
        const struct rfb_region *region = &options->regions[i];
        if (i == 0) {
            view = *region;
            continue;
        }
        int right = limited(region->x + region->width, view.x + view.width, 2 * WHOLE_SIDE);
        int bottom = limited(region->y + region->height, view.y + view.height, 2 * WHOLE_SIDE);
        view.x = limited(view.x, 0, region->x);
        view.y = limited(view.y, 0, region->y);
        view.width = right - view.x;
        view.height = bottom - view.y;
    }
    return view;
}

static bool begin(struct connection *connection, const struct connection_options *options) {
    const struct rfb_owner owner = {connection, on_resize, on_update_begins, on_painted, on_event};
    const int width = options->width, height = options->height;
    if (!on_resize(connection, width, height)) return false;
    connection->decoder = rfb_decoder_new(width, height, connection->screen, &options->decoder, &owner);
    if (!connection->decoder) return false;
    connection->continuous_wanted = options->continuous;
    connection->silence_s = options->silence_s;
    connection->heard_at = monotonic_now();
    connection->wanted_view = around(&options->decoder);
    return begin_frames(connection, width, height);
}

struct connection *connection_open(int fd, const struct connection_options *options) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        close(fd);
        return NULL;
    }
    pthread_mutex_init(&connection->lock, NULL);
    connection->generation = pool_generation();
    connection->fd = fd;
    connection->waker = options->waker;
    connection->web = options->web_left >= 0;
    if (connection->web) connection->stream.left = (uint64_t)options->web_left;
    connection->stream.opcode = WEB_BINARY;
    set_socket_options(fd);
    if (!begin(connection, options)) {
        errno = ENOMEM;
        connection_free(connection);
        return NULL;
    }
    request_update(connection, false);
    feed(connection, options->leftover, options->leftover_size);
    if (!atomic_load(&connection->failed) && !pool_add(connection)) {
        int saved = errno;
        connection_free(connection);
        errno = saved;
        return NULL;
    }
    return connection;
}

/* With bytes unread a close resets the connection, and the server may never see the last events. */
static void hang_up(struct connection *connection) {
    double end = monotonic_now() + HANG_UP_GRACE_MS / 1000.0;
    struct pollfd poller = {connection->fd, POLLOUT, 0};
    while (connection->unsent_size > 0 && poll(&poller, 1, (int)((end - monotonic_now()) * 1000)) > 0) {
        size_t sent;
        if (!send_some(connection, connection->unsent, connection->unsent_size, &sent) || sent == 0) break;
        memmove(connection->unsent, connection->unsent + sent, connection->unsent_size - sent);
        connection->unsent_size -= sent;
    }
    shutdown(connection->fd, SHUT_WR);
    uint8_t ignored[65536];
    poller.events = POLLIN;
    for (double left = end - monotonic_now(); left > 0; left = end - monotonic_now()) {
        if (poll(&poller, 1, (int)(left * 1000)) <= 0) return;
        if (recv(connection->fd, ignored, sizeof ignored, MSG_DONTWAIT) <= 0) return;
    }
}

void connection_close(struct connection *connection) {
    if (connection->generation != pool_generation()) return;
    pool_remove(connection);
    if (connection->fd < 0) return;
    if (!atomic_load(&connection->failed)) hang_up(connection);
    pthread_mutex_lock(&connection->lock);
    close(connection->fd);
    connection->fd = -1;
    pthread_mutex_unlock(&connection->lock);
}

void connection_free(struct connection *connection) {
    /* In a fork's child a thread of the parent may have been in the middle of any of this: better to leave it. */
    if (connection->generation != pool_generation()) return;
    if (connection->fd >= 0) close(connection->fd);
    rfb_decoder_free(connection->decoder);
    frames_end(&connection->frames);
    pthread_mutex_destroy(&connection->lock);
    free(connection->screen);
    free(connection->unsent);
    free(connection);
}

/* -- Asking -------------------------------------------------------------------------------------------------------- */

struct frame *connection_take(struct connection *connection) {
    if (connection->generation != pool_generation()) return NULL;
    pthread_mutex_lock(&connection->lock);
    atomic_store(&connection->fresh, false);
    struct frame *frame = frames_take(&connection->frames);
    pthread_mutex_unlock(&connection->lock);
    return frame;
}

bool connection_is_fresh(struct connection *connection) {
    return atomic_load(&connection->fresh);
}

bool connection_is_alive(struct connection *connection) {
    return connection->generation == pool_generation() && !atomic_load(&connection->failed);
}

void connection_state(struct connection *connection, struct connection_state *state) {
    if (connection->generation != pool_generation()) {
        *state = (struct connection_state){
            .failure = CONNECTION_LOST,
            .message = "this connection belongs to the process that forked this one; connect anew in the child",
        };
        return;
    }
    pthread_mutex_lock(&connection->lock);
    *state = connection->state;
    pthread_mutex_unlock(&connection->lock);
}
