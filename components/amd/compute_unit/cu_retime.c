/* Re-timing: when would this compute unit have come to the same points if what caches and TLBs kept
 * from earlier kernels had been there? Beside each wavefront stands its *lead*, how many cycles
 * earlier it would be where it is now. Leads arise where an answer says that it lost time in a miss
 * of an L2 or a shared TLB (components/sampling/message_note.h), and are handed on the way time is:
 *
 * - a wait ends, re-timed, at the latest of its reasons: the wavefront's own arrival and the
 * answers that it needs, each earlier by the lead of its request and by what it lost itself;
 * - a barrier by the last of its wavefronts, a work-group by the one that made room for it;
 * - a request that was kept waiting by those in front of it would have been so for less long if
 * they had lost less;
 * - nothing is earlier than the cycles in which a unit was busy allow: a lead is at most the time
 * in which the SIMD, the LDS or the port of vector memory had nothing to do since the kernel began.
 *
 * This is the longest path through the run's own graph of dependences with other weights (Fields,
 * Rubin and Bodik, "Focusing processor policies via critical-path prediction", ISCA 2001). It is
 * only an account, like slot-cycles: nothing that is simulated depends on it, and it is kept in
 * runs with chosen kernels only (not with `--kernels auto`, where caches are warm). Three times it
 * is asked: without misses of lines, of pages, of both. Where it is known which misses a cold start
 * is to blame for (components/sampling/residency.h), requests carry their lead of both, so that
 * caches and TLBs can tell when the others would have been answered. */
#include "compute_unit.gen.h"

#include "compute_unit_state.h"
#include "components/sampling/message_note.h"
#include "components/sampling/sampling_options.h"

/* By number of the wavefront. vm, lgkm: re-timed cycles at which the last operations of these
 * counters were over. */
struct retime_wave {
    uint64_t reached; /* cycle in which it began to wait */
    struct retime_lead lead, vm, lgkm;
};

/* An instruction in flight. */
struct retime_operation {
    uint64_t ready;          /* cycle in which its first request could be sent */
    uint64_t sent;           /* lines that had been sent when it was issued */
    struct retime_lead lead; /* of its wavefront, when it was issued */
    struct retime_lead done; /* re-timed cycle of the last of its answers so far */
};

/* A line that has been sent. */
struct retime_sent {
    uint64_t ready; /* cycle in which it could be if the port had taken one in each */
    struct retime_lead lead;
};

/* A line that vector memory has had, by a hash of its address: when it was here, re-timed, and how
 * long it took who asked for it. */
struct retime_line {
    uint64_t address;
    uint64_t took;
    struct retime_lead here;
};

enum { RETIME_LINES = 512 };

static void retime_init(struct compute_unit *c)
{
    struct cu_retime *r = &c->retime;
    size_t waves = (size_t)(compute_unit_params(c)->simds * compute_unit_params(c)->wavefronts);
    size_t queue = (size_t)compute_unit_params(c)->vmem_queue;
    c->retimes = platform_sampling()->kernels && !platform_sampling()->automatic;
    if (!c->retimes)
        return;
    r->waves = arena_allocate(waves * sizeof(struct retime_wave));
    r->vector = arena_allocate(queue * sizeof(struct retime_operation));
    r->scalar = arena_allocate(CU_SMEM * sizeof(struct retime_operation));
    r->lines = arena_allocate(RETIME_LINES * sizeof(struct retime_line));
    r->out = arena_allocate(CU_LINES * sizeof(struct retime_sent));
    r->code_sent = arena_allocate(waves * c->line_slots * sizeof(struct retime_sent));
    r->groups = arena_allocate(CU_MAX_GROUPS * sizeof(struct retime_lead));
}

static inline struct retime_wave *retime_wave(const struct compute_unit *c, unsigned wave)
{
    return arena_at(struct retime_wave, c->retime.waves) + wave;
}

static inline unsigned retime_number(const struct compute_unit *c, const struct cu_wave *w)
{
    return cu_wave_number(c, w->simd, w->slot);
}

/* A lead of a wavefront of `simd` that its units allow. */
static uint64_t retime_bound(const struct compute_unit *c, unsigned simd, uint64_t lead,
                             uint64_t now)
{
    const struct cu_retime *r = &c->retime;
    uint64_t width = (uint64_t)compute_unit_params(c)->vmem_width, passed = now - r->begin;
    uint64_t busy = r->lds > r->sent / width ? r->lds : r->sent / width;
    for (unsigned k = 0; k < CU_KINDS; k++)
        busy = r->busy[simd][k] > busy ? r->busy[simd][k] : busy;
    uint64_t idle = passed > busy ? passed - busy : 0;
    return lead < idle ? lead : idle;
}

