/* Computes what a block takes of an SM, and how many blocks fit on it. */
#include "sm_occupancy.h"

#include "base/number.h"

static uint32_t room_units(uint64_t amount, uint64_t unit)
{
    return (uint32_t)round_up(amount, unit);
}

/* Registers of a warp, so that as many fit as on sub-cores of equal size: what is left over on each
 * is shared out. UINT32_MAX / 64: more than there are. */
static uint32_t warp_registers(const struct sm_shape *sm, uint64_t registers)
{
    uint32_t most = registers < 255 ? (uint32_t)registers : 255;
    uint32_t warp = room_units((uint64_t)most * SM_WARP_THREADS, sm->register_unit);
    uint32_t warps = warp ? sm->room.registers / sm->sub_cores / warp * sm->sub_cores : 0;
    if (!warp)
        return 0;
    return warps ? sm->room.registers / warps : UINT32_MAX / 64;
}

uint32_t sm_room_carve(uint32_t bytes, uint32_t most)
{
    uint32_t carve = bytes ? 8192 : 0;
    while (carve < bytes && carve < 65536)
        carve *= 2;
    return carve < bytes || carve > most ? most : carve;
}

static uint32_t count_blocks(const struct sm_room *whole, const struct sm_room *block,
                             const char **limit)
{
    const struct {
        uint32_t have, need;
        const char *name;
    } limits[] = {{whole->threads, block->threads, "threads"},
                  {whole->blocks, block->blocks, "blocks"},
                  {whole->registers, block->registers, "registers"},
                  {whole->shared, block->shared, "bytes of shared memory"}};
    uint32_t count = UINT32_MAX;
    for (unsigned i = 0; i < ARRAY_COUNT(limits); i++) {
        if (limits[i].need && limits[i].have / limits[i].need < count) {
            count = limits[i].have / limits[i].need;
            *limit = limits[i].name;
        }
    }
    return count;
}

uint32_t sm_shape_blocks(const struct sm_shape *sm, uint64_t threads, uint64_t registers,
                         uint64_t shared, struct sm_room *block, const char **limit)
{
    *limit = "threads";
    if (!threads || threads > sm->room.threads)
        return 0;
    *limit = "bytes of shared memory";
    if (shared > sm->room.shared)
        return 0;
    uint32_t warps = (uint32_t)divide_up(threads, SM_WARP_THREADS);
    *block = (struct sm_room){.threads = warps * SM_WARP_THREADS,
                              .blocks = 1,
                              .registers = warps * warp_registers(sm, registers),
                              .shared = room_units(shared + sm->shared_system, sm->shared_unit)};
    return count_blocks(&sm->room, block, limit);
}
