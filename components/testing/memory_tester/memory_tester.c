/* Random test of a memory system, free of data races.
 *
 * Words of 4 bytes lie at random places of the span, so lines are falsely shared by words that
 * different threads own. A thread repeats episodes: an atomic increment of a shared counter, an
 * acquire fence, some loads, stores and atomics of words it has claimed, a release fence, another
 * increment, and the claims end. A word is claimed by one writer or by any number of readers, so
 * what each load must return is known when it is sent: the last value stored, by whomever. (The
 * episodes follow the data-race-free testers of GPU coherence protocols, e.g. Ta, Zhang, Gutierrez,
 * Beckmann: "Autonomous data-race-free GPU testing", IISWC 2019.)
 *
 * Several requests of a thread are in flight, also to the same word: the memory system keeps their
 * order. Increments must return every value once. At the end all words are read through the first
 * port.
 *
 * All random choices of an episode are made when it begins. Pages may move meanwhile
 * (page_moves.c). */
#include <stdio.h>

#include "base/number.h"
#include "components/protocols/mem/mem_mask.h"
#include "runtime/engine/component_failure.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/watch.h"

#include "tester_state.h"

/* NULL: all threads are of one agent. */
static const struct word_order_ops *ordered(const struct memory_tester *c)
{
    return memory_tester_order_ops(c);
}

static uint32_t word_count(const struct memory_tester *c)
{
    return (uint32_t)(memory_tester_params(c)->locations + memory_tester_params(c)->counters);
}

static void place_words(struct memory_tester *c)
{
    uint32_t places = (uint32_t)(memory_tester_params(c)->span / 4);
    uint32_t offset = arena_allocate(places * sizeof(uint32_t));
    uint32_t *order = arena_at(uint32_t, offset);
    for (uint32_t i = 0; i < places; i++)
        order[i] = i;
    uint64_t base =
        memory_tester_params(c)->translated ? TESTER_VIRTUAL_BASE : memory_tester_params(c)->base;
    for (uint32_t i = 0; i < word_count(c); i++) {
        uint32_t j = i + below(c, places - i), place = order[j];
        order[j] = order[i];
        order[i] = place;
        word_at(c, i)->address = base + (uint64_t)place * 4;
    }
}

static bool is_ordered(const struct memory_tester *c, uint32_t thread, uint32_t word)
{
    return !ordered(c) || ordered(c)->allows(memory_tester_order(c), thread, word);
}

static void begin_order(struct memory_tester *c, uint32_t thread)
{
    thread_at(c, thread)->system = below(c, 2);
    ordered(c)->begin(memory_tester_order(c), thread, thread_at(c, thread)->system);
}

/* A word for an access that `writes`; false when a few random ones are all claimed by others. */
static bool claim(struct memory_tester *c, uint32_t thread, bool writes, uint32_t *word)
{
    for (unsigned attempt = 0; attempt < 4; attempt++) {
        uint32_t i = below(c, memory_tester_params(c)->locations);
        struct tester_word *w = word_at(c, i);
        bool mine = w->writer == thread + 1;
        if ((w->writer && !mine) || (writes && !mine && w->readers)
            || (!mine && !is_ordered(c, thread, i)))
            continue;
        *word = i;
        if (mine)
            return true;
        if (writes)
            w->writer = thread + 1;
        else
            w->readers++;
        return true;
    }
    return false;
}

static enum tester_verb choose_verb(uint32_t percent)
{
    if (percent < 30)
        return VERB_LOAD;
    if (percent < 45)
        return VERB_LOAD_LINE;
    return percent < 85 ? VERB_STORE : VERB_ATOMIC;
}

/* Chooses what the next episode does and claims its words. Words written are claimed first, and
 * chosen again for loads half of the time, so that requests to the same word follow each other
 * closely. */
