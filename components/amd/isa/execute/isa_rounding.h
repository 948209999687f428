/* Vector instructions on floats in the unusual modes: rounding other than to nearest,
 * denormals of fp64 or fp16 flushed; and v_div_fmas where it scales. Private to components/amd/isa.
 *
 * Compiled once, for the oldest x86-64 level, so that it gives the same bytes on any host. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_ROUNDING_H
#define HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_ROUNDING_H

#include <stdbool.h>
#include <stdint.h>

#include "isa_ready.h"

/* True if the row, by its place after ISA_OP_VALU_FIRST, has sources or results that are floats. */
bool isa_rounding_covers(unsigned row);

/* Runs the kernel of a row that isa_rounding_covers() on all 64 lanes, with the rounding of `mode`
 * (a value of MODE) and the denormals of *env. `halves`: results have the rounding mode of fp64 and
 * fp16. */
void isa_rounding_run(unsigned row, bool halves, uint32_t mode, uint32_t *to,
                      const uint32_t *const source[3], struct isa_environment *env);

/* Converts to fp16 under MODE's rounding of it. x is no NaN. */
uint32_t isa_rounding_half(float x, uint32_t mode);

#endif
