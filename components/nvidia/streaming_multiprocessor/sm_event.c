/* The wheel of events: in which cycle an issued instruction ends. A slot of the wheel has the
 * events of one cycle, a bitmap says which slots have any. Nothing lies further ahead than the
 * wheel is long. */
#include "sm_state.h"

static inline void sm_event_add(struct streaming_multiprocessor *c, uint64_t cycle, uint32_t warp,
                                uint16_t destination, bool memory)
{
    uint32_t slot = (uint32_t)(cycle % SM_WHEEL);
    uint16_t number = c->free_event;
    if (number == SM_NONE)
        number = c->events_used++;
    else
        c->free_event = sm_event(c, number)->next;
    struct sm_event *e = sm_event(c, number);
    *e = (struct sm_event){c->wheel[slot], destination, (uint8_t)warp, memory};
    c->wheel[slot] = number;
    c->event_bits[slot / 64] |= sm_bit(slot % 64);
    c->event_words |= 1u << slot / 64;
}

/* Cycle of the first event after `now`. */
static inline uint64_t sm_event_next(const struct streaming_multiprocessor *c, uint64_t now)
{
    if (!c->event_words)
        return ENGINE_NEVER;
    uint32_t slot = (uint32_t)((now + 1) % SM_WHEEL), word = slot / 64;
    uint64_t bits = c->event_bits[word] & ~(sm_bit(slot % 64) - 1);
    if (!bits) { /* the next word that has any, in turn; last, the rest of this one */
        uint32_t behind = c->event_words & ~((2u << word) - 1);
        word = (uint32_t)__builtin_ctz(behind ? behind : c->event_words);
        bits = c->event_bits[word];
    }
    uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);
    return now + 1 + (found + SM_WHEEL - slot) % SM_WHEEL;
}
