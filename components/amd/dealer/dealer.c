/* Deals commands to the compute dies of a GPU.
 *
 * Invariant: a deal in use has `awaited` answers to come, or none and its own answer to be given.
 * A command goes to all dies in one cycle, so all have them in the same order. The dies know
 * nothing of each other: each works on its share of a launch as if it were a GPU, with an acquire
 * before the share and a release after it. */
#include "dealer.gen.h"

#include <string.h>

#include "components/amd/execute/wave_sync_unit.h"
#include "components/memory/page_table/program_table.h"
#include "components/protocols/command/aql_packet.h"
#include "components/sampling/launch_record.h"
#include "components/statistics/kernel_shares.h"
#include "components/statistics/kernel_stats.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/timeline.h"

/* A command that all dies work on. */
struct deal {
    uint64_t begin;  /* cycle */
    uint32_t record; /* launch: its record in the statistics */
    uint32_t kernel; /* launch: number of its name */
    uint16_t host_tag;
    uint16_t awaited;
    bool is_used, is_launch;
};

struct dealer {
    struct dealer_io io;
    uint32_t deals_at; /* struct deal[commands] */
    uint32_t used_deals;
    uint32_t finished; /* used deals that are to be answered */
    struct wave_sync_unit sync;
};

/* Wavefronts that may wait at the global wave sync: as many as 4096 compute units have. */
enum { DEALER_WAVEFRONTS = 1 << 17 };

static struct deal *deal_at(const struct dealer *c, uint32_t number)
{
    return arena_at(struct deal, c->deals_at) + number;
}

static void dealer_init(struct dealer *c)
{
    c->deals_at = arena_allocate(dealer_params(c)->commands * sizeof(struct deal));
    wave_sync_unit_init(&c->sync, DEALER_WAVEFRONTS);
}

/* ---- from the host ---- */

static bool can_deal(const struct dealer *c)
{
    for (uint32_t i = 0; i < dealer_die_count(c); i++)
        if (!dealer_die_can_send(c, i))
            return false;
    return c->used_deals < dealer_params(c)->commands;
}

static void launch_begin(struct dealer *c, struct deal *deal, uint32_t number,
                         const struct command_request *m)
{
    struct aql_packet packet;
    memcpy(&packet, command_launch_packet(dealer_host_payload(c)), sizeof packet);
    if (aql_meets(&packet))
        wave_sync_begin_launch(&c->sync.sync, aql_all_groups(&packet));
    deal->is_launch = true;
    deal->kernel = m->launch.kernel;
    deal->record = launch_record_begin(&c->io.base, dealer_program(c), m->launch.kernel, &packet);
    kernel_shares_open(deal->record);
    timeline_begin_launch(&c->io.base, number,
                          program_kernel_name(dealer_program(c), m->launch.kernel));
}

static void send_share(const struct dealer *c, uint32_t die, uint16_t tag, const struct deal *deal,
                       const struct command_request *m)
{
    void *from = dealer_host_payload(c);
    void *to = dealer_die_send_share(c, die, tag, m->launch.packet_address, m->launch.entry,
                                     m->launch.pid, m->launch.kernel);
    *command_share_record(to) = deal->record;
    *command_share_share(to) = (uint16_t)die;
    *command_share_shares(to) = (uint16_t)dealer_die_count(c);
    memcpy(command_share_packet(to), command_launch_packet(from), sizeof(struct aql_packet));
    memcpy(command_share_descriptor(to), command_launch_descriptor(from),
           sizeof(struct aql_descriptor));
}

static void send_to_die(const struct dealer *c, uint32_t die, uint16_t tag, const struct deal *deal,
                        const struct command_request *m)
{
    switch (message_kind(m)) {
    case COMMAND_LAUNCH:
        send_share(c, die, tag, deal, m);
        break;
    case COMMAND_FLUSH:
        dealer_die_send_flush(c, die, tag);
        break;
    case COMMAND_FENCE:
        dealer_die_send_fence(c, die, tag);
        break;
    case COMMAND_INVALIDATE:
        dealer_die_send_invalidate(c, die, tag);
        break;
    case COMMAND_SHOOTDOWN:
        dealer_die_send_shootdown(c, die, tag, m->shootdown.address, m->shootdown.size,
                                  m->shootdown.pid);
        break;
    case COMMAND_PAUSE:
        dealer_die_send_pause(c, die, tag);
        break;
    default:
        dealer_die_send_resume(c, die, tag);
        break;
    }
}

/* False: there is no space for it, here or in the port of a die. */
static bool deal_out(struct dealer *c, const struct command_request *m)
{
    uint32_t number = 0;
    if (!can_deal(c))
        return false;
    while (deal_at(c, number)->is_used)
        number++;
    struct deal *deal = deal_at(c, number);
    *deal = (struct deal){.begin = dealer_now(c),
                          .host_tag = m->tag,
                          .awaited = (uint16_t)dealer_die_count(c),
                          .is_used = true};
    c->used_deals++;
    if (message_kind(m) == COMMAND_LAUNCH)
        launch_begin(c, deal, number, m);
    for (uint32_t i = 0; i < dealer_die_count(c); i++)
        send_to_die(c, i, (uint16_t)number, deal, m);
    c->io.stats.kernels += deal->is_launch;
    c->io.stats.broadcasts += !deal->is_launch;
    return true;
}

