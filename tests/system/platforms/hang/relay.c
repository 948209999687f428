/* A relay holds one question at a time: it asks `bottom` and answers `top` when the answer has
 * come. Two of them in a ring cannot finish; the test of the deadlock report is built on that. */
#include "relay.gen.h"

#include "runtime/observe/hang.h"

struct relay {
    struct relay_io io;
    uint32_t busy; /* waiting for an answer from below */
    uint32_t started;
    uint32_t has_top; /* ... on behalf of this question from above */
    uint16_t tag;
};

static void relay_init(struct relay *c)
{
    c->started = !relay_params(c)->starts;
}

static bool relay_ask(struct relay *c, uint32_t hop)
{
    if (!relay_bottom_can_send(c))
        return false;
    relay_bottom_send_ask(c, 0, hop);
    c->io.stats.asked++;
    c->busy = 1;
    return true;
}

static bool relay_tick(struct relay *c)
{
    const struct ping_reply *reply = relay_bottom_peek_reply(c);
    const struct ping_request *question = relay_top_peek(c);
    if (reply && (!c->has_top || relay_top_can_reply(c))) {
        if (c->has_top)
            relay_top_reply_answer(c, c->tag, reply->answer.hop);
        relay_bottom_pop_reply(c);
        c->io.stats.answered++;
        c->busy = c->has_top = 0;
        return true;
    }
    if (c->busy)
        return false;
    if (!c->started) {
        c->started = relay_ask(c, 0);
        return c->started;
    }
    if (question && relay_ask(c, question->ask.hop + 1)) {
        c->has_top = 1;
        c->tag = question->tag;
        relay_top_pop(c);
        return true;
    }
    return false;
}

static unsigned relay_outstanding(const struct relay *c, struct hang_report *report)
{
    if (report && c->busy)
        hang_note(report, "busy with one question, takes no other until it is answered");
    return c->busy;
}
