/* Ideal memory: each request is answered `latency` cycles after it arrived, one a cycle. */
#include "dram.gen.h"

#include <string.h>

#include "runtime/memory.h"

struct dram {
    struct dram_io io;
};

static void dram_init(struct dram *c)
{
    ring_set_delay(c->io.top_request, (uint32_t)dram_params(c)->latency);
}

static bool dram_tick(struct dram *c)
{
    const struct mem_request *m = dram_top_peek(c);
    uint64_t line = (uint64_t)dram_params(c)->line;
    if (!m)
        return false;
    if (!dram_top_can_reply(c))
        return false;
    const struct mem_request *ahead = (const struct mem_request *)ring_ahead(c->io.top_request);
    if (ahead && memory_contains(ahead->read.address, line))
        __builtin_prefetch(memory_at(ahead->read.address));
    if (m->kind == MEM_READ) {
        memcpy(mem_data_data(dram_top_reply_data(c, m->tag), line),
               memory_span(m->read.address, line), line);
        dram_stats(c)->reads++;
    } else {
        void *payload = dram_top_payload(c);
        memory_write_masked(m->write.address, mem_write_data(payload, line),
                            mem_write_mask(payload, line), line);
        dram_top_reply_done(c, m->tag);
        dram_stats(c)->writes++;
    }
    dram_top_pop(c);
    return dram_top_peek(c) != NULL;
}

static unsigned dram_outstanding(const struct dram *c, struct hang_report *report)
{
    (void)c;
    (void)report;
    return 0;
}
