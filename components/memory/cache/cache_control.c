/* Jobs: flush, invalidate, pause and fence. One at a time; while it lasts, no request is accepted.
 *
 * A fence ends here, since every answer to a write comes from where all sharers see it: it is
 * answered when every request before it has been answered, and with `acquire` all lines are
 * dropped, so later reads ask below. A write-back cache also writes its dirty lines back first.
 * With the parameter acquire = below the answers come from what not all sharers see either, so a
 * fence with `acquire`, or with `release` at system scope, is sent on to all banks below and their
 * answers awaited. Fences of a scope whose members share this cache (of a work-group; with scope =
 * system, of an agent) only keep their place in the order.
 *
 * Flush and invalidate wait until every request is answered. Invalidate, and flush with
 * `invalidate`, also forget translations. A pause is a flush with `invalidate` after which nothing
 * is accepted until `resume` comes: JOB_PAUSED. None of them waits for requests that are blocked on
 * a write fault (cache_translate.c); they come before a fence that does. */
#include "cache.gen.h"
#include "scope.gen.h"

#include "runtime/engine/component_failure.h"

#include "cache_state.h"

static void start_job(struct cache *c, enum cache_job job, bool writes_back, bool drops,
                      bool drops_stale)
{
    c->job = (uint8_t)job;
    c->job_writes_back = writes_back && is_write_back(c);
    c->job_drops = drops;
    c->job_drops_stale = drops_stale;
    c->job_pass_count = 0;
    c->job_passes = false;
}

/* Answers a request that comes in a pause or ends it: there is nothing to write back or to drop. */
static void answer_control(struct cache *c, const struct cache_control_request *m)
{
    if (!cache_control_can_reply(c))
        return;
    if (message_kind(m) == CACHE_CONTROL_RESUME)
        c->job = JOB_NONE;
    cache_control_reply_finished(c, m->tag);
    cache_control_pop(c);
}

/* True if a pause has ended, in which answers to faults may have come. */
static OUT_OF_LINE bool start_control(struct cache *c)
{
    const struct cache_control_request *m = cache_control_peek(c);
    bool is_busy = c->job != JOB_NONE && c->job != JOB_PAUSED;
    bool is_paused = c->job == JOB_PAUSED;
    if (!m || (is_busy && !(c->job == JOB_FENCE && c->faulted_count)))
        return false;
    if (is_paused || message_kind(m) == CACHE_CONTROL_RESUME)
        answer_control(c, m);
    else if (message_kind(m) == CACHE_CONTROL_PAUSE)
        start_job(c, JOB_PAUSE, true, true, false);
    else if (message_kind(m) == CACHE_CONTROL_INVALIDATE)
        start_job(c, JOB_INVALIDATE, false, true, false);
    else
        start_job(c, JOB_FLUSH, true, m->flush.invalidate, m->flush.stale);
    return is_paused && c->job == JOB_NONE;
}

/* A line whose dirty bytes have gone below stays, if all its bytes are here. Its mask would make
 * them dirty again with the next write. */
static void line_settle(struct cache *c, uint32_t line)
{
    if (line_is_filled(c, line))
        *line_mask(c, line) = (struct mem_mask){{0, 0}};
    else
        line_drop(c, line);
}

/* Sends dirty lines below in order of their places, as many as there is room for. */
static bool write_back_all(struct cache *c)
{
    bool has_worked = false;
    for (; c->dirty_count; c->dirty_from++)
        for (uint64_t bits; (bits = arena_at(uint64_t, c->dirty_at)[c->dirty_from]);) {
            if (!index_pool_has(&c->free_sent) || !has_room_below(c))
                return has_worked;
            uint32_t line = c->dirty_from * 64 + (uint32_t)__builtin_ctzll(bits);
            line_write_back(c, line);
            line_settle(c, line);
            has_worked = true;
        }
    return has_worked;
}

