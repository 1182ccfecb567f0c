/* Preloaded into the X server of a program whose moments are kept. A signal asks it to become a template, which it does
 * where it is, in its only thread: as a rule where it waits for its clients. */
#include "../lockstep/template.h"
#include "../lockstep/watches.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/un.h>

#define HUB_VARIABLE "PLURIVERSE_HUB"

static char hub[sizeof((struct sockaddr_un *)0)->sun_path];

static void on_asked(int number) {
    int error = errno;
    (void)number;
    if (template_fork(hub, NULL)) {
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
    sigaction(SIGRTMIN + 5, &(struct sigaction){.sa_handler = on_asked, .sa_flags = SA_RESTART}, NULL);
}

/* It watches no files. */
int watch_again(int file, int flags, int count) {
    (void)file, (void)flags, (void)count;
    errno = EINVAL;
    return -1;
}
