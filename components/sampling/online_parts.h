/* Connects launches in parts (--mode sampled) to a run. Command processors record when work-groups
 * begin and end, the driver executes part after part, and launch_parts.h chooses the parts and
 * estimates the whole. One launch at a time is in parts. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_ONLINE_PARTS_H
#define HEDDLE_COMPONENTS_SAMPLING_ONLINE_PARTS_H

#include "runtime/engine/engine.h"
#include "runtime/observe/json.h"

#include "launch_parts.h"

/* ---- command processors ---- */

/* True while a part is simulated in detail: its work-groups are to be recorded. */
extern bool online_parts_recording;

/* For ticks on any thread, while `online_parts_recording`. */
void online_parts_record_placed(const struct component *c);
void online_parts_record_ended(const struct component *c, uint64_t instructions);

/* ---- the driver; when nothing else ticks, or from its own tick when nothing is under way ---- */

/* At the start of a run. `aim`: as in struct sampling. */
void online_parts_open(bool on, double aim);
/* True: launch `number` is executed in parts from here on. False: that would not pay. */
bool online_parts_begin(uint64_t number, uint64_t groups, uint32_t resident);
/* The next part of the launch. False: the launch is over. */
bool online_parts_next(struct sampled_launch_part *next);
/* Begin and end of a part that is simulated in detail. */
void online_parts_begin_timed(void);
void online_parts_end_timed(void);
/* End of a part that was executed without timing, with what it has executed. */
void online_parts_end_untimed(uint64_t groups, uint64_t instructions,
                              const struct sampler_work *work);

/* ---- online_sampling.c ---- */

/* Estimates the cycles of a launch that was executed in parts, and adds to `work` what its parts
 * without timing executed. False: launch `number` was not executed in parts, or is not over. */
bool online_parts_result(uint64_t number, struct sampler_measure *measure,
                         struct sampler_work *work);
/* True while launch `number` is executed in parts. */
bool online_parts_has(uint64_t number);
/* Writes the launches that were executed in parts to the statistics. */
void online_parts_write(struct json *j);

#endif