/* The wavefront's wait ends at `now`, re-timed at the latest of its arrival and `vm`, `lgkm`. It
 * can issue from the next turn of its SIMD on, in both times. */
static void retime_go_on(struct compute_unit *c, unsigned wave, unsigned simd,
                         const struct retime_lead *vm, const struct retime_lead *lgkm, uint64_t now)
{
    struct retime_wave *w = retime_wave(c, wave);
    for (unsigned s = 0; s < WORK_RETIMES; s++) {
        uint64_t at = w->reached - w->lead.by[s];
        at = vm && vm->by[s] > at ? vm->by[s] : at;
        at = lgkm && lgkm->by[s] > at ? lgkm->by[s] : at;
        uint64_t lead = at < now ? cu_turn(c, simd, now + 1) - cu_turn(c, simd, at + 1) : 0;
        w->lead.by[s] = retime_bound(c, simd, lead, now);
    }
}

/* ---- wavefronts ---- */

static inline void retime_reach(struct compute_unit *c, const struct cu_wave *w, uint64_t now)
{
    if (c->retimes)
        retime_wave(c, retime_number(c, w))->reached = now;
}

/* A wavefront's counters are low enough. */
static inline void retime_counted(struct compute_unit *c, const struct cu_wave *w, uint64_t now)
{
    if (!c->retimes)
        return;
    unsigned wave = retime_number(c, w);
    const struct retime_wave *t = retime_wave(c, wave);
    retime_go_on(c, wave, w->simd, w->limit_vm == ISA_NO_WAIT ? NULL : &t->vm,
                 w->limit_lgkm == ISA_NO_WAIT ? NULL : &t->lgkm, now);
}

/* All wavefronts of the group that have not ended stand at the barrier. */
static inline void retime_barrier(struct compute_unit *c, const struct cu_group *g, uint64_t now)
{
    struct retime_lead last = {{0}};
    for (unsigned pass = 0; pass < 2 && c->retimes; pass++)
        for (unsigned i = 0; i < g->waves; i++) {
            const struct cu_wave *w = cu_wave_at(c, g->wave[i]);
            const struct retime_wave *t = retime_wave(c, g->wave[i]);
            if (w->state != WAVE_BARRIER || w->group != (uint8_t)cu_group_slot(c, g))
                continue;
            for (unsigned s = 0; s < WORK_RETIMES && !pass; s++)
                last.by[s] = t->reached - t->lead.by[s] > last.by[s] ? t->reached - t->lead.by[s]
                                                                     : last.by[s];
            if (pass)
                retime_go_on(c, g->wave[i], w->simd, &last, NULL, now);
        }
}

/* ---- work-groups ---- */

static inline void retime_group_start(struct compute_unit *c, const struct cu_group *g,
                                      uint32_t dispatch, uint64_t now)
{
    struct cu_retime *r = &c->retime;
    if (!c->retimes)
        return;
    if (r->dispatch != dispatch || !r->begin) {
        r->dispatch = dispatch;
        r->begin = now;
        memset(r->busy, 0, sizeof r->busy);
        r->sent = r->lds = 0;
        memset(arena_at(char, r->lines), 0, RETIME_LINES * sizeof(struct retime_line));
        r->last_sent = 0;
        r->vector_port = r->scalar_port = r->code = (struct cu_retime_port){0};
    }
    arena_at(struct retime_lead, r->groups)[cu_group_slot(c, g)] = (struct retime_lead){{0}};
}

/* `lead`: of its placement. */
static inline void retime_wave_start(struct compute_unit *c, unsigned wave, const uint32_t *lead)
{
    if (!c->retimes)
        return;
    struct retime_wave *t = retime_wave(c, wave);
    *t = (struct retime_wave){0};
    for (unsigned s = 0; s < WORK_RETIMES; s++)
        t->lead.by[s] = lead[s];
}

/* It has ended, and so have its memory operations. */
static inline void retime_wave_end(struct compute_unit *c, const struct cu_wave *w, uint64_t now)
{
    if (!c->retimes)
        return;
    unsigned wave = retime_number(c, w);
    const struct retime_wave *t = retime_wave(c, wave);
    struct retime_lead *group = arena_at(struct retime_lead, c->retime.groups) + w->group;
    retime_go_on(c, wave, w->simd, &t->vm, &t->lgkm, now);
    for (unsigned s = 0; s < WORK_RETIMES; s++)
        if (now - t->lead.by[s] > group->by[s])
            group->by[s] = now - t->lead.by[s];
}

