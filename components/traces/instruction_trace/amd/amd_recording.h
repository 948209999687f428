/* Recording what an AMD program does: a list of the commands that it gives to the driver, and the
 * trace of each of its kernels (docs/reference/traces.md), in a folder. One recording a process.
 *
 * The driver opens it, names each command in its order, and says when a launch begins and ends;
 * units that execute instructions report them through amd_recording_ops(). Wavefronts execute side
 * by side, so what they do waits, block by block, in a file without a name, and is written by
 * work-group and wavefront when the kernel is over. Memory: a buffer for each wavefront that lives,
 * and 16 bytes for each wavefront of the kernels under way.
 *
 * All but the operations are for one thread at a time. What cannot be recorded, and what goes
 * wrong, ends the recording: the rest does nothing, and amd_recording_finish() says why. */
#ifndef HEDDLE_COMPONENTS_AMD_RECORDING_H
#define HEDDLE_COMPONENTS_AMD_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/protocols/command/aql_packet.h"
#include "components/amd/isa/isa.h"
#include "components/statistics/execution_observer.h"

/* The file by whose name a recording is known to be complete. */
#define AMD_RECORDING_LIST "kernelslist.g"

/* `units`: units that execute are numbered below it. false: errno says why; another process that
 * records there is EEXIST. */
bool amd_recording_open(const char *folder, uint32_t units);
/* Does the recording go on? */
bool amd_recording_is_on(void);
const struct execution_observer *amd_recording_ops(void);

/* A line of the list; amd_recording_command(): of a command that others may wait for, which gets
 * the next number, from 1. */
void amd_recording_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t amd_recording_command(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct amd_recording_launch {
    uint64_t kernel; /* number of the launch, from 1: that of its file */
    const char *symbol, *title;
    uint32_t queue;
    const void *arguments;
    size_t argument_bytes;
};
/* The program has given a launch to the driver; what it points to is copied. */
void amd_recording_launch(const struct amd_recording_launch *launch);

struct amd_recording_start {
    uint32_t gpu;
    enum isa_target target;
    const struct aql_packet *packet;
    const struct aql_descriptor *descriptor;
    uint64_t entry, packet_address;
    uint64_t ring[2], scratch[2]; /* address and bytes */
    /* The code object; its bytes stay until the kernel has ended. NULL: none is known. */
    const uint8_t *code;
    uint64_t code_address, code_bytes;
};
/* Launch `kernel` goes to a GPU. The launches of one GPU are counted as record_wave.dispatch. */
void amd_recording_start(uint64_t kernel, const struct amd_recording_start *start);
/* The launch is over, and no unit reports of it any more. */
void amd_recording_end(uint64_t kernel);

__attribute__((format(printf, 1, 2))) void amd_recording_refuse(const char *format, ...);
/* The program has ended. `good`: well. NULL: the recording is complete; else why there is none. */
const char *amd_recording_finish(bool good);
/* Whether there is none because a file could not be written. */
bool amd_recording_is_unwritten(void);

#endif
