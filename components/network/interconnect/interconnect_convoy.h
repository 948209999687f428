/* Messages that nobody else notices pass all at once: convoy.h. A template as interconnect.h,
 * included behind it: the same turns as move_words(), without messages. Sources and targets fit
 * into a word each. */
#include "runtime/link/convoy.h"

/* For so many cycles no other convoy of answers is tried when one has failed. */
#define INTERCONNECT_CONVOY_REST  32u
/* For fewer answers it costs as much as messages. */
#define INTERCONNECT_CONVOY_LEAST 4u
/* Cycles that answers may wait for each other. */
#define INTERCONNECT_CONVOY_SLACK 4u

static struct INTERCONNECT_TYPE *INTERCONNECT(convoy_self)(const struct component *c)
{
    return (struct INTERCONNECT_TYPE *)(uintptr_t)c;
}

static struct interconnect_target *INTERCONNECT(convoy_target)(const struct INTERCONNECT_TYPE *c,
                                                               bool reply, uint32_t number)
{
    return &arena_at(struct interconnect_target, c->interconnect.side[reply].by_target)[number];
}

static struct ring *INTERCONNECT(convoy_source)(const struct INTERCONNECT_TYPE *c, bool reply,
                                                uint32_t number)
{
    return ring_placed(arena_at(uint32_t, c->interconnect.side[reply].rings)[number]);
}

/* Nobody waits, and of requests there are none. */
static bool INTERCONNECT(convoy_is_idle)(const struct INTERCONNECT_TYPE *c)
{
    const struct interconnect *x = &c->interconnect;
    uint32_t first = INTERCONNECT(from_first_pending)(c);
    return interconnect_is_small(&x->side[0]) && interconnect_is_small(&x->side[1])
           && !*interconnect_bits(x->side[0].busy) && !*interconnect_bits(x->side[1].busy)
           && !interconnect_pending(&c->io.base, first, first + x->side[0].sources);
}

/* Bits of the sources that may hold answers. */
static uint64_t INTERCONNECT(convoy_answering)(const struct INTERCONNECT_TYPE *c)
{
    uint32_t first = INTERCONNECT(to_first_pending)(c);
    return interconnect_pending(&c->io.base, first, first + c->interconnect.side[1].sources);
}

/* ---- planning ---- */

/* Messages that have not been passed on, by source; cycles as in a plan. */
struct INTERCONNECT(convoying) {
    uint32_t now;
    uint32_t soonest; /* cycle in which another source shows something */
    uint64_t waiting, known, busy;
    uint64_t wanted[CONVOY_MOST];
    uint32_t last[CONVOY_MOST];
    uint8_t head[CONVOY_MOST], next[CONVOY_MOST]; /* the last one of a source is its own next */
};

/* Enters the messages of a leg. */
static void INTERCONNECT(convoy_enter)(const struct INTERCONNECT_TYPE *c,
                                       const struct convoy_leg *leg,
                                       struct INTERCONNECT(convoying) * s)
{
    struct convoy_plan *p = leg->plan;
    *p = (struct convoy_plan){.count = leg->count,
                              .cycles = c->interconnect.side[leg->reply].kinds[leg->kind].cycles};
    memcpy(p->at, leg->at, leg->count * sizeof *p->at);
    memcpy(p->from, leg->from, leg->count);
    memcpy(p->to, leg->to, leg->count);
    *s = (struct INTERCONNECT(convoying)){.now = 0};
    for (uint32_t k = leg->count; k-- > 0;) {
        uint8_t from = leg->from[k];
        s->next[k] = p->of_source[from]++ ? s->head[from] : (uint8_t)k;
        s->head[from] = (uint8_t)k;
        s->waiting |= (uint64_t)1 << from;
        p->of_target[leg->to[k]]++;
        p->targets |= (uint64_t)1 << leg->to[k];
    }
    p->sources = s->waiting;
    for (uint64_t bits = p->targets; bits; bits &= bits - 1) {
        uint32_t target = (uint32_t)__builtin_ctzll(bits);
        s->last[target] = INTERCONNECT(convoy_target)(c, leg->reply, target)->last_served;
        p->served[target] = (uint8_t)s->last[target];
    }
}

