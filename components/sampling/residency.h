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
 * The file is text. Its first lines say what it belongs to: the version of heddle, the hash of the
 * platform's model, that of the program, and --unified. A launch has a line with its number and its
 * shape, and behind it a line for each run of units that follow each other:
 *     launch LAUNCH SHAPE
 *     LAUNCH INSTANCE UNIT FIRST COUNT
 * with the instance's number, the unit's bytes, the first one's physical address (hexadecimal) and
 * how many there are; sorted. The last line is "end LINES CHECKSUM". What is of another platform,
 * program or launch is refused, and so is a file that is cut or damaged. */
#ifndef HEDDLE_SAMPLING_RESIDENCY_H
#define HEDDLE_SAMPLING_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

/* What a file belongs to; NULL members: unknown, or none. */
struct residency_identity {
    const char *model, *program, *unified;
};

/* At the start of a run. false: said on standard error. `path` NULL: nothing is recorded or known.
 * Texts stay the caller's. */
bool residency_open(const char *path, bool record, const struct residency_identity *of);
/* At its end: false if the file could not be written. */
bool residency_close(void);

/* ---- recording ---- */

bool residency_is_recorded(void);
/* What follows is of launch `number`, until another one is named: launches may take turns. */
void residency_turn(uint64_t number);
/* Instance `instance` is asked for the unit of `bytes` at `address` (of the unit), and has it or
 * not. Only the first time in a launch counts. */
void residency_record(uint32_t instance, uint64_t address, uint32_t bytes, bool found);
/* What tells launches apart: kernel and grid. */
uint64_t residency_shape(const char *kernel, const uint64_t *numbers, unsigned count);
/* Launch `number` has been executed to its end. */
void residency_record_launch(uint64_t number, uint64_t shape);

/* ---- knowing ---- */

bool residency_is_known(void);
/* Launch `number` is about to be simulated, and nothing is under way. Returns NULL, or why the file
 * does not fit. */
const char *residency_begin(uint64_t number, uint64_t shape);
/* Does the miss of the unit at `address` have no other reason than that the launch begins cold?
 * Asked once for each miss: true for the first one of a launch only, and only if the unit was kept.
 * Without a file always true. By the thread of the instance. */
bool residency_take(uint32_t instance, uint64_t address);

#endif
