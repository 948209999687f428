/* A program in place of a list of traces: commands of the driver. Copies and fills move bytes of
 * the simulated memory and take the time of the link, or inside of the GPU that of its memory; a
 * launch becomes a kernel whose blocks are executed when they are placed (player_execute.c).
 *
 * Commands are taken in order. What the caches hold has no bytes, so that flushes have nothing to
 * do. */
#include <string.h>

#include "base/number.h"
#include "base/wide.h"
#include "components/nvidia/program/ptx_services.h"
#include "components/sampling/launch_record.h"
#include "components/statistics/run_progress.h"
#include "runtime/engine/component_failure.h"
#include "runtime/state/memory.h"

#include "trace_player_state.h"

static bool host_answer(struct trace_player *p, uint16_t tag)
{
    if (!trace_player_host_can_reply(p))
        return false;
    trace_player_host_reply_done(p, tag);
    return true;
}

static bool host_read(struct trace_player *p, const struct command_request *m)
{
    if (!trace_player_host_can_reply(p))
        return false;
    void *payload = trace_player_host_reply_data(p, m->tag, m->read.size);
    memcpy(command_data_data(payload), memory_span(m->read.address, m->read.size), m->read.size);
    p->io.stats.copies_done++;
    return true;
}

static bool host_write(struct trace_player *p, const struct command_request *m)
{
    if (!trace_player_host_can_reply(p))
        return false;
    memcpy(memory_span(m->write.address, m->write.size),
           command_write_data(trace_player_host_payload(p)), m->write.size);
    p->io.stats.copies_done++;
    return host_answer(p, m->tag);
}

/* ---- copies and fills inside of the GPU: one after the other ---- */

static void host_move(const struct player_move *m)
{
    char *to = memory_span(m->to, m->size);
    if (m->is_fill)
        for (uint32_t i = 0; i < m->size; i += 4)
            memcpy(to + i, &m->pattern, min(m->size - i, 4));
    else
        memmove(to, memory_span(m->from, m->size), m->size);
}

/* The move under way is over. */
static bool host_move_end(struct trace_player *p)
{
    if (!p->move.size)
        return false;
    if (trace_player_now(p) < p->move.until) {
        trace_player_wake_at(p, p->move.until);
        return false;
    }
    if (!host_answer(p, p->move.tag))
        return false;
    host_move(&p->move);
    p->move.size = 0;
    p->io.stats.copies_done++;
    return true;
}

/* The GPU whose memory has the address. */
static uint32_t host_gpu_of(uint64_t address)
{
    const struct program_table *program = ptx_tables()->program;
    uint32_t gpu = 0;
    while (gpu + 1 < PROGRAM_GPUS
           && address - program->memory_base[gpu] >= program->memory_size[gpu])
        gpu++;
    return gpu;
}

/* A copy reads its bytes and writes them; one between GPUs takes the time of the way. */
static uint64_t host_move_ps(const struct trace_player *p)
{
    bool is_far = !p->move.is_fill && host_gpu_of(p->move.from) != host_gpu_of(p->move.to);
    uint64_t rate =
        (uint64_t)(is_far ? trace_player_params(p)->nvlink : trace_player_params(p)->copy_rate);
    uint64_t bytes = (p->move.is_fill || is_far ? 1 : 2) * (uint64_t)p->move.size;
    return divide_wide(bytes, PS_PER_S, rate);
}

static bool host_move_begin(struct trace_player *p, const struct command_request *m)
{
    bool is_fill = message_kind(m) == COMMAND_FILL;
    if (p->move.size)
        return false;
    p->move = (struct player_move){.tag = m->tag, .is_fill = is_fill};
    if (is_fill) {
        p->move.to = m->fill.address;
        p->move.size = m->fill.size;
        p->move.pattern = m->fill.pattern;
    } else {
        p->move.to = m->copy.destination;
        p->move.from = m->copy.source;
        p->move.size = m->copy.size;
    }
    p->move.until = engine_cycle_at(p->io.base.domain,
                                    engine.domains[p->io.base.domain].time_ps + host_move_ps(p));
    return true;
}

/* ---- launches ---- */

static bool host_launch(struct trace_player *p, const struct command_request *m)
{
    uint32_t slot = player_free_slot(p);
    struct aql_packet packet;
    if (slot == TRACE_INDEX_NONE)
        return false;
    memcpy(&packet, command_launch_packet(trace_player_host_payload(p)), sizeof packet);
    struct player_kernel *k = kernel_begin_slot(p, slot);
    k->is_program = true;
    k->tag = m->tag;
    k->cluster = 1;
    k->stream = slot;
    k->program_kernel = m->launch.kernel;
    k->at_block = aql_first_group(&packet);
    k->end_block =
        k->at_block + (aql_groups(&packet) ? aql_groups(&packet) : aql_all_groups(&packet));
    k->way = aql_memory_only(&packet) ? SAMPLING_MEMORY_ONLY : SAMPLING_DETAILED;
    k->launch = aql_launch(&packet);
    if (!execute_begin(p, k, &packet, m)) {
        player_fail(p);
        k->phase = PLAYER_FREE;
        return false;
    }
    progress_add_kernel(k->end_block - k->at_block);
    k->record = launch_record_begin(&p->io.base, ptx_tables()->program, m->launch.kernel, &packet);
    p->order[p->order_count++] = slot;
    return true;
}

/* The kernel is over: its slot is free when the driver knows. */
static bool host_launch_end(struct trace_player *p, const struct player_kernel *k)
{
    return host_answer(p, k->tag);
}

static bool host_command(struct trace_player *p, const struct command_request *m)
{
    switch (message_kind(m)) {
    case COMMAND_LAUNCH:
        return host_launch(p, m);
    case COMMAND_WRITE:
        return host_write(p, m);
    case COMMAND_READ:
        return host_read(p, m);
    case COMMAND_FILL:
    case COMMAND_COPY:
        return host_move_begin(p, m);
    case COMMAND_FLUSH:
    case COMMAND_FENCE:
    case COMMAND_INVALIDATE:
    case COMMAND_SHOOTDOWN:
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
        return host_answer(p, m->tag);
    default:
        engine_fail(&p->io.base, "a trace_player takes no command of kind %u", message_kind(m));
        return false;
    }
}

static bool host_step(struct trace_player *p)
{
    const struct command_request *m;
    bool progress = host_move_end(p);
    while ((m = trace_player_host_peek(p)) && host_command(p, m)) {
        trace_player_host_pop(p);
        progress = true;
    }
    return progress;
}
