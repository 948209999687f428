/* Touches of a launch that plays a recorded trace, in the order in which functional.c makes those
 * of one that is executed, see touch.h. Called by the driver. */
#include "functional.h"

#include <string.h>

#include "touch.h"

#include "components/amd/execute/replay_access.h"
#include "components/amd/execute/work_cut.h"

enum { GROUPS_MOST = 4096, SEEN = 1 << 16 };

enum wave_state { WAVE_RUNS, WAVE_AT_BARRIER, WAVE_ENDED };

struct wave {
    struct replay_cursor cursor;
    struct replay_here here;
    enum wave_state state;
};

/* A work-group under way; its place is its number. */
struct group {
    struct work_placement placement;
    uint32_t id[3];
    uint32_t place, unit, ended, at_barrier;
    struct wave wave[WORK_MAX_WAVEFRONTS];
};

struct run {
    const struct functional_launch *launch;
    struct functional_result *result;
    struct work_placement common;
    uint32_t number; /* of the launch */
    uint32_t groups[3], next[3];
    uint64_t left;
};

static struct host_view view;
static struct group group[GROUPS_MOST];
static uint32_t live_groups[GROUPS_MOST], free_places[GROUPS_MOST];
static uint64_t
    seen[SEEN]; /* code that was executed in this launch: addresses, each at its place */

static bool begin_group(struct run *r, struct group *g)
{
    g->placement = r->common;
    memcpy(g->id, r->next, sizeof g->id);
    work_cut_group(g->id, &g->placement);
    g->place = (uint32_t)(g - group);
    g->placement.scratch_wavefront = g->place * work_full_wavefronts(&r->common);
    const struct replay_group asked = {.launch = r->number,
                                       .id = {g->id[0], g->id[1], g->id[2]},
                                       .wavefronts = g->placement.wavefronts};
    if (!replay_take(g->place, &asked, r->result->text)) {
        r->result->end = FUNCTIONAL_FAULT;
        return false;
    }
    g->unit = touch_next_unit();
    g->ended = g->at_barrier = 0;
    for (uint32_t i = 0; i < asked.wavefronts; i++)
        g->wave[i] = (struct wave){.cursor = replay_first(g->place, i),
                                   .here = replay_here(g->place, &g->placement, i)};
    work_next_group(r->groups, r->next);
    r->left--;
    return true;
}

static void touch_step(const struct group *g, const struct wave *w, uint64_t pc,
                       const struct isa_inst *inst)
{
    uint64_t *place = &seen[pc >> 2 & (SEEN - 1)];
    struct isa_memory memory;
    struct isa_scalar words;
    if (*place != pc)
        touch_code(&view, pc);
    *place = pc;
    if (inst->unit == ISA_UNIT_VMEM) {
        replay_vector(g->place, &w->cursor, &w->here, inst, &memory);
        touch_memory(&view, &memory);
    } else if (inst->unit == ISA_UNIT_SMEM) {
        replay_scalar_access(g->place, &w->cursor, &w->here, inst, &words);
        touch_scalars(&view, &words);
    }
}

/* Until the wavefront ends or waits. */
static void run_wave(struct run *r, struct group *g, struct wave *w)
{
    for (;;) {
        struct isa_inst inst;
        size_t size;
        uint64_t pc = replay_pc(g->place, &w->cursor);
        const uint8_t *code = replay_code(g->place, pc, &size);
        isa_decode(r->launch->target, code, size, &inst);
        touch_step(g, w, pc, &inst);
        r->result->instructions++;
        if (!replay_advance(g->place, &w->cursor)) {
            w->state = WAVE_ENDED;
            g->ended++;
            return;
        }
        if (inst.flags & ISA_IS_BARRIER) {
            w->state = WAVE_AT_BARRIER;
            g->at_barrier++;
        }
        if (inst.flags & (ISA_IS_BARRIER | ISA_IS_SLEEP | ISA_IS_WAITCNT))
            return;
    }
}

/* A turn of the work-group: each wavefront that can go on, and on past barriers. */
static void run_group(struct run *r, struct group *g)
{
    uint32_t waves = g->placement.wavefronts;
    view.unit = g->unit;
    for (bool gave_way = false; !gave_way && g->ended < waves;) {
        for (uint32_t i = 0; i < waves; i++) {
            struct wave *w = &g->wave[i];
            if (w->state != WAVE_RUNS)
                continue;
            run_wave(r, g, w);
            gave_way |= w->state == WAVE_RUNS;
        }
        if (!g->at_barrier || g->at_barrier + g->ended < waves)
            continue;
        gave_way = false;
        g->at_barrier = 0;
        for (uint32_t i = 0; i < waves; i++)
            g->wave[i].state = g->wave[i].state == WAVE_AT_BARRIER ? WAVE_RUNS : g->wave[i].state;
    }
}

static uint32_t most_groups(const struct functional_launch *launch)
{
    const struct aql_packet *packet = launch->packet;
    uint32_t most = launch->resident < GROUPS_MOST ? launch->resident : GROUPS_MOST;
    if (packet->private_bytes && packet->scratch && aql_scratch_groups(packet) < most)
        most = aql_scratch_groups(packet);
    return most ? most : 1;
}

void functional_play(const struct functional_launch *launch, uint32_t number,
                     struct functional_result *result)
{
    struct run r = {.launch = launch, .result = result, .number = number};
    struct touch_launch touch;
    *result = (struct functional_result){.end = FUNCTIONAL_DONE};
    r.common = work_common(launch->target, launch->packet, launch->descriptor, launch->entry,
                           launch->packet_address, launch->pid, launch->dispatch_id);
    r.left = work_count_groups(&r.common, r.groups);
    work_nth_group(r.groups, launch->first_group, r.next);
    r.left = launch->groups ? launch->groups : r.left;
    host_view_refresh(&view, launch->program, launch->pages, launch->pid);
    if (view.gpu != launch->gpu)
        view.count = view.next = 0;
    view.gpu = launch->gpu;
    memset(seen, 0xff, sizeof seen);
    touch_begin(&touch, launch, &result->profile);
    touch_turn(&touch);
    uint32_t most = most_groups(launch), live = 0, free = most;
    for (uint32_t i = 0; i < most; i++)
        free_places[i] = most - 1 - i;
    while (r.left || live) {
        for (bool more = r.left && free; more; more = r.left && free && live < touch_unit_count()) {
            live_groups[live++] = free_places[--free];
            if (!begin_group(&r, &group[live_groups[live - 1]]))
                return;
        }
        uint32_t kept = 0;
        for (uint32_t i = 0; i < live; i++) {
            struct group *g = &group[live_groups[i]];
            run_group(&r, g);
            if (g->ended < g->placement.wavefronts) {
                live_groups[kept++] = g->place;
                continue;
            }
            replay_give(g->place);
            free_places[free++] = g->place;
            result->work_groups++;
        }
        live = kept;
    }
    touch_pause(&touch);
}
