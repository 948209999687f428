/* Copies that nobody else notices: convoy.h. A command that reads or writes whole lines, while the
 * engine has nothing else to issue, brings its requests to the memories at once where that can be;
 * otherwise they are issued as those of all others, a moment later in the same cycle. Answers are
 * taken all at once when they are those of one command. */
#include "dma_engine.gen.h"

#include "dma_state.h"
#include "runtime/link/convoy.h"
#include "runtime/state/memory.h"

#define DMA_CONVOY_LEAST 4u /* lines: for fewer it costs as much as messages */

struct dma_memory {
    struct component *c;
    const struct convoy_ops *ops;
};

struct dma_convoy {
    struct dma_engine *c;
    struct component *way;
    const struct convoy_ops *ops; /* of the way */
    uint32_t command;
    bool writes;
    struct dma_memory memories[CONVOY_MOST]; /* by end */
    struct convoy_leg requests;
};

/* The oldest of the commands to be issued. */
static uint32_t dma_oldest(const struct dma_engine *c)
{
    return *order_at(c, c->oldest);
}

static uint64_t dma_address(const struct dma_command *k)
{
    return k->kind == COMMAND_READ ? k->source : k->target;
}

static bool dma_may_convoy(const struct dma_engine *c)
{
    const uint32_t kinds = 1u << COMMAND_WRITE | 1u << COMMAND_READ | 1u << COMMAND_FILL;
    if (c->unissued != 1 || c->first_read != DMA_NONE || c->way == DMA_NONE)
        return false;
    const struct dma_command *k = command_at(c, dma_oldest(c));
    uint32_t line = dma_line(c), lines = k->size / line;
    return kinds >> k->kind & 1 && !k->issued && !(dma_address(k) % line) && !(k->size % line)
           && lines >= DMA_CONVOY_LEAST && lines <= CONVOY_MOST
           && lines <= c->free_pieces.capacity - index_pool_used(&c->free_pieces)
           && memory_contains(dma_address(k), k->size);
}

/* Is there a memory behind what can plan? */
static bool dma_leads_to_memory(const struct component *way, const struct convoy_ops *ops)
{
    uint32_t id;
    for (uint32_t end = 0; (id = ops->behind(way, end)) != UINT32_MAX; end++)
        if (convoy_ops_of(id) && convoy_ops_of(id)->ready)
            return true;
    return false;
}

/* What all lanes lead to, if it can plan, and where they end there. */
static uint32_t dma_find_way(const struct dma_engine *c)
{
    struct dma_lane *lanes = arena_at(struct dma_lane, c->lanes);
    uint32_t id = ring_receiver(ring_placed(lanes[0].request));
    const struct convoy_ops *ops = convoy_ops_of(id);
    if (!ops || !ops->plan || !convoy_goes_with(engine_base.components[id], &c->io.base)
        || !dma_leads_to_memory(engine_base.components[id], ops))
        return DMA_NONE;
    for (uint32_t i = 0; i < lane_count(c); i++) {
        const struct ring *r = ring_placed(lanes[i].request);
        lanes[i].end = ops->end(engine_base.components[id], lanes[i].request);
        lanes[i].ahead = convoy_seen(r, 0);
        if (lanes[i].end >= CONVOY_MOST || lanes[i].ahead >= ENGINE_NEAR)
            return DMA_NONE;
    }
    return 1 + id;
}

/* A line in each lane in turn, cycle by cycle. */
static void dma_fill_requests(struct dma_convoy *s)
{
    const struct dma_engine *c = s->c;
    const struct dma_command *k = command_at(c, s->command);
    const struct dma_lane *lanes = arena_at(struct dma_lane, c->lanes);
    struct convoy_leg *leg = &s->requests;
    uint32_t count = lane_count(c), lane = c->turn, line = dma_line(c), turn = 0, sent = 0;
    uint64_t address = dma_address(k);
    leg->start = component_now(&c->io.base);
    leg->count = k->size / line;
    leg->kind = s->writes ? MEM_WRITE : MEM_READ;
    leg->reply = false;
    leg->plan = dma_plan(c, false);
    for (uint32_t i = 0; i < leg->count; i++, address += line) {
        leg->address[i] = address;
        leg->from[i] = (uint8_t)lanes[lane].end;
        leg->at[i] = (uint16_t)(sent + lanes[lane].ahead);
        lane = lane + 1 == count ? 0 : lane + 1;
        if (++turn == count) {
            turn = 0;
            sent++;
        }
    }
}

