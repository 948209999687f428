/* `--profile instructions`: everything that the ledger of a kernel gets (protocols/work/
 * work_cycles.h), by instruction, so that both add up to the same. A turn and what an instruction
 * executes belong to it. Waiting belongs to the instruction that waits: the one whose turn has not
 * come, or whose code is not there; that on a counter to the s_waitcnt, at a barrier to the
 * s_barrier, for stores to the s_endpgm.
 *
 * Without -DHEDDLE_PROFILE nothing of this is compiled. */
#include "compute_unit.gen.h"

#include "compute_unit_state.h"
#include "cu_fetch.h"
#include "cu_scalar_memory.h"
#include "cu_vector_memory.h"

#ifdef HEDDLE_PROFILE

#include "components/protocols/mem/mem_served.h"
#include "runtime/observe/profile.h"

enum {
    PROFILE_EXECUTIONS,
    PROFILE_IDLE_LANES,    /* lanes of vector ALU instructions that were off */
    PROFILE_LINES,         /* line requests of vector memory */
    PROFILE_BYTES,         /* bytes that lanes asked for */
    PROFILE_MEMORY_CYCLES, /* cycles from issue to return */
    /* Requests of vector and scalar memory by the counters of two levels of caches. The second
     * level counts the requests that it receives. */
    PROFILE_L1,
    PROFILE_L2 = PROFILE_L1 + MEM_SERVED_MISSED,
    PROFILE_SLOT_CYCLES = PROFILE_L2 + MEM_SERVED_MISSED,
    PROFILE_ALL = PROFILE_SLOT_CYCLES + WORK_CYCLES_KINDS
};
_Static_assert(PROFILE_ALL <= PROFILE_COUNTS, "a row has room");

static const char *const profile_names[PROFILE_ALL] = {
    "executions",  "idle_lanes", "lines",   "bytes",     "memory_cycles", "l1_hits",
    "l1_merged",   "l1_misses",  "l2_hits", "l2_merged", "l2_misses",
#define X(identifier, group, name) group "." name,
    WORK_CYCLES(X)
#undef X
};

static struct profile_row *profile_at(const struct compute_unit *c, const struct cu_wave *w,
                                      uint64_t pc)
{
    struct profile_row *row = profile_row(c->io.base.leaf, cu_group_at(c, w->group)->kernel, pc);
    const struct decoded *d = &cu_decoded(c)[(uint32_t)(pc >> 2) & (DECODE_ENTRIES - 1)];
    if (!row->text[0] && d->is_valid && d->address == pc
        && isa_format(&d->inst, UINT64_MAX, row->text, sizeof row->text) >= sizeof row->text)
        row->text[sizeof row->text - 1] = '\0';
    return row;
}

static void profile_start(struct compute_unit *c, struct cu_wave *w)
{
    uint32_t kernel = cu_group_at(c, w->group)->kernel;
    w->issuing_pc = w->waiting_pc = cu_scalars(c, w)->pc;
    profile_name_columns("kernel", profile_names, PROFILE_ALL);
    profile_name_program(c->io.base.leaf, kernel,
                         program_kernel_name(compute_unit_program(c), kernel),
                         program_kernel_symbol(compute_unit_program(c), kernel),
                         program_gpu_of(compute_unit_program(c), c->io.base.leaf), w->waiting_pc);
}

static void profile_turn(struct compute_unit *c, struct cu_wave *w)
{
    w->issuing_pc = cu_scalars(c, w)->pc;
}

static void profile_waited(struct compute_unit *c, const struct cu_wave *w, unsigned kind,
                           uint64_t cycles)
{
    if (cycles)
        profile_at(c, w, w->waiting_pc)->count[PROFILE_SLOT_CYCLES + kind] += cycles;
}

static void profile_spent(struct compute_unit *c, const struct cu_wave *w, unsigned kind,
                          uint64_t cycles)
{
    if (cycles)
        profile_at(c, w, w->issuing_pc)->count[PROFILE_SLOT_CYCLES + kind] += cycles;
}

