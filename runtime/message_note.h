/* Notes on messages. On a reply: cycles of its way that a cache or TLB lost because it was cold. On
 * a request: its *lead*, how many cycles earlier it would have been here otherwise.
 *
 * Notes are no fields of a protocol and cost nothing on a wire: they are not part of what is
 * simulated, only of what is said about it (components/compute_unit/retime.h). They stand in bytes
 * 24..27 of a header, which no reply of `mem` or `translate` uses, leads in 26..27, which no
 * request does, and interconnects copy them with the rest. Who never writes them leaves zeros; who
 * writes them does so with every reply of a ring, since slots are used again. */
#ifndef HEDDLE_RUNTIME_MESSAGE_NOTE_H
#define HEDDLE_RUNTIME_MESSAGE_NOTE_H

#include <string.h>

#include "runtime/ring.h"

enum { MESSAGE_NOTE_AT = 16, MESSAGE_LEAD_AT = 18, MESSAGE_NOTE_MOST = UINT16_MAX };
_Static_assert(MESSAGE_NOTE_AT + 4 <= RING_FIELD_BYTES, "a note lies among the fields");

/* line: waiting for a line that an L2 did not have; page: for one that a shared TLB did not. */
struct message_note {
    uint16_t line, page;
};

static inline uint16_t message_note_cycles(uint64_t cycles)
{
    return (uint16_t)(cycles < MESSAGE_NOTE_MOST ? cycles : MESSAGE_NOTE_MOST);
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
    uint16_t lead = message_note_cycles(cycles);
    memcpy(ring_next(place)->fields + MESSAGE_LEAD_AT, &lead, sizeof lead);
}

static inline uint16_t message_lead(const void *m)
{
    uint16_t lead;
    memcpy(&lead, ((const struct message *)m)->fields + MESSAGE_LEAD_AT, sizeof lead);
    return lead;
}

#endif