static void plan_episode(struct memory_tester *c, uint32_t thread)
{
    static const uint8_t ops[] = {ISA_ATOMIC_SWAP, ISA_ATOMIC_CMPSWAP, ISA_ATOMIC_ADD,
                                  ISA_ATOMIC_SUB,  ISA_ATOMIC_UMIN,    ISA_ATOMIC_UMAX,
                                  ISA_ATOMIC_AND,  ISA_ATOMIC_OR,      ISA_ATOMIC_XOR};
    struct tester_thread *t = thread_at(c, thread);
    uint32_t actions = memory_tester_params(c)->actions, written = UINT32_MAX;
    if (ordered(c))
        begin_order(c, thread);
    for (uint32_t i = 0; i < actions; i++) {
        struct tester_action *a = action_at(c, thread, i);
        enum tester_verb verb = choose_verb(below(c, 100));
        *a = (struct tester_action){
            .word = UINT32_MAX, .operand = (uint32_t)next_random(c), .verb = (uint8_t)verb};
        a->op = ops[below(c, sizeof ops)];
        a->returns = below(c, 2);
        a->compare = (uint32_t)next_random(c);
        if (ordered(c) && a->verb == VERB_LOAD && below(c, 2)) {
            a->verb = VERB_UNORDERED;
            a->word = below(c, memory_tester_params(c)->locations);
            continue;
        }
        if (written != UINT32_MAX && below(c, 2))
            a->word = written;
        else if (!claim(c, thread, a->verb >= VERB_STORE, &a->word))
            continue;
        if (word_at(c, a->word)->writer == thread + 1)
            written = a->word;
    }
    t->counters[0] = below(c, memory_tester_params(c)->counters);
    t->counters[1] = below(c, memory_tester_params(c)->counters);
    t->next_action = 0;
    t->phase = PHASE_FIRST_COUNT;
}

static void end_claims(struct memory_tester *c, uint32_t thread)
{
    if (ordered(c))
        ordered(c)->end(memory_tester_order(c), thread);
    for (uint32_t i = 0; i < memory_tester_params(c)->actions; i++) {
        const struct tester_action *a = action_at(c, thread, i);
        if (a->word == UINT32_MAX || a->verb == VERB_UNORDERED)
            continue;
        struct tester_word *w = word_at(c, a->word);
        if (w->writer == thread + 1) {
            w->writer = 0;
            if (ordered(c))
                ordered(c)->written(memory_tester_order(c), thread, a->word);
        } else if (a->verb < VERB_STORE && w->readers) {
            w->readers--;
        }
    }
}

static void set_up_agents(struct memory_tester *c, uint32_t ports)
{
    uint32_t agents = memory_tester_params(c)->agents;
    if (ports % agents)
        engine_die(&c->io.base, "its %u ports are not spread evenly over %u agents; set agents",
                   ports, agents);
    if (agents > 1 && !ordered(c))
        engine_die(&c->io.base,
                   "threads of %u agents need an order of what they write; set "
                   "order = scoped",
                   agents);
    if (!ordered(c))
        return;
    ordered(c)->setup(memory_tester_order(c), c->thread_count, agents,
                      memory_tester_params(c)->locations);
    c->agents = agents;
}

static void memory_tester_init(struct memory_tester *c)
{
    uint32_t ports = memory_tester_mem_count(c), per_port = memory_tester_params(c)->threads;
    uint32_t counters = memory_tester_params(c)->counters;
    c->random = memory_tester_params(c)->seed * 0x2545f4914f6cdd1du;
    c->thread_count = ports * per_port;
    c->increments = c->thread_count * memory_tester_params(c)->episodes * 2;
    c->words_at = arena_allocate(word_count(c) * sizeof(struct tester_word));
    c->threads_at = arena_allocate(c->thread_count * sizeof(struct tester_thread));
    c->actions_at = arena_allocate(c->thread_count * memory_tester_params(c)->actions
                                   * sizeof(struct tester_action));
    c->slots_at =
        arena_allocate((size_t)c->thread_count * TESTER_SLOTS * sizeof(struct tester_slot));
    c->seen_at = arena_allocate((size_t)counters * divide_up(c->increments, 64) * sizeof(uint64_t));
    place_words(c);
    pages_init(c);
    set_up_agents(c, ports);
    for (uint32_t i = 0; i < c->thread_count; i++) {
        thread_at(c, i)->port = i / per_port;
        plan_episode(c, i);
    }
}

