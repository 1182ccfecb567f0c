/* Preloaded into programs: what they have for a network where they have none. Where the kernel refuses a socket of the
 * internet (confine.py) they get a Unix socket, named by its port in XDG_RUNTIME_DIR, by which their processes find each
 * other at 127.0.0.1 and ::1, and nobody else. What they ask for beyond that is noted there, for who wants to know why they
 * ended. */
#include "outside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FOLDER_VARIABLE "XDG_RUNTIME_DIR"
#define NOTE "refused"
#define NOTE_BYTES 300

/* What ports are given out from: the range of IANA's for that, always the lowest. */
#define FIRST_PORT 49152u
#define LAST_PORT 65535u

#define TYPE_BITS 0xf

/* As the kernel gives names, which may fill all of their room. */
struct name {
    struct sockaddr_un address;
    char end;
};
#define NAMED_FROM offsetof(struct sockaddr_un, sun_path)

const char *outside_folder(void) {
    const char *path = getenv(FOLDER_VARIABLE);
    return path ? path : "";
}

/* ── what is refused ────────────────────────────────────────────────────────────────────────────────────────────────── */

/* The last is what counts. */
static void note(const char *said) {
    char path[PATH_MAX];
    int error = errno;
    snprintf(path, sizeof path, "%s/" NOTE, outside_folder());
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0) dprintf(file, "%s", said), close(file);
    errno = error;
}
static void note_refused(const char *host, const char *port) {
    char said[NOTE_BYTES];
    snprintf(said, sizeof said, "it asked for %s:%s and was refused: network = false", host, port);
    note(said);
}

static int has_internet(void) {
    int file = REAL(socket)(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file >= 0) close(file);
    return file >= 0;
}
int getaddrinfo(const char *host, const char *port, const struct addrinfo *wanted, struct addrinfo **found) {
    int result = REAL(getaddrinfo)(host, port, wanted, found), error = errno;
    if (result && host && !(wanted && wanted->ai_flags & AI_NUMERICHOST) && !has_internet()) note_refused(host, port ? port : "");
    errno = error;
    return result;
}

/* ── names ──────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static int about(int file, int option) {
    int value = -1;
    socklen_t size = sizeof value;
    return REAL(getsockopt)(file, SOL_SOCKET, option, &value, &size) ? -1 : value;
}

/* Whether ``address`` is one of the internet, for a socket that is none. */
static int is_ours(int file, const struct sockaddr *address, socklen_t size) {
    if (!address || size < sizeof(struct sockaddr_in)) return 0;
    int is_six = address->sa_family == AF_INET6 && size >= sizeof(struct sockaddr_in6);
    return (is_six || address->sa_family == AF_INET) && about(file, SO_DOMAIN) == AF_UNIX;
}

/* Which sockets an address may be of, by version; NULL: none that are here. */
static const char *versions_of(const struct sockaddr *address) {
    static const struct in6_addr none = IN6ADDR_ANY_INIT;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
    const uint8_t *four = (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr;
    int is_six = address->sa_family == AF_INET6;
    if (is_six && (IN6_IS_ADDR_LOOPBACK(six) || IN6_IS_ADDR_UNSPECIFIED(six))) return "6";
    if (is_six && !IN6_IS_ADDR_V4MAPPED(six)) return NULL;
    if (is_six) four = six->s6_addr + 12;
    return *four == 127 || !memcmp(four, &none, sizeof(struct in_addr)) ? "46" : NULL;
}
/* At the same place in both versions. */
static unsigned port_of(const struct sockaddr *address) { return ntohs(((const struct sockaddr_in *)address)->sin_port); }

static int refuse(const struct sockaddr *address) {
    char host[INET6_ADDRSTRLEN] = "", port[8];
    const void *from = address->sa_family == AF_INET ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                                                     : &((const struct sockaddr_in6 *)address)->sin6_addr;
    inet_ntop(address->sa_family, from, host, sizeof host);
    snprintf(port, sizeof port, "%u", port_of(address));
    note_refused(host, port);
    errno = ENETUNREACH;
    return -1;
}

/* A name is limited, that of its folder isn't: the one above that, HOME, is open as ``at``. */
static int open_home(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/..", outside_folder());
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}
static struct sockaddr_un name_of(int file, int at, char version, unsigned port) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const char *kind = about(file, SO_TYPE) == SOCK_STREAM ? "tcp" : "udp";
    const char *last = strrchr(outside_folder(), '/');
    snprintf(name.sun_path, sizeof name.sun_path, "/proc/self/fd/%d%s/%s%c.%u", at, last ? last : "", kind, version, port);
    return name;
}
/* The version of a name that is ours, and its port; 0: it isn't. */
static char version_of(const struct name *name, unsigned *port) {
    const char *last = strrchr(name->address.sun_path, '/');
    char version = 0;
    if (name->address.sun_family != AF_UNIX || !last) return 0;
    return sscanf(last, "/tcp%c.%u", &version, port) == 2 || sscanf(last, "/udp%c.%u", &version, port) == 2 ? version : 0;
}
static char version_at(int file, unsigned *port) {
    struct name name = {0};
    socklen_t size = sizeof name;
    return REAL(getsockname)(file, (struct sockaddr *)&name, &size) ? 0 : version_of(&name, port);
}