/* What sources show in this cycle is entered. */
static inline void INTERCONNECT(convoy_discover)(const struct convoy_plan *p,
                                                 struct INTERCONNECT(convoying) * s)
{
    s->soonest = UINT32_MAX;
    for (uint64_t bits = s->waiting & ~s->known; bits; bits &= bits - 1) {
        uint8_t k = s->head[__builtin_ctzll(bits)];
        if (p->at[k] > s->now) {
            s->soonest = p->at[k] < s->soonest ? p->at[k] : s->soonest;
            continue;
        }
        s->known |= bits & -bits;
        s->wanted[p->to[k]] |= bits & -bits;
        s->busy |= (uint64_t)1 << p->to[k];
    }
}

/* The message whose turn it is at a target. Its source shows another one from the next cycle on. */
static inline uint8_t INTERCONNECT(convoy_turn)(const struct convoy_plan *p,
                                                struct INTERCONNECT(convoying) * s, uint32_t target)
{
    uint32_t source = INTERCONNECT(take_turn)(&s->wanted[target], 1, &s->last[target]), at;
    uint8_t k = s->head[source];
    s->known &= ~((uint64_t)1 << source);
    if (s->next[k] == k) {
        s->waiting &= ~((uint64_t)1 << source);
        return k;
    }
    s->head[source] = s->next[k];
    at = p->at[s->next[k]] > s->now ? p->at[s->next[k]] : s->now + 1;
    s->soonest = at < s->soonest ? at : s->soonest;
    return k;
}

/* Makes the plan of a leg. */
static void INTERCONNECT(convoy_order)(const struct INTERCONNECT_TYPE *c,
                                       const struct convoy_leg *leg)
{
    struct convoy_plan *p = leg->plan;
    struct INTERCONNECT(convoying) s;
    uint32_t passed = 0;
    INTERCONNECT(convoy_enter)(c, leg, &s);
    for (; passed < p->count; s.now = s.busy ? s.now + 1 : s.soonest) {
        INTERCONNECT(convoy_discover)(p, &s);
        for (uint64_t bits = s.busy; bits; bits &= bits - 1) {
            uint32_t target = (uint32_t)__builtin_ctzll(bits);
            if (p->free_at[target] > s.now)
                continue;
            uint8_t k = INTERCONNECT(convoy_turn)(p, &s, target);
            const struct ring *out =
                ring_placed(INTERCONNECT(convoy_target)(c, leg->reply, target)->ring);
            p->order[passed++] = k;
            p->passed[k] = (uint16_t)s.now;
            p->seen[k] = (uint16_t)convoy_seen(out, s.now);
            p->last = p->seen[k] > p->last ? p->seen[k] : p->last;
            p->free_at[target] = (uint16_t)(s.now + p->cycles);
            p->serves[target] = (uint8_t)s.last[target];
            if (!s.wanted[target]) {
                s.busy ^= bits & -bits;
                continue;
            }
            uint32_t from = s.now > p->conflict_until ? s.now : p->conflict_until;
            uint32_t end = s.now + p->cycles;
            p->conflicts += (uint16_t)(end > from ? end - from : 0);
            p->conflict_until = end > from ? (uint16_t)end : p->conflict_until;
        }
    }
}

/* Does the plan that is kept hold for this leg? */
static bool INTERCONNECT(convoy_holds)(const struct INTERCONNECT_TYPE *c,
                                       const struct convoy_leg *leg)
{
    const struct convoy_plan *p = leg->plan;
    if (p->count != leg->count
        || p->cycles != c->interconnect.side[leg->reply].kinds[leg->kind].cycles
        || memcmp(p->at, leg->at, leg->count * sizeof *p->at) != 0
        || memcmp(p->from, leg->from, leg->count) != 0 || memcmp(p->to, leg->to, leg->count) != 0)
        return false;
    for (uint64_t bits = p->targets; bits; bits &= bits - 1) {
        uint32_t target = (uint32_t)__builtin_ctzll(bits);
        if (INTERCONNECT(convoy_target)(c, leg->reply, target)->last_served != p->served[target])
            return false;
    }
    return true;
}

