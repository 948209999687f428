/* Test aids: delays and deaths of ranks, where tests want them. From the environment:
 * HEDDLE_RANK_DELAYS=SEED lets ranks sleep at random before they meet; HEDDLE_RANK_DIES=RANK:NUMBER
 * kills a rank at its exchange of that number. */
#ifndef HEDDLE_RUNTIME_RANK_TRIAL_H
#define HEDDLE_RUNTIME_RANK_TRIAL_H

#include <stdint.h>

void rank_trial_open(uint32_t rank);
/* Before each exchange. */
void rank_trial(uint64_t exchange);

#endif
