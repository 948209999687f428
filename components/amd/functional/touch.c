/* The caches and TLBs that a functional launch touches; see touch.h. */
#include "touch.h"

#include "base/number.h"
#include "components/amd/execute/coalescer.h"
#include "components/amd/isa/execute/isa_lanes.h"
#include "components/sampling/warmup.h"
#include "components/statistics/address_list.h"
#include "runtime/state/memory.h"
#include "runtime/state/platform.h"

/* A line of simulated memory has a mark: the profiled launch that accessed it last, and how. */
enum { ACCESS_BITS = 2 };
static uint32_t *marks;
static uint32_t begun; /* profiled launches */

static struct touch_launch nothing;                    /* before the first turn */
static struct touch_launch *launch_in_turn = &nothing; /* the launch whose turn it is */

/* Units are in the order of instances, so those of a GPU are neighbours. */
static void find_units(struct touch_launch *t)
{
    for (uint32_t i = 0; i < warm_unit_count(); i++) {
        if (program_gpu_of(t->launch->program, warm_unit_leaf(i)) != t->launch->gpu)
            continue;
        t->first_unit = t->unit_count ? t->first_unit : i;
        t->unit_count++;
    }
}

void touch_begin(struct touch_launch *t, const struct functional_launch *launch,
                 struct functional_profile *profile)
{
    *t = (struct touch_launch){.launch = launch, .profile = launch->profile ? profile : NULL};
    if (!launch->touches)
        return;
    find_units(t);
    if (t->profile) {
        marks = warm_line_marks();
        t->number = ++begun;
    }
}

void touch_turn(struct touch_launch *t)
{
    launch_in_turn = t;
    if (t->launch->touches)
        warm_clear_counts();
}

void touch_pause(struct touch_launch *t)
{
    if (!t->launch->touches || !t->profile)
        return;
    for (unsigned i = 0; i < WARM_KINDS; i++)
        t->profile->reached[i] += warm_counts()[i];
}

uint32_t touch_abreast(const struct touch_launch *t)
{
    uint32_t units = t->unit_count ? t->unit_count : 1;
    return t->launch->touches ? units : 0;
}

uint32_t touch_next_unit(void)
{
    uint32_t unit = launch_in_turn->first_unit + launch_in_turn->next_unit;
    launch_in_turn->next_unit = launch_in_turn->next_unit + 1 >= launch_in_turn->unit_count
                                    ? 0
                                    : launch_in_turn->next_unit + 1;
    return unit;
}

static void profile_line(const struct warm_access *a)
{
    struct functional_profile *profile = launch_in_turn->profile;
    uint32_t *mark = &marks[(a->physical - memory.first) / WARM_LINE];
    uint32_t last = *mark >> ACCESS_BITS, own = last == launch_in_turn->number ? *mark : 0;
    unsigned access = (a->kind == WARM_WRITE    ? ADDRESS_WRITTEN
                       : a->kind == WARM_ATOMIC ? ADDRESS_READ | ADDRESS_WRITTEN
                                                : ADDRESS_READ);
    unsigned first = access & ~own;
    *mark = launch_in_turn->number << ACCESS_BITS | (own & ((1 << ACCESS_BITS) - 1)) | access;
    profile->accesses++;
    profile->lines += !own;
    profile->reused += last && last == launch_in_turn->number - 1;
    profile->lines_read += first & ADDRESS_READ;
    if (first && address_list_is_wanted())
        address_list_add(a->address, first);
}

/* An access to bytes `mask` of the line around `address`, which lies in the span. */
static inline struct warm_access access_at(const struct host_view *t, const struct host_span *w,
                                           enum warm_kind kind, uint64_t address, uint64_t mask)
{
    uint64_t place = (uint64_t)(w->host - memory.bytes) + (address - w->start);
    struct warm_access access = {.address = address / WARM_LINE * WARM_LINE,
                                 .physical = (memory.first + place) / WARM_LINE * WARM_LINE,
                                 .mask = mask,
                                 .pid = t->pid,
                                 .kind = (uint8_t)kind,
                                 .page_bits = (uint8_t)t->pages->page_bits,
                                 .fragment_bits = (uint8_t)t->pages->page_bits,
                                 .writable = true};
    if (launch_in_turn->unit_count && w->fragments)
        access.fragment_bits = (uint8_t)host_view_fragment(t, w, access.address, access.physical);
    return access;
}