/* ---- requests ---- */

static uint16_t tag_of(const struct memory_tester *c, uint32_t thread, uint32_t slot)
{
    return (uint16_t)(thread % memory_tester_params(c)->threads * TESTER_SLOTS + slot);
}

/* A free slot of the thread, filled in; there is one. */
static uint32_t acquire_slot(struct memory_tester *c, uint32_t thread, uint32_t word,
                             enum tester_verb verb, bool check)
{
    uint32_t s = 0;
    while (slot_at(c, thread, s)->used)
        s++;
    *slot_at(c, thread, s) = (struct tester_slot){
        .sent = memory_tester_now(c),
        .word = word,
        .verb = (uint8_t)verb,
        .used = true,
        .check = check,
        .oldest =
            verb == VERB_UNORDERED ? ordered(c)->oldest(memory_tester_order(c), thread, word) : 0,
        .expected = word == UINT32_MAX ? 0 : word_at(c, word)->value};
    thread_at(c, thread)->in_flight++;
    return s;
}

/* `is_counter`: the word is one of the counters, which all threads increase. */
static void send_atomic(struct memory_tester *c, uint32_t thread, const struct tester_action *a,
                        bool is_counter)
{
    uint32_t port = thread_at(c, thread)->port,
             slot = acquire_slot(c, thread, a->word, VERB_ATOMIC, a->returns && !is_counter);
    uint64_t address = word_at(c, a->word)->address, inside = address % TESTER_LINE;
    slot_at(c, thread, slot)->counter = is_counter;
    void *p = memory_tester_mem_send_atomic(c, port, tag_of(c, thread, slot), address - inside,
                                            TESTER_PID, (enum atomic_op)a->op, 4, a->returns);
    mem_mask_store(mem_atomic_mask(p, TESTER_LINE),
                   mem_mask_range((unsigned)inside, 4, TESTER_LINE), TESTER_LINE);
    memset(mem_atomic_operand(p, TESTER_LINE), 0x5a, TESTER_LINE);
    memset(mem_atomic_compare(p, TESTER_LINE), 0xa5, TESTER_LINE);
    memcpy(mem_atomic_operand(p, TESTER_LINE) + inside, &a->operand, 4);
    memcpy(mem_atomic_compare(p, TESTER_LINE) + inside, &a->compare, 4);
    c->io.stats.atomics++;
}

static void send_fence(struct memory_tester *c, uint32_t thread, bool acquire, enum scope scope)
{
    uint32_t slot = acquire_slot(c, thread, UINT32_MAX, VERB_STORE, false);
    memory_tester_mem_send_fence(c, thread_at(c, thread)->port, tag_of(c, thread, slot), scope,
                                 acquire, !acquire);
    c->io.stats.fences++;
}

/* `verb` is one of the loads. */
static void send_load(struct memory_tester *c, uint32_t thread, uint32_t word,
                      enum tester_verb verb, bool coherent)
{
    bool whole_line = verb == VERB_LOAD_LINE;
    uint32_t slot = acquire_slot(c, thread, word, verb, true);
    uint64_t address = word_at(c, word)->address;
    if (whole_line)
        address -= address % TESTER_LINE;
    memory_tester_mem_send_read(c, thread_at(c, thread)->port, tag_of(c, thread, slot), address,
                                whole_line ? TESTER_LINE : 4, TESTER_PID, coherent);
    c->io.stats.loads++;
}

