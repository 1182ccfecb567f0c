#pragma once

#include <dlfcn.h>

/* The function that would be called if there were no library of ours. */
#define REAL(name)                                                                                                     \
    ({                                                                                                                 \
        static __typeof__(name) *real;                                                                                 \
        if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);                                                 \
        real;                                                                                                          \
    })
