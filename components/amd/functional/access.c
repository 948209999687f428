/* Memory instructions; see access.h.
 *
 * Most accesses lie in one span and have a prepared form (access_fast.h). Of the others, dwords of
 * one span go straight between registers and memory, as those of private memory on gfx8. Everything
 * else (accesses across spans, atomics) goes lane by lane, in ascending order, so that the highest
 * lane wins where several store to one address, as in timing mode. Compiled once for each x86-64
 * level (ACCESS_VARIANT is the suffix). */
#include "access.h"

#include "base/likely.h"
#include "components/amd/execute/coalescer.h"
#include "components/amd/execute/work_fault.h"

#include "footprint.h"
#include "touch.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)

static _Thread_local char cause[WORK_FAULT_CAUSE_BYTES];

static const char *out_of_bounds(struct host_view *t, const char *access, unsigned bytes,
                                 uint64_t address)
{
    const struct program_allocation *a = program_find_in(t->program, t->pid, address);
    t->refused = true;
    t->refused_address = address;
    if (a && bytes <= page_table_address(a->end) - address
        && program_reaches(t->program, t->gpu, a))
        snprintf(cause, sizeof cause,
                 "%s of %u bytes at 0x%" PRIx64 ", which is not mapped in process %u", access,
                 bytes, address, t->pid);
    else
        work_fault_bounds(t->program, t->pid, &(struct work_fault_access){access, bytes, address},
                          cause, sizeof cause);
    return cause;
}

/* The span that holds `bytes` from `address` on, or NULL. */
static inline const struct host_span *span_of(struct host_view *t, uint64_t address, uint64_t bytes,
                                              uint8_t *hint)
{
    const struct host_span *w = &t->span[*hint];
    if (likely(host_span_holds(w, address, bytes)))
        return w;
    w = host_view_find(t, address);
    if (w)
        *hint = (uint8_t)(w - t->span);
    return w && host_span_holds(w, address, bytes) ? w : NULL;
}

#include "access_fast.h"

static OUT_OF_LINE void touch_lanes_of(struct host_view *t, const struct host_span *w,
                                       uint64_t base, const struct lanes_span *s, uint64_t exec,
                                       const struct isa_ready *ready)
{
    struct touch_lines lines;
    if (touch_run(t, w, base, s, exec, ready))
        return;
    if (find_lines(s, base, ready->bytes, ready->memory == ISA_READY_STORE, exec, &lines))
        touch_many(t, w, &lines, ready);
    else
        touch_scattered(t, base, s, exec, ready);
}

/* ---- shape of an access ---- */

/* Place of the active lanes of a load or store of dwords, which lie in one span. */
struct shape {
    char *host; /* the byte at address `base` */
    uint64_t base;
    uint32_t step; /* bytes from one dword of a lane to its next */
};

static bool lanes_inside(const struct host_span *w, const struct isa_memory *m, uint64_t extent)
{
    uint64_t outside = 0, limit = w->size - extent;
    if (m->mask == UINT64_MAX) {
        for (unsigned lane = 0; lane < ISA_LANES; lane++) {
            uint64_t offset = m->address[lane] - w->start;
            outside |= offset | (limit - offset);
        }
    } else {
        for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
            uint64_t offset = m->address[__builtin_ctzll(rest)] - w->start;
            outside |= offset | (limit - offset);
        }
    }
    return !(outside >> 63); /* sizes have less than 63 bits: a set bit is a difference below 0 */
}

/* True when the access lies in one span and its lanes are all of one kind. */
static bool find_shape(struct host_view *t, const struct isa_memory *m, uint8_t *hint,
                       struct shape *shape)
{
    bool swizzled = m->bytes > 4 && m->swizzle_mask;
    if (m->bytes % 4 || (swizzled && (m->mask & ~m->swizzle_mask)) || m->straddle_mask)
        return false;
    shape->step = swizzled ? m->dword_stride : 4;
    uint64_t extent = (uint64_t)(m->bytes / 4 - 1) * shape->step + 4;
    const struct host_span *w = span_of(t, m->address[__builtin_ctzll(m->mask)], extent, hint);
    if (!w)
        return false;
    shape->base = w->start;
    shape->host = w->host;
    return lanes_inside(w, m, extent);
}

/* ---- dwords ---- */

static void load_dwords(uint32_t *to, const struct shape *s, const struct isa_memory *m)
{
    unsigned dwords = m->bytes / 4;
    if (m->mask == UINT64_MAX && dwords == 1) {
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            memcpy(&to[lane], s->host + (m->address[lane] - s->base), 4);
        return;
    }
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        const char *from = s->host + (m->address[lane] - s->base);
        for (unsigned i = 0; i < dwords; i++)
            memcpy(&to[64 * i + lane], from + (size_t)i * s->step, 4);
    }
}

