/* See copies.heddle. A command that goes on is the next one's, and so are its messages. */
#include "small_copies.gen.h"

#include "components/host/driver/copy_middleware.h"

struct small_copies {
    struct small_copies_io io; /* first; yours follows */
};

static bool small_copies_direct(struct part *self, enum copy_kind kind, uint64_t size)
{
    struct small_copies *p = (struct small_copies *)(void *)self;
    if (kind == COPY_TO_GPU && size <= small_copies_params(p)->below) {
        p->io.stats.at_once++;
        return true;
    }
    return small_copies_next_ops(p)->direct(small_copies_next(p), kind, size);
}

static uint32_t small_copies_cut(struct part *self, enum copy_kind kind, uint64_t address,
                                 uint64_t most)
{
    struct small_copies *p = (struct small_copies *)(void *)self;
    return small_copies_next_ops(p)->cut(small_copies_next(p), kind, address, most);
}

static const struct copy_middleware_ops small_copies_ops = {
    .takes_no_time = false, .direct = small_copies_direct, .cut = small_copies_cut};
