/* Memory instructions, executed at once on the simulated DRAM. Private to components/functional.
 *
 * Both functions check the whole instruction before they change anything, and move the pc when they
 * have done it. NULL: done. Otherwise what is wrong, and *lane is the lane that did it, or
 * WORK_NO_LANE; the text holds until the next call. */
#ifndef HEDDLE_FUNCTIONAL_ACCESS_H
#define HEDDLE_FUNCTIONAL_ACCESS_H

#include "window.h"

#include "components/isa/isa.h"

/* `hint` belongs to the instruction's address: the window that it hit last. */
const char *access_vector(struct window_table *windows, struct isa_context *context,
                          struct isa_wave *wave, const struct isa_inst *inst, uint8_t *hint,
                          uint32_t *lane);

/* s_load, s_store, s_memtime (context->time), and the cache operations, which do nothing. */
const char *access_scalar(struct window_table *windows, const struct isa_context *context,
                          struct isa_wave *wave, const struct isa_inst *inst, uint8_t *hint,
                          uint32_t *lane);

#endif