static void store_dwords(const uint32_t *from, const struct shape *s, const struct isa_memory *m)
{
    unsigned dwords = m->bytes / 4;
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        char *to = s->host + (m->address[lane] - s->base);
        for (unsigned i = 0; i < dwords; i++)
            memcpy(to + (size_t)i * s->step, &from[64 * i + lane], 4);
    }
}

static uint32_t *registers(const struct isa_context *context, unsigned code)
{
    return context->vgpr + (size_t)isa_register(context, code) * 64;
}

static void move_dwords(const struct isa_context *context, const struct isa_inst *inst,
                        const struct isa_memory *m, const struct shape *s)
{
    if (m->kind == ISA_MEMORY_LOAD)
        load_dwords(registers(context, inst->dst), s, m);
    else
        store_dwords(registers(context, inst->src[1]), s, m);
}

/* ---- lane by lane ---- */

static const char *check_lanes(struct host_view *t, const struct isa_memory *m, uint8_t *hint,
                               uint32_t *lane)
{
    static const char *const names[] = {"load", "store", "atomic"};
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned here = (unsigned)__builtin_ctzll(rest), run;
        unsigned runs = coalescer_runs(m, here, &run);
        *lane = here;
        for (unsigned i = 0; i < runs; i++) {
            uint64_t a = coalescer_run(m, here, i, run);
            if (!span_of(t, a, run, hint) && !host_view_is_allocated(t, a, run))
                return out_of_bounds(t, names[m->kind], m->bytes, a);
        }
        if (m->kind == ISA_MEMORY_ATOMIC && m->address[here] % m->bytes)
            return "atomic at an address that is not aligned";
    }
    return NULL;
}

static void load_lanes(struct host_view *t, const struct isa_memory *m, uint8_t *stage,
                       uint8_t *hint)
{
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest), run;
        unsigned runs = coalescer_runs(m, lane, &run);
        for (unsigned i = 0; i < runs; i++) {
            uint64_t a = coalescer_run(m, lane, i, run);
            uint8_t *to = stage + lane * m->bytes + i * run;
            const struct host_span *w = span_of(t, a, run, hint);
            if (w)
                memcpy(to, w->host + (a - w->start), run);
            else
                host_view_read(t, a, to, run);
        }
    }
}

static void store_lanes(struct host_view *t, const struct isa_memory *m, const uint8_t *stage,
                        uint8_t *hint)
{
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest), run;
        unsigned runs = coalescer_runs(m, lane, &run);
        for (unsigned i = 0; i < runs; i++) {
            uint64_t a = coalescer_run(m, lane, i, run);
            const uint8_t *from = stage + lane * m->bytes + i * run;
            const struct host_span *w = span_of(t, a, run, hint);
            if (w)
                memcpy(w->host + (a - w->start), from, run);
            else
                host_view_write(t, a, from, run);
        }
    }
}

