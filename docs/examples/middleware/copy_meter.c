/* See copies.heddle. */
#include "copy_meter.gen.h"

#include "components/host/driver/copy_middleware.h"

struct copy_meter {
    struct copy_meter_io io; /* first; yours follows */
};

static bool copy_meter_direct(struct part *self, enum copy_kind kind, uint64_t size)
{
    struct copy_meter *p = (struct copy_meter *)(void *)self;
    p->io.stats.commands++;
    p->io.stats.command_bytes += size;
    return copy_meter_next_ops(p)->direct(copy_meter_next(p), kind, size);
}

static uint32_t copy_meter_cut(struct part *self, enum copy_kind kind, uint64_t address,
                               uint64_t most)
{
    struct copy_meter *p = (struct copy_meter *)(void *)self;
    uint32_t bytes = copy_meter_next_ops(p)->cut(copy_meter_next(p), kind, address, most);
    p->io.stats.messages++;
    p->io.stats.message_bytes += bytes;
    return bytes;
}

static const struct copy_middleware_ops copy_meter_ops = {
    .takes_no_time = false, .direct = copy_meter_direct, .cut = copy_meter_cut};
