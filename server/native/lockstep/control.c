/* The other end of the page: gives turns, lets time pass, and knows when everything stands. Called from Python, by one
 * thread at a time; nothing here is for the programs that the library is preloaded into. */
#include "spin.h"
#include "template.h"
#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

/* Threads without a slot that have to stand as well: an X server's. */
#define STRANGERS 64

/* A thread that runs, and says nothing for so long, is looked at: it may be asleep in the kernel, or gone. */
#define SILENCE_NS 200000L
/* How often it may take twice as long: looking takes time from who computes. */
#define MOST_SILENCES 4

/* One that has computed for so long is to find out whether it spins; sooner if it has before. The kernel counts by its own
 * ticks. Few are asked: what is below their stacks is another then, which those that read what they never wrote see. */
#define COMPUTES_NS 10000000
#define SPINS_NS 1000000

/* One that sleeps for so long waits for more than a file, or a child that is being loaded. */
#define ASLEEP_NS 20000000

/* A step that is played for so long has its processor for itself no more. */
#define HANGS_NS SECOND_NS

/* A slot of a thread that was never born: its process was killed between the two, or had no more threads. */
#define BIRTH_NS 100000000LL

/* Where CLOCK_MONOTONIC begins: a machine that started a while ago. */
#define BEGIN_NS (1000 * SECOND_NS)

#define TEXT 64

enum { STANDS = 0, LATE = 1, ENDED = 2 };

/* A thread that is looked at in /proc. */
struct watched {
    int pid, tid, stat, schedstat;
    int sleeps;
    int is_alone; /* of a process without other threads: it sleeps where it waits for others, and nowhere else */
    int64_t since;
    int64_t computed; /* until it was asked last; 0: it wasn't yet in this turn */
    char switches[TEXT];
};

struct control {
    struct page *page;
    int64_t limit;
    struct watched threads[SLOTS], strangers[STRANGERS];
    int strangers_count;
    int processor;
    cpu_set_t processors;
    int16_t (*sound)[SOUND_CHANNELS]; /* of the last step, so many frames of it */
    size_t heard;
};

static int64_t real_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND_NS + time.tv_nsec;
}

static void forget(struct watched *watched) {
    if (watched->tid) {
        close(watched->stat);
        close(watched->schedstat);
    }
    memset(watched, 0, sizeof *watched);
}

/* By newer headers atoi needs a newer glibc. */
static int64_t number_at(const char *digit) {
    int64_t number = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++) number = 10 * number + *digit - '0';
    return number;
}

static int open_of(int pid, int tid, const char *name) {
    char path[TEXT];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Return whether the thread sleeps, as it did the last time without a moment between; -1 if it is gone. */
static int look_at(struct watched *watched, int pid, int tid) {
    if (watched->tid != tid || watched->pid != pid) {
        forget(watched);
        *watched = (struct watched){
            .pid = pid, .tid = tid, .stat = open_of(pid, tid, "stat"), .schedstat = open_of(pid, tid, "schedstat")};
    }
    char stat[512], switches[TEXT] = "";
    ssize_t size = pread(watched->stat, stat, sizeof stat - 1, 0);
    stat[size > 0 ? size : 0] = 0;
    const char *state = strrchr(stat, ')');
    if (!state || state[2] == 'Z' || state[2] == 'X') {
        forget(watched);
        return -1;
    }
    if (state[2] == 'S' && watched->is_alone) return 1;
    pread(watched->schedstat, switches, sizeof switches - 1, 0);
    int same = !strcmp(switches, watched->switches);
    strcpy(watched->switches, switches);
    return state[2] == 'S' && same;
}

/* The date as the program's time began. */
PUBLIC void lockstep_date(struct control *control, int64_t epoch_ns) { control->page->epoch = epoch_ns - BEGIN_NS; }

PUBLIC struct control *lockstep_open(const char *path, int64_t epoch_ns, int64_t frame_ns, uint64_t seed) {
    struct control *control = calloc(1, sizeof *control);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    void *mapped = MAP_FAILED;
    if (control && file >= 0 && ftruncate(file, sizeof(struct page)) == 0)
        mapped = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int error = errno;
    if (file >= 0) close(file);
    if (mapped == MAP_FAILED) {
        free(control);
        errno = error;
        return NULL;
    }
    control->page = mapped;
    control->limit = control->page->now = BEGIN_NS;
    lockstep_date(control, epoch_ns);
    control->page->frame = frame_ns;
    control->page->seed = seed;
    strncpy(control->page->path, path, PATH_MAX - 1);
    control->processor = -1;
    sched_getaffinity(0, sizeof control->processors, &control->processors);
    atomic_store(&control->page->magic, PAGE_MAGIC);
    return control;
}

static void let_run(int tid, const cpu_set_t *processors) {
    if (tid) sched_setaffinity(tid, sizeof *processors, processors);
}

/* How many steps are played on each processor, and since when the last of them. Two on one would take turns by the kernel's
 * slices, each far longer than their own: so steps wait for a processor, but not for those of a program that hangs. */
static int steps_on[CPU_SETSIZE];
static int64_t taken_at[CPU_SETSIZE];
static pthread_mutex_t choosing = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;

static int take_processor(const struct control *control) {
    int best = sched_getcpu();
    pthread_mutex_lock(&choosing);
    while (steps_on[best]) {
        for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &control->processors) && steps_on[i] < steps_on[best]) best = i;
        if (!steps_on[best] || real_now() - taken_at[best] > HANGS_NS) break;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&left, &choosing, &until);
    }
    steps_on[best]++;
    taken_at[best] = real_now();
    pthread_mutex_unlock(&choosing);
    return best;
}
static void leave_processor(int processor) {
    pthread_mutex_lock(&choosing);
    steps_on[processor]--;
    pthread_cond_signal(&left);
    pthread_mutex_unlock(&choosing);
}

