/* The fields of a kernel descriptor's register words; see kernel_registers.h. */
#include "kernel_registers.h"

#include <stddef.h>

/* Granules: GRANULATED_WORKITEM_VGPR_COUNT and GRANULATED_WAVEFRONT_SGPR_COUNT of
 * compute_pgm_rsrc1. sgpr_divisor: the field counts in units of 8, and in pairs of these on gfx9.
 */
static const struct {
    uint8_t vgpr_granule, sgpr_divisor, sgpr_granule;
} granules[KERNEL_GENERATIONS] = {[KERNEL_GFX8] = {4, 1, 8},
                                  [KERNEL_GFX9] = {4, 2, 16},
                                  [KERNEL_GFX9_ACCUMULATORS] = {4, 2, 16},
                                  [KERNEL_GFX9_UNIFIED] = {8, 2, 16},
                                  [KERNEL_GFX10_WAVE64] = {4, 0, 0},
                                  [KERNEL_GFX10_WAVE32] = {8, 0, 0}};

enum { GFX10_SGPRS = 128 }; /* fixed there; the field is reserved */

static uint32_t field(uint32_t word, unsigned low, unsigned bits)
{
    return word >> low & ((1u << bits) - 1);
}

static uint32_t word(const void *descriptor, size_t at)
{
    const uint8_t *bytes = (const uint8_t *)descriptor + at;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

struct kernel_words kernel_words_read(const void *descriptor)
{
    uint32_t last = word(descriptor, 56);
    return (struct kernel_words){.rsrc1 = word(descriptor, 48),
                                 .rsrc2 = word(descriptor, 52),
                                 .rsrc3 = word(descriptor, 44),
                                 .properties = (uint16_t)last,
                                 .preload = (uint16_t)(last >> 16)};
}

/* Accumulators of a unified file begin where rsrc3 says, in units of 4. */
static void decode_vector_registers(struct kernel_registers *k, enum kernel_generation generation,
                                    const struct kernel_words *words)
{
    uint32_t offset = (field(words->rsrc3, 0, 6) + 1) * 4;
    k->vgprs = (field(words->rsrc1, 0, 6) + 1) * granules[generation].vgpr_granule;
    k->stored = generation == KERNEL_GFX9_ACCUMULATORS ? 2 * k->vgprs : k->vgprs;
    k->accum_offset = generation == KERNEL_GFX9_UNIFIED && offset < k->vgprs ? offset : k->vgprs;
}

void kernel_registers_decode(struct kernel_registers *k, enum kernel_generation generation,
                             const struct kernel_words *words)
{
    unsigned divisor = granules[generation].sgpr_divisor;
    uint32_t rsrc1 = words->rsrc1, rsrc2 = words->rsrc2, properties = words->properties;
    decode_vector_registers(k, generation, words);
    k->sgprs = divisor ? (field(rsrc1, 6, 4) / divisor + 1) * granules[generation].sgpr_granule
                       : GFX10_SGPRS;
    k->float_mode = field(rsrc1, 12, 8);
    k->dx10_clamp = field(rsrc1, 21, 1);
    k->ieee_mode = field(rsrc1, 23, 1);
    k->fp16_overflow = generation != KERNEL_GFX8 && field(rsrc1, 26, 1);

    k->private_wave_offset = field(rsrc2, 0, 1);
    k->user_sgprs = field(rsrc2, 1, 5);
    for (unsigned d = 0; d < 3; d++)
        k->work_group_id[d] = field(rsrc2, 7 + d, 1);
    k->work_group_info = field(rsrc2, 10, 1);
    k->work_item_dimensions = field(rsrc2, 11, 2) + 1;

    k->private_segment_buffer = field(properties, 0, 1);
    k->dispatch_ptr = field(properties, 1, 1);
    k->queue_ptr = field(properties, 2, 1);
    k->kernarg_ptr = field(properties, 3, 1);
    k->dispatch_id = field(properties, 4, 1);
    k->flat_scratch_init = field(properties, 5, 1);
    k->private_segment_size = field(properties, 6, 1);
    for (unsigned d = 0; d < 3; d++)
        k->grid_work_groups[d] = field(properties, 7 + d, 1);
    k->preload = generation == KERNEL_GFX9_UNIFIED ? field(words->preload, 0, 7) : 0;
    k->preload_offset = field(words->preload, 7, 9);
}
