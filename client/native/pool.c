/* The threads that serve all connections of the process: at most as many as there are cores, none without connections.
 * Each connection belongs to one of them, so that its decoder needs no lock. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "connection_internal.h"

/* Decoding is all that they do; beyond this the memory's bandwidth is the limit. */
#define MAX_WORKERS 4
/* How often silence is looked at. */
#define TICK_MS 250
/* A photo-like frame is some 200 KiB; what fits the second-level cache is decoded from there. */
#define RECEIVE_BYTES (128 * 1024)
#define EVENTS 64

struct worker {
    struct worker *next;
    pthread_t thread;
    int epoll, wake;
    struct connection *connections;
    int count;
    uint8_t buffer[RECEIVE_BYTES];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t dropped;
    struct worker *workers;
    int count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .dropped = PTHREAD_COND_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_uint generation;

unsigned pool_generation(void) {
    return atomic_load(&generation);
}

/* -- Forks --------------------------------------------------------------------------------------------------------- */

static void before_fork(void) {
    pthread_mutex_lock(&pool.lock);
}

static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&pool.lock);
}

/* The child has none of the threads. It lets go of their sockets, so that a close in the parent is one, and begins
 * with an empty pool; the parent's memory is left alone, as a thread may have been writing to it. */
static void after_fork_in_child(void) {
    for (struct worker *worker = pool.workers; worker; worker = worker->next) {
        for (struct connection *connection = worker->connections; connection; connection = connection->next) {
            close(connection->fd);
        }
        close(worker->epoll);
        close(worker->wake);
    }
    pool.workers = NULL;
    pool.count = 0;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.dropped, NULL);
    atomic_fetch_add(&generation, 1);
}

static void begin_process(void) {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* -- Workers ------------------------------------------------------------------------------------------------------- */

static void wake(struct worker *worker) {
    eventfd_write(worker->wake, 1);
}

/* Under the pool's lock. Lets go of connections that are being closed; false: none is left. */
static bool tend(struct worker *worker) {
    double now = monotonic_now();
    struct connection **link = &worker->connections;
    while (*link) {
        struct connection *connection = *link;
        if (!connection->closing) {
            connection_check(connection, now);
            link = &connection->next;
            continue;
        }
        pool_forget(connection);
        *link = connection->next;
        worker->count--;
        connection->was_last = worker->count == 0;
        connection->dropped = true;
    }
    if (worker->count == 0) {
        struct worker **other = &pool.workers;
        while (*other != worker) other = &(*other)->next;
        *other = worker->next;
        pool.count--;
    }
    pthread_cond_broadcast(&pool.dropped);
    return worker->count > 0;
}

static void *work(void *argument) {
    struct worker *worker = argument;
    struct epoll_event events[EVENTS];
    double tended_at = monotonic_now();
    for (bool alive = true; alive;) {
        int count = epoll_wait(worker->epoll, events, EVENTS, TICK_MS);
        bool woken = false;
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == worker) {
                eventfd_t ignored;
                eventfd_read(worker->wake, &ignored);
                woken = true;
            } else {
                connection_serve(events[i].data.ptr, events[i].events, worker->buffer, sizeof worker->buffer);
            }
        }
        if (!woken && monotonic_now() - tended_at < TICK_MS / 1000.0) continue;
        tended_at = monotonic_now();
        pthread_mutex_lock(&pool.lock);
        alive = tend(worker);
        pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

static void free_worker(struct worker *worker) {
    if (worker->epoll >= 0) close(worker->epoll);
    if (worker->wake >= 0) close(worker->wake);
    free(worker);
}

/* Signals are the business of the threads that Python knows. */
static int start_thread(struct worker *worker) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static struct worker *new_worker(void) {
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker) return NULL;
    worker->epoll = epoll_create1(EPOLL_CLOEXEC);
    worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = worker};
    if (worker->epoll >= 0 && worker->wake >= 0 &&
        epoll_ctl(worker->epoll, EPOLL_CTL_ADD, worker->wake, &event) == 0) {
        return worker;
    }
    int saved = errno;
    free_worker(worker);
    errno = saved;
    return NULL;
}

static int most_workers(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MAX_WORKERS ? MAX_WORKERS : (int)cores;
}

static struct worker *least_busy(void) {
    struct worker *least = pool.workers;
    for (struct worker *worker = pool.workers; worker; worker = worker->next) {
        if (worker->count < least->count) least = worker;
    }
    return least;
}

/* Under the pool's lock. */
static bool add_to(struct worker *worker, struct connection *connection) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    connection->worker = worker;
    if (epoll_ctl(worker->epoll, EPOLL_CTL_ADD, connection->fd, &event) != 0) return false;
    connection->next = worker->connections;
    worker->connections = connection;
    worker->count++;
    return true;
}

/* Under the pool's lock. The thread starts last: it ends when it finds that it has no connection. */
static bool add_to_new(struct connection *connection) {
    struct worker *worker = new_worker();
    if (!worker) return false;
    int error = add_to(worker, connection) ? start_thread(worker) : errno;
    if (error) {
        connection->worker = NULL;
        free_worker(worker);
        errno = error;
        return false;
    }
    worker->next = pool.workers;
    pool.workers = worker;
    pool.count++;
    return true;
}

bool pool_add(struct connection *connection) {
    pthread_once(&once, begin_process);
    pthread_mutex_lock(&pool.lock);
    struct worker *worker = least_busy();
    bool added;
    if (!worker || (worker->count > 0 && pool.count < most_workers())) {
        added = add_to_new(connection);
    } else {
        added = add_to(worker, connection);
    }
    /* What could not be sent before there was a worker. */
    if (added && connection->unsent_size > 0) pool_watch(connection, true);
    if (!added) connection->worker = NULL;
    pthread_mutex_unlock(&pool.lock);
    return added;
}

void pool_remove(struct connection *connection) {
    pthread_mutex_lock(&pool.lock);
    struct worker *worker = connection->worker;
    if (!worker) {
        pthread_mutex_unlock(&pool.lock);
        return;
    }
    connection->closing = true;
    wake(worker);
    while (!connection->dropped) pthread_cond_wait(&pool.dropped, &pool.lock);
    /* Also under its own lock: a thread that sends may be about to look at it. */
    pthread_mutex_lock(&connection->lock);
    connection->worker = NULL;
    pthread_mutex_unlock(&connection->lock);
    pthread_mutex_unlock(&pool.lock);
    if (connection->was_last) {
        pthread_join(worker->thread, NULL);
        free_worker(worker);
    }
}

void pool_watch(struct connection *connection, bool writing) {
    if (!connection->worker) return;
    struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.ptr = connection};
    epoll_ctl(connection->worker->epoll, EPOLL_CTL_MOD, connection->fd, &event);
}

void pool_forget(struct connection *connection) {
    if (connection->worker) epoll_ctl(connection->worker->epoll, EPOLL_CTL_DEL, connection->fd, NULL);
}
