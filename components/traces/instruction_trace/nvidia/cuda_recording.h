/* Records what a CUDA program does that is executed from PTX: a list of its copies to the device
 * and of its kernels, a table of the latter, and the trace of each, in the files of Accel-Sim's
 * tracer (docs/reference/traces.md): grouped by thread block, or raw as the tracer writes them. The
 * opcodes are those of PTX. One recording a process.
 *
 * The driver opens it, names copies and launches in their order, and ends it. A unit that executes
 * a kernel begins its trace, gives it whole blocks, and ends it. What goes wrong ends the
 * recording: the rest does nothing, and cuda_recording_finish() says why. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_NVIDIA_CUDA_RECORDING_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_NVIDIA_CUDA_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "components/traces/instruction_trace/reader/itrace_header.h"

/* The forms in which addresses are written: the modes of a line (docs/reference/traces.md). */
enum cuda_recording_addresses {
    CUDA_ADDRESSES_STRIDE,     /* mode 1 where it can be, else 0 */
    CUDA_ADDRESSES_EACH,       /* mode 0 */
    CUDA_ADDRESSES_DIFFERENCES /* mode 2 */
};

struct cuda_recording_form {
    bool raw; /* kernel-N.trace, and kernel-mem-N.trace with the memory instructions and EXIT */
    enum cuda_recording_addresses addresses;
};

/* False: errno says why. */
bool cuda_recording_open(const char *folder, struct cuda_recording_form form);
bool cuda_recording_is_on(void);

void cuda_recording_copy(uint64_t address, uint64_t bytes);
/* Launches are numbered from 1, in the order in which they go to the GPU. */
void cuda_recording_launch(uint64_t number, uint32_t stream);

struct cuda_trace;

/* A kernel begins: name, id (the number of its launch), grid, block, shared_bytes, registers,
 * binary_version, the base addresses and the launch of the header. NULL: nothing records. */
struct cuda_trace *cuda_trace_begin(const struct itrace_header *header);
void cuda_trace_block(struct cuda_trace *trace, uint64_t number);
/* The warp's `steps` steps follow. */
void cuda_trace_warp(struct cuda_trace *trace, uint32_t warp, uint32_t steps);
/* The warp's next instructions belong to a later part of the block. */
void cuda_trace_part(struct cuda_trace *trace, uint32_t part);
void cuda_trace_step(struct cuda_trace *trace, const struct itrace_step *step);
void cuda_trace_block_end(struct cuda_trace *trace);
void cuda_trace_end(struct cuda_trace *trace);

/* The program has ended. `good`: well. NULL: the recording is complete; else why there is none. */
const char *cuda_recording_finish(bool good);

#endif
