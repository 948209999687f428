/* The initial registers of a wavefront. */
#include "wavefront_start.h"

#include <string.h>

#include "base/number.h"
#include "components/amd/isa/kernel_registers.h"

/* Buffer resource for the private segment: stride 0, swizzled in elements of 4 bytes with index
 * stride 64, thread id added (GCN3 ISA manual, section 8.1.8; the data format stays 0, since with
 * thread ids its bits extend the stride). gfx9 has no field for the element's size, which is 4
 * there, too. */
static void wavefront_scratch_resource(uint32_t *sgpr, uint64_t base)
{
    sgpr[0] = (uint32_t)base;
    sgpr[1] = ((uint32_t)(base >> 32) & 0xffff) | 1u << 31;
    sgpr[2] = UINT32_MAX;
    sgpr[3] = 4u | 5u << 3 | 6u << 6 | 7u << 9 /* destination select x y z w */
              | 1u << 19 | 3u << 21 | 1u << 23;
}

/* Sets the user registers that the launch asks for, the first scalar ones; `s` is zeroed. Returns
 * their count. */
static unsigned wavefront_start_user(enum isa_target target, struct isa_wave *s,
                                     const struct kernel_registers *k,
                                     const struct work_placement *p)
{
    unsigned n = 0;
    if (k->private_segment_buffer) {
        wavefront_scratch_resource(&s->sgpr[n], p->scratch);
        n += 4;
    }
    uint64_t flat = isa_traits[target].scratch == ISA_SCRATCH_OFFSET
                        ? (uint64_t)p->private_bytes << 32
                        : p->scratch;
    const struct {
        bool is_enabled;
        uint64_t value;
    } pairs[] = {{k->dispatch_ptr, p->packet},
                 {k->queue_ptr, p->queue},
                 {k->kernarg_ptr, p->kernarg},
                 {k->dispatch_id, p->dispatch_id},
                 {k->flat_scratch_init, flat}};
    for (unsigned i = 0; i < ARRAY_COUNT(pairs); i++) {
        if (pairs[i].is_enabled) {
            isa_wave_set_pair(s, n, pairs[i].value);
            n += 2;
        }
    }
    if (k->private_segment_size)
        s->sgpr[n++] = p->private_bytes;
    for (unsigned d = 0; d < 3; d++)
        if (k->grid_work_groups[d])
            s->sgpr[n++] = divide_up(p->grid[d], p->block[d]);
    for (unsigned i = 0; i < k->preload && i < WORK_PRELOADED_MAX; i++)
        s->sgpr[n++] = p->preloaded[i];
    return max(n, k->user_sgprs);
}

/* Puts the address of the wavefront's part of scratch into FLAT_SCRATCH, where that is architected.
 * Elsewhere the address goes into a register, from which the wavefront's code computes
 * FLAT_SCRATCH. */
static void wavefront_start_scratch(enum isa_target target, struct isa_wave *s,
                                    const struct work_placement *p, unsigned n, unsigned number)
{
    uint64_t area = p->scratch_wavefront + number;
    uint64_t offset = area * p->scratch_bytes_per_wavefront;
    if (isa_traits[target].scratch == ISA_SCRATCH_ARCHITECTED)
        isa_wave_set_pair(s, ISA_FLAT_SCRATCH, p->scratch + offset);
    else
        s->sgpr[n] = (uint32_t)offset;
}

/* Scalar registers and MODE, exec excepted, of wavefront `number` of work-group `id`; `s` is
 * zeroed. */
static void wavefront_start_scalars(enum isa_target target, struct isa_wave *s,
                                    const struct kernel_registers *k,
                                    const struct work_placement *p, const uint32_t id[3],
                                    unsigned number)
{
    unsigned n = wavefront_start_user(target, s, k, p);
    for (unsigned d = 0; d < 3; d++)
        if (k->work_group_id[d])
            s->sgpr[n++] = id[d];
    if (k->work_group_info)
        s->sgpr[n++] = (number == 0 ? 1u << 31 : 0) | number << 6 | p->wavefronts;
    if (k->private_wave_offset)
        wavefront_start_scratch(target, s, p, n, number);
    s->mode = k->float_mode | (uint32_t)k->dx10_clamp << 8 | (uint32_t)k->ieee_mode << 9
              | (uint32_t)k->fp16_overflow << 23;
}

/* Work-item numbers in the first vector registers, or all three in the first one, 10 bits each;
 * returns exec. */
