/* glibc 2.38's headers call strtoul and sscanf by names that older ones lack; wheels are for those, too. Before all else. */
#include <features.h>

#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0
