/* What the program watches of files (inotify), for a process that is made of a template. */
#pragma once

#pragma GCC visibility push(hidden)
/* Return a new descriptor with the ``count`` watches that ``file`` has, by the same numbers; below 0 with errno. */
int watch_again(int file, int flags, int count);
void forget_watches(int file);
#pragma GCC visibility pop