/* Some go on to a wider scope at once, which no order needs: others share their lines. */
static void send_store(struct memory_tester *c, uint32_t thread, uint32_t word, uint32_t value)
{
    uint32_t slot = acquire_slot(c, thread, word, VERB_STORE, false);
    uint64_t address = word_at(c, word)->address, inside = address % TESTER_LINE;
    enum scope scope = value % 4 ? SCOPE_WAVEFRONT : (enum scope)(value / 4 % 4);
    void *p = memory_tester_mem_send_write(c, thread_at(c, thread)->port, tag_of(c, thread, slot),
                                           address - inside, TESTER_PID, scope);
    mem_mask_store(mem_write_mask(p, TESTER_LINE), mem_mask_range((unsigned)inside, 4, TESTER_LINE),
                   TESTER_LINE);
    memset(mem_write_data(p, TESTER_LINE), 0xee, TESTER_LINE); /* must not be stored */
    memcpy(mem_write_data(p, TESTER_LINE) + inside, &value, 4);
    c->io.stats.stores++;
}

static void set_writer(struct memory_tester *c, uint32_t thread, uint32_t word, uint32_t value)
{
    struct tester_word *w = word_at(c, word);
    w->value = value;
    w->last_writer = thread + 1;
    w->last_cycle = memory_tester_now(c);
    if (ordered(c))
        ordered(c)->write(memory_tester_order(c), word, value);
}

/* The result of an atomic, by definition; deliberately not isa_atomic_apply(). */
static uint32_t atomic_result(unsigned op, uint32_t old, uint32_t operand, uint32_t compare)
{
    switch (op) {
    case ISA_ATOMIC_SWAP:
        return operand;
    case ISA_ATOMIC_CMPSWAP:
        return old == compare ? operand : old;
    case ISA_ATOMIC_ADD:
        return old + operand;
    case ISA_ATOMIC_SUB:
        return old - operand;
    case ISA_ATOMIC_UMIN:
        return min(old, operand);
    case ISA_ATOMIC_UMAX:
        return max(old, operand);
    case ISA_ATOMIC_AND:
        return old & operand;
    case ISA_ATOMIC_OR:
        return old | operand;
    default:
        return old ^ operand;
    }
}

static void perform(struct memory_tester *c, uint32_t thread, const struct tester_action *a)
{
    if (a->word == UINT32_MAX)
        return;
    /* Half of the compare-and-swaps succeed. */
    uint32_t old = word_at(c, a->word)->value;
    struct tester_action atomic = *a;
    atomic.compare = a->compare & 1 ? old : a->compare;
    switch (a->verb) {
    case VERB_STORE:
        send_store(c, thread, a->word, a->operand);
        set_writer(c, thread, a->word, a->operand);
        break;
    case VERB_ATOMIC:
        send_atomic(c, thread, &atomic, false);
        set_writer(c, thread, a->word, atomic_result(a->op, old, a->operand, atomic.compare));
        break;
    default:
        send_load(c, thread, a->word, a->verb, a->verb != VERB_UNORDERED && a->compare % 8 == 0);
    }
}

/* Sends what the thread can send now. */
static bool advance(struct memory_tester *c, uint32_t thread)
{
    struct tester_thread *t = thread_at(c, thread);
    uint32_t actions = memory_tester_params(c)->actions,
             counters = memory_tester_params(c)->locations;
    if (t->phase == PHASE_OVER || t->waits)
        return false;
    if (t->phase == PHASE_RUN) {
        if (t->next_action == actions) {
            if (t->in_flight)
                return false;
            t->phase = PHASE_RELEASE;
        } else if (t->in_flight == TESTER_SLOTS || !memory_tester_mem_can_send(c, t->port)) {
            return false;
        } else {
            perform(c, thread, action_at(c, thread, t->next_action++));
            return true;
        }
    }
    if (!memory_tester_mem_can_send(c, t->port))
        return false;
    if (t->phase == PHASE_ACQUIRE || t->phase == PHASE_RELEASE)
        send_fence(c, thread, t->phase == PHASE_ACQUIRE, t->system ? SCOPE_SYSTEM : SCOPE_AGENT);
    else
        send_atomic(
            c, thread,
            &(struct tester_action){.word = counters + t->counters[t->phase == PHASE_LAST_COUNT],
                                    .op = ISA_ATOMIC_ADD,
                                    .operand = 1,
                                    .returns = true},
            true);
    t->waits = true;
    return true;
}