static inline void retime_group_end(struct compute_unit *c, const struct cu_group *g,
                                    struct work_account *account, uint64_t now)
{
    if (!c->retimes)
        return;
    const struct retime_lead *end =
        arena_at(struct retime_lead, c->retime.groups) + cu_group_slot(c, g);
    account->ended = now;
    for (unsigned s = 0; s < WORK_RETIMES; s++)
        if (end->by[s] > account->retimed[s])
            account->retimed[s] = end->by[s];
}

/* ---- units ---- */

/* An instruction keeps its unit busy for `cycles`. */
static inline void retime_busy(struct compute_unit *c, unsigned simd, unsigned kind,
                               uint64_t cycles)
{
    if (c->retimes)
        c->retime.busy[simd][kind] += cycles;
}

/* ---- memory ---- */

/* The request of the line of code that comes under `tag`. */
static inline struct retime_sent *retime_code(const struct compute_unit *c, unsigned tag)
{
    return arena_at(struct retime_sent, c->retime.code_sent) + tag;
}

/* Code that a wavefront waited for has come. */
static inline void retime_fetched(struct compute_unit *c, const struct cu_wave *w, unsigned tag,
                                  struct message_note note, uint64_t now)
{
    if (!c->retimes)
        return;
    unsigned wave = retime_number(c, w);
    const struct retime_wave *t = retime_wave(c, wave);
    if (t->reached >= now)
        return;
    const struct retime_sent *sent = retime_code(c, tag);
    /* It may have been asked for ahead, or have waited for the port. */
    uint64_t ready = sent->ready < t->reached ? sent->ready : t->reached;
    struct retime_lead came = retime_lost(&c->retime.code, ready, &sent->lead, note, now);
    for (unsigned s = 0; s < WORK_RETIMES; s++)
        came.by[s] = retime_came(now, sent->lead.by[s], came.by[s]);
    retime_go_on(c, wave, w->simd, &came, NULL, now);
}

/* Before a vector memory instruction is issued, which may have waited for room: it is as early as
 * who made room. */
static inline void retime_room(struct compute_unit *c, const struct cu_wave *w, uint64_t now)
{
    if (!c->retimes || w->why != WORK_WAITING_VMEM_FULL || w->since >= now)
        return;
    unsigned wave = retime_number(c, w);
    struct retime_lead room;
    for (unsigned s = 0; s < WORK_RETIMES; s++)
        room.by[s] = now - c->retime.freed.by[s];
    retime_wave(c, wave)->reached = w->since;
    retime_go_on(c, wave, w->simd, &room, NULL, now);
}

static inline void retime_issue(struct compute_unit *c, uint32_t table, unsigned number,
                                unsigned wave, uint64_t now, uint64_t ready)
{
    if (!c->retimes)
        return;
    struct retime_operation *o = arena_at(struct retime_operation, table) + number;
    o->lead = retime_wave(c, wave)->lead;
    o->ready = ready;
    o->sent = c->retime.sent;
    for (unsigned s = 0; s < WORK_RETIMES; s++)
        o->done.by[s] = now - o->lead.by[s];
}

/* On the request that is sent next: how much earlier it would be. */
static inline void retime_request(const struct compute_unit *c, uint32_t place,
                                  const struct retime_lead *lead)
{
    if (c->retimes)
        message_lead_next(place, lead->by[WORK_RETIME_BOTH]);
}

/* The next request is of operation `number` of scalar memory; a line of code for `wave`. */
static inline void retime_scalar_request(const struct compute_unit *c, unsigned number)
{
    retime_request(c, c->io.smem_request,
                   &(arena_at(struct retime_operation, c->retime.scalar) + number)->lead);
}

static inline void retime_code_request(const struct compute_unit *c, unsigned wave, unsigned tag)
{
    if (!c->retimes)
        return;
    *retime_code(c, tag) =
        (struct retime_sent){component_tick_now(&c->io.base), retime_wave(c, wave)->lead};
    retime_request(c, c->io.imem_request, &retime_code(c, tag)->lead);
}

/* Line `line` of an instruction leaves. As long as lines wait for the port, whose order is not
 * known in the other time, no line can be earlier than if the one that could have been the earliest
 * of them had begun this rush. */
