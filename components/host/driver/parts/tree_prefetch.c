/* A full binary tree over the basic blocks of a large page. From the leaf that holds the page up, a
 * node of which more than the share is there, or wanted already, is wanted as a whole. */
#include "tree_prefetch.gen.h"

#include "components/host/driver/prefetch_policy.h"

struct tree_prefetch {
    struct tree_prefetch_io io;
};

static void tree_prefetch_choose(struct part *self, struct prefetch_block *b)
{
    const struct tree_prefetch *p = (const struct tree_prefetch *)(const void *)self;
    uint64_t basic = tree_prefetch_params(p)->basic / b->page_bytes;
    uint64_t share = tree_prefetch_params(p)->share;
    uint64_t leaf = basic ? basic : 1;
    for (uint64_t size = leaf; size <= b->pages; size *= 2) {
        uint64_t first = b->faulted / size * size, there = 0;
        for (uint64_t i = first; i < first + size; i++)
            there += b->here[i] || b->wanted[i];
        if (size == leaf || there * 100 > size * share)
            for (uint64_t i = first; i < first + size; i++)
                b->wanted[i] = true;
    }
}

static const struct prefetch_policy_ops tree_prefetch_ops = {.choose = tree_prefetch_choose};
