/* Choosing online (--kernels auto): between the driver, which executes launches, and
 * components/sampling/stratified_sampler.h, which chooses. One launch at a time: it is chosen for,
 * executed and over before the next one is asked about. At the end of windows, when nothing is
 * under way. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_ONLINE_SAMPLING_H
#define HEDDLE_COMPONENTS_SAMPLING_ONLINE_SAMPLING_H

#include "runtime/observe/json.h"

#include "stratified_sampler.h"

/* Code of a launch: where its kernel begins, and the memory in which its instructions are. */
struct online_sampling_code {
    uint64_t entry, first, end;
};

/* At the start of a run: its `depth` and `aim` count. */
void online_sampling_open(const struct sampling *sampling);

/* The launches after the next one are known: sampler_foresee(). */
void online_sampling_foresee(const struct sampler_shape *ahead, uint32_t count);

/* The way in which launch `number` is executed. `code` NULL: no code is executed, and
 * online_sampling_read() says what a launch that is simulated did. */
enum sampling_way online_sampling_choose(uint64_t number, const struct sampler_shape *shape,
                                         uint64_t flushes, const struct online_sampling_code *code);
/* The launch was executed without timing. One that was simulated is found in the kernels' records.
 */
void online_sampling_executed(const struct sampler_work *work);

/* The launch was simulated, out of a trace. */
void online_sampling_read(const struct sampler_work *work);

/* Writes what was chosen, and the estimate, to the statistics. Nothing unless launches were
 * chosen. */
void online_sampling_write(struct json *j);

#endif
