/* Asks the socket that it is given in each way, and looks at once for the answer: says how often it was there, of 20 times.
 * Of an answer for which there isn't room at once it says how often a part of it wasn't there. Then it says how often its
 * processor was left while it looked 50 times, with nothing asked. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int file;
static struct iovec part = {"?", 1};
static struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
static void by_write(void) { write(file, "?", 1); }
static void by_writev(void) { writev(file, &part, 1); }
static void by_send(void) { send(file, "?", 1, 0); }
static void by_sendto(void) { sendto(file, "?", 1, 0, NULL, 0); }
static void by_sendmsg(void) { sendmsg(file, &message, 0); }
static void by_syscall(void) { syscall(SYS_write, file, "?", 1); }

static int look(void) { return poll(&(struct pollfd){file, POLLIN}, 1, 0); }
static void ask(const char *name, void (*how)(void)) {
    int found = 0;
    char answer;
    for (int i = 0; i < 20; i++) {
        look();
        how();
        found += recv(file, &answer, 1, MSG_DONTWAIT) == 1;
    }
    printf("%s %d\n", name, found);
}
static void hear_long_answer(void) {
    static char answer[2000000];
    int missed = 0;
    write(file, "*", 1);
    for (size_t heard = 0; heard < sizeof answer;) {
        ssize_t got = recv(file, answer, sizeof answer, MSG_DONTWAIT);
        if (got > 0) heard += got;
        else missed++;
    }
    printf("missed %d\n", missed);
}
static long turns(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw;
}

int main(int count, char **given) {
    struct sockaddr_un address = {AF_UNIX};
    strcpy(address.sun_path, given[1]);
    file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(file, (struct sockaddr *)&address, sizeof address)) return 1;
    ask("write", by_write);
    ask("writev", by_writev);
    ask("send", by_send);
    ask("sendto", by_sendto);
    ask("sendmsg", by_sendmsg);
    ask("syscall", by_syscall);
    hear_long_answer();
    long before = turns();
    for (int i = 0; i < 50; i++) look();
    printf("turns %ld\n", turns() - before);
}
