/* Memory instructions, executed at once on the simulated DRAM. Private to
 * components/amd/functional.
 *
 * Both functions check the whole instruction before they change anything, and move the pc when the
 * access is done. They return NULL then. Otherwise they return a text that names the fault and
 * holds until the next call, and *lane is the faulty lane, or WORK_LANE_NONE. */
#ifndef HEDDLE_COMPONENTS_AMD_FUNCTIONAL_ACCESS_H
#define HEDDLE_COMPONENTS_AMD_FUNCTIONAL_ACCESS_H

#include "components/amd/isa/execute/isa_ready.h"
#include "components/memory/page_table/host_view.h"

/* access_vector: any instruction of ISA_UNIT_VMEM. `hint` belongs to the instruction's address: the
 * span that it hit last. access_scalar: s_load, s_store, s_memtime (context->time), and the cache
 * operations, which do nothing.
 *
 * Compiled for each x86-64 level, as the vector code of components/amd/isa is; the caller takes the
 * one of isa_variant_current(). All give the same bytes. */
#define ACCESS_DECLARE(variant)                                                                    \
    const char *access_vector_##variant(struct host_view *view, struct isa_context *context,       \
                                        struct isa_wave *wave, const struct isa_ready *ready,      \
                                        uint8_t *hint, uint32_t *lane);                            \
    const char *access_scalar_##variant(struct host_view *view, struct isa_context *context,       \
                                        struct isa_wave *wave, const struct isa_ready *ready,      \
                                        uint8_t *hint, uint32_t *lane)

ACCESS_DECLARE(v2);
ACCESS_DECLARE(v3);

#endif