/* Hands a copy to the DMA engine. False: its port is full. */
static bool forward_copy(struct dealer *c, const struct command_request *m)
{
    if (!dealer_dma_can_send(c))
        return false;
    c->io.stats.copies++;
    port_pass_on(dealer_io(c)->dma_request, c->io.base.limit, m, dealer_host_payload(c));
    return true;
}

static bool is_for_dies(unsigned kind)
{
    return kind == COMMAND_LAUNCH || kind == COMMAND_FLUSH || kind == COMMAND_FENCE
           || kind == COMMAND_INVALIDATE || kind == COMMAND_SHOOTDOWN || kind == COMMAND_PAUSE
           || kind == COMMAND_RESUME;
}

static bool host_receive(struct dealer *c)
{
    const struct command_request *m;
    bool received = false;
    while ((m = dealer_host_peek(c))) {
        if (!(is_for_dies(message_kind(m)) ? deal_out(c, m) : forward_copy(c, m)))
            break;
        dealer_host_pop(c);
        received = true;
    }
    return received;
}

/* ---- to the host ---- */

static void sync_receive(struct dealer *c, uint32_t die, const struct command_reply *m)
{
    const struct isa_sync request = {(uint8_t)m->sync.operation, (uint8_t)m->sync.resource,
                                     m->sync.value};
    wave_sync_unit_accept(&c->sync, &request, die << WAVE_SYNC_DIE_SHIFT | m->sync.wavefront);
}

/* Lets wavefronts continue that the global wave sync has released. */
static bool sync_step(struct dealer *c)
{
    uint32_t wavefront;
    bool sent = false;
    while (wave_sync_unit_next(&c->sync, &wavefront)
           && dealer_die_can_send(c, wavefront >> WAVE_SYNC_DIE_SHIFT)) {
        dealer_die_send_go_on(c, wavefront >> WAVE_SYNC_DIE_SHIFT, 0,
                              wavefront & ((1 << WAVE_SYNC_DIE_SHIFT) - 1));
        wave_sync_unit_pop(&c->sync);
        sent = true;
    }
    return sent;
}

static bool dies_receive(struct dealer *c)
{
    const struct command_reply *m;
    bool received = false;
    for (uint32_t i = 0; i < dealer_die_count(c); i++) {
        while ((m = dealer_die_peek_reply(c, i))) {
            if (message_kind(m) == COMMAND_SYNC)
                sync_receive(c, i, m);
            else
                c->finished += !--deal_at(c, m->tag)->awaited;
            dealer_die_pop_reply(c, i);
            received = true;
        }
    }
    return received;
}

static void deal_end(struct dealer *c, uint32_t number)
{
    struct deal *deal = deal_at(c, number);
    if (deal->is_launch) {
        kernel_shares_close(deal->record, deal->begin, dealer_now(c));
        kernel_end(&c->io.base, deal->record);
        timeline_end(&c->io.base, number, program_kernel_name(dealer_program(c), deal->kernel));
    }
    dealer_host_reply_done(c, deal->host_tag);
    deal->is_used = false;
    c->used_deals--;
    c->finished--;
}

static bool answer_driver(struct dealer *c)
{
    const struct command_reply *m;
    bool sent = false;
    while ((m = dealer_dma_peek_reply(c)) && dealer_host_can_reply(c)) {
        port_pass_on(dealer_io(c)->host_reply, c->io.base.limit, m, dealer_dma_reply_payload(c));
        dealer_dma_pop_reply(c);
        sent = true;
    }
    for (uint32_t i = 0; c->finished && dealer_host_can_reply(c); i++) {
        if (!deal_at(c, i)->is_used || deal_at(c, i)->awaited)
            continue;
        deal_end(c, i);
        sent = true;
    }
    return sent;
}

static bool dealer_tick(struct dealer *c)
{
    bool progress = dies_receive(c);
    progress |= host_receive(c);
    progress |= sync_step(c);
    progress |= answer_driver(c);
    return progress;
}

static unsigned dealer_outstanding(const struct dealer *c, struct hang_report *report)
{
    if (!report)
        return c->used_deals;
    for (uint32_t i = 0; i < dealer_params(c)->commands; i++) {
        const struct deal *deal = deal_at(c, i);
        if (deal->is_used && deal->is_launch)
            hang_note(report, "kernel '%s' runs on %u dies",
                      program_kernel_name(dealer_program(c), deal->kernel), deal->awaited);
        else if (deal->is_used)
            hang_note(report, "%u dies have not answered a command", deal->awaited);
    }
    wave_sync_unit_report(&c->sync, report);
    return c->used_deals;
}