/* Are all targets of the plan free, with room for its messages, and so are, for requests, sources?
 */
static bool INTERCONNECT(convoy_has_room)(const struct INTERCONNECT_TYPE *c,
                                          const struct convoy_leg *leg)
{
    const struct convoy_plan *p = leg->plan;
    uint64_t limit = ring_limit(leg->start);
    for (uint64_t bits = leg->reply ? 0 : p->sources; bits; bits &= bits - 1) {
        uint32_t source = (uint32_t)__builtin_ctzll(bits);
        if (!convoy_is_clear(INTERCONNECT(convoy_source)(c, false, source), p->of_source[source],
                             limit))
            return false;
    }
    for (uint64_t bits = p->targets; bits; bits &= bits - 1) {
        uint32_t target = (uint32_t)__builtin_ctzll(bits);
        const struct interconnect_target *t = INTERCONNECT(convoy_target)(c, leg->reply, target);
        if (t->free_at > leg->start
            || !convoy_is_clear(ring_placed(t->ring), p->of_target[target], limit))
            return false;
    }
    return c->interconnect.side[leg->reply].conflict_until <= leg->start;
}

/* Plans a leg whose targets are known. */
static bool INTERCONNECT(convoy_plan_leg)(const struct INTERCONNECT_TYPE *c,
                                          const struct convoy_leg *leg)
{
    if (!INTERCONNECT(convoy_holds)(c, leg))
        INTERCONNECT(convoy_order)(c, leg);
    return INTERCONNECT(convoy_has_room)(c, leg);
}

/* What both directions leave behind at their targets, whose slots have their stamps. */
static void INTERCONNECT(convoy_leave)(struct INTERCONNECT_TYPE *c, const struct convoy_leg *leg)
{
    struct interconnect_side *side = &c->interconnect.side[leg->reply];
    const struct convoy_plan *p = leg->plan;
    unsigned awaited = side->kinds[leg->kind].awaited;
    for (uint64_t bits = p->targets; bits; bits &= bits - 1) {
        uint32_t target = (uint32_t)__builtin_ctzll(bits);
        struct interconnect_target *t = INTERCONNECT(convoy_target)(c, leg->reply, target);
        t->last_served = p->serves[target];
        t->free_at = leg->start + p->free_at[target];
        convoy_goes_by(ring_placed(t->ring), p->of_target[target], t->free_at - p->cycles, awaited);
    }
    if (p->conflicts)
        side->conflict_until = leg->start + p->conflict_until;
    c->io.stats.conflicts += p->conflicts;
    *(leg->reply ? &c->io.stats.replies : &c->io.stats.requests) += leg->count;
    convoy_note(leg->count);
}

/* Where the next message of each end lies, of a leg's sources or targets, and what makes the cycle
 * in which it is dropped the stamp of its slot. */
struct INTERCONNECT(convoy_slots) {
    uint32_t slot[CONVOY_MOST];
    uint32_t step[CONVOY_MOST];
    uint64_t back[CONVOY_MOST];
};

static void INTERCONNECT(convoy_find_slots)(struct INTERCONNECT(convoy_slots) * s, uint32_t end,
                                            const struct ring *r, uint64_t start)
{
    s->slot[end] = r->first;
    s->step[end] = r->step;
    s->back[end] = ring_limit(start + r->latency);
}

/* Of the targets of a leg. */
static void INTERCONNECT(convoy_find_targets)(const struct INTERCONNECT_TYPE *c,
                                              const struct convoy_leg *leg,
                                              struct INTERCONNECT(convoy_slots) * s)
{
    for (uint64_t bits = leg->plan->targets; bits; bits &= bits - 1) {
        uint32_t target = (uint32_t)__builtin_ctzll(bits);
        const struct interconnect_target *t = INTERCONNECT(convoy_target)(c, leg->reply, target);
        INTERCONNECT(convoy_find_slots)(s, target, ring_placed(t->ring), leg->start);
    }
}

