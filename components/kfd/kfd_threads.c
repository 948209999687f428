/* Threads of the program that have rung a doorbell: whether they sleep, and what the process has
 * computed. kfd_machine.c lets their work go on when they wait in a way that it does not see. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kfd_machine.h"

enum { RINGERS_MAX = 256 };

static struct {
    int ringer[RINGERS_MAX]; /* by the system's numbers */
    uint32_t ringers;        /* atomic */
} own;

static _Thread_local bool rang __attribute__((tls_model("initial-exec")));

void kfd_note_ringer(void)
{
    if (rang)
        return;
    rang = true;
    uint32_t place = __atomic_fetch_add(&own.ringers, 1, __ATOMIC_SEQ_CST);
    if (place < RINGERS_MAX)
        __atomic_store_n(&own.ringer[place], (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
}

bool kfd_is_ringer(void)
{
    return rang;
}

/* Does the thread sleep, or has it ended? */
static bool is_asleep(int thread)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "re");
    const char *end = file && fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    if (file)
        fclose(file);
    return !end || end[1] != ' ' || end[2] != 'R';
}

bool kfd_ringers_sleep(void)
{
    uint32_t count = __atomic_load_n(&own.ringers, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < RINGERS_MAX; i++) {
        int thread = __atomic_load_n(&own.ringer[i], __ATOMIC_ACQUIRE);
        if (thread && !is_asleep(thread))
            return false;
    }
    return true;
}

uint64_t kfd_spent_ns(void)
{
    struct timespec all;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
    return (uint64_t)all.tv_sec * 1000000000 + (uint64_t)all.tv_nsec;
}
