/* --profile: what a kernel executed and accessed, counted while its trace is read and touched. Host
 * memory, of the kernel that is being read; kernels come one after another. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "components/statistics/address_list.h"

#include "trace_player_state.h"

enum { PROFILE_BLOCKS = 32 /* instructions by a hash of their place in the kernel */ };

/* Host memory, of the kernel that is being read. */
struct profile {
    uint64_t units[SASS_CLASS_COUNT]; /* warp instructions */
    uint64_t blocks[PROFILE_BLOCKS];
    uint64_t accesses;               /* lines of single accesses to global memory */
    struct itrace_set lines, before; /* lines of this kernel, and of the one before */
};

static struct profile profile;

static struct profile profile;

/* A new kernel. */
static inline void profile_begin(void)
{
    itrace_set_release(&profile.before);
    struct itrace_set lines = profile.lines;
    memset(&profile, 0, sizeof profile);
    profile.before = lines;
}

static inline void profile_close(void)
{
    profile_begin();
    profile_begin();
}

static inline void profile_step(const struct itrace_inst *inst)
{
    if (platform_profile() == PLATFORM_PROFILE_NONE)
        return;
    profile.units[inst->opcode.unit]++;
    profile.blocks[(hash_multiply(inst->pc / 16) >> 32) % PROFILE_BLOCKS]++;
}

static inline void profile_lines(const struct sm_lines *lines, enum warm_kind kind)
{
    uint64_t access = kind == WARM_WRITE    ? ADDRESS_WRITTEN
                      : kind == WARM_ATOMIC ? ADDRESS_READ | ADDRESS_WRITTEN
                                            : ADDRESS_READ;
    if (platform_profile() != PLATFORM_PROFILE_MEMORY)
        return;
    profile.accesses += lines->count;
    for (uint32_t i = 0; i < lines->count; i++) {
        uint64_t line = lines->request[i].line;
        uint64_t *known = itrace_set_add(&profile.lines, line / SM_LINE), first = access & ~*known;
        *known |= access;
        if (first && address_list_is_wanted())
            address_list_add(line / SM_LINE * SM_LINE, (unsigned)first);
    }
}

static inline void profile_join(char *text, size_t size, const uint64_t *values, unsigned count)
{
    size_t at = 0;
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%" PRIu64, i ? " " : "", values[i]);
}

/* Fills the details of the profile in the kernel's record and returns their number. Memory is
 * counted in sectors. */
static inline unsigned profile_details(struct kernel_detail details[PROFILE_DETAILS])
{
    static char units[SASS_CLASS_COUNT * 21 + 1], blocks[PROFILE_BLOCKS * 21 + 1];
    if (platform_profile() == PLATFORM_PROFILE_NONE)
        return 0;
    profile_join(units, sizeof units, profile.units, SASS_CLASS_COUNT);
    profile_join(blocks, sizeof blocks, profile.blocks, PROFILE_BLOCKS);
    const struct kernel_detail all[PROFILE_DETAILS] = {
        {"profile", "units", units, 0},
        {"profile", "blocks", blocks, 0},
        {"profile", "accesses", NULL, profile.accesses},
        {"profile", "lines", NULL, profile.lines.entries.count},
        {"profile", "reused", NULL, itrace_set_common(&profile.lines, &profile.before)},
        {"profile", "memory_reads", NULL, warm_counts()[WARM_READ] + warm_counts()[WARM_COHERENT]},
        {"profile", "memory_writes", NULL, warm_counts()[WARM_WRITE]},
        {"profile", "page_walks", NULL, 0}};
    memcpy(details, all, sizeof all);
    return platform_profile() == PLATFORM_PROFILE_MEMORY ? PROFILE_DETAILS : 2;
}
