/* Changes of stores, for other ranks. Runs of bytes are noted as they come. A run that continues
 * one of the last two, or lies in it, extends that one: a table being filled gets an entry and a
 * new head in turn. The bytes are read when ranks meet, by a channel to all ranks. */
#include "store_log.h"

#include <string.h>

#include "base/number.h"

#include "byte_list.h"
#include "engine.h"
#include "rank.h"
#include "rank_channel.h"

struct run {
    uint64_t offset; /* in the arena */
    uint64_t bytes;
};

bool store_log_is_on;
static struct byte_list offered_stores; /* const void *[] */
static struct byte_list changed_runs;   /* struct run[] */

void store_offer(const void *store)
{
    if (ranks.count > 1)
        byte_list_add(&offered_stores, &store, sizeof store);
}

bool store_is_offered(const void *store)
{
    for (size_t offset = 0; offset < offered_stores.used; offset += sizeof store)
        if (memcmp(offered_stores.bytes + offset, &store, sizeof store) == 0)
            return true;
    return false;
}

void store_log_add(const void *start, size_t bytes)
{
    const struct run new = {(uint64_t)((const char *)start - engine_base.arena), bytes};
    struct run *changed = (struct run *)(void *)changed_runs.bytes;
    size_t count = changed_runs.used / sizeof new;
    for (size_t i = count; i > 0 && i + 2 > count; i--) {
        struct run *r = &changed[i - 1];
        if (new.offset < r->offset || new.offset > r->offset + r->bytes)
            continue;
        r->bytes = max(new.offset + bytes - r->offset, r->bytes);
        return;
    }
    byte_list_add(&changed_runs, &new, sizeof new);
}

void store_log_forget(void)
{
    store_log_is_on = false;
    offered_stores.used = 0;
    changed_runs.used = 0;
}

static void encode(uint32_t to, uint64_t end_ps)
{
    (void)end_ps;
    for (size_t offset = 0; offset < changed_runs.used; offset += sizeof(struct run)) {
        struct run run;
        memcpy(&run, changed_runs.bytes + offset, sizeof run);
        rank_put(to, &run, sizeof run);
        rank_put(to, engine_base.arena + run.offset, run.bytes);
    }
}

static void merge_stores(struct rank_reader *from)
{
    struct run run;
    while (from->left) {
        memcpy(&run, rank_read(from, sizeof run), sizeof run);
        memcpy(engine_base.arena + run.offset, rank_read(from, run.bytes), run.bytes);
    }
}

static void forget_runs(void)
{
    changed_runs.used = 0;
}

void store_log_begin(void)
{
    static const struct rank_channel channel = {.times = RANK_CHANNEL_BARRIER,
                                                .is_for_all = true,
                                                .encode = encode,
                                                .merge = merge_stores,
                                                .sent = forget_runs};
    rank_channel_register(&channel);
    store_log_is_on = true;
}
