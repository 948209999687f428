/* Prepared loads and stores (components/amd/isa/execute/isa_ready.h) whose lanes lie in one span:
 * addresses, bounds and bytes without a struct isa_memory between. Included by access.c only.
 *
 * A lane's address is a 64-bit value that all active lanes share plus its own 32 bits
 * (isa_lanes.h). What is not so (another span, addresses that differ in their upper halves,
 * apertures, which have no span) is left to the general way, which also finds the faults. */
#ifndef HEDDLE_COMPONENTS_AMD_FUNCTIONAL_ACCESS_FAST_H
#define HEDDLE_COMPONENTS_AMD_FUNCTIONAL_ACCESS_FAST_H

#include "base/likely.h"
#include "components/amd/isa/execute/isa_lanes.h"

#include "access_lines.h"
#include "access_marks.h"

/* False: the active lanes' upper halves differ. */
static ALWAYS_INLINE bool find_base(const struct isa_context *context, const struct isa_wave *wave,
                                    const struct isa_ready *ready, uint64_t exec, uint64_t *base)
{
    const uint32_t *upper = context->vgpr + ready->source[0] + 64;
    if (ready->base != ISA_OPERAND_NONE) {
        *base = isa_wave_pair(wave, ready->base) + (uint64_t)ready->offset;
        return true;
    }
    uint32_t first = upper[__builtin_ctzll(exec)];
    *base = ((uint64_t)first << 32) + (uint64_t)ready->offset;
    return lanes_are_regular(upper, first, 0, exec);
}

/* The lines that the active lanes touch, for a run that warms caches up. */
static void touch_lanes_of(struct host_view *t, const struct host_span *w, uint64_t base,
                           const struct lanes_span *s, uint64_t exec,
                           const struct isa_ready *ready);

/* A load of one dword by all lanes, whose addresses lie in rows. False: nothing has been done. */
static ALWAYS_INLINE bool load_rows(struct host_view *t, struct isa_context *context,
                                    const struct isa_ready *ready, uint64_t base, uint8_t *hint)
{
    const uint32_t *offset = context->vgpr + ready->source[0];
    const struct host_span *w = span_of(t, base + offset[0], 4, hint);
    uint32_t saved[64];
    if (t->footprint)
        offset = memcpy(saved, offset, sizeof saved); /* what is loaded may overwrite it */
    if (!w
        || !lanes_load_rows(context->vgpr + ready->data, w->host, w->size, base - w->start, offset))
        return false;
    if (t->footprint)
        mark_rows(t->footprint, w->host, base - w->start, offset);
    return true;
}

/* False: nothing has been done. */
static ALWAYS_INLINE bool access_fast_vector(struct host_view *t, struct isa_context *context,
                                             struct isa_wave *wave, const struct isa_ready *ready,
                                             uint8_t *hint)
{
    uint64_t exec = isa_wave_exec(wave), base;
    if (ready->memory == ISA_READY_OTHER || !exec || (wave->mode & ISA_MODE_SKIP)
        || !find_base(context, wave, ready, exec, &base))
        return false;
    bool touches = unlikely(t->unit != HOST_VIEW_UNIT_NONE);
    if (ready->memory == ISA_READY_LOAD && ready->bytes == 4 && exec == UINT64_MAX && !touches
        && load_rows(t, context, ready, base, hint))
        return true;
    struct lanes_span s = lanes_span_of(context->vgpr + ready->source[0], exec, ready->bytes);
    const struct host_span *w =
        span_of(t, base + s.low, (uint64_t)(s.high - s.low) + ready->bytes, hint);
    if (!w || s.high - s.low > INT32_MAX)
        return false;
    if (touches)
        touch_lanes_of(t, w, base, &s, exec, ready);
    char *host = w->host + (base + s.low - w->start);
    bool is_store = ready->memory == ISA_READY_STORE;
    if (unlikely(t->footprint != NULL))
        mark_span(t->footprint, host, &s, ready->bytes, exec,
                  is_store ? FOOTPRINT_WRITTEN : FOOTPRINT_READ);
    uint32_t *registers = context->vgpr + ready->data;
    struct lanes_memory around = {w->host, w->host + w->size};
    if (is_store)
        lanes_store(host, registers, &s, ready->bytes, exec);
    else
        lanes_load(registers, host, &s, ready->bytes, ready->memory == ISA_READY_LOAD_SIGNED,
                   &around, exec);
    return true;
}

/* False: nothing has been done. */
static ALWAYS_INLINE bool access_fast_scalar(struct host_view *t, struct isa_wave *wave,
                                             const struct isa_ready *ready, uint8_t *hint)
{
    if (ready->memory != ISA_READY_SCALAR_LOAD)
        return false;
    uint64_t address = (isa_wave_pair(wave, ready->base) & ~UINT64_C(3)) + (uint64_t)ready->offset;
    const struct host_span *w = span_of(t, address, 4u * ready->dwords, hint);
    if (!w)
        return false;
    if (unlikely(t->unit != HOST_VIEW_UNIT_NONE))
        touch_words(t, w, address, 4u * ready->dwords);
    const char *from = w->host + (address - w->start);
    if (unlikely(t->footprint != NULL))
        footprint_mark(t->footprint, from, 4u * ready->dwords, FOOTPRINT_READ);
    uint32_t *to = &wave->sgpr[ready->dst];
    for (unsigned i = 0; i < ready->dwords; i++)
        memcpy(&to[i], from + 4 * i, 4);
    return true;
}

#endif