/* The threads of a port, as long as it takes requests. */
static bool advance_port(struct memory_tester *c, uint32_t port)
{
    uint32_t threads = memory_tester_params(c)->threads;
    bool progress = false;
    for (uint32_t i = 0; i < threads && memory_tester_mem_can_send(c, port);) {
        while (i < threads && !advance(c, port * threads + i))
            i++;
        progress |= i < threads;
        i++;
    }
    return progress;
}

/* ---- answers ---- */

/* The word has a wrong value: what became of its line since it was last written tells why. */
static void suspect(const struct memory_tester *c, const struct tester_word *w)
{
    uint64_t line = w->address - w->address % TESTER_LINE, physical;
    uint64_t since_ps = engine_time_of(c->io.base.domain, w->last_cycle);
    bool writable;
    watch_suspect(line, since_ps);
    if (memory_tester_params(c)->translated
        && page_table_find(memory_tester_page_table(c), TESTER_PID, line, &physical, &writable))
        watch_suspect(physical + line % memory_tester_params(c)->page, since_ps);
}

static void check_load(struct memory_tester *c, uint32_t thread, const struct tester_slot *s,
                       uint32_t got)
{
    const struct tester_word *w = word_at(c, s->word);
    char writer[96] = "never written";
    bool unordered = s->verb == VERB_UNORDERED;
    if (unordered ? ordered(c)->had(memory_tester_order(c), s->word, s->oldest, got)
                  : got == s->expected)
        return;
    if (w->last_writer)
        snprintf(writer, sizeof writer, "last written by port %u, thread %u at cycle %llu",
                 thread_at(c, w->last_writer - 1)->port, w->last_writer - 1,
                 (unsigned long long)w->last_cycle);
    engine_fail(&c->io.base,
                "port %u, thread %u, episode %u: %s of 0x%llx in line 0x%llx sent at cycle %llu "
                "returned 0x%08x instead of 0x%08x%s (%s)",
                thread_at(c, thread)->port, thread, thread_at(c, thread)->episode,
                s->verb == VERB_ATOMIC ? "atomic" : "load", (unsigned long long)w->address,
                (unsigned long long)(w->address - w->address % TESTER_LINE),
                (unsigned long long)s->sent, got, s->expected,
                unordered ? " or an older value that nothing has ordered before it" : "", writer);
    suspect(c, w);
}

static void check_increment(struct memory_tester *c, uint32_t thread, const struct tester_slot *s,
                            uint32_t got)
{
    struct tester_word *w = word_at(c, s->word);
    uint32_t counter = s->word - memory_tester_params(c)->locations;
    uint64_t *seen =
        arena_at(uint64_t, c->seen_at) + (size_t)counter * divide_up(c->increments, 64);
    w->value++;
    if (got >= c->increments || seen[got / 64] >> (got % 64) & 1) {
        engine_fail(
            &c->io.base,
            "port %u, thread %u: increment of 0x%llx in line 0x%llx sent at cycle %llu "
            "returned %u, which %s (last incremented for thread %d, answered at cycle %llu)",
            thread_at(c, thread)->port, thread, (unsigned long long)w->address,
            (unsigned long long)(w->address - w->address % TESTER_LINE),
            (unsigned long long)s->sent, got,
            got < c->increments ? "it has returned before" : "is too large",
            (int)w->last_writer - 1, (unsigned long long)w->last_cycle);
        suspect(c, w);
        return;
    }
    seen[got / 64] |= (uint64_t)1 << (got % 64);
    w->last_writer = thread + 1;
    w->last_cycle = memory_tester_now(c);
}

