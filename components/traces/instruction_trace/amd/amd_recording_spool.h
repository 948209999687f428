/* The file that keeps the steps of wavefronts until their kernel is over; for amd_recording*.c
 * alone. */
#ifndef HEDDLE_COMPONENTS_AMD_RECORDING_SPOOL_H
#define HEDDLE_COMPONENTS_AMD_RECORDING_SPOOL_H

#include "components/traces/instruction_trace/amd/amd_recording_kernel.h"

extern const struct execution_observer record_spool_ops;

/* `find` gives the kernel of a launch of a GPU, from any thread; NULL: it is not recorded. */
void record_spool_open(uint32_t units,
                       struct record_kernel *(*find)(uint32_t gpu, uint32_t launch));
void record_spool_close(void);
/* errno of a write that failed; -1: something was executed that is not in the kernel's code object;
 * 0: all is well. */
int record_spool_failure(void);

#endif
