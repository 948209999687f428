/* Hands the words that each instruction of a watched launch reads and changes to the watch for
 * livelocks (components/livelock/livelock.h). */
#ifndef HEDDLE_COMPONENTS_AMD_FUNCTIONAL_LIVELOCK_WATCH_H
#define HEDDLE_COMPONENTS_AMD_FUNCTIONAL_LIVELOCK_WATCH_H

#include "components/amd/isa/isa.h"
#include "components/livelock/livelock.h"
#include "components/memory/page_table/host_view.h"

/* Before each instruction of a wavefront in its turn, and after the last one. */
void livelock_watch_begin_turn(const struct isa_context *context);
void livelock_watch_step(struct host_view *view, struct isa_context *context,
                         const struct isa_wave *wave, const struct isa_inst *inst,
                         struct livelock *livelock);
void livelock_watch_end_turn(struct host_view *view, const struct isa_context *context);

/* A hash of the wavefront's own state: scalar state and vector registers. */
uint64_t livelock_watch_state(const struct isa_wave *wave, const uint32_t *vgpr,
                              uint32_t registers);

/* Describes the event that the launch waits for. */
void livelock_watch_text(const struct program_table *program, const struct livelock *livelock,
                         char *text, size_t size);

#endif