static bool finish_job(struct cache *c)
{
    bool is_from_control = c->job != JOB_FENCE;
    if (is_from_control ? !cache_control_can_reply(c) : !cache_top_can_reply(c))
        return false;
    if (c->job_drops) {
        if (c->dirty_count) {
            engine_fail(&c->io.base, "invalidate would lose %u dirty lines; flush first",
                        c->dirty_count);
            return false;
        }
        if (c->job_drops_stale)
            drop_stale(c);
        else
            drop_all(c);
        if (is_from_control && cache_translation(c)) {
            cache_translation_ops(c)->flush(cache_translation(c));
            c->head_is_translated = c->head_misses = c->head_faults = false;
            outdate_page_answers(c);
        }
    }
    if (is_from_control) {
        cache_control_reply_finished(c, cache_control_peek(c)->tag);
        cache_control_pop(c);
    } else {
        cache_top_reply_done(c, cache_top_peek(c)->tag);
        cache_top_pop(c);
    }
    c->job = c->job == JOB_PAUSE ? JOB_PAUSED : JOB_NONE;
    return true;
}

/* A fence, in either of its forms. */
struct fence_kind {
    unsigned scope;
    bool acquire, release;
};

static struct fence_kind read_fence(const struct mem_request *m)
{
    return message_kind(m) == MEM_FENCE
               ? (struct fence_kind){m->fence.scope, m->fence.acquire, m->fence.release}
               : (struct fence_kind){m->fence_at.scope, m->fence_at.acquire, m->fence_at.release};
}

/* The fence at the head goes on to as many caches below as there is room for; answers come like
 * those to a write-back. */
static bool pass_fence(struct cache *c)
{
    struct fence_kind f = read_fence(cache_top_peek(c));
    uint64_t interleave = cache_params(c)->interleave;
    bool has_worked = false;
    while (c->job_pass_count && index_pool_has(&c->free_sent) && has_room_below(c)) {
        uint32_t sent = sent_open(c, (struct cache_sent){.kind = SENT_WRITE_BACK});
        uint16_t tag = (uint16_t)(cache_params(c)->mshrs + sent);
        c->job_pass_count--;
        if (cache_params(c)->banks_below == 1)
            cache_bottom_send_fence(c, tag, f.scope, f.acquire, f.release);
        else
            cache_bottom_send_fence_at(c, tag, c->job_pass_count * interleave, f.scope, f.acquire,
                                       f.release);
        has_worked = true;
    }
    return has_worked;
}

static OUT_OF_LINE bool work_on_job(struct cache *c)
{
    bool has_worked = false;
    if (c->unanswered != (c->job == JOB_FENCE ? 0 : c->faulted_count))
        return false;
    if (c->job_writes_back)
        has_worked = write_back_all(c);
    if (c->job_writes_back && c->dirty_count)
        return has_worked;
    if (c->job_pass_count && (c->job_passes || !index_pool_used(&c->free_sent))) {
        c->job_passes = true;
        return pass_fence(c) || has_worked;
    }
    if (index_pool_used(&c->free_sent))
        return has_worked;
    return finish_job(c) || has_worked;
}

/* Starts the fence `m`, which is the oldest request. */
static void start_fence(struct cache *c, const struct mem_request *m)
{
    struct fence_kind f = read_fence(m);
    bool is_shared = f.scope == SCOPE_SYSTEM
                     || (f.scope == SCOPE_AGENT && cache_params(c)->scope == CACHE_SCOPE_AGENT);
    start_job(c, JOB_FENCE, is_shared && (f.release || f.acquire), is_shared && f.acquire, true);
    unsigned narrowest =
        cache_params(c)->release == CACHE_RELEASE_AGENT ? SCOPE_AGENT : SCOPE_SYSTEM;
    if (cache_params(c)->acquire == CACHE_ACQUIRE_BELOW
        && (c->job_drops || (f.release && f.scope >= narrowest)))
        c->job_pass_count = cache_params(c)->banks_below;
}
