/* Threads belong to agents, between whose caches only releases and acquires of system scope order
 * what is written and read.
 *
 * Beginnings and ends of episodes are numbered. What a thread wrote is ordered before an episode of
 *
 *   the same agent   that begins after the writer's end: both fences reach as far as the agent;
 *   another agent    when the writer's agent has released it at system scope (the writer at its own
 *                    end, or a later episode of system scope there, which began after it), and the
 *                    reader's agent has acquired that (the reader itself at system scope, or an
 *                    earlier episode of system scope there, which has ended)
 *
 * as scopes that include each other are transitive (Hower et al., "Heterogeneous-race-free Memory
 * Models", ASPLOS 2014). The tester claims words only in this order, so their values are known
 * exactly. An unordered load claims nothing. It may return any value from the last one that is
 * ordered before it on: an old one, but never one that an acquire has to have dropped, nor one that
 * the word never had. Only the last SCOPED_HISTORY values are remembered; where the oldest is not
 * among them, everything is allowed. */
#include "scoped.gen.h"

#include "base/number.h"
#include "runtime/engine/engine.h"

#include "word_order.h"

#define SCOPED_HISTORY 16u

struct scoped_agent {
    uint64_t acquired;      /* all that was released at system scope until then is seen here */
    uint64_t release_begin; /* the last release at system scope covers what ended until then */
    uint64_t release_end;   /* the time of that release */
};

struct scoped_thread {
    uint64_t began; /* the episode */
    uint64_t sees;  /* all that was released at system scope until then */
    bool system;    /* scope of the episode */
};

struct scoped_word {
    uint32_t agent;    /* that wrote it last, in an episode that has ended */
    uint32_t values;   /* that it had until the end of that episode */
    uint32_t now;      /* that it has now */
    uint64_t ended;    /* 0: never written */
    uint64_t released; /* at system scope; 0: not yet */
    uint32_t history[SCOPED_HISTORY];
};

struct scoped {
    struct scoped_io io;
    uint32_t agents_at, threads_at, words_at; /* arena offsets */
    uint32_t each;                            /* threads of an agent */
    uint64_t sequence;                        /* counts beginnings and ends of episodes */
};

static struct scoped *scoped_of(struct part *self)
{
    return (struct scoped *)(void *)self;
}

static struct scoped_agent *scoped_agent(const struct scoped *p, uint32_t thread)
{
    return arena_at(struct scoped_agent, p->agents_at) + thread / p->each;
}

static struct scoped_thread *scoped_thread(const struct scoped *p, uint32_t thread)
{
    return arena_at(struct scoped_thread, p->threads_at) + thread;
}

static struct scoped_word *scoped_word(const struct scoped *p, uint32_t word)
{
    return arena_at(struct scoped_word, p->words_at) + word;
}

static void scoped_setup(struct part *self, uint32_t threads, uint32_t agents, uint32_t words)
{
    struct scoped *p = scoped_of(self);
    p->each = threads / agents;
    p->agents_at = arena_allocate(agents * sizeof(struct scoped_agent));
    p->threads_at = arena_allocate(threads * sizeof(struct scoped_thread));
    p->words_at = arena_allocate(words * sizeof(struct scoped_word));
}

static void scoped_begin(struct part *self, uint32_t thread, bool system)
{
    struct scoped *p = scoped_of(self);
    uint64_t now = ++p->sequence;
    *scoped_thread(p, thread) =
        (struct scoped_thread){now, system ? now : scoped_agent(p, thread)->acquired, system};
}

static void scoped_end(struct part *self, uint32_t thread)
{
    struct scoped *p = scoped_of(self);
    struct scoped_agent *a = scoped_agent(p, thread);
    const struct scoped_thread *t = scoped_thread(p, thread);
    p->sequence++;
    if (!t->system)
        return;
    a->acquired = max(t->began, a->acquired);
    if (t->began > a->release_begin) {
        a->release_begin = t->began;
        a->release_end = p->sequence;
    }
}

static bool scoped_allows(struct part *self, uint32_t thread, uint32_t word)
{
    const struct scoped *p = scoped_of(self);
    const struct scoped_thread *t = scoped_thread(p, thread);
    struct scoped_word *w = scoped_word(p, word);
    if (!w->ended || (w->agent == thread / p->each && w->ended <= t->began))
        return true;
    const struct scoped_agent *writer = arena_at(struct scoped_agent, p->agents_at) + w->agent;
    if (!w->released && w->ended < writer->release_begin)
        w->released = writer->release_end;
    return w->released && w->released <= t->sees;
}

static void scoped_write(struct part *self, uint32_t word, uint32_t value)
{
    struct scoped_word *w = scoped_word(scoped_of(self), word);
    w->history[++w->now % SCOPED_HISTORY] = value;
}

static void scoped_written(struct part *self, uint32_t thread, uint32_t word)
{
    const struct scoped *p = scoped_of(self);
    struct scoped_word *w = scoped_word(p, word);
    w->agent = thread / p->each;
    w->values = w->now;
    w->ended = p->sequence;
    w->released = scoped_thread(p, thread)->system ? p->sequence : 0;
}

static uint32_t scoped_oldest(struct part *self, uint32_t thread, uint32_t word)
{
    return scoped_allows(self, thread, word) ? scoped_word(scoped_of(self), word)->values : 0;
}

static bool scoped_had(struct part *self, uint32_t word, uint32_t oldest, uint32_t got)
{
    struct scoped *p = scoped_of(self);
    const struct scoped_word *w = scoped_word(p, word);
    if (w->now - oldest >= SCOPED_HISTORY)
        return true;
    p->io.stats.unordered_loads++;
    p->io.stats.old_values += got != w->history[w->now % SCOPED_HISTORY];
    for (uint32_t i = oldest; i <= w->now; i++)
        if (w->history[i % SCOPED_HISTORY] == got)
            return true;
    return false;
}

static const struct word_order_ops scoped_ops = {.setup = scoped_setup,
                                                 .begin = scoped_begin,
                                                 .end = scoped_end,
                                                 .allows = scoped_allows,
                                                 .write = scoped_write,
                                                 .written = scoped_written,
                                                 .oldest = scoped_oldest,
                                                 .had = scoped_had};
