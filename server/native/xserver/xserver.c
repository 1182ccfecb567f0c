/* Preloaded into the X server of a program whose moments are kept. Its events are of the program's time. A signal asks it
 * to become a template, which it does where it is, in its only thread: as a rule where it waits for its clients. */
#include "../lockstep/lockstep.h"
#include "../lockstep/template.h"
#include "../lockstep/watches.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/un.h>
#include <unistd.h>

#define HUB_VARIABLE "PLURIVERSE_HUB"

static struct page *mapped;
static char hub[sizeof((struct sockaddr_un *)0)->sun_path];

static void on_asked(int number) {
    int error = errno;
    (void)number;
    if (template_fork(hub, mapped, NULL)) {
        /* As the first one, it is not to outlive who started it. */
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        template_begins();
    }
    errno = error;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv(HUB_VARIABLE);
    if (!path) return;
    strncpy(hub, path, sizeof hub - 1);
    template_prepare();
    const char *page = getenv(PAGE_VARIABLE);
    int file = page ? open(page, O_RDWR | O_CLOEXEC) : -1;
    /* Written to by nobody here; but what is made of a template finds it as it finds all that is shared. */
    void *found = mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) mapped = found;
    close(file);
    sigaction(XSERVER_SIGNAL, &(struct sigaction){.sa_handler = on_asked, .sa_flags = SA_RESTART}, NULL);
}

/* Reading the clock takes no time here: nothing waits for it by reading. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!mapped || atomic_load(&mapped->left)) return REAL(clock_gettime)(clock, time);
    int is_real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    int64_t ns = atomic_load(&mapped->now) + (is_real ? mapped->epoch : 0);
    *time = (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
    return 0;
}

/* It watches no files. */
int watch_again(int file, int flags, int count) {
    (void)file, (void)flags, (void)count;
    errno = EINVAL;
    return -1;
}