static void profile_waits(struct compute_unit *c, struct cu_wave *w, enum work_cycles_kind cause)
{
    bool is_past = cause == WORK_WAITING_VMCNT || cause == WORK_WAITING_LGKMCNT_SMEM
                   || cause == WORK_WAITING_LGKMCNT_LDS || cause == WORK_WAITING_BARRIER
                   || cause == WORK_WAITING_STORES;
    w->waiting_pc = is_past ? w->issuing_pc : cu_scalars(c, w)->pc;
    if (cause == WORK_WAITING_STORES) /* s_endpgm, which no turn follows */
        profile_at(c, w, w->issuing_pc)->count[PROFILE_EXECUTIONS]++;
}

static void profile_issued(struct compute_unit *c, struct cu_wave *w, unsigned issued,
                           uint64_t cycles)
{
    struct profile_row *row = profile_at(c, w, w->issuing_pc);
    row->count[PROFILE_EXECUTIONS]++;
    row->count[PROFILE_SLOT_CYCLES + issued] += cycles;
    w->waiting_pc = w->issuing_pc;
}

/* Instructions may be executed before their turns. */
static void profile_executed(const struct compute_unit *c, const struct cu_wave *w, uint64_t pc,
                             uint64_t idle_lanes)
{
    if (idle_lanes)
        profile_at(c, w, pc)->count[PROFILE_IDLE_LANES] += idle_lanes;
}

static void profile_asked(struct compute_unit *c, const struct cu_vmem *e, unsigned lines)
{
    struct profile_row *row = profile_at(c, cu_wave_at(c, e->wave), e->pc);
    row->count[PROFILE_LINES] += lines;
    row->count[PROFILE_BYTES] += (uint64_t)__builtin_popcountll(e->mask) * e->bytes;
}

static void profile_returned(struct compute_unit *c, const struct cu_wave *w, uint64_t pc,
                             uint64_t cycles)
{
    profile_at(c, w, pc)->count[PROFILE_MEMORY_CYCLES] += cycles;
}

static void profile_scalar(struct cu_smem *e, uint64_t pc)
{
    e->pc = pc;
}

/* The answer to a request for a line. */
static void profile_served(struct compute_unit *c, const struct cu_wave *w, uint64_t pc,
                           const struct mem_reply *answer)
{
    unsigned served = mem_served(answer), first = served & MEM_SERVED_MASK,
             second = served >> MEM_SERVED_BITS & MEM_SERVED_MASK;
    struct profile_row *row = profile_at(c, w, pc);
    if (first != MEM_SERVED_ELSEWHERE)
        row->count[PROFILE_L1 + first - MEM_SERVED_HIT]++;
    if (second != MEM_SERVED_ELSEWHERE)
        row->count[PROFILE_L2 + second - MEM_SERVED_HIT]++;
}

static void profile_scalar_served(struct compute_unit *c, const struct cu_smem *e,
                                  const struct mem_reply *answer)
{
    profile_served(c, cu_wave_at(c, e->wave), e->pc, answer);
}

#else

#define profile_scalar(e, pc)                ((void)(pc))
#define profile_served(c, w, pc, answer)     ((void)0)
#define profile_scalar_served(c, e, answer)  ((void)0)
#define profile_start(c, w)                  ((void)0)
#define profile_turn(c, w)                   ((void)0)
#define profile_waited(c, w, kind, cycles)   ((void)(c))
#define profile_spent(c, w, kind, cycles)    ((void)(c))
#define profile_waits(c, w, cause)           ((void)0)
#define profile_issued(c, w, issued, cycles) ((void)0)
#define profile_executed(c, w, pc, idle)     ((void)(pc), (void)(idle))
#define profile_asked(c, e, lines)           ((void)0)
#define profile_returned(c, w, pc, cycles)   ((void)0)

#endif
