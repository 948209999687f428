/* Copies by messages, page by page, to the GPU that owns the page. What comes from the host or goes
 * there travels in the message, so it is cut at multiples of a message's size, by default that of a
 * page; a fill, or a copy inside of a GPU or from one to another, is one message for each page. */
#include "dma_copy.gen.h"

#include "base/number.h"
#include "components/host/driver/copy_middleware.h"

struct dma_copy {
    struct dma_copy_io io;
};

static bool dma_copy_direct(struct part *self, enum copy_kind kind, uint64_t size)
{
    (void)self, (void)kind, (void)size;
    return false;
}

static uint32_t dma_copy_cut(struct part *self, enum copy_kind kind, uint64_t address,
                             uint64_t most)
{
    struct dma_copy *p = (struct dma_copy *)(void *)self;
    uint64_t bytes = most;
    if (kind == COPY_TO_GPU || kind == COPY_FROM_GPU || kind == COPY_BETWEEN_GPUS) {
        uint64_t message = dma_copy_params(p)->message;
        uint64_t rest = message - address % message;
        bytes = min(most, rest);
    }
    p->io.stats.messages++;
    p->io.stats.bytes += bytes;
    return (uint32_t)bytes;
}

static const struct copy_middleware_ops dma_copy_ops = {
    .takes_no_time = false,
    .direct = dma_copy_direct,
    .cut = dma_copy_cut,
};
