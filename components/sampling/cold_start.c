/* The account of a cold start; see cold_start.h. All of this runs only while an account is on. */
#include "components/sampling/cold_start.h"

#include "components/sampling/residency.h"
#include "components/sampling/sampling_options.h"
#include "runtime/state/platform.h"

void cold_start_init(struct cold_start *a)
{
    a->on = platform_sampling()->kernels != NULL;
    a->leads = a->on && residency_is_known();
}

/* The answer that made room last, if that was not before `cycle`. */
static struct cold_room freed_since(const struct cold_start *a, uint64_t cycle)
{
    return a->freed.at >= cycle ? a->freed : (struct cold_room){0};
}

static void note_freed(struct cold_start *a, struct message_note lost, uint16_t lead, uint64_t now)
{
    int64_t all = lead + lost.line + lost.page;
    a->freed = (struct cold_room){.at = now, .lead = all > 0 ? (uint64_t)all : 0, .lost = lost};
}

/* A new request stood behind one that was held, or was held itself, until an answer from below made
 * room. What that answer lost, the request has lost as well, if it has waited that long. */
void cold_start_count_arrival(struct cold_start *a, const void *request, uint64_t now,
                              uint64_t blocked_since)
{
    uint64_t came = message_cycle(request), at = a->resumed.at;
    struct cold_room room = a->resumed;
    a->lead = message_lead(request);
    if (blocked_since) {
        at = now;
        room = freed_since(a, blocked_since - 1);
    }
    if (engine_likely(came >= at))
        return;
    if (a->leads) {
        int64_t lost = message_note_lost(came, at, came - a->lead, at - room.lead);
        a->lost = (struct message_note){message_note_cycles(lost > 0 ? lost : 0), 0};
        return;
    }
    int64_t stood = (int64_t)(at - came), page = room.lost.page;
    page = page < stood ? page : stood;
    int64_t line = room.lost.line < stood - page ? room.lost.line : stood - page;
    a->lost = (struct message_note){(int16_t)line, (int16_t)page};
}

void cold_start_count_resumption(struct cold_start *a, uint64_t blocked_since, uint64_t now)
{
    a->resumed = freed_since(a, blocked_since - 1);
    a->resumed.at = now;
}

/* How much earlier the request that is being taken would have gone on from here. */
void cold_start_send_lead(const struct cold_start *a, uint32_t place)
{
    int64_t lead = a->lead + a->lost.line + a->lost.page;
    message_lead_next(place, lead > 0 ? (uint64_t)lead : 0);
}

void cold_start_count_line(struct cold_start *a, const struct cold_wait *w, const void *answer,
                           uint64_t now, bool in_full)
{
    int64_t waited = (int64_t)(now - w->since), line = message_note(answer).line;
    if (a->leads)
        line = cold_wait_lost(w, a->come, now);
    else
        line = in_full || waited < line ? waited : line;
    a->lost = (struct message_note){message_note_cycles(w->lost.line + line), w->lost.page};
    note_freed(a, a->lost, w->lead, now);
}

void cold_start_count_page(struct cold_start *a, struct cold_wait *w, int64_t lost, uint64_t come,
                           uint64_t now)
{
    int64_t waited = (int64_t)(now - w->since);
    lost = waited < lost ? waited : lost;
    if (a->leads)
        lost = cold_wait_lost(w, come, now);
    w->lost.page = message_note_cycles(w->lost.page + lost);
    note_freed(a, w->lost, w->lead, now);
}