/* Tell the program of a name that the kernel gave for ``file``, or for who talks to it. */
static void tell(int file, const struct name *name, socklen_t size, struct sockaddr *to, socklen_t *room) {
    unsigned own = 0, port = 0;
    char version = version_at(file, &own), other = size > NAMED_FROM ? version_of(name, &port) : 0;
    struct sockaddr_in four = {AF_INET, htons((uint16_t)port), {htonl(INADDR_LOOPBACK)}, {0}};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = four.sin_port, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const void *from = name;
    if (version && other == '4' && version == '6') inet_pton(AF_INET6, "::ffff:127.0.0.1", &six.sin6_addr);
    if (version && other) {
        from = version == '4' ? (void *)&four : (void *)&six;
        size = version == '4' ? sizeof four : sizeof six;
    }
    memcpy(to, from, size < *room ? size : *room);
    *room = size;
}
#define TOLD(file, result, to, room)                                                                                   \
    struct name name = {0};                                                                                            \
    socklen_t size = sizeof name;                                                                                      \
    __typeof__(result) got = result;                                                                                   \
    if (got >= 0) tell(file, &name, size, to, room);                                                                   \
    return got
#define NAME (struct sockaddr *)&name, &size

/* ── sockets ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

int socket(int family, int type, int protocol) {
    int file = REAL(socket)(family, type, protocol), kind = type & TYPE_BITS;
    if (file >= 0 || errno != EACCES || (family != AF_INET && family != AF_INET6)) return file;
    return kind == SOCK_STREAM || kind == SOCK_DGRAM ? REAL(socket)(AF_UNIX, type, 0) : file;
}

/* Whether a name is of a socket that is closed: one of another type may be told so. */
static int is_left(int file, const struct sockaddr_un *name) {
    int other = REAL(socket)(AF_UNIX, about(file, SO_TYPE) == SOCK_STREAM ? SOCK_DGRAM : SOCK_STREAM, 0);
    int is_left = REAL(connect)(other, (const struct sockaddr *)name, sizeof *name) && errno == ECONNREFUSED;
    close(other);
    return is_left;
}
/* 0: any port. */
static int take_port(int file, char version, unsigned wanted) {
    int at = open_home(), error = EADDRINUSE;
    for (unsigned port = wanted ? wanted : FIRST_PORT; error == EADDRINUSE && port <= (wanted ? wanted : LAST_PORT); port++) {
        struct sockaddr_un name = name_of(file, at, version, port);
        error = REAL(bind)(file, (struct sockaddr *)&name, sizeof name) ? errno : 0;
        if (error == EADDRINUSE && is_left(file, &name) && !unlink(name.sun_path))
            error = REAL(bind)(file, (struct sockaddr *)&name, sizeof name) ? errno : 0;
    }
    close(at);
    errno = error;
    return error ? -1 : 0;
}
static char version_for(const struct sockaddr *address) { return address->sa_family == AF_INET ? '4' : '6'; }

int bind(int file, const struct sockaddr *address, socklen_t size) {
    if (!is_ours(file, address, size)) return REAL(bind)(file, address, size);
    if (versions_of(address)) return take_port(file, version_for(address), port_of(address));
    errno = EADDRNOTAVAIL;
    return -1;
}

/* Have a socket of ours do something with the one at an address. */
typedef ssize_t (*doer)(int file, struct sockaddr_un *name, void *what);
static ssize_t reach(int file, const struct sockaddr *address, doer act, void *what) {
    unsigned own;
    ssize_t result = -1;
    const char *version = versions_of(address);
    if (!version) return refuse(address);
    if (!version_at(file, &own) && take_port(file, version_for(address), 0)) return -1;
    int at = open_home(), error = ECONNREFUSED;
    for (; result < 0 && *version && error == ECONNREFUSED; version++) {
        struct sockaddr_un name = name_of(file, at, *version, port_of(address));
        result = act(file, &name, what);
        error = errno == ENOENT ? ECONNREFUSED : errno;
    }
    close(at);
    errno = error;
    return result;
}

