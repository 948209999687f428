/* Who takes part in convoys, by component. */
#include "convoy.h"

#include "runtime/engine/arena.h"

static const struct convoy_ops **table; /* by id */
static uint64_t messages;

void convoy_open(uint32_t id_count)
{
    table = arena_derive(((size_t)id_count + 1) * sizeof *table);
    messages = 0;
}

void convoy_register(const struct component *c, const struct convoy_ops *ops)
{
    table[c->id] = ops;
}

const struct convoy_ops *convoy_ops_of(uint32_t id)
{
    return table[id];
}

void convoy_note(uint32_t count)
{
    messages += count;
}

uint64_t convoy_messages(void)
{
    return messages;
}
