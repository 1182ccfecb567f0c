/* Preloaded into programs that have gamepads, for which no machine needs a device or a privilege. What they look for in
 * /dev/input is in a folder of ours, where each device is a socket at which the scraper listens (scraper/pads.py). What
 * comes there they read as a device's events; only what a socket can't be asked is answered here. */
#include "../lockstep/real.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/input.h>
#include <linux/joystick.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

/* Where the folder is; the scraper sets it. */
#define FOLDER_VARIABLE "PLURIVERSE_PADS"
#define DEVICES "/dev/input"

/* As Linux numbers the devices: js0, event0. */
#define INPUT_MAJOR 13
#define EVENT_MINOR 64

#define NAME "pluriverse gamepad"
#define JS_VERSION_2_1 0x020100
#define FILES 1024

/* As pluriverse_protocol.pads and the scraper number them. */
static const uint8_t axes[] = {ABS_X, ABS_Y, ABS_Z, ABS_RX, ABS_RY, ABS_RZ};
static const uint16_t buttons[] = {BTN_A,      BTN_B,         BTN_X,         BTN_Y,          BTN_TL,     BTN_TR,
                                   BTN_SELECT, BTN_START,     BTN_MODE,      BTN_THUMBL,     BTN_THUMBR, BTN_DPAD_UP,
                                   BTN_DPAD_DOWN, BTN_DPAD_LEFT, BTN_DPAD_RIGHT, BTN_TRIGGER_HAPPY1};
#define AXES (sizeof axes / sizeof *axes)
#define BUTTONS (sizeof buttons / sizeof *buttons)

/* What each descriptor is: of an event or a js device, or of none; the type of the requests that it takes. */
static char kinds[FILES];

/* ── names ──────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Where a path leads: below /dev/input, to what is written to ``ours``. */
static const char *placed(const char *path, char ours[static PATH_MAX]) {
    const size_t size = strlen(DEVICES);
    if (!path || strncmp(path, DEVICES, size) || (path[size] && path[size] != '/')) return path;
    const char *folder = getenv(FOLDER_VARIABLE);
    if (!folder) return path;
    snprintf(ours, PATH_MAX, "%s%s", folder, path + size);
    return ours;
}
#define PLACED(path) placed(path, (char[PATH_MAX]){0})

/* The device's number, 0: there is none of that name. */
static dev_t device_of(const char *path) {
    unsigned number;
    const char *name = strrchr(path, '/');
    if (name && sscanf(name, "/event%u", &number) == 1) return makedev(INPUT_MAJOR, EVENT_MINOR + number);
    return name && sscanf(name, "/js%u", &number) == 1 ? makedev(INPUT_MAJOR, number) : 0;
}

/* ``found``: where ``path`` was, as a socket, it is a device. */
#define STAT(name, ...)                                                                                                \
    const char *found = PLACED(path);                                                                                  \
    int error = REAL(name)(__VA_ARGS__);                                                                               \
    if (!error && found != path && S_ISSOCK(to->st_mode)) {                                                            \
        to->st_mode ^= S_IFSOCK ^ S_IFCHR;                                                                             \
        to->st_rdev = device_of(found);                                                                                \
    }                                                                                                                  \
    return error
int stat(const char *path, struct stat *to) { STAT(stat, found, to); }
int stat64(const char *path, struct stat64 *to) { STAT(stat64, found, to); }
/* Those of programs that were built before glibc 2.33. */
int __xstat(int version, const char *path, struct stat *to);
int __xstat(int version, const char *path, struct stat *to) { STAT(__xstat, version, found, to); }
int __xstat64(int version, const char *path, struct stat64 *to);
int __xstat64(int version, const char *path, struct stat64 *to) { STAT(__xstat64, version, found, to); }

int access(const char *path, int mode) { return REAL(access)(PLACED(path), mode); }
DIR *opendir(const char *path) { return REAL(opendir)(PLACED(path)); }

/* ── opening ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static int open_device(const char *found, int flags) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    /* The name of a socket is limited, that of its folder isn't. */
    int folder = REAL(open)(getenv(FOLDER_VARIABLE), O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d%s", folder, strrchr(found, '/'));
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | (flags & O_CLOEXEC ? SOCK_CLOEXEC : 0), 0);
    int error = file < 0 || file >= FILES || connect(file, (struct sockaddr *)&address, sizeof address);
    close(folder);
    if (error) {
        close(file);
        errno = ENODEV;
        return -1;
    }
    if (!(flags & O_NONBLOCK)) fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    kinds[file] = minor(device_of(found)) >= EVENT_MINOR ? 'E' : 'j';
    return file;
}
#define OPEN(name, ...)                                                                                                \
    const char *found = PLACED(path);                                                                                  \
    if (found != path && device_of(found)) return open_device(found, flags);                                           \
    va_list given;                                                                                                     \
    va_start(given, flags);                                                                                            \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(given, mode_t) : 0;                                         \
    va_end(given);                                                                                                     \
    return REAL(name)(__VA_ARGS__, mode)
