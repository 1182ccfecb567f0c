/*
 * Preloaded into X0tigervnc, which shares the memory of its pictures with the X server while it has clients. Before 1.14
 * it gives up its own end alone when the last one leaves, and the X server keeps every picture that there ever was.
 * Here the X server's end goes with it. And no version frees the memory when it is killed: here it is freed with the
 * last process that has it.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/shm.h>

/* XShmSegmentInfo, without libXext's headers. */
struct segment {
    unsigned long id;
    int shmid;
    char *address;
    int read_only;
};

int XSync(void *display, int discard);
void *XSetErrorHandler(int (*handler)(void *display, void *error));

/* It has three at a time. */
static struct {
    void *display;
    struct segment segment;
} attached[8];
static const size_t places = sizeof attached / sizeof *attached;

static int (*next(const char *name))(void *, struct segment *) {
    return (int (*)(void *, struct segment *))dlsym(RTLD_NEXT, name);
}

int XShmAttach(void *display, struct segment *segment) {
    int done = next("XShmAttach")(display, segment);
    XSync(display, 0);
    shmctl(segment->shmid, IPC_RMID, NULL);
    for (size_t i = 0; done && i < places; i++)
        if (attached[i].display == NULL) {
            attached[i].display = display;
            attached[i].segment = *segment;
            break;
        }
    return done;
}

/* Later versions call it themselves. */
int XShmDetach(void *display, struct segment *segment) {
    for (size_t i = 0; i < places; i++)
        if (attached[i].display == display && attached[i].segment.id == segment->id) attached[i].display = NULL;
    return next("XShmDetach")(display, segment);
}

static int ignore(void *display, void *error) {
    (void)display, (void)error;
    return 0;
}

int shmdt(const void *address) {
    for (size_t i = 0; i < places; i++)
        if (attached[i].display != NULL && attached[i].segment.address == address) {
            void *display = attached[i].display;
            /* One that the X server could not attach is given up, too. */
            void *before = XSetErrorHandler(ignore);
            XShmDetach(display, &attached[i].segment);
            XSync(display, 0);
            XSetErrorHandler(before);
        }
    return ((int (*)(const void *))dlsym(RTLD_NEXT, "shmdt"))(address);
}
