/* Memory that a program shares by a number alone, as pictures with its X server, goes with the last process that has it:
 * as a rule a program is killed, and what it leaves is the machine's, which has room for 4,096. */
#include "outside.h"

#include <stddef.h>
#include <sys/ipc.h>
#include <sys/shm.h>

void *shmat(int number, const void *at, int flags) {
    void *memory = REAL(shmat)(number, at, flags);
    struct shmid_ds told;
    /* Marked for removal now; until then the number is good for others, too. */
    if (memory != (void *)-1 && !shmctl(number, IPC_STAT, &told) && told.shm_perm.__key == IPC_PRIVATE)
        shmctl(number, IPC_RMID, NULL);
    return memory;
}