/* Have a step's threads, of which one runs at a time, all run on one processor, ours: waking a thread on another one
 * takes longer than most of their turns. Not all systems let us. */
static void gather(struct control *control) {
    int processor = take_processor(control);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(processor, &here);
    sched_setaffinity(0, sizeof here, &here);
    if (processor == control->processor) return;
    control->processor = processor;
    for (int i = 0; i < control->strangers_count; i++) let_run(control->strangers[i].tid, &here);
    for (uint32_t i = 0; i < control->page->used; i++) let_run(control->page->slots[i].tid, &here);
}

/* Let them run on any processor again. */
static void scatter(struct control *control) {
    control->processor = -1;
    for (int i = 0; i < control->strangers_count; i++) let_run(control->strangers[i].tid, &control->processors);
    for (uint32_t i = 0; i < control->page->used; i++) let_run(control->page->slots[i].tid, &control->processors);
}

PUBLIC void lockstep_close(struct control *control) {
    scatter(control);
    for (int i = 0; i < SLOTS; i++) forget(&control->threads[i]);
    for (int i = 0; i < control->strangers_count; i++) forget(&control->strangers[i]);
    munmap(control->page, sizeof *control->page);
    free(control->sound);
    free(control);
}

/* Have the threads of process ``pid`` stand, too, before time passes. */
PUBLIC void lockstep_watch(struct control *control, int pid) {
    char path[TEXT];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.' || control->strangers_count == STRANGERS) continue;
        look_at(&control->strangers[control->strangers_count++], pid, (int)number_at(entry->d_name));
    }
    if (folder) closedir(folder);
    control->strangers[0].is_alone = control->strangers_count == 1;
}

/* Write what the kernel counts of the watched process' turns, which changes with each; return how long that is, 0 if it isn't
 * known, or is of several threads. */
PUBLIC size_t lockstep_turns(const struct control *control, char *text, size_t size) {
    const struct watched *server = &control->strangers[0];
    if (control->strangers_count != 1 || !server->tid) return 0;
    int named = snprintf(text, size, "%d ", server->tid);
    ssize_t counted = pread(server->schedstat, text + named, size - (size_t)named, 0);
    /* Some kernels count nothing. */
    return counted > 0 && number_at(text + named) ? (size_t)(named + counted) : 0;
}

PUBLIC int64_t lockstep_elapsed(const struct control *control) { return control->page->now - BEGIN_NS; }

/* Count from now on what the programs ask for. */
PUBLIC void lockstep_count(struct control *control) { control->page->counting = 1; }

/* Write what was asked for to ``text``, "what by module", and return how often; below 0 behind the last. */
PUBLIC int64_t lockstep_asked(const struct control *control, int number, char *text, size_t size) {
    const struct asked *asked = &control->page->asked[number];
    if (number >= ASKED || asked->state != NAMED) return -1;
    snprintf(text, size, "%s by %s", asked->what, asked->module);
    return asked->times;
}

/* The number of threads that have come to the clock and not ended. */
PUBLIC int lockstep_threads(const struct control *control) {
    int threads = 0;
    for (uint32_t i = 0; i < control->page->used; i++) threads += control->page->slots[i].state != FREE;
    return threads;
}

