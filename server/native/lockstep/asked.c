/* Who asks for the time and for random numbers, counted where the controller wants to know. */
#include "lockstep.h"

#include <string.h>

static int is_of(const struct asked *asked, const char *what, const char *module) {
    return !strcmp(asked->what, what) && !strncmp(asked->module, module, sizeof asked->module - 1);
}

/* Count a call of ``what`` by the code at ``caller``. What finds no room is left out. */
void count_asked(const char *what, const void *caller) {
    Dl_info found;
    const char *module = dladdr(caller, &found) && found.dli_fname ? found.dli_fname : "?";
    if (strrchr(module, '/')) module = strrchr(module, '/') + 1;
    for (struct asked *asked = page()->asked; asked < page()->asked + ASKED; asked++) {
        uint32_t unused = UNUSED;
        if (atomic_compare_exchange_strong(&asked->state, &unused, NAMING)) {
            strncpy(asked->what, what, sizeof asked->what - 1);
            strncpy(asked->module, module, sizeof asked->module - 1);
            atomic_store(&asked->state, NAMED);
        }
        if (asked->state != NAMED || !is_of(asked, what, module)) continue;
        atomic_fetch_add(&asked->times, 1);
        return;
    }
}
