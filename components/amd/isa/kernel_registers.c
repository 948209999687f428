/* The fields of a kernel descriptor's register words; see kernel_registers.h. Called by the reader
 * of code objects, by whoever starts or counts wavefronts, and by the driver. */
#include "kernel_registers.h"

/* Granules: GRANULATED_WORKITEM_VGPR_COUNT and GRANULATED_WAVEFRONT_SGPR_COUNT of
 * compute_pgm_rsrc1. sgpr_divisor: the field counts in units of 8, and in pairs of these on gfx9.
 */
static const struct {
    uint8_t vgpr_granule, sgpr_divisor, sgpr_granule;
} granules[KERNEL_GENERATIONS] = {[KERNEL_GFX8] = {4, 1, 8},
                                  [KERNEL_GFX9] = {4, 2, 16},
                                  [KERNEL_GFX9_UNIFIED] = {8, 2, 16},
                                  [KERNEL_GFX10_WAVE64] = {4, 0, 0},
                                  [KERNEL_GFX10_WAVE32] = {8, 0, 0}};

enum { GFX10_SGPRS = 128 }; /* fixed there; the field is reserved */

static uint32_t field(uint32_t word, unsigned low, unsigned bits)
{
    return word >> low & ((1u << bits) - 1);
}

void kernel_registers_decode(struct kernel_registers *k, enum kernel_generation generation,
                             uint32_t rsrc1, uint32_t rsrc2, uint32_t properties)
{
    unsigned divisor = granules[generation].sgpr_divisor;
    k->vgprs = (field(rsrc1, 0, 6) + 1) * granules[generation].vgpr_granule;
    k->sgprs = divisor ? (field(rsrc1, 6, 4) / divisor + 1) * granules[generation].sgpr_granule
                       : GFX10_SGPRS;
    k->float_mode = field(rsrc1, 12, 8);
    k->dx10_clamp = field(rsrc1, 21, 1);
    k->ieee_mode = field(rsrc1, 23, 1);

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
}
