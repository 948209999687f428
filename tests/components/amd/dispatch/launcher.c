/* See launcher.heddle. */
#include "launcher.gen.h"

#include <string.h>

#include "base/number.h"
#include "components/memory/page_table/program_table.h"
#include "components/protocols/command/aql_packet.h"
#include "runtime/observe/hang.h"

struct launcher {
    struct launcher_io io;
    uint32_t sent;
    uint32_t kernel;
};

static void launcher_init(struct launcher *c)
{
    c->kernel = program_kernel(launcher_program(c), "test", "test");
}

static void launch(struct launcher *c)
{
    const struct launcher_params *p = launcher_params(c);
    const struct aql_packet packet = {
        .header = aql_scopes(AQL_SCOPE_AGENT, AQL_SCOPE_AGENT),
        .work_group = {(uint16_t)(64 * p->wavefronts), 1, 1},
        .grid = {(uint32_t)(64 * p->wavefronts * p->work_groups), 1, 1},
        .group_bytes = p->lds};
    const struct aql_descriptor descriptor = {.rsrc1 = (uint32_t)(divide_up(p->vgprs, 4) - 1)
                                                       | (uint32_t)(divide_up(p->sgprs, 8) - 1)
                                                             << 6};
    void *payload = launcher_host_send_launch(c, (uint16_t)c->sent, 0, 0, 1, (uint16_t)c->kernel);
    memcpy(command_launch_packet(payload), &packet, sizeof packet);
    memcpy(command_launch_descriptor(payload), &descriptor, sizeof descriptor);
}

static bool launcher_tick(struct launcher *c)
{
    bool progress = false;
    while (launcher_host_peek_reply(c)) {
        launcher_host_pop_reply(c);
        c->io.stats.answered++;
        progress = true;
    }
    uint64_t due = 10 + c->sent * launcher_params(c)->gap;
    if (c->sent == launcher_params(c)->kernels)
        return progress;
    if (launcher_now(c) < due) {
        launcher_wake_at(c, due);
        return progress;
    }
    if (!launcher_host_can_send(c))
        return progress;
    launch(c);
    c->sent++;
    return true;
}

static unsigned launcher_outstanding(const struct launcher *c, struct hang_report *report)
{
    unsigned left = (unsigned)(launcher_params(c)->kernels - c->io.stats.answered);
    if (report && left)
        hang_note(report, "%u kernels are not answered", left);
    return left;
}