static inline void retime_send(struct compute_unit *c, unsigned number, unsigned line, uint64_t now)
{
    struct cu_retime *r = &c->retime;
    if (!c->retimes)
        return;
    const struct retime_operation *o = arena_at(struct retime_operation, r->vector) + number;
    struct retime_sent *out = arena_at(struct retime_sent, r->out) + line;
    uint64_t width = (uint64_t)compute_unit_params(c)->vmem_width;
    if (!r->last_sent || o->ready > r->last_sent + 1) {
        r->rush = o->ready;
        r->most = (struct retime_lead){{0}};
    }
    for (unsigned s = 0; s < WORK_RETIMES; s++) {
        uint64_t earliest = r->rush + o->lead.by[s];
        if (earliest > o->ready && earliest - o->ready > r->most.by[s])
            r->most.by[s] = earliest - o->ready;
        out->lead.by[s] = o->lead.by[s] < r->most.by[s] ? o->lead.by[s] : r->most.by[s];
    }
    out->ready = o->ready + (r->sent - o->sent) / width;
    out->ready = out->ready < now ? out->ready : now;
    retime_request(c, c->io.vmem_request, &out->lead);
    r->last_sent = now;
    r->sent++;
}

/* An answer of scalar memory. */
static inline void retime_scalar_answer(struct compute_unit *c, unsigned number,
                                        struct message_note note, uint64_t now)
{
    if (!c->retimes)
        return;
    struct retime_operation *o = arena_at(struct retime_operation, c->retime.scalar) + number;
    struct retime_lead lost = retime_lost(&c->retime.scalar_port, o->ready, &o->lead, note, now);
    for (unsigned s = 0; s < WORK_RETIMES; s++) {
        uint64_t at = retime_came(now, o->lead.by[s], lost.by[s]);
        o->done.by[s] = at > o->done.by[s] ? at : o->done.by[s];
    }
}

/* A line of vector memory. Who finds it in the L1, or asked for, is not earlier than who asked for
 * it, or than if he had to ask for it himself. */
static inline void retime_vector_answer(struct compute_unit *c, unsigned number, unsigned line,
                                        struct message_note note, uint64_t now)
{
    if (!c->retimes)
        return;
    struct retime_operation *o = arena_at(struct retime_operation, c->retime.vector) + number;
    const struct retime_sent *out = arena_at(struct retime_sent, c->retime.out) + line;
    struct retime_lead lost =
        retime_lost(&c->retime.vector_port, out->ready, &out->lead, note, now);
    uint64_t address = cu_coalesced(c, line).address;
    struct retime_line *l = arena_at(struct retime_line, c->retime.lines)
                            + (address / CU_LINE * 0x9e3779b97f4a7c15u >> 55) % RETIME_LINES;
    bool known = l->address == address;
    for (unsigned s = 0; s < WORK_RETIMES; s++) {
        uint64_t at = retime_came(now, out->lead.by[s], lost.by[s]);
        uint64_t alone = out->ready - out->lead.by[s] + l->took;
        uint64_t here = known && l->here.by[s] < alone ? l->here.by[s] : alone;
        if (known && at < here)
            at = here < now ? here : now;
        if (!known || at < l->here.by[s])
            l->here.by[s] = at;
        o->done.by[s] = at > o->done.by[s] ? at : o->done.by[s];
    }
    if (!known) {
        l->address = address;
        l->took = now - out->ready - lost.by[WORK_RETIME_BOTH];
    }
}

/* A fence takes as long as it did. */
static inline void retime_fence_answer(struct compute_unit *c, uint32_t table, unsigned number,
                                       uint64_t now)
{
    struct retime_operation *o = arena_at(struct retime_operation, table) + number;
    for (unsigned s = 0; s < WORK_RETIMES && c->retimes; s++)
        o->done.by[s] = now - o->lead.by[s];
}

static inline void retime_latest(struct retime_lead *to, const struct retime_lead *from)
{
    for (unsigned s = 0; s < WORK_RETIMES; s++)
        to->by[s] = from->by[s] > to->by[s] ? from->by[s] : to->by[s];
}

/* The operation is over, which lowers the counters that it raised. */
static inline void retime_over(struct compute_unit *c, unsigned wave, uint32_t table,
                               unsigned number, bool vm, bool lgkm, uint64_t now)
{
    if (!c->retimes)
        return;
    struct retime_wave *t = retime_wave(c, wave);
    struct retime_operation *o = arena_at(struct retime_operation, table) + number;
    if (vm) { /* in order */
        retime_latest(&t->vm, &o->done);
        o->done = t->vm;
        for (unsigned s = 0; s < WORK_RETIMES; s++)
            c->retime.freed.by[s] = now - o->done.by[s];
    }
    if (lgkm)
        retime_latest(&t->lgkm, &o->done);
}

/* An access to the LDS is over: how long it took does not change. */
static inline void retime_lds_over(struct compute_unit *c, const struct cu_wave *w, uint64_t now)
{
    if (!c->retimes)
        return;
    struct retime_wave *t = retime_wave(c, retime_number(c, w));
    for (unsigned s = 0; s < WORK_RETIMES; s++)
        if (now - t->lead.by[s] > t->lgkm.by[s])
            t->lgkm.by[s] = now - t->lead.by[s];
}