static inline void touch_with(const struct host_view *t, enum warm_port port,
                              const struct warm_access *access)
{
    if (launch_in_turn->profile)
        profile_line(access);
    if (launch_in_turn->unit_count)
        warm_touch(t->unit, port, access);
}

static inline void touch_at(const struct host_view *t, const struct host_span *w,
                            enum warm_port port, enum warm_kind kind, uint64_t address,
                            uint64_t mask)
{
    struct warm_access access = access_at(t, w, kind, address, mask);
    touch_with(t, port, &access);
}

static void touch_line(struct host_view *t, enum warm_port port, enum warm_kind kind,
                       uint64_t address, uint64_t mask)
{
    const struct host_span *w = host_view_find(t, address);
    if (w) /* else a fault, about to be found */
        touch_at(t, w, port, kind, address, mask);
}

/* The bytes of the line that its lanes access. */
static uint64_t line_mask(const struct isa_memory *m, const struct coalesced_line *line)
{
    uint64_t mask = 0;
    for (uint64_t rest = line->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest), bytes;
        unsigned runs = coalescer_runs(m, lane, &bytes);
        for (unsigned i = 0; i < runs; i++) {
            struct coalescer_overlap o =
                coalescer_overlap(line->address, coalescer_run(m, lane, i, bytes), bytes);
            mask |= o.bytes ? coalescer_byte_mask(o.in_line, o.bytes) : 0;
        }
    }
    return mask;
}

/* The byte that the access is looked up by: the first one in the line that a lane accesses, since
 * the line may begin before the allocation. */
static uint64_t address_in(const struct isa_memory *m, const struct coalesced_line *line)
{
    unsigned lane = (unsigned)__builtin_ctzll(line->lanes);
    uint64_t address = m->address[lane];
    return address >= line->address && address < line->address + COALESCER_LINE ? address
                                                                                : line->address;
}

/* Lines of lanes that follow each other without gaps, or read one place. */
static void touch_bytes(const struct host_view *t, const struct host_span *w, enum warm_kind kind,
                        uint64_t begin, uint64_t end)
{
    for (uint64_t at = begin; at < end; at = at / WARM_LINE * WARM_LINE + WARM_LINE) {
        uint64_t line_end = at / WARM_LINE * WARM_LINE + WARM_LINE;
        uint64_t mask = UINT64_MAX;
        if (kind == WARM_WRITE)
            mask = coalescer_byte_mask((unsigned)(at % WARM_LINE),
                                       (unsigned)(min(end, line_end) - at));
        touch_at(t, w, WARM_VECTOR, kind, at, mask);
    }
}

void touch_memory(struct host_view *t, const struct isa_memory *m)
{
    static const enum warm_kind kinds[] = {[ISA_MEMORY_LOAD] = WARM_READ,
                                           [ISA_MEMORY_STORE] = WARM_WRITE,
                                           [ISA_MEMORY_ATOMIC] = WARM_ATOMIC};
    struct coalesced_line lines[COALESCER_LINES_MAX];
    struct isa_reach reach;
    unsigned count;
    if (m->kind == ISA_MEMORY_CACHE_OP || !m->mask)
        return;
    isa_memory_reach(m, &reach);
    if (coalescer_is_linear(m, &reach))
        count = coalescer_linear_lines(m, reach.base, lines);
    else if (coalescer_stays_in_lines(m, &reach))
        count = coalescer_simple_lines(m, lines);
    else
        count = coalescer_lines(m, lines);
    enum warm_kind kind = m->kind == ISA_MEMORY_LOAD && m->glc ? WARM_COHERENT : kinds[m->kind];
    for (unsigned i = 0; i < count; i++)
        touch_line(t, WARM_VECTOR, kind, address_in(m, &lines[i]),
                   m->kind == ISA_MEMORY_LOAD ? UINT64_MAX : line_mask(m, &lines[i]));
}

static enum warm_kind kind_of(const struct isa_ready *ready)
{
    enum warm_kind load = isa_is_coherent(ready->inst) ? WARM_COHERENT : WARM_READ;
    return ready->memory == ISA_READY_STORE ? WARM_WRITE : load;
}

bool touch_run(struct host_view *t, const struct host_span *w, uint64_t base,
               const struct lanes_span *s, uint64_t exec, const struct isa_ready *ready)
{
    bool store = ready->memory == ISA_READY_STORE;
    uint64_t active = exec >> s->first;
    bool gapless =
        s->is_regular && !(active & (active + 1)) && s->step <= (store ? ready->bytes : WARM_LINE);
    if (gapless || s->low == s->high)
        touch_bytes(t, w, kind_of(ready), base + s->low, base + s->high + ready->bytes);
    return gapless || s->low == s->high;
}