int open(const char *path, int flags, ...) { OPEN(open, found, flags); }
int open64(const char *path, int flags, ...) { OPEN(open64, found, flags); }
int openat(int folder, const char *path, int flags, ...) { OPEN(openat, folder, found, flags); }
int openat64(int folder, const char *path, int flags, ...) { OPEN(openat64, folder, found, flags); }

/* ── asking ─────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Answer with so many bytes, and zeros behind; return how many have room. */
static int tell(void *to, size_t room, const void *answer, size_t size) {
    memset(to, 0, room);
    size = size < room ? size : room;
    memcpy(to, answer, size);
    return (int)size;
}
#define TELL(value) tell(to, room, &(__typeof__(value)){value}, sizeof(value))

static int bits_of(unsigned type, uint8_t bits[static KEY_CNT / 8]) {
    if (type == 0) bits[0] = 1 << EV_SYN | 1 << EV_KEY | 1 << EV_ABS;
    for (size_t i = 0; type == EV_ABS && i < AXES; i++) bits[axes[i] / 8] |= (uint8_t)(1 << axes[i] % 8);
    for (size_t i = 0; type == EV_KEY && i < BUTTONS; i++) bits[buttons[i] / 8] |= (uint8_t)(1 << buttons[i] % 8);
    return KEY_CNT / 8;
}

/* Where all is at rest: what isn't comes as events, right after the device was opened. */
static int ask_event(unsigned number, void *to, size_t room) {
    uint8_t bits[KEY_CNT / 8] = {0};
    switch (number) {
    case _IOC_NR(EVIOCGVERSION): return TELL(EV_VERSION), 0;
    case _IOC_NR(EVIOCGID): {
        struct input_id id = {.bustype = BUS_VIRTUAL, .vendor = 0x706c, .product = 1, .version = 1};
        return tell(to, room, &id, sizeof id), 0;
    }
    case _IOC_NR(EVIOCGNAME(0)): return tell(to, room, NAME, sizeof NAME);
    case _IOC_NR(EVIOCGPROP(0)):
    case _IOC_NR(EVIOCGKEY(0)):
    case _IOC_NR(EVIOCGLED(0)):
    case _IOC_NR(EVIOCGSND(0)):
    case _IOC_NR(EVIOCGSW(0)): return tell(to, room, bits, sizeof bits);
    case _IOC_NR(EVIOCGRAB): return 0;
    }
    if (number >= _IOC_NR(EVIOCGBIT(0, 0)) && number < _IOC_NR(EVIOCGBIT(EV_CNT, 0)))
        return tell(to, room, bits, (size_t)bits_of(number - _IOC_NR(EVIOCGBIT(0, 0)), bits));
    for (size_t i = 0; i < AXES; i++)
        if (number == _IOC_NR(EVIOCGABS(axes[i]))) {
            int is_trigger = axes[i] == ABS_Z || axes[i] == ABS_RZ;
            struct input_absinfo axis = {.minimum = is_trigger ? 0 : INT16_MIN, .maximum = INT16_MAX};
            return tell(to, room, &axis, sizeof axis), 0;
        }
    errno = EINVAL;
    return -1;
}

static int ask_js(unsigned number, void *to, size_t room) {
    switch (number) {
    case _IOC_NR(JSIOCGVERSION): return TELL((uint32_t)JS_VERSION_2_1), 0;
    case _IOC_NR(JSIOCGAXES): return TELL((uint8_t)AXES), 0;
    case _IOC_NR(JSIOCGBUTTONS): return TELL((uint8_t)BUTTONS), 0;
    case _IOC_NR(JSIOCGNAME(0)): return tell(to, room, NAME, sizeof NAME);
    case _IOC_NR(JSIOCGAXMAP): return tell(to, room, axes, sizeof axes);
    case _IOC_NR(JSIOCGBTNMAP): return tell(to, room, buttons, sizeof buttons);
    }
    errno = EINVAL;
    return -1;
}

int ioctl(int file, unsigned long request, ...) {
    va_list given;
    va_start(given, request);
    void *to = va_arg(given, void *);
    va_end(given);
    char kind = file >= 0 && file < FILES ? kinds[file] : 0;
    if (!kind || _IOC_TYPE(request) != (unsigned char)kind) return REAL(ioctl)(file, request, to);
    return (kind == 'E' ? ask_event : ask_js)(_IOC_NR(request), to, _IOC_SIZE(request));
}
