/* Launches simulated in parts (--mode sampled): between command processors, which write down when
 * work-groups begin and end, the driver, which executes part after part, and
 * components/sampling/launch_parts.h, which chooses them and estimates. One launch at a time. */
#ifndef HEDDLE_SAMPLING_ONLINE_PARTS_H
#define HEDDLE_SAMPLING_ONLINE_PARTS_H

#include "runtime/engine/engine.h"
#include "runtime/observe/json.h"
#include "launch_parts.h"

/* ---- command processors ---- */

/* A part is simulated in detail: its work-groups are written down. */
extern bool parts_logged;

/* From ticks, while `parts_logged`; any thread. */
void parts_note_placed(const struct component *c);
void parts_note_ended(const struct component *c, uint64_t instructions);

/* ---- the driver; when nothing else ticks, or from its own tick when nothing is under way ---- */

/* At the start of a run. `aim`: as in struct sampling. */
void online_parts_open(bool on, double aim);
/* Is launch `number` executed in parts from here on? Not where that would not pay. */
bool online_parts_begin(uint64_t number, uint64_t groups, uint32_t resident);
/* The next part of the launch. false: it is over. */
bool online_parts_next(struct sampled_part *next);
/* The part has begun, and will be simulated in detail. */
void online_parts_start(void);
/* Ends a work-group: in detail, or without timing, with what it has executed. */
void online_parts_timed(void);
void online_parts_executed(uint64_t groups, uint64_t instructions, const struct sampler_work *work);

/* ---- online_sampling.c ---- */

/* Estimates what a launch that was executed in parts would take, and adds to `work` what the
 * parts without timing executed. false: launch `number` was not executed in parts, or is not
 * over. */
bool online_parts_result(uint64_t number, struct sampler_measure *measure,
                         struct sampler_work *work);
/* Is launch `number` being executed in parts? */
bool online_parts_has(uint64_t number);
/* Writes the launches that were executed in parts to the statistics. */
void online_parts_write(struct json *j);

#endif