void touch_many(struct host_view *t, const struct host_span *w, const struct touch_lines *lines,
                const struct isa_ready *ready)
{
    enum warm_kind kind = kind_of(ready);
    for (unsigned i = 0; i < lines->count; i++)
        touch_at(t, w, WARM_VECTOR, kind, lines->base + lines->line[i] * (uint64_t)WARM_LINE,
                 lines->mask[i]);
}

void touch_scattered(struct host_view *t, uint64_t base, const struct lanes_span *s, uint64_t exec,
                     const struct isa_ready *ready)
{
    bool store = ready->memory == ISA_READY_STORE;
    struct isa_memory m = {.kind = store ? ISA_MEMORY_STORE : ISA_MEMORY_LOAD,
                           .bytes = ready->bytes,
                           .glc = isa_is_coherent(ready->inst),
                           .mask = exec};
    for (unsigned lane = 0; lane < ISA_LANES; lane++)
        m.address[lane] = base + s->offset[lane];
    touch_memory(t, &m);
}

void touch_words(struct host_view *t, const struct host_span *w, uint64_t address, uint64_t size)
{
    uint64_t end = address + size;
    for (uint64_t at = address; at < end; at = at / WARM_LINE * WARM_LINE + WARM_LINE)
        touch_at(t, w, WARM_SCALAR, WARM_READ, at, UINT64_MAX);
}

static void touch_scalars(struct host_view *t, const struct isa_scalar *access)
{
    if (!access->valid || access->kind == ISA_SCALAR_TIME || access->kind == ISA_SCALAR_CACHE_OP)
        return;
    if (access->kind == ISA_SCALAR_ATOMIC) {
        touch_line(
            t, WARM_SCALAR, WARM_ATOMIC, access->address,
            coalescer_byte_mask((unsigned)(access->address % WARM_LINE), 4u * access->valid));
        return;
    }
    uint64_t end = access->address + 4u * access->valid;
    for (uint64_t at = access->address; at < end; at = at / WARM_LINE * WARM_LINE + WARM_LINE) {
        uint64_t line_end = at / WARM_LINE * WARM_LINE + WARM_LINE;
        unsigned bytes = (unsigned)(min(end, line_end) - at);
        bool store = access->kind == ISA_SCALAR_STORE;
        touch_line(t, WARM_SCALAR, store ? WARM_WRITE : WARM_READ, at,
                   store ? coalescer_byte_mask((unsigned)(at % WARM_LINE), bytes) : UINT64_MAX);
    }
}

void touch_scalar(struct host_view *t, struct isa_context *context, const struct isa_wave *wave,
                  const struct isa_inst *inst)
{
    struct isa_scalar access;
    if (isa_scalar_address(context, wave, inst, &access) == ISA_OK)
        touch_scalars(t, &access);
}

/* `kept`: an earlier launch has left the line in a place where other units look for it, too. */
static void touch_code_line(struct host_view *t, uint64_t address, bool kept)
{
    const struct host_span *w = host_view_find(t, address);
    if (!w)
        return;
    const struct warm_access access = access_at(t, w, WARM_READ, address, UINT64_MAX);
    touch_with(t, WARM_CODE, &access);
    if (kept)
        for (uint32_t i = 0; i < launch_in_turn->unit_count; i++)
            if (launch_in_turn->first_unit + i != t->unit)
                warm_touch(launch_in_turn->first_unit + i, WARM_CODE, &access);
}

void touch_code(struct host_view *t, uint64_t pc)
{
    const struct program_allocation *a =
        program_find_in(launch_in_turn->launch->program, launch_in_turn->launch->pid, pc);
    uint32_t ahead = launch_in_turn->unit_count ? warm_unit_lines_ahead(t->unit) : 0;
    uint64_t line = pc / WARM_LINE;
    bool kept = launch_in_turn->unit_count && warm_unit_keeps_code(t->unit)
                && line != launch_in_turn->code_line;
    launch_in_turn->code_line = line;
    touch_code_line(t, pc, kept);
    if (a)
        for (uint64_t i = 1; i <= ahead; i++)
            if ((line + i) * WARM_LINE < page_table_address(a->end))
                touch_code_line(t, (line + i) * WARM_LINE, kept);
}