/* A message of an end is dropped `cycle` cycles behind the start. */
static inline void INTERCONNECT(convoy_drop)(struct INTERCONNECT(convoy_slots) * s, uint32_t end,
                                             uint32_t cycle)
{
    message_set_stamp(ring_slot(s->slot[end]), s->back[end] + ((uint64_t)cycle << 16));
    s->slot[end] += s->step[end];
}

/* ---- requests: by their sender ---- */

static bool INTERCONNECT(convoy_plan)(struct component *self, struct convoy_leg *leg)
{
    const struct INTERCONNECT_TYPE *c = INTERCONNECT(convoy_self)(self);
    const struct index_pool *origins = &c->interconnect.free_origins;
    if (!INTERCONNECT(convoy_is_idle)(c)
        || index_pool_used(origins) + leg->count > origins->capacity)
        return false;
    for (uint32_t k = 0; k < leg->count; k++) {
        int32_t target = INTERCONNECT(way)(c, leg->address[k]);
        if (target < 0)
            return false;
        leg->to[k] = (uint8_t)target;
    }
    return INTERCONNECT(convoy_plan_leg)(c, leg);
}

static void INTERCONNECT(convoy_pass)(struct component *self, struct convoy_leg *leg)
{
    struct INTERCONNECT_TYPE *c = INTERCONNECT(convoy_self)(self);
    struct interconnect *x = &c->interconnect;
    const struct convoy_plan *p = leg->plan;
    struct INTERCONNECT(convoy_slots) in, out;
    for (uint64_t bits = p->sources; bits; bits &= bits - 1) {
        uint32_t source = (uint32_t)__builtin_ctzll(bits);
        struct ring *r = INTERCONNECT(convoy_source)(c, false, source);
        INTERCONNECT(convoy_find_slots)(&in, source, r, leg->start);
        convoy_goes_by(r, p->of_source[source], leg->start, x->side[0].kinds[leg->kind].awaited);
    }
    INTERCONNECT(convoy_find_targets)(c, leg, &out);
    for (uint32_t i = 0; i < leg->count; i++) {
        uint8_t k = p->order[i];
        uint32_t number = index_pool_take(&x->free_origins);
        *interconnect_origin(x, number) = (struct interconnect_origin){leg->from[k], leg->tag[k]};
        leg->number[k] = (uint16_t)number;
        INTERCONNECT(convoy_drop)(&in, leg->from[k], p->passed[k]);
        INTERCONNECT(convoy_drop)(&out, leg->to[k], p->seen[k]);
    }
    INTERCONNECT(convoy_leave)(c, leg);
}

static uint32_t INTERCONNECT(convoy_end)(const struct component *self, uint32_t place)
{
    const struct interconnect_side *side = &INTERCONNECT(convoy_self)(self)->interconnect.side[0];
    for (uint32_t i = 0; i < side->sources && i < CONVOY_MOST; i++)
        if (arena_at(uint32_t, side->rings)[i] == place)
            return i;
    return CONVOY_MOST;
}

static uint32_t INTERCONNECT(convoy_behind)(const struct component *self, uint32_t end)
{
    const struct INTERCONNECT_TYPE *c = INTERCONNECT(convoy_self)(self);
    if (end >= c->interconnect.side[0].targets || end >= CONVOY_MOST)
        return UINT32_MAX;
    return ring_receiver(ring_placed(INTERCONNECT(convoy_target)(c, false, end)->ring));
}

static const struct convoy_ops INTERCONNECT(convoy_ops) = {
    .plan = INTERCONNECT(convoy_plan),
    .pass = INTERCONNECT(convoy_pass),
    .end = INTERCONNECT(convoy_end),
    .behind = INTERCONNECT(convoy_behind),
};

/* ---- answers: when the first of them is seen ---- */

static bool INTERCONNECT(convoy_is_connected)(uint32_t place)
{
    return ring_number(place) < engine_base.platform->ring_count;
}

/* Do all who answer go with it? */
static bool INTERCONNECT(convoy_is_answered_here)(const struct INTERCONNECT_TYPE *c)
{
    const struct interconnect_side *side = &c->interconnect.side[1];
    for (uint32_t i = 0; i < side->sources; i++) {
        uint32_t place = arena_at(uint32_t, side->rings)[i];
        if (INTERCONNECT(convoy_is_connected)(place)
            && !convoy_goes_with(engine_base.components[ring_sender(ring_placed(place))],
                                 &c->io.base))
            return false;
    }
    return true;
}

