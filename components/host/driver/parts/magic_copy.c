/* Copies that take no simulated time, for studies of kernels alone. */
#include "magic_copy.gen.h"

#include "components/host/driver/copy_middleware.h"

struct magic_copy {
    struct magic_copy_io io;
};

static bool magic_copy_direct(struct part *self, enum copy_kind kind, uint64_t size)
{
    struct magic_copy *p = (struct magic_copy *)(void *)self;
    (void)kind;
    p->io.stats.copies++;
    p->io.stats.bytes += size;
    return true;
}

/* Not called, since nothing goes by messages. */
static uint32_t magic_copy_cut(struct part *self, enum copy_kind kind, uint64_t address,
                               uint64_t most)
{
    (void)self, (void)kind, (void)address;
    return (uint32_t)most;
}

static const struct copy_middleware_ops magic_copy_ops = {
    .takes_no_time = true,
    .direct = magic_copy_direct,
    .cut = magic_copy_cut,
};
