/* Reports the accesses of a launch without timing: as touches to caches and TLBs
 * (components/sampling/warmup.h), and as counts to profiles. Private to components/amd/functional.
 *
 * Work-groups are put on compute units in turn, as if all units were free; lines of their accesses
 * go to the unit's ports in the order in which instructions are executed. One work-group a unit
 * continues at a time, all units side by side, each wavefront as far as its next wait for memory:
 * with one work-group after the other, a TLB that is too small for a kernel's pages would be left
 * with other pages than on hardware. An instruction's own line, and the lines fetched ahead, are
 * touched when the instruction is executed for the first time in a launch. Where instruction caches
 * keep code from kernel to kernel, all units touch these lines, since launches go round the
 * units. */
#ifndef HEDDLE_COMPONENTS_AMD_FUNCTIONAL_TOUCH_H
#define HEDDLE_COMPONENTS_AMD_FUNCTIONAL_TOUCH_H

#include "components/amd/isa/execute/isa_ready.h"
#include "components/memory/page_table/host_view.h"

#include "functional.h"

/* The part of a launch by which launches may take turns. */
struct touch_launch {
    const struct functional_launch *launch;
    struct functional_profile *profile; /* NULL: none */
    uint32_t first_unit, unit_count, next_unit;
    uint64_t code_line; /* the last one of code that is kept */
    uint32_t number;    /* among the profiled launches, in the order in which they began */
};

/* Before the launch. Off unless it asks for touches or a profile. */
void touch_begin(struct touch_launch *t, const struct functional_launch *launch,
                 struct functional_profile *profile);
/* Around each of its turns; what follows is for the launch whose turn it is. */
void touch_turn(struct touch_launch *t);
void touch_pause(struct touch_launch *t);

/* Work-groups of the launch that run side by side: one for each compute unit. 0: it does not
 * touch. */
uint32_t touch_abreast(const struct touch_launch *t);
/* The compute unit of the next work-group. */
uint32_t touch_next_unit(void);

/* Lines of an access in a span. */
struct touch_lines {
    uint64_t base; /* address of the first line in address order, in the span or just before */
    uint32_t count;
    uint32_t line[ISA_LANES]; /* base + line * 64 */
    uint64_t mask[ISA_LANES]; /* bytes that are accessed; of loads, all */
};

/* Called before the instruction is executed, since it may load its own address registers. All
 * functions act for the unit view->unit.
 *
 * A prepared load or store whose active lanes (exec, not 0) access base + s->offset in the span
 * *w: touch_run(), which returns false and touches nothing if the bytes do not follow each other;
 * then touch_many() of its lines, or touch_scattered(), which finds them itself. */
struct lanes_span;
bool touch_run(struct host_view *view, const struct host_span *w, uint64_t base,
               const struct lanes_span *s, uint64_t exec, const struct isa_ready *ready);
void touch_many(struct host_view *view, const struct host_span *w, const struct touch_lines *lines,
                const struct isa_ready *ready);
void touch_scattered(struct host_view *view, uint64_t base, const struct lanes_span *s,
                     uint64_t exec, const struct isa_ready *ready);
/* An instruction that is not prepared. */
void touch_scalar(struct host_view *view, struct isa_context *context, const struct isa_wave *wave,
                  const struct isa_inst *inst);
/* An access that is known. Working out the addresses of a load may change them (lanes outside a
 * buffer), so that is done once. */
void touch_memory(struct host_view *view, const struct isa_memory *memory);
/* `size` bytes of a scalar load in *w. */
void touch_words(struct host_view *view, const struct host_span *w, uint64_t address,
                 uint64_t size);
void touch_code(struct host_view *view, uint64_t pc);

#endif
