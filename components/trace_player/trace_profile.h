/* --profile: what a kernel executed and accessed, counted while its trace is read and touched. Host
 * memory, of the kernel that is being read; kernels come one after another. */
#ifndef HEDDLE_COMPONENTS_TRACE_PROFILE_H
#define HEDDLE_COMPONENTS_TRACE_PROFILE_H

#include <inttypes.h>

#include "components/sass_trace/sass_set.h"
#include "components/streaming_multiprocessor/sm_coalesce.h"
#include "runtime/kernel.h"
#include "runtime/warm.h"
#include "trace_player_state.h"

enum { PROFILE_BLOCKS = 32 }; /* instructions by a hash of their place in the kernel */

static struct {
    uint64_t units[SASS_CLASS_COUNT]; /* warp instructions */
    uint64_t blocks[PROFILE_BLOCKS];
    uint64_t accesses;             /* lines of single accesses to global memory */
    struct sass_set lines, before; /* of this kernel, and of the one before */
} profile;

/* A new kernel. */
static inline void profile_begin(void)
{
    sass_set_release(&profile.before);
    struct sass_set lines = profile.lines;
    memset(&profile, 0, sizeof profile);
    profile.before = lines;
}

static inline void profile_close(void)
{
    profile_begin();
    profile_begin();
}

static inline void profile_step(const struct sass_inst *inst)
{
    if (platform_profile() == PLATFORM_PROFILE_NONE)
        return;
    profile.units[inst->opcode.unit]++;
    profile.blocks[(inst->pc / 16 * 0x9e3779b97f4a7c15u >> 32) % PROFILE_BLOCKS]++;
}

static inline void profile_lines(const struct sm_lines *lines)
{
    if (platform_profile() != PLATFORM_PROFILE_MEMORY)
        return;
    profile.accesses += lines->count;
    for (uint32_t i = 0; i < lines->count; i++)
        sass_set_add(&profile.lines, lines->request[i].line / SM_LINE);
}

static inline void profile_join(char *text, size_t size, const uint64_t *values, unsigned count)
{
    size_t at = 0;
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%" PRIu64, i ? " " : "", values[i]);
}

enum { PROFILE_DETAILS = 8 };

/* What stands of it in the kernel's record; returns how many. Memory is counted in sectors. */
static inline unsigned profile_details(struct kernel_detail details[PROFILE_DETAILS])
{
    static char units[SASS_CLASS_COUNT * 21 + 1], blocks[PROFILE_BLOCKS * 21 + 1];
    const uint64_t *reached = warm_counts();
    if (platform_profile() == PLATFORM_PROFILE_NONE)
        return 0;
    profile_join(units, sizeof units, profile.units, SASS_CLASS_COUNT);
    profile_join(blocks, sizeof blocks, profile.blocks, PROFILE_BLOCKS);
    const struct kernel_detail all[PROFILE_DETAILS] = {
        {"profile", "units", units, 0},
        {"profile", "blocks", blocks, 0},
        {"profile", "accesses", NULL, profile.accesses},
        {"profile", "lines", NULL, profile.lines.count},
        {"profile", "reused", NULL, sass_set_common(&profile.lines, &profile.before)},
        {"profile", "memory_reads", NULL, reached[WARM_READ] + reached[WARM_COHERENT]},
        {"profile", "memory_writes", NULL, reached[WARM_WRITE]},
        {"profile", "page_walks", NULL, 0}};
    memcpy(details, all, sizeof all);
    return platform_profile() == PLATFORM_PROFILE_MEMORY ? PROFILE_DETAILS : 2;
}

#endif
