/* The use of all SMs' warp slots while a kernel ran: slot_account.h has the part that follows from
 * time stamps, and SMs account for the warps of each block
 * (components/protocols/thread_block/warp_cycles.h). Occupancy and sums have the names of the
 * command processor's record (kernel_account.c), so that one report reads both: an SM is a compute
 * unit, a sub-core a SIMD, a warp a wavefront, a block a work-group, shared memory the LDS. */
#include <string.h>

#include "base/hash.h"
#include "base/number.h"

#include "trace_player_state.h"

#ifdef HEDDLE_PROFILE

#include "runtime/observe/profile.h"

static void account_name_kernel(const struct trace_player *p, struct player_kernel *k,
                                const char *name, const char *symbol, uint32_t gpu, uint32_t pc)
{
    k->profile = (uint32_t)hash_multiply((uint64_t)sample_kernel_number(symbol) << 32 | gpu);
    profile_name_program(p->io.base.leaf, k->profile, name, symbol, gpu, pc);
}

static void account_name(const struct trace_player *p, const struct player_kernel *k,
                         const struct itrace_inst *inst, const char *place)
{
    struct profile_row *row = profile_row(p->io.base.leaf, k->profile, inst->pc);
    arena_at(uint32_t, k->pcs_at)[inst->id] = inst->pc;
    const char *folder = place ? strrchr(place, '/') : NULL;
    if (folder)
        place = folder + 1;
    if (!row->text[0])
        snprintf(row->text, sizeof row->text, "%s%s%s", inst->name, place ? " // " : "",
                 place ? place : "");
}

#else

static void account_name_kernel(const struct trace_player *p, struct player_kernel *k,
                                const char *name, const char *symbol, uint32_t gpu, uint32_t pc)
{
    (void)p, (void)k, (void)name, (void)symbol, (void)gpu, (void)pc;
}

static void account_name(const struct trace_player *p, const struct player_kernel *k,
                         const struct itrace_inst *inst, const char *place)
{
    (void)p, (void)k, (void)inst, (void)place;
}

#endif

/* Blocks of a kernel on an SM, and the cycles in which there were any, as the player sees them. */
struct player_use {
    uint64_t since, active;
    uint32_t blocks;
};

static inline struct player_use *account_uses(const struct player_kernel *k)
{
    return arena_at(struct player_use, k->uses_at);
}

static inline uint32_t account_warps(const struct player_kernel *k)
{
    return k->block.threads / 32;
}

static void account_init(struct trace_player *p)
{
    uint32_t sms = trace_player_work_count(p);
    for (uint32_t i = 0; i < trace_player_params(p)->kernels; i++) {
        p->kernel[i].uses_at = arena_allocate(sms * sizeof(struct player_use));
#ifdef HEDDLE_PROFILE
        p->kernel[i].pcs_at = arena_allocate(TRACE_INSTS_MAX * sizeof(uint32_t));
#endif
    }
}

static void account_begin(struct trace_player *p, struct player_kernel *k)
{
    k->accounts = kernel_is_kept(k->record);
#ifdef HEDDLE_PROFILE
    k->accounts |= profile_is_wanted();
#endif
    k->sums = (struct warp_account){0};
    memset(account_uses(k), 0, trace_player_work_count(p) * sizeof(struct player_use));
    slot_account_begin(&k->slots, &p->all, trace_player_now(p));
}

static void account_place(struct trace_player *p, struct player_kernel *k, uint32_t sm)
{
    struct player_use *use = &account_uses(k)[sm];
    uint64_t now = trace_player_now(p);
    if (!use->blocks++)
        use->since = now;
    /* which block is the last one is known too late, so each is taken for it */
    slot_account_place(&k->slots, &p->all, now, account_warps(k), true);
}

static void account_finish(struct trace_player *p, struct player_kernel *k, uint32_t sm)
{
    struct player_use *use = &account_uses(k)[sm];
    struct warp_account part;
    uint64_t *to = (uint64_t *)(void *)&k->sums;
    slot_account_finish(&k->slots, &p->all, trace_player_now(p), account_warps(k));
    if (!--use->blocks)
        use->active += trace_player_now(p) - use->since;
    if (!k->accounts)
        return;
    memcpy(&part, thread_block_finished_account(trace_player_work_reply_payload(p, sm)),
           sizeof part);
    for (unsigned i = 0; i < sizeof part / sizeof *to; i++)
        to[i] += ((const uint64_t *)(const void *)&part)[i];
}

/* ---- the record ---- */

