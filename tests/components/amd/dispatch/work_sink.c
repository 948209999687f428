/* See work_sink.heddle. Work-groups end in the order in which they came. */
#include "work_sink.gen.h"

#include <string.h>

#include "components/protocols/work/work_cycles.h"
#include "components/protocols/work/work_placement.h"
#include "runtime/engine/bug.h"
#include "runtime/observe/hang.h"

enum { MOST = 64 };

struct work_sink {
    struct work_sink_io io;
    uint32_t head, count;
    struct {
        uint64_t end;
        uint16_t tag, wavefronts;
    } group[MOST];
};

static bool work_sink_tick(struct work_sink *c)
{
    uint64_t now = work_sink_now(c), duration = work_sink_params(c)->duration;
    const struct work_request *m;
    bool progress = false;
    while ((m = work_sink_work_peek(c))) {
        struct work_placement p;
        memcpy(&p, work_map_placement(work_sink_work_payload(c)), sizeof p);
        if (c->count == MOST)
            bug("work sink: more work-groups than slots");
        uint32_t last = (c->head + c->count++) % MOST;
        c->group[last].end = now + duration;
        c->group[last].tag = m->tag;
        c->group[last].wavefronts = p.wavefronts;
        work_sink_work_pop(c);
        c->io.stats.work_groups++;
        progress = true;
    }
    while (c->count && c->group[c->head].end <= now && work_sink_work_can_reply(c)) {
        struct work_account account = {.held = c->group[c->head].wavefronts * duration,
                                       .active = duration};
        account.slot_cycles[WORK_EXECUTING_SLEEP] = account.held;
        void *payload = work_sink_work_reply_finished(c, c->group[c->head].tag, 1);
        memcpy(work_finished_account(payload), &account, sizeof account);
        c->head = (c->head + 1) % MOST;
        c->count--;
        progress = true;
    }
    if (!progress && c->count)
        work_sink_wake_at(c, c->group[c->head].end);
    return progress;
}

static unsigned work_sink_outstanding(const struct work_sink *c, struct hang_report *report)
{
    if (report && c->count)
        hang_note(report, "%u work-groups run", c->count);
    return c->count;
}
