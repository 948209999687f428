/* Streaming multiprocessor: takes thread blocks, replays their warps, answers when they end.
 *
 * A tick follows results to the instructions that wait for them: instructions that end now, answers
 * of memory, the memory unit, issue, fetch; then new blocks, whose warps begin in the next cycle.
 * All waiting is by time stamp, so an SM whose warps all wait sleeps until the earliest stamp, and
 * an SM without blocks sleeps for good. */
#include "streaming_multiprocessor.gen.h"

#include "base/number.h"
#include "components/sampling/warmup.h"
#include "runtime/observe/hang.h"

#include "sm_state.h"

/* For kernels without time (components/sampling/warmup.h): does what a message to the control port
 * would do. */
static void sm_warm_begin(struct component *self, bool system)
{
    (void)system;
    const struct streaming_multiprocessor *c =
        (const struct streaming_multiprocessor *)(void *)self;
    if (streaming_multiprocessor_control_is_connected(c))
        warm_drop(ring_number(c->io.mem_request));
}

static void sm_warm_carve(struct component *self, uint32_t bytes)
{
    struct streaming_multiprocessor *c = (struct streaming_multiprocessor *)(void *)self;
    if (!streaming_multiprocessor_control_is_connected(c) || bytes == c->carve)
        return;
    warm_carve(ring_number(c->io.control_request), bytes);
    c->carve = bytes;
}

static const struct warm_ops sm_warm_ops = {.begin = sm_warm_begin, .carve = sm_warm_carve};

static void times_init(struct streaming_multiprocessor *c)
{
    const struct streaming_multiprocessor_params *p = streaming_multiprocessor_params(c);
    const int64_t times[TRACE_UNITS][3] = {
        [TRACE_FP32] = {p->fp32_latency, p->fp32_interval, p->fp32_chain},
        [TRACE_INT] = {p->int_latency, p->int_interval, p->int_chain},
        [TRACE_SFU] = {p->sfu_latency, p->sfu_interval, 0},
        [TRACE_FP64] = {p->fp64_latency, p->fp64_interval, p->fp64_chain},
        [TRACE_TENSOR] = {p->tensor_latency, p->tensor_interval, 0},
        [TRACE_BRANCH] = {p->branch_latency, p->branch_interval, 0},
        [TRACE_TEXTURE] = {p->texture_latency, p->texture_interval, 0},
        [TRACE_UNIFORM] = {p->uniform_latency, p->uniform_interval, 0},
    };
    bool measured = p->dependent == STREAMING_MULTIPROCESSOR_DEPENDENT_MEASURED;
    for (unsigned u = 0; u < TRACE_UNITS; u++)
        c->times[u] = (struct sm_times){(uint32_t)times[u][0], (uint32_t)times[u][1],
                                        measured ? (uint32_t)times[u][2] : 0};
}

static void streaming_multiprocessor_init(struct streaming_multiprocessor *c)
{
    const struct streaming_multiprocessor_params *params = streaming_multiprocessor_params(c);
    warm_register(&c->io.base, &sm_warm_ops);
    warm_register_unit(&c->io.base, &(struct warm_unit){.ring = {ring_number(c->io.mem_request),
                                                                 RING_NONE, RING_NONE}});
    c->events_at = arena_allocate(SM_EVENTS * sizeof(struct sm_event));
    c->pending_at = arena_allocate(params->in_flight * sizeof(struct sm_pending));
    c->queues_at = arena_allocate(sizeof(struct sm_access) * SM_QUEUE * SM_SUB_CORES);
    c->accounts_at = arena_allocate(SM_BLOCKS * sizeof(struct warp_account));
    c->free_event = SM_NONE;
    times_init(c);
    for (uint16_t i = 0; i < (uint16_t)params->in_flight; i++)
        sm_pending(c, i)->next = i + 1 < (uint16_t)params->in_flight ? (uint16_t)(i + 1) : SM_NONE;
    for (uint32_t i = 0; i < SM_WHEEL; i++)
        c->wheel[i] = SM_NONE;
    c->free_warps = params->warps == SM_WARPS ? UINT64_MAX : sm_bit(params->warps) - 1;
}