/* The resource that lets no more blocks onto an SM. */
static const char *account_limit(const struct trace_player *p, const struct player_kernel *k)
{
    uint32_t sms = trace_player_work_count(p), next = k->per_sm + 1;
    if (divide_up(k->blocks, sms) < k->per_sm)
        return "grid";
    if (next * k->block.threads > p->sm.room.threads)
        return "wavefront_slots";
    if (next * k->block.blocks > p->sm.room.blocks)
        return "work_group_slots";
    return next * k->block.registers > p->sm.room.registers ? "vgprs" : "lds";
}

static void account_shape(const struct trace_player *p, const struct player_kernel *k,
                          struct slot_details *to)
{
    const struct trace_player_params *params = trace_player_params(p);
    const char *group = "occupancy";
    uint32_t sms = trace_player_work_count(p), slots = params->threads / 32;
    uint32_t sub_cores = params->sub_cores;
    slot_details_same(to, group, "compute_units", sms);
    slot_details_same(to, group, "simds", sub_cores);
    slot_details_same(to, group, "slots_per_simd", slots / sub_cores);
    slot_details_same(to, group, "lanes", 32);
    slot_details_same(to, group, "wavefronts_per_work_group", account_warps(k));
    slot_details_same(to, group, "vgprs", k->registers);
    slot_details_same(to, group, "lds_bytes", k->block.shared);
    slot_details_same(to, group, "work_groups_per_unit", k->per_sm);
    slot_details_put(to, (struct kernel_detail){group, "limited_by", account_limit(p, k), 0},
                     KERNEL_SAME);
}

static void account_achieved(const struct trace_player *p, const struct player_kernel *k,
                             struct slot_details *to)
{
    const struct player_use *use = account_uses(k);
    const char *group = "occupancy.achieved";
    uint64_t used = 0, longest = 0, active = 0;
    for (uint32_t i = 0; i < trace_player_work_count(p); i++) {
        used += use[i].active != 0;
        active += use[i].active;
        longest = max(use[i].active, longest);
    }
    slot_details_add(to, group, "wavefront_cycles", k->sums.held - k->sums.slot_cycles[WARP_ENDED]);
    slot_details_add(to, group, "unit_cycles", active);
    slot_details_add(to, group, "units_used", used);
    slot_details_add(to, group, "longest_unit_cycles", longest);
}

static void account_units(const struct player_kernel *k, struct slot_details *to)
{
    static const char *const busy[TRACE_MEMORY] = {
        [TRACE_FP32] = "fp32_busy",       [TRACE_INT] = "int_busy",
        [TRACE_SFU] = "sfu_busy",         [TRACE_FP64] = "fp64_busy",
        [TRACE_TENSOR] = "tensor_busy",   [TRACE_BRANCH] = "branch_busy",
        [TRACE_TEXTURE] = "texture_busy", [TRACE_UNIFORM] = "uniform_busy"};
    const char *group = "units";
    for (unsigned i = 0; i < TRACE_MEMORY; i++)
        slot_details_add(to, group, busy[i], k->sums.unit_busy[i]);
    slot_details_add(to, group, "lds_busy", k->sums.shared_busy);
    slot_details_add(to, group, "lds_conflict", k->sums.shared_conflict);
    slot_details_add(to, group, "vector_memory_instructions", k->sums.memory_issued);
    slot_details_add(to, group, "vector_memory_cycles", k->sums.memory_cycles);
    slot_details_add(to, group, "vector_memory_lines", k->sums.memory_lines);
    slot_details_add(to, group, "scratch_lines", k->sums.local_lines);
    slot_details_add(to, group, "valu_idle_lanes",
                     32 * k->warp_instructions - k->thread_instructions);
}

/* At the end of the kernel: what its record has of the above, in `to`. One without timing has its
 * shape only. */
static void account_describe(const struct trace_player *p, const struct player_kernel *k,
                             bool is_timed, struct slot_details *to)
{
    static const struct slot_kind kinds[WARP_CYCLES_KINDS] = {
#define X(identifier, kind_group, kind_name) {"slot_cycles." kind_group, kind_name},
        WARP_CYCLES(X)
#undef X
    };
    uint64_t slots = trace_player_work_count(p) * (trace_player_params(p)->threads / 32);
    const struct slot_charges charges = {kinds, k->sums.slot_cycles, WARP_CYCLES_KINDS,
                                         k->sums.held};
    if (is_timed && k->accounts)
        slot_account_describe(&k->slots, &p->all, slots, trace_player_now(p), &charges, to);
    account_shape(p, k, to);
    if (!is_timed || !k->accounts)
        return;
    account_achieved(p, k, to);
    account_units(k, to);
}
