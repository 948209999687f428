/* heddle-play-instructions LIST: gives the commands of a recorded list (docs/evidence/playing.md)
 * to the driver, in their order. `heddle run PLATFORM --play instructions=DIR` starts it as it
 * starts any program.
 *
 * play_instructions.c has the commands, play_code.c the machine code that kernels bring along, and
 * play_host_memory.c host memory for copies. */
#ifndef HEDDLE_HIP_PLAY_INSTRUCTIONS_H
#define HEDDLE_HIP_PLAY_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/traces/instruction_trace/reader/itrace_list.h"

/* Says what is wrong, with its place in the list unless `line` is 0, and ends the program with
 * status 1. */
__attribute__((noreturn, format(printf, 2, 3))) void play_fail(uint64_t line, const char *format,
                                                               ...);

/* ---- play_code.c ---- */

/* What must be known of all kernels before the first command. */
struct play_kernel {
    char isa[16];
    uint32_t gpu;
};

/* Reads the kernel's header and keeps its machine code; play_fail() when the trace cannot be
 * played. */
struct play_kernel play_code_learn(const struct itrace_command *kernel);
/* Fills the bytes that are known of [address, address + size); false: there are none. */
bool play_code_fill(uint64_t address, uint64_t size, uint8_t *bytes);
void play_code_release(void);

/* ---- play_host_memory.c ---- */

/* Host memory of `size` bytes to copy from, which reads 0, and to copy to, which keeps nothing.
 * Both take hardly any memory, however large they are, and stay for the life of the program. */
const void *play_source(uint64_t size);
void *play_drain(uint64_t size);

#endif
