/* Notes on messages. On a reply: cycles of its way that a cache or TLB lost because it was cold. On
 * a request: its *lead*, how many cycles earlier it would have been here otherwise.
 *
 * Notes are no fields of a protocol and cost nothing on a wire: they are not part of what is
 * simulated, only of what is said about it (components/amd/compute_unit/cu_retime.c). They stand in
 * bytes 24..27 of a header, which no reply of `mem` or `translate` uses, leads in 26..27, which no
 * request does, and interconnects copy them with the rest. Who never writes them leaves zeros; who
 * writes them does so with every reply of a ring, since slots are used again. */
#ifndef HEDDLE_SAMPLING_MESSAGE_NOTE_H
#define HEDDLE_SAMPLING_MESSAGE_NOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/link/ring.h"

enum { MESSAGE_NOTE_AT = 16, MESSAGE_LEAD_AT = 18, MESSAGE_NOTE_MOST = INT16_MAX };
_Static_assert(MESSAGE_NOTE_AT + 4 <= RING_FIELD_BYTES, "a note lies among the fields");

/* line: waiting for a line that an L2 did not have; page: for one that a shared TLB did not. Less
 * than 0: so much of its request's lead is lost on the way. */
struct message_note {
    int16_t line, page;
};

static inline int16_t message_note_cycles(int64_t cycles)
{
    int64_t least = cycles > -MESSAGE_NOTE_MOST ? cycles : -MESSAGE_NOTE_MOST;
    return (int16_t)(least < MESSAGE_NOTE_MOST ? least : MESSAGE_NOTE_MOST);
}

/* On the message that is sent next. */
static inline void message_note_next(uint32_t place, struct message_note note)
{
    memcpy(ring_next(place)->fields + MESSAGE_NOTE_AT, &note, sizeof note);
}

static inline struct message_note message_note(const void *m)
{
    struct message_note note;
    memcpy(&note, ((const struct message *)m)->fields + MESSAGE_NOTE_AT, sizeof note);
    return note;
}

static inline void message_lead_next(uint32_t place, uint64_t cycles)
{
    uint16_t lead = (uint16_t)(cycles < UINT16_MAX ? cycles : UINT16_MAX);
    memcpy(ring_next(place)->fields + MESSAGE_LEAD_AT, &lead, sizeof lead);
}

static inline uint16_t message_lead(const void *m)
{
    uint16_t lead;
    memcpy(&lead, ((const struct message *)m)->fields + MESSAGE_LEAD_AT, sizeof lead);
    return lead;
}

/* What a request has lost that waited from `since` to `now`, would have begun to in cycle `asked`,
 * and would have had its answer in cycle `come`. */
static inline int64_t message_note_lost(uint64_t since, uint64_t now, uint64_t asked, uint64_t come)
{
    return (int64_t)(now - since) - (come > asked ? (int64_t)(come - asked) : 0);
}

/* Whoever answers misses (memory, page walkers), as who asks sees it. Who waits longer for an
 * answer than anybody had to, and while others are answered, stands in a queue. */
struct note_server {
    bool known;
    uint64_t least, last; /* cycles that an answer has taken; cycle of the last one */
    /* The queue: cycle of the answer before its first one, when that would have come, and its
     * answers so far; of these, those that would have been asked for in any case. */
    uint64_t begin, re_timed, count, needed;
};

/* An answer comes at `now` that was asked for at `since`, and would have been at `asked`: when
 * would it have come? 0: it would not have been asked for, since a cache is warm (`spared`). A
 * queue is no faster than it was, but for the share of those who would not have stood there. */
static inline uint64_t note_server_answer(struct note_server *s, uint64_t since, uint64_t now,
                                          uint64_t asked, bool spared)
{
    uint64_t took = now - since, come = asked + took;
    s->least = s->known && s->least < took ? s->least : took;
    s->known = true;
    if (took > s->least && s->last > since) {
        s->count++;
        s->needed += !spared;
        uint64_t behind = s->re_timed + (now - s->begin) * s->needed / s->count;
        come = come > behind ? come : behind;
    } else {
        s->begin = now;
        s->re_timed = come;
        s->count = s->needed = 0;
    }
    s->last = now;
    return spared ? 0 : come;
}

#endif