/* Who gets answers, and can be told of several at once: the first that is found. */
static void INTERCONNECT(convoy_find_sender)(struct INTERCONNECT_TYPE *c)
{
    struct interconnect *x = &c->interconnect;
    x->sender = INTERCONNECT_NO_CONVOYS;
    if (!INTERCONNECT(convoy_is_answered_here)(c))
        return;
    for (uint32_t i = 0; i < x->side[1].targets && i < CONVOY_MOST; i++) {
        uint32_t place = INTERCONNECT(convoy_target)(c, true, i)->ring;
        if (!INTERCONNECT(convoy_is_connected)(place))
            continue;
        uint32_t id = ring_receiver(ring_placed(place));
        const struct convoy_ops *ops = convoy_ops_of(id);
        if (!ops || !ops->accepts || !convoy_goes_with(engine_base.components[id], &c->io.base))
            continue;
        if (x->sender == INTERCONNECT_NO_CONVOYS)
            x->sender = 1 + id;
        if (x->sender == 1 + id)
            x->sender_ends |= (uint64_t)1 << i;
    }
}

/* Messages that are gathered: those that are seen at most `most` cycles behind the start. */
struct INTERCONNECT(gathering) {
    struct convoy_leg *leg;
    uint64_t most;
    uint64_t next; /* cycle in which the first of the others is seen */
};

/* Adds the messages of source `from`. false: they are too many, or not of one kind, or not for the
 * sender, or their ring is not simple. */
static bool INTERCONNECT(convoy_add)(const struct INTERCONNECT_TYPE *c,
                                     struct INTERCONNECT(gathering) * g, uint8_t from)
{
    const struct interconnect *x = &c->interconnect;
    const struct ring *r = INTERCONNECT(convoy_source)(c, true, from);
    struct convoy_leg *leg = g->leg;
    uint32_t slot = r->head, k = leg->count;
    if (!r->simple || !r->latency || r->sender_waits)
        return false;
    do {
        const struct message *m = ring_slot(slot);
        if (!(m->stamp & RING_FULL))
            break;
        if (message_cycle(m) > leg->start + g->most) {
            g->next = message_cycle(m) < g->next ? message_cycle(m) : g->next;
            break;
        }
        const struct interconnect_origin *origin = interconnect_origin(x, m->tag);
        if (k == CONVOY_MOST || (k && leg->kind != message_kind(m))
            || !(x->sender_ends >> origin->source & 1))
            return false;
        leg->kind = (uint8_t)message_kind(m);
        leg->at[k] = (uint16_t)(message_cycle(m) > leg->start ? message_cycle(m) - leg->start : 0);
        leg->from[k] = from;
        leg->to[k] = (uint8_t)origin->source;
        leg->tag[k] = origin->tag;
        leg->number[k] = m->tag;
        leg->slot[k++] = slot;
        slot = ring_after(r, slot);
    } while (slot != r->head);
    leg->count = k;
    return true;
}

/* Those that are under way and can have got to the sender before `quiet_until`, if others do not
 * come between them. */
static bool INTERCONNECT(convoy_gather)(const struct INTERCONNECT_TYPE *c, struct convoy_leg *leg,
                                        uint64_t quiet_until)
{
    uint32_t end = (uint32_t)__builtin_ctzll(c->interconnect.sender_ends);
    uint64_t ahead = convoy_seen(ring_placed(INTERCONNECT(convoy_target)(c, true, end)->ring), 0),
             now = component_now(&c->io.base);
    struct INTERCONNECT(gathering) g = {.leg = leg, .next = ENGINE_NEVER};
    if (quiet_until - now <= ahead + INTERCONNECT_CONVOY_SLACK)
        return false;
    g.most = quiet_until - now - ahead - INTERCONNECT_CONVOY_SLACK;
    leg->start = now;
    leg->count = 0;
    leg->reply = true;
    for (uint64_t bits = INTERCONNECT(convoy_answering)(c); bits; bits &= bits - 1)
        if (!INTERCONNECT(convoy_add)(c, &g, (uint8_t)__builtin_ctzll(bits)))
            return false;
    if (leg->count < INTERCONNECT_CONVOY_LEAST || !INTERCONNECT(convoy_plan_leg)(c, leg))
        return false;
    uint64_t last = leg->start + leg->plan->last;
    return last < quiet_until && last <= g.next;
}