static ssize_t do_connect(int file, struct sockaddr_un *name, void *unused) {
    (void)unused;
    return REAL(connect)(file, (struct sockaddr *)name, sizeof *name);
}
int connect(int file, const struct sockaddr *address, socklen_t size) {
    if (!is_ours(file, address, size)) {
        int result = REAL(connect)(file, address, size);
        const char *path = address && address->sa_family == AF_UNIX ? (const char *)address + NAMED_FROM : "";
        size_t length = strlen(outside_folder());
        if (result && size > NAMED_FROM && !strncmp(path, outside_folder(), length) && !strcmp(path + length, "/bus"))
            note("it looked for a session bus: dbus = true");
        return result;
    }
    int result = (int)reach(file, address, do_connect, NULL);
    /* Who sends datagrams to nobody hears of it later. */
    return result && errno == ECONNREFUSED && about(file, SO_TYPE) == SOCK_DGRAM ? 0 : result;
}

int getsockname(int file, struct sockaddr *to, socklen_t *room) { TOLD(file, REAL(getsockname)(file, NAME), to, room); }
int getpeername(int file, struct sockaddr *to, socklen_t *room) { TOLD(file, REAL(getpeername)(file, NAME), to, room); }
int accept4(int file, struct sockaddr *to, socklen_t *room, int flags) {
    if (!to) return REAL(accept4)(file, NULL, NULL, flags);
    TOLD(got, REAL(accept4)(file, NAME, flags), to, room);
}
int accept(int file, struct sockaddr *to, socklen_t *room) { return accept4(file, to, room, 0); }

/* What only sockets of the internet have changes nothing between those of one program. */
int setsockopt(int file, int level, int option, const void *value, socklen_t size) {
    int error = REAL(setsockopt)(file, level, option, value, size);
    return error && errno == EOPNOTSUPP && about(file, SO_DOMAIN) == AF_UNIX ? 0 : error;
}
int getsockopt(int file, int level, int option, void *value, socklen_t *size) {
    int error = REAL(getsockopt)(file, level, option, value, size);
    if (!error || errno != EOPNOTSUPP || level == SOL_SOCKET || about(file, SO_DOMAIN) != AF_UNIX) return error;
    memset(value, 0, *size);
    return 0;
}

/* ── messages ───────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A datagram that nobody takes, or that finds no room, is lost. */
static ssize_t sent(int file, ssize_t result, size_t size) {
    int is_lost = result < 0 && (errno == EAGAIN || errno == ECONNREFUSED) && about(file, SO_TYPE) == SOCK_DGRAM;
    return is_lost ? (ssize_t)size : result;
}
struct message {
    struct msghdr head;
    int flags;
};
static ssize_t do_send(int file, struct sockaddr_un *name, void *what) {
    struct message message = *(struct message *)what;
    message.head.msg_name = name;
    message.head.msg_namelen = sizeof *name;
    return REAL(sendmsg)(file, &message.head, message.flags | MSG_DONTWAIT);
}
ssize_t sendmsg(int file, const struct msghdr *head, int flags) {
    struct message message = {*head, flags};
    size_t size = 0;
    if (!is_ours(file, head->msg_name, head->msg_namelen)) return REAL(sendmsg)(file, head, flags);
    for (size_t i = 0; i < head->msg_iovlen; i++) size += head->msg_iov[i].iov_len;
    return sent(file, reach(file, head->msg_name, do_send, &message), size);
}
ssize_t sendto(int file, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t room) {
    if (!is_ours(file, to, room)) return REAL(sendto)(file, bytes, size, flags, to, room);
    struct iovec part = {(void *)bytes, size};
    return sendmsg(file, &(struct msghdr){(void *)to, room, &part, 1, NULL, 0, 0}, flags);
}
ssize_t send(int file, const void *bytes, size_t size, int flags) {
    ssize_t result = REAL(send)(file, bytes, size, flags);
    unsigned own;
    return result < 0 && version_at(file, &own) ? sent(file, result, size) : result;
}

ssize_t recvfrom(int file, void *bytes, size_t most, int flags, struct sockaddr *from, socklen_t *room) {
    if (!from) return REAL(recvfrom)(file, bytes, most, flags, NULL, NULL);
    TOLD(file, REAL(recvfrom)(file, bytes, most, flags, NAME), from, room);
}
ssize_t __recvfrom_chk(int file, void *to, size_t most, size_t all, int flags, struct sockaddr *from, socklen_t *room);
ssize_t __recvfrom_chk(int file, void *to, size_t most, size_t all, int flags, struct sockaddr *from, socklen_t *room) {
    (void)all;
    return recvfrom(file, to, most, flags, from, room);
}
ssize_t recvmsg(int file, struct msghdr *head, int flags) {
    if (!head->msg_name) return REAL(recvmsg)(file, head, flags);
    struct name name = {0};
    struct msghdr own = *head;
    own.msg_name = &name;
    own.msg_namelen = sizeof name;
    ssize_t got = REAL(recvmsg)(file, &own, flags);
    if (got < 0) return got;
    own.msg_name = head->msg_name;
    socklen_t size = own.msg_namelen;
    own.msg_namelen = head->msg_namelen;
    *head = own;
    tell(file, &name, size, head->msg_name, &head->msg_namelen);
    return got;
}
