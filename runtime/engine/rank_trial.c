/* Delays and ends ranks at their exchanges, as tests wish by the environment; rank_trial.h has the
 * variables. */
#include "rank_trial.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/splitmix64.h"

#define DELAY_EVERY 8u
#define DELAY_NS    2000000u /* at most */

static uint64_t seed; /* 0: no delays */
static uint64_t dies; /* 0: never */

void rank_trial_open(uint32_t rank)
{
    const char *delays = getenv("HEDDLE_RANK_DELAYS"), *death = getenv("HEDDLE_RANK_DIES");
    unsigned who;
    unsigned long long number;
    seed = delays ? strtoull(delays, NULL, 10) * 64 + rank + 1 : 0;
    dies = death && sscanf(death, "%u:%llu", &who, &number) == 2 && who == rank ? number : 0;
}

void rank_trial(uint64_t exchange)
{
    if (exchange == dies)
        raise(SIGKILL);
    if (!seed)
        return;
    uint64_t drawn = splitmix64(&seed);
    const struct timespec delay = {0, (long)((drawn >> 33) % DELAY_NS)};
    if ((drawn >> 60) % DELAY_EVERY == 0)
        nanosleep(&delay, NULL);
}