static uint64_t wavefront_start_lanes(uint32_t *vgpr, bool packed, unsigned dims,
                                      const struct work_placement *p, unsigned number)
{
    uint32_t items = (uint32_t)p->items[0] * p->items[1] * p->items[2];
    uint32_t first = number * ISA_LANES;
    uint32_t lanes = items > first ? items - first : 0;
    uint32_t x = first % p->items[0], y = first / p->items[0] % p->items[1];
    uint32_t z = first / p->items[0] / p->items[1];
    for (unsigned lane = 0, end; lane < ISA_LANES; lane = end) {
        uint32_t y_field = packed && dims > 1 ? y << 10 : 0;
        uint32_t z_field = packed && dims > 2 ? z << 20 : 0;
        end = p->items[0] - x < ISA_LANES - lane ? lane + p->items[0] - x : ISA_LANES;
        for (unsigned i = lane; i < end; i++)
            vgpr[i] = (x + i - lane) | y_field | z_field;
        if (dims > 1 && !packed)
            for (unsigned i = lane; i < end; i++)
                vgpr[64 + i] = y;
        if (dims > 2 && !packed)
            for (unsigned i = lane; i < end; i++)
                vgpr[128 + i] = z;
        x = 0;
        if (++y == p->items[1]) {
            y = 0;
            z++;
        }
    }
    return lanes >= 64 ? UINT64_MAX : ((uint64_t)1 << lanes) - 1;
}

static uint32_t granules(uint32_t amount, uint32_t granule)
{
    return amount > granule ? divide_up(amount, granule) : 1;
}

/* GPR_ALLOC: where the registers lie and how many they are, less one granule (GCN3 and Vega ISA
 * manuals, "Hardware registers"). Accumulators in the file of vector registers make its granules 8
 * and add a field, where they begin; sizes and that field as Linux' amdkfd reads them
 * (cwsr_trap_handler_gfx9.asm). What is left between is taken for the place of scalar registers. */
static uint32_t gpr_alloc(bool unified, const struct work_placement *p,
                          const struct work_wavefront *w)
{
    uint32_t sgprs = (granules(p->sgprs, 16) - 1) << 24;
    if (unified)
        return (w->vgpr / 8u & 63u) | (granules(p->vgprs, 8) - 1) << 6
               | (granules(p->accum_offset, 4) - 1) << 12 | (w->sgpr / 16u & 63u) << 18 | sgprs;
    return (w->vgpr / 4u & 63u) | (granules(p->vgprs, 4) - 1) << 8 | (w->sgpr / 16u & 63u) << 16
           | sgprs;
}

/* Sets the hardware registers that describe the place which the dispatcher gave: HW_ID, GPR_ALLOC
 * and LDS_ALLOC, as GCN3 and GFX9 lay them out (GCN3 and Vega ISA manuals, "Hardware registers";
 * LDS in 64 dwords as Linux' amdkfd reads it, cwsr_trap_handler_gfx8.asm). A GPU has shader engines
 * of 16 compute units, four to a shader array; larger ones use the numbers again. Dispatchers are
 * the queues of the compute pipes (ME 1). */
static void wavefront_start_place(const struct isa_traits *traits, struct isa_wave *s,
                                  const struct work_placement *p, unsigned number)
{
    const struct work_wavefront *w = &p->wavefront[number];
    s->hw_id = (w->slot & 15u) | (w->simd & 3u) << 4 | (p->dispatcher & 3u) << 6
               | (p->cu & 15u) << 8 | (p->cu >> 6 & 1u) << 12 | (p->cu >> 4 & 3u) << 13
               | (p->work_group_slot & 15u) << 16 | (p->pid & 15u) << 20
               | (p->dispatcher >> 2 & 7u) << 24 | 1u << 30;
    s->xcc_id = p->die;
    s->gpr_alloc = gpr_alloc(traits->accumulators == ISA_ACCUMULATORS_UNIFIED, p, w);
    s->lds_alloc = (p->lds_offset / 256u & 255u) | (p->lds_bytes + 511u) / 512u * 2u << 12;
}

void wavefront_start(enum isa_target target, struct isa_wave *s, uint32_t *vgpr,
                     const struct work_placement *p, const uint32_t id[3], unsigned number)
{
    const struct isa_traits *traits = &isa_traits[target];
    const struct kernel_words words = {
        .rsrc1 = p->rsrc1, .rsrc2 = p->rsrc2, .properties = p->properties, .preload = p->preload};
    struct kernel_registers k;
    kernel_registers_decode(&k, traits->registers, &words);
    memset(s, 0, sizeof *s);
    wavefront_start_scalars(target, s, &k, p, id, number);
    wavefront_start_place(traits, s, p, number);
    isa_wave_set_pair(
        s, ISA_EXEC,
        wavefront_start_lanes(vgpr, traits->packed_work_items, k.work_item_dimensions, p, number));
    s->pc = p->entry;
}
