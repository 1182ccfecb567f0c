#pragma once

#include "../lockstep/real.h"

/* What is the program's own in the place of what is outside: in its HOME, so that each of its worlds has it. */
const char *outside_folder(void) __attribute__((visibility("hidden")));
