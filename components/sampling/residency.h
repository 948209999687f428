/* What caches and TLBs keep from earlier launches, by launch, instance and address. A functional
 * profile writes it down (`--mode functional --profile memory --residency FILE`), and a run that
 * simulates launches cold (`--kernels LIST --warmup none --residency FILE`) reads it: so re-timing
 * (components/amd/compute_unit/cu_retime.c) knows which of its misses would be none behind the
 * launches before, and which would be misses all the same.
 *
 * The question is asked of the first access of a launch to each unit (a line, a page) only. What
 * comes later does not depend on what was there at the start: with least-recently-used replacement
 * a unit is there again if fewer others of its set than there are ways have been accessed since,
 * cold or warm (stack distance: Mattson and others, IBM Systems Journal, 1970).
 *
 * The file is text, a line a run of units that follow each other:
 *     LAUNCH INSTANCE UNIT FIRST COUNT
 * with the instance's number, the unit's bytes, the first one's physical address (hexadecimal) and
 * how many there are; sorted. The same platform and program have the same numbers. */
#ifndef HEDDLE_SAMPLING_RESIDENCY_H
#define HEDDLE_SAMPLING_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

/* At the start of a run. false: said on standard error. `path` NULL: nothing is recorded or known.
 */
bool residency_open(const char *path, bool record);
/* At its end: false if the file could not be written. */
bool residency_close(void);

/* ---- recording ---- */

bool residency_is_recorded(void);
/* Instance `instance` is asked for the unit of `bytes` at `address` (of the unit), and has it or
 * not. Only the first time in a launch counts. */
void residency_record(uint32_t instance, uint64_t address, uint32_t bytes, bool found);
/* Launch `number` has been executed. */
void residency_record_launch(uint64_t number);

/* ---- knowing ---- */

bool residency_is_known(void);
/* Launch `number` is about to be simulated, and nothing is under way. */
void residency_begin(uint64_t number);
/* Does the miss of the unit at `address` have no other reason than that the launch begins cold?
 * Asked once for each miss: true for the first one of a launch only, and only if the unit was kept.
 * Without a file always true. By the thread of the instance. */
bool residency_take(uint32_t instance, uint64_t address);

#endif
