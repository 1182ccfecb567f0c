/* Random numbers: a process draws the same ones each time, from the page's seed. */
#include "lockstep.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More than any program reads of /dev/urandom at a time. */
#define FILE_BYTES 65536

/* A file that isn't ours. */
#define NONE -2

/* SplitMix64: https://prng.di.unimi.it/splitmix64.c */
static uint64_t draw(void) {
    static _Atomic uint64_t drawn;
    uint64_t z = page()->seed + 0x9e3779b97f4a7c15u * (atomic_fetch_add(&drawn, 1) + 1);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static void fill(void *to, size_t size) {
    for (size_t i = 0; i < size; i += 8) {
        uint64_t value = draw();
        memcpy((char *)to + i, &value, size - i < 8 ? size - i : 8);
    }
}

ssize_t getrandom(void *to, size_t size, unsigned flags) {
    (void)flags;
    ASK("getrandom");
    fill(to, size);
    return (ssize_t)size;
}
int getentropy(void *to, size_t size) {
    ASK("getentropy");
    fill(to, size);
    return 0;
}
uint32_t arc4random(void);
uint32_t arc4random(void) {
    ASK("arc4random");
    return (uint32_t)draw();
}
void arc4random_buf(void *to, size_t size);
void arc4random_buf(void *to, size_t size) {
    ASK("arc4random_buf");
    fill(to, size);
}
/* std::random_device, which may ask the processor. */
unsigned _ZNSt13random_device9_M_getvalEv(void *device);
unsigned _ZNSt13random_device9_M_getvalEv(void *device) {
    (void)device;
    ASK("random_device");
    return (unsigned)draw();
}

/* QRandomGenerator::global() of Qt 5 and 6, which asks the processor for its seed: another one, made from a range. */
#define GENERATOR_BYTES 4096
void *_ZN18QRandomGenerator646globalEv(void);
void *_ZN18QRandomGenerator646globalEv(void) {
    static char generator[GENERATOR_BYTES] __attribute__((aligned(16)));
    static int is_seeded;
    void (*make)(void *, const uint32_t *, const uint32_t *) = dlsym(RTLD_NEXT, "_ZN16QRandomGeneratorC1EPKjS1_");
    uint32_t seed[4];
    if (is_seeded) return generator;
    ASK("QRandomGenerator");
    fill(seed, sizeof seed);
    make(generator, seed, seed + 4);
    is_seeded = 1;
    return generator;
}

/* Inlined, so that who opens it is who asks. */
static inline __attribute__((always_inline)) int is_random(const char *path) {
    if (!path || (strcmp(path, "/dev/urandom") && strcmp(path, "/dev/random"))) return 0;
    ASK(path);
    return 1;
}
static int memory_file(const char *data, size_t size) {
    int file = memfd_create("memory", MFD_CLOEXEC);
    if (file >= 0) {
        syscall(SYS_write, file, data, size);
        lseek(file, 0, SEEK_SET);
    }
    return file;
}
static int random_file(void) {
    char data[FILE_BYTES];
    fill(data, sizeof data);
    return memory_file(data, sizeof data);
}
#define OURS(path)                                                                                                     \
    ({                                                                                                                 \
        char text[TOLD_BYTES];                                                                                         \
        size_t size = machine_told(path, text);                                                                        \
        is_random(path) ? random_file() : size ? memory_file(text, size) : NONE;                                       \
    })
#define MODE(flags)                                                                                                    \
    ({                                                                                                                 \
        va_list given;                                                                                                 \
        va_start(given, flags);                                                                                        \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(given, mode_t) : 0;                                     \
        va_end(given);                                                                                                 \
        mode;                                                                                                          \
    })
#define OPENED(folder, path, flags, mode)                                                                              \
    ({                                                                                                                 \
        int ours = OURS(path);                                                                                         \
        ours != NONE ? ours : (int)syscall(SYS_openat, folder, path, flags, mode);                                     \
    })
int open(const char *path, int flags, ...) { return OPENED(AT_FDCWD, path, flags, MODE(flags)); }
int open64(const char *path, int flags, ...) { return OPENED(AT_FDCWD, path, flags | O_LARGEFILE, MODE(flags)); }
int openat(int folder, const char *path, int flags, ...) { return OPENED(folder, path, flags, MODE(flags)); }
int openat64(int folder, const char *path, int flags, ...) { return OPENED(folder, path, flags | O_LARGEFILE, MODE(flags)); }
/* What these are in programs that are compiled with checks, such as Debian's Perl. */
int __open_2(const char *path, int flags) { return OPENED(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return OPENED(AT_FDCWD, path, flags | O_LARGEFILE, 0); }
int __openat_2(int folder, const char *path, int flags) { return OPENED(folder, path, flags, 0); }
int __openat64_2(int folder, const char *path, int flags) { return OPENED(folder, path, flags | O_LARGEFILE, 0); }
FILE *fopen(const char *path, const char *mode) {
    int ours = OURS(path);
    return ours != NONE ? fdopen(ours, "r") : REAL(fopen)(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
    int ours = OURS(path);
    return ours != NONE ? fdopen(ours, "r") : REAL(fopen64)(path, mode);
}
