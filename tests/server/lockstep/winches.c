/* Changes the size of a terminal again and again, whose reader is on its way to its next read then; says how many of its
 * reads that ended, and how often it is told of the signals that come while they are blocked. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TIMES 300

static void on_signal(int number) { (void)number; }

int main(void) {
    int master = posix_openpt(O_RDWR | O_NOCTTY), ends[2], woken = 0;
    char byte;
    struct timespec second = {1, 0};
    sigset_t winch, none;
    if (master < 0 || grantpt(master) || unlockpt(master) || pipe(ends)) return 1;
    sigemptyset(&none);
    sigemptyset(&winch);
    sigaddset(&winch, SIGWINCH);
    if (!fork()) {
        setsid();
        int terminal = open(ptsname(master), O_RDWR);
        struct sigaction action = {.sa_handler = on_signal}, before;
        ioctl(terminal, TIOCSCTTY, 0);
        sigaction(SIGWINCH, &action, NULL);
        sigaction(SIGWINCH, NULL, &before);
        if (before.sa_handler != on_signal) return 1;
        for (int i = 0; i < TIMES; i++) {
            write(ends[1], "r", 1);
            if (read(terminal, &byte, 1) < 0 && errno == EINTR) write(ends[1], "w", 1);
        }
        return 0;
    }
    for (int i = 0; i < TIMES; i++) {
        struct pollfd asked = {ends[0], POLLIN, 0};
        struct winsize size = {(unsigned short)(20 + i % 9), 80, 0, 0};
        if (read(ends[0], &byte, 1) != 1) return 1;
        ioctl(master, TIOCSWINSZ, &size);
        if (poll(&asked, 1, 1000) == 1 && read(ends[0], &byte, 1) == 1) woken++;
        else write(master, "\n", 1);
    }
    sigaction(SIGWINCH, &(struct sigaction){.sa_handler = on_signal}, NULL);
    sigprocmask(SIG_BLOCK, &winch, NULL);
    raise(SIGWINCH);
    printf("%d of %d, and %s\n", woken, TIMES, ppoll(NULL, 0, &second, &none) < 0 ? "one that was blocked" : "none");
}