static bool exchange_word(char *host, unsigned bytes, uint64_t *before, uint64_t after)
{
    if (bytes == 8)
        return __atomic_compare_exchange_n((uint64_t *)(void *)host, before, after, false,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    uint32_t word = (uint32_t)*before;
    bool done = __atomic_compare_exchange_n((uint32_t *)(void *)host, &word, (uint32_t)after, false,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    *before = word;
    return done;
}

/* Updates memory atomically: other threads may update it at the same time. */
static void update_word(enum isa_atomic op, unsigned bytes, char *host, const uint8_t *operand)
{
    uint64_t before = 0, after;
    memcpy(&before, host, bytes);
    do {
        after = before;
        isa_atomic_apply(op, bytes, &after, operand, NULL, NULL);
    } while (!exchange_word(host, bytes, &before, after));
}

/* Aligned, so in one page and one span. Old values replace the operands in the stage. */
static void atomic_lanes(struct host_view *t, const struct isa_memory *m, uint8_t *stage,
                         const uint8_t *compare, uint8_t *hint)
{
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        const struct host_span *w = span_of(t, m->address[lane], m->bytes, hint);
        uint8_t *operand = stage + lane * m->bytes;
        char *host = w->host + (m->address[lane] - w->start);
        uint64_t old = 0;
        if (t->footprint) {
            update_word((enum isa_atomic)m->atomic, m->bytes, host, operand);
            continue;
        }
        isa_atomic_apply((enum isa_atomic)m->atomic, m->bytes, host, operand,
                         compare + lane * m->bytes, &old);
        memcpy(operand, &old, m->bytes);
    }
}

static void move_lanes(struct host_view *t, struct isa_context *context,
                       const struct isa_inst *inst, const struct isa_memory *m, uint8_t *hint)
{
    uint8_t stage[ISA_LANES * 16], compare[ISA_LANES * 16];
    if (m->kind == ISA_MEMORY_LOAD) {
        load_lanes(t, m, stage, hint);
        isa_memory_load(context, inst, m, stage, m->bytes);
        return;
    }
    isa_memory_store(context, inst, m, stage, m->bytes);
    if (m->kind == ISA_MEMORY_STORE) {
        store_lanes(t, m, stage, hint);
        return;
    }
    if (m->atomic == ISA_ATOMIC_CMPSWAP || m->atomic == ISA_ATOMIC_FCMPSWAP)
        isa_memory_compare_data(context, inst, m->mask, compare, m->bytes);
    atomic_lanes(t, m, stage, compare, hint);
    if (m->returns)
        isa_memory_load(context, inst, m, stage, m->bytes);
}

/* ---- launches that threads share ---- */

/* Fault of an instruction that the threads which share a launch cannot execute; the launch begins
 * again, so this is never printed. */
static const char dependence_fault[] = "work-groups that depend on each other";

/* The operation of an update for footprint_mark_update(). 0: its order matters, as of all floats:
 * sums round, and minima differ in their NaNs and zeros. */
static uint8_t update_of(const struct isa_memory *m)
{
    enum {
        ORDERLESS = 1 << ISA_ATOMIC_ADD | 1 << ISA_ATOMIC_SUB | 1 << ISA_ATOMIC_SMIN
                    | 1 << ISA_ATOMIC_UMIN | 1 << ISA_ATOMIC_SMAX | 1 << ISA_ATOMIC_UMAX
                    | 1 << ISA_ATOMIC_AND | 1 << ISA_ATOMIC_OR | 1 << ISA_ATOMIC_XOR
    };
    unsigned op = m->atomic == ISA_ATOMIC_SUB ? ISA_ATOMIC_ADD : m->atomic;
    return m->returns || !(ORDERLESS >> op & 1) ? 0 : (uint8_t)(2 * op + m->bytes / 8 + 1);
}

/* Lanes one by one. False: the launch is dependence_fault. */
static bool mark_lanes_of(struct host_view *t, const struct isa_memory *m, uint8_t *hint)
{
    uint8_t operation = m->kind == ISA_MEMORY_ATOMIC ? update_of(m) : 0;
    bool plain = (m->kind != ISA_MEMORY_ATOMIC || operation) && !m->unusual && !m->swizzle_mask
                 && !m->straddle_mask;
    for (uint64_t rest = m->mask; plain && rest; rest &= rest - 1) {
        uint64_t address = m->address[__builtin_ctzll(rest)];
        const struct host_span *w = span_of(t, address, m->bytes, hint);
        plain = w;
        if (!w)
            break;
        const char *host = w->host + (address - w->start);
        if (operation)
            plain = footprint_mark_update(t->footprint, host, m->bytes, operation);
        else
            footprint_mark(t->footprint, host, m->bytes,
                           m->kind == ISA_MEMORY_STORE ? FOOTPRINT_WRITTEN : FOOTPRINT_READ);
    }
    if (!plain)
        footprint_lose();
    return plain;
}

/* False: the launch is dependence_fault. */
static bool mark_scalar(struct host_view *t, const struct isa_scalar *access, uint8_t *hint)
{
    const struct host_span *w = span_of(t, access->address, 4u * access->valid, hint);
    bool plain = access->kind == ISA_SCALAR_CACHE_OP
                 || (access->kind == ISA_SCALAR_LOAD && (w || !access->valid));
    if (!plain)
        footprint_lose();
    else if (access->kind == ISA_SCALAR_LOAD && access->valid)
        footprint_mark(t->footprint, w->host + (access->address - w->start), 4u * access->valid,
                       FOOTPRINT_READ);
    return plain;
}

/* ---- instructions ---- */

const char *PASTE(access_vector_,
                  ACCESS_VARIANT)(struct host_view *view, struct isa_context *context,
                                  struct isa_wave *wave, const struct isa_ready *ready,
                                  uint8_t *hint, uint32_t *lane)
{
    const struct isa_inst *inst = ready->inst;
    struct isa_memory m;
    struct shape shape = {0};
    *lane = WORK_LANE_NONE;
    if (likely(access_fast_vector(view, context, wave, ready, hint))) {
        wave->pc += ready->size;
        return NULL;
    }
    enum isa_status status = isa_memory_addresses(context, wave, inst, &m);
    if (status != ISA_OK)
        return isa_status_text(status);
    if (unlikely(view->unit != HOST_VIEW_UNIT_NONE))
        touch_memory(view, &m);
    if (m.kind == ISA_MEMORY_CACHE_OP)
        m.mask = 0;
    bool plain = m.mask && m.kind != ISA_MEMORY_ATOMIC && !m.unusual
                 && (m.kind == ISA_MEMORY_STORE || inst->dst != ISA_OPERAND_NONE)
                 && find_shape(view, &m, hint, &shape);
    const char *wrong = plain || !m.mask ? NULL : check_lanes(view, &m, hint, lane);
    if (wrong)
        return wrong;
    if (view->footprint && m.mask && !mark_lanes_of(view, &m, hint))
        return dependence_fault;
    if (m.lds_mask)
        isa_memory_lds(context, inst, &m);
    if (plain)
        move_dwords(context, inst, &m, &shape);
    else if (m.mask)
        move_lanes(view, context, inst, &m, hint);
    wave->pc += inst->size;
    return NULL;
}

static void load_scalar(struct host_view *t, struct isa_wave *wave, const struct isa_inst *inst,
                        const struct isa_scalar *access, uint8_t *hint)
{
    uint32_t data[16];
    uint64_t bytes = 4u * access->valid;
    const struct host_span *w = span_of(t, access->address, bytes, hint);
    if (w && bytes)
        memcpy(data, w->host + (access->address - w->start), bytes);
    else
        host_view_read(t, access->address, data, bytes);
    for (unsigned i = access->valid; i < access->dwords; i++)
        data[i] = 0;
    isa_scalar_load(wave, inst, data);
}

/* Aligned, so in one page and one span. */
static void atomic_scalar(struct host_view *t, struct isa_wave *wave, const struct isa_inst *inst,
                          const struct isa_scalar *access, uint8_t *hint)
{
    uint32_t data[16], old[16] = {0};
    const struct host_span *w = span_of(t, access->address, 4u * access->valid, hint);
    isa_scalar_store_data(wave, inst, data);
    if (access->valid)
        isa_atomic_apply((enum isa_atomic)access->atomic, 4u * access->dwords,
                         w->host + (access->address - w->start), data, data + access->dwords, old);
    if (access->glc)
        isa_scalar_load(wave, inst, old);
}

const char *PASTE(access_scalar_,
                  ACCESS_VARIANT)(struct host_view *view, struct isa_context *context,
                                  struct isa_wave *wave, const struct isa_ready *ready,
                                  uint8_t *hint, uint32_t *lane)
{
    const struct isa_inst *inst = ready->inst;
    struct isa_scalar access;
    uint32_t data[16], time[2] = {(uint32_t)context->time, (uint32_t)(context->time >> 32)};
    *lane = WORK_LANE_NONE;
    if (likely(access_fast_scalar(view, wave, ready, hint))) {
        wave->pc += ready->size;
        return NULL;
    }
    if (unlikely(view->unit != HOST_VIEW_UNIT_NONE))
        touch_scalar(view, context, wave, inst);
    enum isa_status status = isa_scalar_address(context, wave, inst, &access);
    if (status != ISA_OK)
        return isa_status_text(status);
    bool load = access.kind == ISA_SCALAR_LOAD, store = access.kind == ISA_SCALAR_STORE;
    bool atomic = access.kind == ISA_SCALAR_ATOMIC;
    unsigned bytes = 4u * access.valid;
    if ((load || store || atomic) && bytes && !span_of(view, access.address, bytes, hint)
        && !host_view_is_allocated(view, access.address, bytes))
        return out_of_bounds(view, isa_scalar_name(&access), bytes, access.address);
    if (view->footprint && !mark_scalar(view, &access, hint))
        return dependence_fault;
    if (load) {
        load_scalar(view, wave, inst, &access, hint);
    } else if (store) {
        isa_scalar_store_data(wave, inst, data);
        host_view_write(view, access.address, data, bytes);
    } else if (access.kind == ISA_SCALAR_TIME) {
        isa_scalar_load(wave, inst, time);
    } else if (atomic) {
        if (bytes && access.address % bytes)
            return "scalar atomic at an address that is not aligned";
        atomic_scalar(view, wave, inst, &access, hint);
    }
    wave->pc += inst->size;
    return NULL;
}
