/* What a launch without timing accesses: touches for caches and TLBs (runtime/warm.h), and counts
 * for profiles. Private to components/functional.
 *
 * Each work-group is put on the compute unit that it would get if all were free, in turn; lines of
 * its accesses go to that unit's ports in the order in which instructions are executed. One
 * work-group a unit goes on at a time, all side by side, each wavefront as far as its next wait for
 * memory: with work-groups one after the other, a TLB that is too small for a kernel's pages would
 * be left with others than on hardware. An instruction's own line, and what is fetched ahead, is
 * touched when it is executed for the first time in a launch. */
#ifndef HEDDLE_FUNCTIONAL_TOUCH_H
#define HEDDLE_FUNCTIONAL_TOUCH_H

#include "functional.h"
#include "window.h"

/* Before each launch. Off unless it asks for touches or a profile. */
void touch_begin(const struct functional_launch *launch, struct functional_profile *profile);
/* Compute units of the launch's GPU; as many work-groups go on side by side. */
uint32_t touch_unit_count(void);
/* The compute unit of the next work-group. */
uint32_t touch_next_unit(void);

/* Before the instruction is executed: its address registers may be what it loads. */
void touch_vector(struct window_table *windows, uint32_t unit, struct isa_context *context,
                  const struct isa_wave *wave, const struct isa_inst *inst);
void touch_scalar(struct window_table *windows, uint32_t unit, struct isa_context *context,
                  const struct isa_wave *wave, const struct isa_inst *inst);
/* The same for accesses that are known. */
void touch_memory(struct window_table *windows, uint32_t unit, const struct isa_memory *memory);
void touch_words(struct window_table *windows, uint32_t unit, const struct isa_scalar *access);
void touch_code(struct window_table *windows, uint32_t unit, uint64_t pc);

#endif
