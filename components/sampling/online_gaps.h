/* Launches simulated with gaps (--mode sampled): between the driver, which pauses the machine, and
 * components/sampling/launch_gaps.h, which says when and estimates. One launch at a time. All is
 * called when no component is being ticked. */
#ifndef HEDDLE_SAMPLING_ONLINE_GAPS_H
#define HEDDLE_SAMPLING_ONLINE_GAPS_H

#include "runtime/engine/engine.h"
#include "runtime/observe/json.h"
#include "stratified_sampler.h"

/* ---- the driver ---- */

/* At the start of a run. `aim`: as in struct sampling. */
void online_gaps_open(bool on, double aim);
/* May launch `number` have gaps? It is then executed with them. */
bool online_gaps_choose(uint64_t number);
/* It begins; `clock` counts its cycles. Times here are in ps. Returns when to look. */
uint64_t online_gaps_begin(uint64_t now_ps, uint32_t clock);
/* As gaps_look(); *next_ps ENGINE_NEVER: never. */
bool online_gaps_look(uint64_t now_ps, uint64_t running, uint64_t *next_ps);
/* Instructions to be left out, and of them touching. */
uint64_t online_gaps_wanted(uint64_t *touching);
/* What was executed, by which instructions (`vector`: as sampler_bucket() says), and how many
 * wavefronts go on. Returns when to look. */
struct gaps_done {
    uint64_t instructions, running, resumed_ps;
};
uint64_t online_gaps_executed(const struct gaps_done *done, const uint64_t *vector);
/* The launch is over. */
void online_gaps_end(void);

/* ---- online_sampling.c ---- */

/* As online_parts_result(). */
bool online_gaps_result(uint64_t number, struct sampler_measure *measure, uint64_t *vector);
bool online_gaps_has(uint64_t number);
void online_gaps_write(struct json *j);

#endif
