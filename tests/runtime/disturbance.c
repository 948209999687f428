/* Disturbs threads and ranks as variables of the environment say (runtime/engine/disturbance.h):
 * HEDDLE_THREAD_DELAYS=SEED and HEDDLE_RANK_DELAYS=SEED let them sleep at random,
 * HEDDLE_RANK_DIES=RANK:NUMBER kills a rank at its exchange of that number. */
#include "runtime/engine/disturbance.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/splitmix64.h"

/* One time in `every` the caller sleeps, for less than `most_ns`. */
static void delay(const char *variable, uint32_t member, uint64_t every, uint64_t most_ns)
{
    static _Thread_local uint64_t seed, state;
    const char *text = getenv(variable);
    if (!text || !*text)
        return;
    uint64_t wanted = strtoull(text, NULL, 10) * 64 + member + 1;
    if (wanted != seed)
        seed = state = wanted;
    uint64_t drawn = splitmix64(&state);
    const struct timespec time = {0, (long)((drawn >> 32) % most_ns)};
    if (drawn % every == 0)
        nanosleep(&time, NULL);
}

static bool is_killed(uint32_t rank, uint64_t exchange)
{
    const char *text = getenv("HEDDLE_RANK_DIES");
    unsigned dying;
    unsigned long long number;
    return text && sscanf(text, "%u:%llu", &dying, &number) == 2 && dying == rank
           && number == exchange;
}

void heddle_disturb(enum disturbance point, uint32_t member, uint64_t number)
{
    if (point == DISTURB_SHARD) {
        delay("HEDDLE_THREAD_DELAYS", member, 16, 65536);
        return;
    }
    if (is_killed(member, number))
        raise(SIGKILL);
    delay("HEDDLE_RANK_DELAYS", member, 8, 2000000);
}