static int runs(const struct slot *slot) { return (slot->state & PHASE) == RUNS; }

/* Where all stand who look or wait for a time, and nobody sleeps in the kernel. */
static int is_calm(const struct page *page, uint32_t why) {
    for (uint32_t i = 0; i < page->used; i++)
        if (runs(&page->slots[i])) return 0;
    return why == DUE || why == LOOK;
}

static void grant(struct control *control, struct slot *slot, uint32_t why) {
    control->threads[slot - control->page->slots].sleeps = 0;
    control->threads[slot - control->page->slots].since = 0;
    control->threads[slot - control->page->slots].computed = 0;
    control->page->calm = is_calm(control->page, why);
    atomic_store(&slot->state, RUNS | why);
    /* All: one that was killed may still wait there, as it has yet to end, and came first. */
    syscall(SYS_futex, &slot->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The parent of a process that has ended, and has not been waited for; 0: it isn't there. */
static int parent_of(int pid) {
    char path[TEXT], stat[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, stat, sizeof stat - 1);
    if (file >= 0) close(file);
    stat[size > 0 ? size : 0] = 0;
    const char *state = strrchr(stat, ')');
    return state ? (int)number_at(state + 4) : 0;
}

/* If it was its last thread that is gone, a process has ended: its parent hears of it now, as soon as it may notice
 * itself; and who takes it for its child is told that it was killed. */
static void note_end(struct page *page, int pid) {
    for (uint32_t i = 0; i < page->used; i++)
        if (page->slots[i].state != FREE && page->slots[i].pid == pid) return;
    int parent = parent_of(pid);
    if (parent) world_signals(page, parent, parent, SIGCHLD);
    for (struct kin *kin = page->kin; kin < page->kin + KIN; kin++) {
        if (kin->state != ALIVE || kin->pid != pid) continue;
        /* How, who has killed it may have noted. */
        if (!kin->status) kin->status = SIGKILL;
        atomic_store(&kin->state, DEAD);
        if (kin->parent <= 0) continue;
        world_signals(page, kin->parent, kin->parent, SIGCHLD);
        kill(kin->parent, SIGCHLD);
    }
}

/* Have one that computes find out whether it spins. */
static void ask_for_spin(const struct slot *slot, struct watched *watched) {
    int64_t computed = number_at(watched->switches), least = slot->spins ? SPINS_NS : COMPUTES_NS;
    if (watched->computed && computed - watched->computed < least) return;
    if (watched->computed && world_catches(watched->pid, watched->tid, SPIN_SIGNAL))
        syscall(SYS_tgkill, watched->pid, watched->tid, SPIN_SIGNAL);
    watched->computed = computed;
}

/* Find out about those that run in silence. */
static void look_at_silent(struct control *control) {
    for (uint32_t i = 0; i < control->page->used; i++) {
        struct slot *slot = &control->page->slots[i];
        struct watched *watched = &control->threads[i];
        if (!runs(slot)) continue;
        if (!slot->tid) {
            if (!watched->since) watched->since = real_now();
            if (real_now() - watched->since < BIRTH_NS) continue;
            watched->since = 0;
            slot->state = FREE;
            continue;
        }
        int sleeps = look_at(watched, slot->pid, slot->tid);
        if (sleeps == 0) ask_for_spin(slot, watched);
        if (sleeps <= 0) watched->since = 0;
        else if (!watched->since) watched->since = real_now();
        watched->sleeps = watched->since && real_now() - watched->since >= ASLEEP_NS;
        if (sleeps < 0 && runs(slot)) {
            int pid = slot->pid;
            slot->pid = slot->tid = 0;
            slot->state = FREE;
            control->page->calm = 0;
            note_end(control->page, pid);
        }
    }
}

/* Return whether those that sleep in the kernel with their turn still do. */
static int sleepers_sleep(struct control *control) {
    int all = 1;
    for (uint32_t i = 0; i < control->page->used; i++) {
        struct slot *slot = &control->page->slots[i];
        struct watched *watched = &control->threads[i];
        if (!runs(slot) || !watched->sleeps) continue;
        watched->sleeps = look_at(watched, slot->pid, slot->tid) > 0;
        all &= watched->sleeps;
    }
    return all;
}

/* Wait until no thread runs; return whether that was in time. */
static int wait_for_turns(struct control *control, int64_t patience) {
    struct page *page = control->page;
    for (int64_t silent = 0;;) {
        uint32_t news = atomic_load(&page->news);
        int running = 0;
        for (uint32_t i = 0; i < page->used && !running; i++)
            running = runs(&page->slots[i]) && !control->threads[i].sleeps;
        if (!running) return 1;
        atomic_store(&page->listening, 1);
        struct timespec silence = {0, SILENCE_NS << (silent < MOST_SILENCES ? silent : MOST_SILENCES)};
        if (syscall(SYS_futex, &page->news, FUTEX_WAIT, news, &silence, NULL, 0) && errno == ETIMEDOUT) silent++;
        atomic_store(&page->listening, 0);
        if (silent) look_at_silent(control);
        if (real_now() > patience) return 0;
    }
}

/* Return whether no stranger has anything to do. */
static int strangers_stand(struct control *control) {
    int stand = 1;
    if (control->page->calm) return 1;
    for (int i = 0; i < control->strangers_count; i++) {
        struct watched *stranger = &control->strangers[i];
        if (stranger->tid) stand &= look_at(stranger, stranger->pid, stranger->tid) != 0;
    }
    return stand;
}

/* ── moments ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* What is drawn from now on follows from this seed. */
PUBLIC void lockstep_seed(struct control *control, uint64_t seed) { control->page->seed = seed; }

/* Nothing goes by the clock any more. */
PUBLIC void lockstep_leave(struct control *control) { atomic_store(&control->page->left, 1); }

/* Where templates of the programs call, and what their HOME is. */
PUBLIC void lockstep_place(struct control *control, const char *hub, const char *home) {
    strncpy(control->page->hub, hub, PATH_BYTES - 1);
    strncpy(control->page->home, home, PATH_MAX - 1);
}
/* Where the program's X server listens from now on. */
PUBLIC void lockstep_screen(struct control *control, const char *path) {
    strncpy(control->page->screen, path, PATH_BYTES - 1);
}

/* Return the phase of a slot, below 0 behind the last; and whose it is. A thread that sleeps in the kernel RUNS. */
PUBLIC int lockstep_slot(const struct control *control, int number, int *pid, int *tid) {
    if (number >= (int)control->page->used) return -1;
    const struct slot *slot = &control->page->slots[number];
    *pid = slot->pid;
    *tid = slot->tid;
    return (int)(slot->state & PHASE);
}

/* Have these waiting threads, and X server ``server``, begin to fork a template of their process each. */
PUBLIC int lockstep_fork(struct control *control, const int *slots, int count, int server) {
    scatter(control);
    if (kill(server, XSERVER_SIGNAL)) return 0;
    for (int i = 0; i < count; i++) grant(control, &control->page->slots[slots[i]], FORK);
    return 1;
}
/* Return whether they wait again in time. */
PUBLIC int lockstep_forked(struct control *control, int64_t patience_ns) {
    return wait_for_turns(control, real_now() + patience_ns);
}

PUBLIC size_t lockstep_size(void) { return OF_THE_PAGE; }
PUBLIC void lockstep_keep(const struct control *control, void *to) { memcpy(to, control->page, OF_THE_PAGE); }

/* Write to a kept page who was whose child: ``count`` times whether one is ALIVE or DEAD, its parent, its number and its
 * status. Those that had been made again keep the names under which their parents know them. False: too many. */
PUBLIC int lockstep_relate(struct page *kept, const int *family, int count) {
    const int *all = family;
    struct kin before[KIN];
    memcpy(before, kept->kin, sizeof before);
    memset(kept->kin, 0, sizeof kept->kin);
    struct kin *to = kept->kin;
    for (int i = 0; i < count; i++, family += 4) {
        if (to == kept->kin + KIN) return 0;
        int parent = family[1], named = family[2] == kept->first ? FIRST : family[2];
        for (int j = 0; j < KIN; j++) {
            if (before[j].state != ALIVE || before[j].pid != family[2]) continue;
            named = before[j].named;
            if (!parent) parent = before[j].parent;
        }
        *to++ = (struct kin){family[0], -parent, named, -family[2], family[3]};
    }
    /* Those whose end their parents haven't asked for. */
    for (int j = 0; j < KIN; j++) {
        int is_awaited = 0;
        for (int i = 0; i < count; i++) is_awaited |= all[4 * i + 2] == before[j].parent;
        if (before[j].state != DEAD || !is_awaited) continue;
        if (to == kept->kin + KIN) return 0;
        *to++ = (struct kin){DEAD, -before[j].parent, before[j].named, 0, before[j].status};
    }
    return 1;
}

/* Have the page be as it was kept. None of the programs that have it runs. */
PUBLIC void lockstep_put_back(struct control *control, const void *kept) {
    memcpy((void *)control->page, kept, OF_THE_PAGE);
    control->limit = control->page->now;
    control->processor = -1;
    for (int i = 0; i < SLOTS; i++) forget(&control->threads[i]);
    for (int i = 0; i < control->strangers_count; i++) forget(&control->strangers[i]);
    control->strangers_count = 0;
}

static struct slot *first_ready(const struct page *page) {
    const struct slot *first = NULL;
    for (uint32_t i = 0; i < page->used; i++) {
        const struct slot *slot = &page->slots[i];
        if ((slot->state & PHASE) == READY && (!first || slot->order < first->order)) first = slot;
    }
    return (struct slot *)first;
}

static struct slot *first_due(const struct page *page) {
    const struct slot *first = NULL;
    for (uint32_t i = 0; i < page->used; i++) {
        const struct slot *slot = &page->slots[i];
        if ((slot->state & PHASE) == WAITS && (!first || slot->deadline < first->deadline)) first = slot;
    }
    return (struct slot *)first;
}

/* Let all look that have to. Return whether one went on, -1 when they took too long. */
static int let_look(struct control *control, int64_t patience) {
    for (uint32_t i = 0; i < control->page->used; i++) {
        struct slot *slot = &control->page->slots[i];
        if ((slot->state & PHASE) != WAITS || !slot->looks) continue;
        uint32_t ends = slot->ends;
        grant(control, slot, LOOK);
        if (!wait_for_turns(control, patience)) return -1;
        if (slot->ends != ends) return 1;
    }
    return 0;
}

/* Wait until nobody has anything to do before time passes. */
static int settle(struct control *control, int64_t patience) {
    for (;;) {
        if (!wait_for_turns(control, patience)) return LATE;
        struct slot *ready = first_ready(control->page);
        if (ready) {
            grant(control, ready, ready->state & ~PHASE);
            continue;
        }
        if (strangers_stand(control) && sleepers_sleep(control)) {
            int looked = let_look(control, patience);
            if (looked < 0) return LATE;
            if (!looked && !first_ready(control->page) && strangers_stand(control) && sleepers_sleep(control)) return STANDS;
        } else {
            sched_yield();
        }
        if (real_now() > patience) return LATE;
    }
}

/* Let time pass until ``now``, and hear what is played meanwhile. */
static void pass(struct control *control, int64_t now) {
    struct page *page = control->page;
    int64_t from = sound_position(page->now), to = sound_position(now);
    page->now = now;
    size_t frames = control->heard + (size_t)(to - from);
    int16_t(*sound)[SOUND_CHANNELS] = realloc(control->sound, (frames + 1) * sizeof *sound);
    if (!sound) return;
    control->sound = sound;
    /* Once round, nothing is left to hear. */
    for (int64_t at = from; at < to; at++, control->heard++) {
        for (int i = 0; i < SOUND_CHANNELS; i++) {
            int32_t sample = at - from < SOUND_RING ? atomic_exchange(&page->sound.ring[at % SOUND_RING][i], 0) : 0;
            sound[control->heard][i] = (int16_t)(sample < INT16_MIN ? INT16_MIN : sample > INT16_MAX ? INT16_MAX : sample);
        }
    }
}

static int advance(struct control *control, int64_t patience) {
    struct page *page = control->page;
    for (;;) {
        if (settle(control, patience) == LATE) return LATE;
        if (!lockstep_threads(control)) return ENDED;
        struct slot *due = first_due(page);
        if (!due || due->deadline > control->limit) {
            pass(control, control->limit);
            return STANDS;
        }
        if (due->deadline > page->now) pass(control, due->deadline);
        grant(control, due, DUE);
    }
}

/* Let ``ns`` of the programs' time pass, within ``patience_ns`` of real time. What is late is made up for later. */
PUBLIC int lockstep_advance(struct control *control, int64_t ns, int64_t patience_ns) {
    control->limit += ns;
    control->heard = 0;
    control->page->calm = 0;
    gather(control);
    int how = advance(control, real_now() + patience_ns);
    leave_processor(control->processor);
    sched_setaffinity(0, sizeof control->processors, &control->processors);
    return how;
}

/* Return how many frames of sound were played in the last step, which ``sound`` points to until the next. */
PUBLIC size_t lockstep_sound(const struct control *control, const int16_t **sound) {
    *sound = control->sound ? *control->sound : NULL;
    return control->heard;
}
