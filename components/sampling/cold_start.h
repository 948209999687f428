/* What a cold start costs one cache or TLB: how much earlier each request would have been answered
 * if caches and TLBs had kept what earlier launches left.
 *
 * Three quantities travel with messages (components/sampling/message_note.h). A request brings its
 * *lead*, the cycles by which it would have come earlier. A reply brings the cycles that it lost in
 * misses below. The account combines them for every request that passes: its own lead, what it lost
 * while it waited here, and what the answer says was lost below.
 *
 * The owner calls the account at the points where time passes: a request comes to the front, waits,
 * goes on, asks below, is answered. Nothing that is simulated depends on the result. Accounts are
 * on only in runs with chosen kernels (--kernels); otherwise every call is one branch, and no
 * function of this file may be reached. Leads are kept only if it is known which misses a cold
 * start is to blame for (components/sampling/residency.h).
 *
 * Used by cache and tlb. A compute unit keeps the account of its wavefronts itself. */
#ifndef HEDDLE_SAMPLING_COLD_START_H
#define HEDDLE_SAMPLING_COLD_START_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/engine.h"
#include "components/sampling/message_note.h"

/* A request that waits here: from which cycle on, and what was known of it then. */
struct cold_wait {
    uint64_t since;
    struct message_note lost;
    uint16_t lead;
};

/* An answer that made room: when, what it had lost, and how much earlier it would have come. */
struct cold_room {
    uint64_t at;
    uint64_t lead;
    struct message_note lost;
};

struct cold_start {
    bool on;
    bool leads;
    uint16_t lead;            /* of the request that is being taken */
    struct message_note lost; /* by the request that is being taken or answered, else zero */
    uint64_t come;            /* cycle in which the line that is being handed out would have come */
    struct note_server below;
    /* The last answer that made room, and the one that let requests go on which had been held. */
    struct cold_room freed, resumed;
};

/* Before the first cycle, when the options of the run are known. */
void cold_start_init(struct cold_start *a);

/* In which cycle would a request have begun to wait? */
static inline uint64_t cold_wait_begin(const struct cold_wait *w)
{
    return w->since - w->lead - (uint64_t)(int64_t)(w->lost.line + w->lost.page);
}

/* Bodies of the calls below; only while the account is on. */
void cold_start_count_arrival(struct cold_start *a, const void *request, uint64_t now,
                              uint64_t blocked_since);
void cold_start_count_resumption(struct cold_start *a, uint64_t blocked_since, uint64_t now);
void cold_start_count_line(struct cold_start *a, const struct cold_wait *w, const void *answer,
                           uint64_t now, bool in_full);
void cold_start_count_page(struct cold_start *a, struct cold_wait *w, int64_t lost, uint64_t come,
                           uint64_t now);
void cold_start_send_lead(const struct cold_start *a, uint32_t place);

/* ---- a request ---- */

/* `request`, new at its port, is about to be taken. `blocked_since`: 1 + the cycle in which the
 * owner began to hold its oldest request, or 0. */
static inline void cold_start_arrive(struct cold_start *a, const void *request, uint64_t now,
                                     uint64_t blocked_since)
{
    if (engine_unlikely(a->on))
        cold_start_count_arrival(a, request, now, blocked_since);
}

/* A request that waited in `w` is about to be taken. */
static inline void cold_start_return(struct cold_start *a, const struct cold_wait *w)
{
    if (engine_unlikely(a->on)) {
        a->lost = w->lost;
        a->lead = w->lead;
    }
}

/* It has been taken or answered, or has to stay. */
static inline void cold_start_leave(struct cold_start *a)
{
    if (engine_unlikely(a->on))
        a->lost = (struct message_note){0};
}

/* It begins to wait. */
static inline void cold_start_wait(const struct cold_start *a, struct cold_wait *w, uint64_t now)
{
    if (engine_unlikely(a->on))
        *w = (struct cold_wait){.since = now, .lost = a->lost, .lead = a->lead};
}

/* `request` waits from the cycle in which it came. */
static inline void cold_start_wait_from(const struct cold_start *a, struct cold_wait *w,
                                        const void *request)
{
    if (engine_unlikely(a->on))
        *w = (struct cold_wait){.since = message_cycle(request), .lead = message_lead(request)};
}

/* What is sent next into the ring at `place` is asked for on behalf of the request. */
static inline void cold_start_ask(const struct cold_start *a, uint32_t place)
{
    if (engine_unlikely(a->leads))
        cold_start_send_lead(a, place);
}

/* What is sent next into the ring at `place` answers the request. */
static inline void cold_start_answer(const struct cold_start *a, uint32_t place)
{
    if (engine_unlikely(a->on))
        message_note_next(place, a->lost);
}

/* The owner takes requests again that it held from `blocked_since` - 1 on. */
static inline void cold_start_resume(struct cold_start *a, uint64_t blocked_since, uint64_t now)
{
    if (engine_unlikely(a->on))
        cold_start_count_resumption(a, blocked_since, now);
}

/* ---- answers from below ---- */

/* The answer to what `first` asked for comes now, `lost` cycles of its way late. In which cycle
 * would it have come? Only asked while there are leads. */
static inline uint64_t cold_wait_end(const struct cold_wait *first, int64_t lost, uint64_t now)
{
    return cold_wait_begin(first) + (now - first->since) - (uint64_t)lost;
}

/* The same behind a server that answers one after the other, when the earliest of those who wait
 * would have asked in cycle `asked`. `spared`: nobody would have had to ask. */
static inline uint64_t cold_start_take_turn(struct cold_start *a, const struct cold_wait *first,
                                            uint64_t asked, bool spared, uint64_t now)
{
    return note_server_answer(&a->below, first->since, now, asked, spared);
}

/* A request that waited in `w` is answered with the line that has come in `answer`, and with leads
 * would have in cycle `come` of the account. `in_full`: the whole wait is a miss of this cache,
 * which keeps lines from launch to launch; otherwise it is what the caches below have lost. */
static inline void cold_start_serve(struct cold_start *a, const struct cold_wait *w,
                                    const void *answer, uint64_t now, bool in_full)
{
    if (engine_unlikely(a->on))
        cold_start_count_line(a, w, answer, now, in_full);
}

/* A request that had lost `lost` up to here is answered by `answer` from below. */
static inline void cold_start_acknowledge(struct cold_start *a, struct message_note lost,
                                          const void *answer)
{
    if (engine_unlikely(a->on))
        a->lost = (struct message_note){message_note_cycles(lost.line + message_note(answer).line),
                                        lost.page};
}

/* A request that waited in `w` goes on with its page, which `answer` brings, and with leads would
 * have gone on in cycle `come`. */
static inline void cold_start_translate(struct cold_start *a, struct cold_wait *w,
                                        const void *answer, uint64_t come, uint64_t now)
{
    if (engine_unlikely(a->on))
        cold_start_count_page(a, w, message_note(answer).page, come, now);
}

/* What has a request lost that waited in `w` for an answer which would have come in cycle `come`?
 */
static inline int64_t cold_wait_lost(const struct cold_wait *w, uint64_t come, uint64_t now)
{
    return message_note_lost(w->since, now, cold_wait_begin(w), come);
}

/* A lookup that waited in `w` is answered with its page, which would have come in cycle `come`. */
static inline void cold_start_walked(struct cold_start *a, const struct cold_wait *w, uint64_t come,
                                     uint64_t now)
{
    if (engine_unlikely(a->on))
        a->lost = (struct message_note){.page = message_note_cycles(cold_wait_lost(w, come, now))};
}

#endif
