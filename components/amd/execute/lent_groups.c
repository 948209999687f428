/* See lent_groups.h. */
#include "lent_groups.h"

#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/platform_table.h"

enum { MOST_UNITS = 1 << 15 };

struct unit {
    struct component *component;
    const struct lent_unit_ops *ops;
};

struct processor {
    struct component *component;
    const struct lent_processor_ops *ops;
};

/* Of the present platform, whose first unit or processor begins them anew. */
static const struct platform_table *table;
static struct unit units[MOST_UNITS];
static struct processor processors[MOST_UNITS];
static uint32_t unit_count, processor_count;
static struct lent_group *room;

static void begin_lists(void)
{
    if (table != engine_base.platform)
        unit_count = processor_count = 0;
    table = engine_base.platform;
}

void lent_register_unit(struct component *c, const struct lent_unit_ops *ops)
{
    begin_lists();
    if (unit_count && units[0].component == c)
        unit_count = 0;
    if (unit_count == MOST_UNITS)
        bug("more than %d compute units", MOST_UNITS);
    units[unit_count++] = (struct unit){c, ops};
}

void lent_register_processor(struct component *c, const struct lent_processor_ops *ops)
{
    begin_lists();
    if (processor_count && processors[0].component == c)
        processor_count = 0;
    if (processor_count == MOST_UNITS)
        bug("more than %d command processors", MOST_UNITS);
    processors[processor_count++] = (struct processor){c, ops};
}

uint64_t lent_running(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < unit_count; i++)
        sum += units[i].ops->running(units[i].component);
    return sum;
}

void lent_pause(void)
{
    for (uint32_t i = 0; i < unit_count; i++)
        units[i].ops->pause(units[i].component, ENGINE_NEVER);
    for (uint32_t i = 0; i < processor_count; i++)
        processors[i].ops->pause(processors[i].component, ENGINE_NEVER);
}

bool lent_take_over(struct lent_group **groups, uint32_t *count, struct lent_launch *launch)
{
    uint32_t launches = 0;
    if (!room)
        room = arena_reserve(LENT_ROOM * sizeof *room);
    *groups = room;
    *count = 0;
    for (uint32_t i = 0; i < processor_count; i++)
        launches += processors[i].ops->lend(processors[i].component, launch);
    for (uint32_t i = 0; i < unit_count && launches == 1; i++) {
        uint32_t more = units[i].ops->lend(units[i].component, room + *count, LENT_ROOM - *count);
        if (more == UINT32_MAX)
            return false;
        *count += more;
    }
    return launches == 1 && *count;
}

static uint64_t wake(struct component *c, uint64_t time_ps)
{
    uint64_t cycle = engine_cycle_at(c->domain, time_ps);
    engine_wake_between(c->id, cycle);
    return cycle;
}

void lent_give_back(const struct lent_group *groups, uint32_t count,
                    const struct lent_account *account, uint64_t time_ps)
{
    uint32_t at = 0;
    struct lent_launch launch;
    for (uint32_t i = 0; i < processor_count; i++) {
        struct component *c = processors[i].component;
        if (processors[i].ops->lend(c, &launch))
            processors[i].ops->take(c, account, engine_cycle_at(c->domain, time_ps));
    }
    for (uint32_t i = 0; i < unit_count; i++) {
        uint32_t first = at;
        while (at < count && groups[at].leaf == units[i].component->leaf)
            at++;
        units[i].ops->take(units[i].component, groups + first, at - first,
                           engine_cycle_at(units[i].component->domain, time_ps));
    }
    if (at != count)
        bug("%u work-groups have no compute unit", count - at);
    lent_resume(time_ps);
}

void lent_resume(uint64_t time_ps)
{
    for (uint32_t i = 0; i < unit_count; i++)
        units[i].ops->pause(units[i].component, wake(units[i].component, time_ps));
    for (uint32_t i = 0; i < processor_count; i++)
        processors[i].ops->pause(processors[i].component, wake(processors[i].component, time_ps));
}
