/* From a dispatch packet to work-groups. */
#include "work_groups.h"

#include "base/number.h"
#include "components/amd/isa/kernel_registers.h"

struct work_placement work_common(const struct work_launch *launch)
{
    const struct aql_packet *packet = launch->packet;
    const struct aql_descriptor *descriptor = launch->descriptor;
    struct work_placement w = {.entry = launch->entry,
                               .kernarg = packet->kernarg,
                               .packet = launch->packet_address,
                               .queue = launch->packet_address + WORK_QUEUE_OFFSET,
                               .scratch = packet->scratch,
                               .rsrc1 = descriptor->rsrc1,
                               .rsrc2 = descriptor->rsrc2,
                               .properties = descriptor->properties,
                               .preload = descriptor->preload,
                               .private_bytes = packet->private_bytes,
                               .pid = launch->pid,
                               .lds_bytes = packet->group_bytes,
                               .dispatch_id = launch->dispatch_id};
    if (aql_queue_lines(packet))
        w.queue = launch->packet_address + aql_queue_lines(packet) * (uint64_t)64;
    w.scratch_bytes_per_wavefront = (uint32_t)aql_scratch_bytes(packet->private_bytes);
    for (unsigned i = 0; i < 3; i++) {
        w.grid[i] = packet->grid[i];
        w.block[i] = packet->work_group[i];
    }
    const struct kernel_words words = kernel_words_read(descriptor);
    struct kernel_registers k;
    kernel_registers_decode(&k, isa_traits[launch->target].registers, &words);
    w.vgprs = (uint16_t)k.vgprs;
    w.sgprs = (uint16_t)k.sgprs;
    w.accum_offset = (uint16_t)k.accum_offset;
    if (k.preload)
        w.entry += KERNEL_PRELOAD_PROLOGUE;
    return w;
}

uint64_t work_count_groups(const struct work_placement *common, uint32_t groups[3])
{
    uint64_t total = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t block = common->block[i];
        groups[i] = block ? divide_up(common->grid[i], block) : 0;
        total *= groups[i];
    }
    return total;
}

uint32_t work_full_wavefronts(const struct work_placement *common)
{
    return divide_up((uint32_t)common->block[0] * common->block[1] * common->block[2], 64);
}

void work_cut_group(const uint32_t id[3], struct work_placement *w)
{
    uint32_t items = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t rest = w->grid[i] - id[i] * w->block[i];
        w->items[i] = (uint16_t)min(rest, w->block[i]);
        items *= w->items[i];
    }
    w->wavefronts = (uint16_t)divide_up(items, 64);
}

void work_next_group(const uint32_t groups[3], uint32_t id[3])
{
    for (unsigned i = 0; i < 3; i++) {
        if (++id[i] < groups[i])
            return;
        id[i] = 0;
    }
}

void work_nth_group(const uint32_t groups[3], uint64_t number, uint32_t id[3])
{
    for (unsigned i = 0; i < 3; i++) {
        id[i] = groups[i] ? (uint32_t)(number % groups[i]) : 0;
        number = groups[i] ? number / groups[i] : 0;
    }
}
