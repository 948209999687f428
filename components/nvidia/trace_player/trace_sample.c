/* Simulating chosen kernels of the list in detail (--kernels, --warmup), and --mode functional. The
 * host's driver does the same for programs:
 *
 * - kernels go one after another, in the order of the list; with `perfect` as always, until the
 *   last chosen one is over;
 * - of a kernel whose memory instructions alone take time, the others are not read (trace_read.c);
 * - kernels without time, and caches that are emptied, wait for the end of a window in which
 *   nothing is under way (trace_touch.c);
 * - a kernel that is left out is not read at all and leaves no trace;
 * - with `auto` each kernel is chosen for when the one before it is over (trace_signature.c).
 *
 * Emptied caches hold what the list's copies have left until there, if copies leave something. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "components/sampling/launch_census.h"
#include "components/sampling/online_sampling.h"
#include "components/traces/instruction_trace/reader/itrace_name.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/deferral.h"

#include "trace_player_state.h"

enum { SAMPLE_RETRY = 64 }; /* cycles until it is looked again whether all is quiet */

/* True if kernels of this run go one after another. */
static bool sample_in_turn(void)
{
    return platform_mode() == PLATFORM_FUNCTIONAL
           || (platform_sampling()->kernels && platform_sampling()->warmup != SAMPLING_PERFECT);
}

static bool sample_is_timed(const struct player_kernel *k)
{
    return platform_mode() != PLATFORM_FUNCTIONAL
           && (k->way == SAMPLING_DETAILED || k->way == SAMPLING_MEMORY_ONLY);
}

static bool sample_begins_cold(const struct trace_player *p)
{
    const struct sampling *s = platform_sampling();
    return s->kernels && !s->automatic && platform_mode() != PLATFORM_FUNCTIONAL
           && (s->warmup == SAMPLING_NONE || p->has_stale_caches);
}

/* ---- kernels chosen one by one ---- */

static uint32_t sample_kernel_number(const char *symbol)
{
    uint64_t hash = 0;
    while (*symbol)
        hash = hash_multiply(hash ^ (uint8_t)*symbol++);
    return (uint32_t)(hash >> 32);
}

/* Derives the shape of a kernel, by which launches are told apart, from its header and its
 * input. */
static void sample_read_shape(struct trace_file *file)
{
    const struct itrace_header *h = &file->trace.header;
    uint32_t symbol = sample_kernel_number(h->kernel_name);
    file->shape =
        (struct sampler_shape){.kernel = symbol + signature_age(&file->trace),
                               .work_items = h->block[0] * h->block[1] * h->block[2],
                               .work_groups = (uint64_t)h->grid[0] * h->grid[1] * h->grid[2],
                               .bytes = file->trace.input.size,
                               .age = signature_age(&file->trace)};
}

static void sample_enter(struct trace_player *p, struct player_kernel *k, const char *symbol)
{
    char name[SAMPLE_NAME];
    itrace_name_plain(symbol, name, sizeof name);
    k->launch = ++p->launches;
    if (platform_sampling()->kernels)
        census_note(platform_sampling(), k->launch, name, symbol);
    if (platform_sampling()->automatic) {
        sample_read_shape(&trace_files_get()->file[k - p->kernel]);
        return;
    }
    k->way = (uint8_t)sampling_way(platform_sampling(), k->launch, name, symbol);
    k->touches = platform_mode() == PLATFORM_FUNCTIONAL
                     ? platform_profile() == PLATFORM_PROFILE_MEMORY
                     : k->way == SAMPLING_TOUCHING;
}

/* Chooses how the kernel is executed. A kernel that is left out is not read any further. */
static void sample_choose(struct trace_player *p, struct player_kernel *k)
{
    struct sampler_shape ahead[TRACE_FILES];
    uint32_t slot = (uint32_t)(k - p->kernel);
    for (uint32_t i = 1; i < p->order_count; i++)
        ahead[i - 1] = trace_files_get()->file[p->order[i]].shape;
    online_sampling_foresee(ahead, p->order_count - 1);
    k->way =
        (uint8_t)online_sampling_choose(k->launch, &trace_files_get()->file[slot].shape, 0, NULL);
    k->touches = k->way == SAMPLING_TOUCHING;
    if (k->way != SAMPLING_SKIPPED && !trace_file_open(slot, k->command, false))
        player_fail(p);
}

/* The kernel is over. */
static void sample_over(const struct player_kernel *k, const struct trace_file *file)
{
    if (!platform_sampling()->automatic || !file->is_open)
        return;
    const struct sampler_work work = {.vector = {file->trace.steps}}; /* 0: it is not read */
    if (k->way == SAMPLING_DETAILED)
        online_sampling_read(&work);
    else
        online_sampling_executed(&work);
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
    if (platform_sampling()->automatic)
        sample_choose(p, k);
    if (sample_begins_cold(p)) {
        warm_drop_all();
        touch_copies(p, 0, k->command);
    }
    p->has_stale_caches = false;
    if (sample_is_timed(k)) {
        k->phase = PLAYER_READY;
        return;
    }
    if (k->touches && platform_mode() == PLATFORM_FUNCTIONAL)
        touch_copies(p, p->copied, k->command);
    p->copied = k->command;
    if (k->way != SAMPLING_SKIPPED && !touch_kernel(p, k))
        player_fail(p);
    k->phase = PLAYER_UNTIMED;
}

/* A kernel whose turn has come: its next phase. */
static uint32_t sample_begin(struct trace_player *p, struct player_kernel *k)
{
    if (k->way == SAMPLING_SKIPPED && !platform_sampling()->automatic) {
        p->has_stale_caches = true;
        return PLAYER_UNTIMED;
    }
    if (sample_is_timed(k) && !sample_begins_cold(p) && !platform_sampling()->automatic)
        return PLAYER_READY;
    k->start_at = trace_player_now(p) + SAMPLE_RETRY;
    engine_at_window_end(&p->io.base, sample_window_end);
    return PLAYER_ASKED;
}

/* Writes the gaps of a trace as details, and returns how many there are. */
static unsigned sample_gaps(const struct itrace *trace, struct kernel_detail *details)
{
    unsigned count = 0;
    if (trace)
        for (unsigned i = 0; i < ITRACE_GAP_KINDS; i++)
            if (trace->gaps.count[i])
                details[count++] = (struct kernel_detail){
                    "incomplete", itrace_gap_name((enum itrace_gap)i), NULL, trace->gaps.count[i]};
    return count;
}

/* Details of a kernel's record beside its account. */
static void sample_describe(const struct trace_player *p, const struct player_kernel *k,
                            const struct itrace *trace)
{
    struct slot_details own = {0};
    slot_details_add(&own, NULL, "thread_instructions", k->thread_instructions);
    account_describe(p, k, k->phase == PLAYER_RUNNING, &own);
    if (own.count + PROFILE_DETAILS + ITRACE_GAP_KINDS > SLOT_DETAILS_MAX)
        bug("a kernel's record has more details than there is room for");
    own.count += profile_details(own.detail + own.count);
    own.count += sample_gaps(trace, own.detail + own.count);
    if (platform_sampling()->kernels || platform_profile())
        kernel_set_launch(k->record, k->launch,
                          sampling_way_name(platform_mode() == PLATFORM_FUNCTIONAL
                                                ? SAMPLING_TOUCHING
                                                : (enum sampling_way)k->way));
    kernel_count(k->record, k->blocks, k->warp_instructions);
    kernel_describe(k->record, own.detail, own.count);
}