/* Before the first block of a kernel whose shared memory needs another part of the L1, and after
 * the last block of all. */
static bool control_receive(struct streaming_multiprocessor *c)
{
    bool progress = false;
    while (streaming_multiprocessor_control_peek_reply(c)) {
        streaming_multiprocessor_control_pop_reply(c);
        c->control_answers--;
        progress = true;
    }
    return progress;
}

/* Blocks wait at the door while the L1 changes its parts. */
static bool blocks_accept(struct streaming_multiprocessor *c, uint64_t now)
{
    const struct thread_block_request *m;
    bool progress = false;
    while (!c->control_answers && !c->must_forget && (m = streaming_multiprocessor_work_peek(c))) {
        if (message_kind(m) == THREAD_BLOCK_GO_ON) {
            block_go_on(c, m->go_on.block);
            streaming_multiprocessor_work_pop(c);
            progress = true;
            continue;
        }
        const struct trace_block *b = trace_block(streaming_multiprocessor_stream(c), m->run.block);
        if (streaming_multiprocessor_control_is_connected(c) && !c->resident
            && b->carve != c->carve) {
            if (!streaming_multiprocessor_control_can_send(c))
                break;
            streaming_multiprocessor_control_send_carve(c, 0, b->carve);
            c->carve = b->carve;
            c->control_answers++;
            return true;
        }
        block_start(c, m->run.block, m->tag, now);
        streaming_multiprocessor_work_pop(c);
        progress = true;
    }
    return progress;
}

/* Reports ends; an SM that is empty has its L1 forget everything. */
static bool blocks_end(struct streaming_multiprocessor *c, uint64_t now)
{
    if (!(c->blocks_over | c->blocks_ask))
        return false;
    bool progress = blocks_report(c, now);
    if (!c->resident)
        c->must_forget = streaming_multiprocessor_control_is_connected(c);
    return progress;
}

static bool l1_forget(struct streaming_multiprocessor *c)
{
    if (!streaming_multiprocessor_control_can_send(c))
        return false;
    streaming_multiprocessor_control_send_invalidate(c, 0);
    c->must_forget = false;
    c->control_answers++;
    return true;
}

static bool streaming_multiprocessor_tick(struct streaming_multiprocessor *c)
{
    uint64_t now = streaming_multiprocessor_now(c), at = ENGINE_NEVER;
    bool progress = false;
    c->now = now;
    if (c->resident) {
        progress |= events_end(c, now);
        progress |= memory_receive(c, now);
        progress |= memory_step(c, now, &at);
        progress |= c->copier.count && copier_step(c, now, &at);
        progress |= warps_issue(c, now, &at);
        progress |= c->fetch && warps_fetch(c);
        progress |= blocks_end(c, now);
    }
    progress |= c->must_forget && l1_forget(c);
    progress |= c->control_answers && control_receive(c);
    progress |= blocks_accept(c, now);
    if (!progress && c->resident) {
        uint64_t event = sm_event_next(c, now);
        if (c->phase_waits && event == ENGINE_NEVER && at == ENGINE_NEVER)
            progress = phases_release(c);
        streaming_multiprocessor_wake_at(c, min(event, at));
    }
    return progress;
}

static unsigned streaming_multiprocessor_outstanding(const struct streaming_multiprocessor *c,
                                                     struct hang_report *report)
{
    if (report && c->resident) {
        unsigned barrier = 0, memory = 0, live = 0, copies = 0;
        for (uint32_t i = 0; i < SM_WARPS; i++) {
            live += c->warp[i].is_used;
            barrier += c->warp[i].is_used && c->warp[i].waits == SM_WAITS_BARRIER;
            copies += c->warp[i].is_used && c->warp[i].waits >= SM_WAITS_COPIES;
            memory += c->warp[i].is_used && c->warp[i].accesses;
        }
        hang_note(report,
                  "%u blocks, %u warps: %u wait at a barrier, %u for copies or for other warps of "
                  "their four, %u have accesses under way",
                  c->resident, live, barrier, copies, memory);
    }
    return c->resident + c->control_answers + c->must_forget;
}
