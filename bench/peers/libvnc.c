/* libvncclient of Debian, as a peer to measure.
 *
 *     libvnc replay WIDTH HEIGHT   reads from the socket that is its standard input what a server sends after ServerInit,
 *                                  until that ends; prints how many updates there were and the CPU nanoseconds
 *     libvnc press PORT COUNT      presses a key on a server of 127.0.0.1 and waits until the pixel at (32, 32) is
 *                                  white or black in turn; prints the nanoseconds of each, a line each */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rfb/rfbclient.h>

static int updates;

static void count_update(rfbClient *client) {
    (void)client;
    updates++;
}

static long long now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return 1000000000LL * now.tv_sec + now.tv_nsec;
}

static rfbClient *new_client(void) {
    rfbEnableClientLogging = FALSE;
    rfbClient *client = rfbGetClient(8, 3, 4);
    if (!client) exit(3);
    client->format.redShift = 16;
    client->format.blueShift = 0;
    client->FinishedFrameBufferUpdate = count_update;
    return client;
}

static int replay(int width, int height) {
    rfbClient *client = new_client();
    client->sock = STDIN_FILENO;
    client->width = client->si.framebufferWidth = (uint16_t)width;
    client->height = client->si.framebufferHeight = (uint16_t)height;
    /* Nobody reads requests here. */
    memset(&client->supportedMessages, 0, sizeof client->supportedMessages);
    if (!client->MallocFrameBuffer(client)) return 3;
    long long began = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    while (HandleRFBServerMessage(client)) continue;
    printf("%d %lld\n", updates, now_ns(CLOCK_PROCESS_CPUTIME_ID) - began);
    return 0;
}

static int is_grey(const rfbClient *client, int level) {
    const uint8_t *pixel = client->frameBuffer + 4 * (32 * (size_t)client->width + 32);
    return pixel[0] == level && pixel[1] == level && pixel[2] == level;
}

/* Takes in what comes within so many microseconds; 0 if the server is gone. */
static int take_in(rfbClient *client, unsigned microseconds) {
    int there = WaitForMessage(client, microseconds);
    return there == 0 || (there > 0 && HandleRFBServerMessage(client));
}

static int press(int port, int count) {
    rfbClient *client = new_client();
    client->serverHost = strdup("127.0.0.1");
    client->serverPort = port;
    if (!rfbInitClient(client, NULL, NULL)) return 3;
    for (int index = 0; index < count; index++) {
        /* As our own client is measured: never in step with the server's interval. */
        long long until = now_ns(CLOCK_MONOTONIC) + 30000000LL + random() % 30000000;
        for (long long left; (left = until - now_ns(CLOCK_MONOTONIC)) > 0;)
            if (!take_in(client, (unsigned)(left / 1000 + 1))) return 1;
        long long began = now_ns(CLOCK_MONOTONIC);
        SendKeyEvent(client, 'x', TRUE);
        while (!is_grey(client, index % 2 ? 0 : 255))
            if (!take_in(client, 1000000)) return 1;
        printf("%lld\n", now_ns(CLOCK_MONOTONIC) - began);
        SendKeyEvent(client, 'x', FALSE);
    }
    rfbClientCleanup(client);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    if (!strcmp(argv[1], "replay")) return replay(atoi(argv[2]), atoi(argv[3]));
    return press(atoi(argv[2]), atoi(argv[3]));
}
