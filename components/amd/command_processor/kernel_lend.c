/* A kernel whose work-groups go on without timing for a while; see
 * components/amd/execute/lent_groups.h. Work-groups that ended with another in their place leave no
 * trace here but their number: the place is taken, and its new work-group is the one that answers.
 */
#include "command_processor.gen.h"

#include "command_processor_state.h"
#include "components/amd/execute/lent_groups.h"
#include "components/amd/execute/work_cut.h"
#include "components/sampling/kernel_stats.h"
#include "components/sampling/run_progress.h"
#include "dispatch_order.h"
#include "dispatcher.h"
#include "components/sampling/sampling_options.h"
#include "runtime/state/platform.h"

static struct command_processor *lend_processor(struct component *base)
{
    return (struct command_processor *)(void *)base;
}

static void lend_pause(struct component *base, uint64_t until)
{
    lend_processor(base)->paused_until = until;
}

/* Not a launch that dies share, or whose order does not go by numbers. */
static bool can_skip(const struct dispatcher *d)
{
    return d->state == DISPATCHER_RUNNING && d->shares <= 1 && d->stride == 1
           && dispatcher_order_ops(d)->skip;
}

/* Others have placed the next `count` work-groups. */
static void skip(struct dispatcher *d, uint64_t count)
{
    d->left -= count;
    d->next_number += count;
    if (d->left)
        work_nth_group(d->groups, d->first + d->next_number, d->next);
    dispatcher_order_ops(d)->skip(dispatcher_order(d), count);
}

/* The one dispatcher that is not idle. NULL: there is none, or another one. */
static struct dispatcher *lend_dispatcher(const struct command_processor *c, uint32_t *number)
{
    struct dispatcher *found = NULL;
    for (uint32_t i = 0; i < command_processor_dispatcher_count(c); i++) {
        struct dispatcher *d = command_processor_dispatcher(c, i);
        if (d->state == DISPATCHER_IDLE)
            continue;
        if (found || !can_skip(d))
            return NULL;
        found = d;
        *number = i;
    }
    return found;
}

static bool lend_launch(struct component *base, struct lent_launch *to)
{
    uint32_t number;
    const struct dispatcher *d = lend_dispatcher(lend_processor(base), &number);
    if (!d)
        return false;
    memcpy(to->groups, d->groups, sizeof to->groups);
    to->first = d->first + d->next_number;
    to->left = d->left;
    return true;
}

static void lend_take(struct component *base, const struct lent_account *account, uint64_t now)
{
    struct command_processor *c = lend_processor(base);
    uint32_t number;
    struct dispatcher *d = lend_dispatcher(c, &number);
    if (!d)
        bug("command processor: a launch comes back that was not lent");
    if (account->begun) {
        skip(d, account->begun);
        account_place(account_of(c, number), &c->all, now, 0, !d->left);
    }
    kernel_count(d->record, account->ended, account->instructions);
    progress_done(account->ended);
}

static void lend_init(struct command_processor *c)
{
    static const struct lent_processor_ops ops = {
        .pause = lend_pause, .lend = lend_launch, .take = lend_take};
    if (platform_sampling()->in_parts)
        lent_register_processor(&c->io.base, &ops);
}
