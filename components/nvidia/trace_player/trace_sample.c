/* Simulating chosen kernels of the list in detail (--kernels, --warmup), and --mode functional. The
 * host's driver does the same for programs:
 *
 * - kernels go one after another, in the order of the list; with `perfect` as always, until the
 *   last chosen one is over;
 * - of a kernel whose memory instructions alone take time, the others are not read (trace_read.c);
 * - kernels without time, and caches that are emptied, wait for the end of a window in which
 *   nothing is under way (trace_touch.c);
 * - a kernel that is left out is not read at all and leaves no trace.
 *
 * Emptied caches hold what the list's copies have left until there, if copies leave something. */
#include "trace_player_state.h"

#include <stdio.h>

#include "components/sampling/launch_census.h"
#include "components/traces/instruction_trace/reader/sass_name.h"

enum { SAMPLE_RETRY = 64 }; /* cycles until it is looked again whether all is quiet */

/* Is this run one in which kernels go one after another? */
static bool sample_in_turn(void)
{
    return platform_mode() == PLATFORM_FUNCTIONAL
           || (platform_sampling()->kernels && platform_sampling()->warmup != SAMPLING_PERFECT);
}

static void sample_take(struct trace_player *p, struct player_kernel *k, const char *symbol)
{
    char name[SAMPLE_NAME];
    sass_name_plain(symbol, name, sizeof name);
    k->launch = ++p->launches;
    k->way = (uint8_t)sampling_way(platform_sampling(), k->launch, name, symbol);
    if (platform_sampling()->kernels)
        census_note(platform_sampling(), k->launch, name, symbol);
    k->touches = platform_mode() == PLATFORM_FUNCTIONAL
                     ? platform_profile() == PLATFORM_PROFILE_MEMORY
                     : k->way == SAMPLING_TOUCHING;
}

static bool sample_is_timed(const struct player_kernel *k)
{
    return platform_mode() != PLATFORM_FUNCTIONAL
           && (k->way == SAMPLING_DETAILED || k->way == SAMPLING_MEMORY_ONLY);
}

static bool sample_begins_cold(const struct trace_player *p)
{
    const struct sampling *s = platform_sampling();
    return s->kernels && platform_mode() != PLATFORM_FUNCTIONAL
           && (s->warmup == SAMPLING_NONE || p->stale);
}

/* At the end of a window: what waits for it, if nothing else is under way. Times are looked at in
 * ticks only. */
static void sample_window_end(struct component *self)
{
    struct trace_player *p = (struct trace_player *)(void *)self;
    struct player_kernel *k = &p->kernel[p->order[0]];
    if (k->phase != PLAYER_ASKED)
        return;
    if (!warm_is_quiet(self->leaf)) {
        k->phase = PLAYER_WAITING;
        return;
    }
    if (sample_begins_cold(p)) {
        warm_drop_all();
        touch_copies(p, 0, k->command);
    }
    p->stale = false;
    if (sample_is_timed(k)) {
        k->phase = PLAYER_READY;
        return;
    }
    if (k->touches && platform_mode() == PLATFORM_FUNCTIONAL)
        touch_copies(p, p->copied, k->command);
    p->copied = k->command;
    if (!touch_kernel(p, k))
        player_fail(p);
    k->phase = PLAYER_UNTIMED;
}

/* A kernel whose turn has come: its next phase. */
static uint32_t sample_begin(struct trace_player *p, struct player_kernel *k)
{
    if (k->way == SAMPLING_SKIPPED) {
        p->stale = true;
        return PLAYER_UNTIMED;
    }
    if (sample_is_timed(k) && !sample_begins_cold(p))
        return PLAYER_READY;
    k->start_at = trace_player_now(p) + SAMPLE_RETRY;
    engine_at_window_end(&p->io.base, sample_window_end);
    return PLAYER_ASKED;
}

/* What the record of a kernel says besides. */
static void sample_describe(const struct player_kernel *k, uint32_t record)
{
    struct kernel_detail details[3 + PROFILE_DETAILS] = {
        {NULL, "thread_instructions", NULL, k->thread_instructions},
        {"occupancy", "blocks_per_sm", NULL, k->per_sm},
        {"occupancy", "warps_per_block", NULL, k->block.threads / 32},
    };
    unsigned count = 3 + profile_details(details + 3);
    if (platform_sampling()->kernels || platform_profile())
        kernel_set_launch(record, k->launch,
                          sampling_way_name(platform_mode() == PLATFORM_FUNCTIONAL
                                                ? SAMPLING_TOUCHING
                                                : (enum sampling_way)k->way));
    kernel_count(record, k->blocks, k->warp_instructions);
    kernel_describe(record, details, count);
}