static void next_phase(struct memory_tester *c, uint32_t thread)
{
    struct tester_thread *t = thread_at(c, thread);
    t->waits = false;
    if (t->phase++ != PHASE_LAST_COUNT)
        return;
    end_claims(c, thread);
    c->io.stats.episodes_done++;
    if (++t->episode < memory_tester_params(c)->episodes)
        plan_episode(c, thread);
    else
        c->over++;
}

static void accept_answer(struct memory_tester *c, uint32_t port, const struct mem_reply *m)
{
    uint32_t thread = port * memory_tester_params(c)->threads + m->tag / TESTER_SLOTS;
    struct tester_thread *t = thread_at(c, thread);
    struct tester_slot *s = slot_at(c, thread, m->tag % TESTER_SLOTS);
    if (s->check || s->counter) {
        uint32_t got;
        memcpy(&got,
               mem_data_data(memory_tester_mem_reply_payload(c, port), TESTER_LINE)
                   + word_at(c, s->word)->address % TESTER_LINE,
               4);
        if (s->counter)
            check_increment(c, thread, s, got);
        else
            check_load(c, thread, s, got);
    }
    s->used = false;
    t->in_flight--;
    if (c->over == c->thread_count) {
        if (c->final_released < c->final_releases) {
            c->final_released++;
        } else {
            c->final_done += c->final_fenced;
            c->final_fenced = true;
        }
    } else if (t->phase != PHASE_RUN) {
        next_phase(c, thread);
    }
}

/* Each agent releases at system scope, one after the other. True: all have. */
static bool release_everything(struct memory_tester *c, bool *progress)
{
    uint32_t agents = c->agents;
    if (c->final_released == agents)
        return true;
    uint32_t thread = c->final_releases * (c->thread_count / agents);
    if (c->final_releases > c->final_released
        || !memory_tester_mem_can_send(c, thread_at(c, thread)->port))
        return false;
    send_fence(c, thread, false, SCOPE_SYSTEM);
    c->final_releases++;
    *progress = true;
    return false;
}

/* Reads all words through the first port, behind releases and an acquire. */
static bool read_everything(struct memory_tester *c)
{
    bool progress = false;
    if (!release_everything(c, &progress))
        return progress;
    if (!c->final_fence_sent) {
        if (!memory_tester_mem_can_send(c, 0))
            return false;
        send_fence(c, 0, true, ordered(c) ? SCOPE_SYSTEM : SCOPE_AGENT);
        c->final_fence_sent = true;
        return true;
    }
    while (c->final_fenced && c->final_next < word_count(c)
           && thread_at(c, 0)->in_flight < TESTER_SLOTS && memory_tester_mem_can_send(c, 0)) {
        send_load(c, 0, c->final_next++, VERB_LOAD, false);
        progress = true;
    }
    return progress;
}

static bool memory_tester_tick(struct memory_tester *c)
{
    bool progress = false;
    for (uint32_t port = 0; port < memory_tester_mem_count(c); port++) {
        const struct mem_reply *m;
        while ((m = memory_tester_mem_peek_reply(c, port))) {
            accept_answer(c, port, m);
            memory_tester_mem_pop_reply(c, port);
            progress = true;
        }
    }
    progress |= pages_step(c);
    if (c->over == c->thread_count)
        return read_everything(c) || progress;
    for (uint32_t port = 0; port < memory_tester_mem_count(c); port++)
        progress |= advance_port(c, port);
    return progress;
}

static unsigned memory_tester_outstanding(const struct memory_tester *c, struct hang_report *report)
{
    unsigned waiting = 0;
    for (uint32_t i = 0; i < c->thread_count; i++)
        waiting += thread_at(c, i)->in_flight;
    if (report)
        hang_note(report, "%u of %u threads are done, %u requests are not answered", c->over,
                  c->thread_count, waiting);
    bool done = c->final_done == word_count(c) && c->moves.state == MOVES_CALM;
    return done ? 0 : waiting + 1;
}