/* The memories behind the ends that requests come to. false: one of them cannot take what comes. */
static bool dma_find_memories(struct dma_convoy *s)
{
    const struct convoy_plan *p = s->requests.plan;
    for (uint64_t bits = p->targets; bits; bits &= bits - 1) {
        uint32_t end = (uint32_t)__builtin_ctzll(bits);
        uint32_t id = s->ops->behind(s->way, end);
        struct dma_memory *m = &s->memories[end];
        *m = (struct dma_memory){engine_base.components[id], convoy_ops_of(id)};
        if (!m->ops || !m->ops->ready || !convoy_goes_with(m->c, s->way)
            || !m->ops->ready(m->c, s->writes, p->of_target[end], dma_line(s->c)))
            return false;
    }
    return true;
}

/* A piece for each line. */
static void dma_cut(struct dma_convoy *s)
{
    struct dma_engine *c = s->c;
    struct dma_command *k = command_at(c, s->command);
    uint32_t line = dma_line(c);
    for (uint32_t i = 0; i < s->requests.count; i++) {
        uint32_t number = index_pool_take(&c->free_pieces);
        *piece_at(c, number) = (struct dma_piece){.target = dma_address(k) + i * line,
                                                  .command = s->command,
                                                  .offset = i * line,
                                                  .bytes = line,
                                                  .next = DMA_NONE,
                                                  .writing = s->writes};
        s->requests.tag[i] = (uint16_t)number;
    }
    k->issued = k->size;
    c->oldest++;
    c->unissued--;
    c->turn = (c->turn + s->requests.count) % lane_count(c);
    *(s->writes ? &c->io.stats.bytes_written : &c->io.stats.bytes_read) += k->size;
}

/* Requests are with their memories, and what is written, too. */
static void dma_bring(struct dma_convoy *s)
{
    const struct dma_command *k = command_at(s->c, s->command);
    const struct convoy_leg *leg = &s->requests;
    dma_cut(s);
    s->ops->pass(s->way, &s->requests);
    for (uint32_t i = 0; i < leg->count; i++) {
        uint8_t j = leg->plan->order[i];
        const struct convoy_request r = {.address = leg->address[j],
                                         .at = leg->start + leg->plan->seen[j],
                                         .number = leg->number[j]};
        const struct dma_memory *m = &s->memories[leg->to[j]];
        m->ops->take(m->c, &r, s->writes);
    }
    if (k->kind == COMMAND_WRITE)
        memcpy(memory_at(k->target), command_bytes(s->c, s->command), k->size);
    else if (k->kind == COMMAND_FILL)
        fill_bytes(memory_at(k->target), k->pattern, 0, k->size);
}

/* `until`: cycle before which all must be where they go. */
static bool dma_do_convoy(struct dma_engine *c, uint64_t until)
{
    struct dma_convoy s;
    s.c = c;
    s.way = engine_base.components[c->way - 1];
    s.ops = convoy_ops_of(c->way - 1);
    s.command = dma_oldest(c);
    s.writes = command_at(c, s.command)->kind != COMMAND_READ;
    dma_fill_requests(&s);
    if (!s.ops->plan(s.way, &s.requests) || s.requests.start + s.requests.plan->last >= until
        || !dma_find_memories(&s))
        return false;
    dma_bring(&s);
    for (uint64_t bits = s.requests.plan->targets; bits; bits &= bits - 1) {
        const struct dma_memory *m = &s.memories[__builtin_ctzll(bits)];
        m->ops->answer(m->c, until);
    }
    return true;
}

static void dma_convoy(struct component *self, uint64_t quiet_until)
{
    struct dma_engine *c = (struct dma_engine *)(void *)self;
    if (!c->way)
        c->way = dma_find_way(c);
    if (c->way != DMA_NONE && dma_do_convoy(c, quiet_until))
        return;
    send_requests(c);
    engine_wake_next(self->id);
}

/* Nothing waits to be issued, so an answer leads to nothing before the command is complete. */
static bool dma_accepts(const struct component *self, const struct convoy_leg *leg)
{
    const struct dma_engine *c = (const struct dma_engine *)(const void *)self;
    uint32_t command = piece_at(c, leg->tag[0])->command;
    if (c->unissued || c->first_read != DMA_NONE || command_at(c, command)->kind == COMMAND_COPY)
        return false;
    for (uint32_t i = 1; i < leg->count; i++)
        if (piece_at(c, leg->tag[i])->command != command)
            return false;
    return true;
}

static void dma_receive(struct component *self, const struct convoy_leg *leg)
{
    struct dma_engine *c = (struct dma_engine *)(void *)self;
    for (uint32_t i = 0; i < leg->count; i++)
        take_answer(c, leg->tag[i], ring_payload(leg->slot[i]));
}

static struct convoy_plan *dma_answer_plan(const struct component *self)
{
    return dma_plan((const struct dma_engine *)(const void *)self, true);
}

static const struct convoy_ops dma_convoy_ops = {
    .plans = dma_answer_plan,
    .accepts = dma_accepts,
    .receive = dma_receive,
};