/* A source's messages have gone, but for those that are seen later. */
static void INTERCONNECT(convoy_empty)(struct ring *r, uint32_t count)
{
    for (; count; count--)
        r->head = ring_after(r, r->head);
    uint64_t stamp = message_stamp(ring_slot(r->head));
    if (stamp & RING_FULL)
        engine_mark_arrival(r->mark, r->receiver_domain, stamp >> 16);
    else
        *arena_at(uint64_t, r->pending) &= ~((uint64_t)1 << r->pending_bit);
}

static void INTERCONNECT(convoy_take_answers)(struct INTERCONNECT_TYPE *c,
                                              const struct convoy_leg *leg)
{
    struct interconnect *x = &c->interconnect;
    const struct convoy_plan *p = leg->plan;
    struct INTERCONNECT(convoy_slots) in, out;
    for (uint64_t bits = p->sources; bits; bits &= bits - 1) {
        uint32_t source = (uint32_t)__builtin_ctzll(bits);
        INTERCONNECT(convoy_find_slots)
        (&in, source, INTERCONNECT(convoy_source)(c, true, source), leg->start);
    }
    INTERCONNECT(convoy_find_targets)(c, leg, &out);
    for (uint32_t i = 0; i < leg->count; i++) {
        uint8_t k = p->order[i];
        index_pool_give(&x->free_origins, leg->number[k]);
        in.slot[leg->from[k]] = leg->slot[k];
        INTERCONNECT(convoy_drop)(&in, leg->from[k], p->passed[k]);
        INTERCONNECT(convoy_drop)(&out, leg->to[k], p->seen[k]);
    }
    engine_forget_arrivals(&c->io.base, leg->start + p->last);
    for (uint64_t bits = p->sources; bits; bits &= bits - 1) {
        uint32_t source = (uint32_t)__builtin_ctzll(bits);
        INTERCONNECT(convoy_empty)
        (INTERCONNECT(convoy_source)(c, true, source), p->of_source[source]);
    }
    INTERCONNECT(convoy_leave)(c, leg);
}

static void INTERCONNECT(convoy_answers)(struct component *self, uint64_t quiet_until)
{
    struct INTERCONNECT_TYPE *c = INTERCONNECT(convoy_self)(self);
    struct component *sender = engine_base.components[c->interconnect.sender - 1];
    const struct convoy_ops *ops = convoy_ops_of(sender->id);
    struct convoy_leg leg;
    leg.plan = ops->plans(sender);
    if (INTERCONNECT(convoy_gather)(c, &leg, quiet_until) && ops->accepts(sender, &leg)) {
        ops->receive(sender, &leg);
        INTERCONNECT(convoy_take_answers)(c, &leg);
        engine_mark_arrival(engine_mark_of(sender->id), sender->domain, leg.start + leg.plan->last);
        return;
    }
    c->interconnect.no_convoy_until = component_now(self) + INTERCONNECT_CONVOY_REST;
    INTERCONNECT(move)(c);
    engine_wake_next(self->id);
}

/* Are several answers under way, and nothing else? Then it is worth trying. */
static inline bool INTERCONNECT(convoy_is_likely)(struct INTERCONNECT_TYPE *c)
{
    struct interconnect *x = &c->interconnect;
    if (engine_likely(x->sender == INTERCONNECT_NO_CONVOYS))
        return false;
    if (!x->sender)
        INTERCONNECT(convoy_find_sender)(c);
    uint64_t answering = INTERCONNECT(convoy_answering)(c);
    return x->sender != INTERCONNECT_NO_CONVOYS && answering & (answering - 1)
           && component_tick_now(&c->io.base) >= x->no_convoy_until
           && INTERCONNECT(convoy_is_idle)(c);
}
