/* Plays a list of traces. Commands are taken in their order: a copy when it may take effect, a
 * kernel when there is a slot for it. Kernels of one CUDA stream run one after the other. Kernels
 * of different streams run side by side; where two have a block that fits, the older kernel's goes
 * first.
 *
 * In a cycle each SM gets one block at most. The SMs have turns, and the SM after the last one
 * served comes first. The player knows the free resources of all SMs, so no SM refuses a block. */
#include "trace_player.gen.h"

#include "base/number.h"
#include "components/nvidia/program/ptx_services.h"
#include "components/statistics/run_progress.h"
#include "runtime/engine/component_failure.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/timeline.h"
#include "runtime/state/checkpoint.h"

#include "player_call.h"
#include "trace_player_state.h"

static const char *instance_text(uint32_t offset)
{
    return engine_base.platform->strings + offset;
}

/* There is one list, so one player can play it: the first instance of this type. */
static uint32_t first_player(const struct trace_player *p)
{
    const struct platform_instance *all = engine_base.platform->instances;
    const char *own = instance_text(all[p->io.base.leaf].type);
    uint32_t i = 0;
    while (strcmp(instance_text(all[i].type), own) != 0)
        i++;
    return i;
}

static void trace_player_init(struct trace_player *p)
{
    const struct trace_player_params *params = trace_player_params(p);
    uint32_t sms = trace_player_work_count(p);
    ptx_offer(&ptx_code_services);
    checkpoint_wait_for(execute_is_over);
    if (first_player(p) == p->io.base.leaf) {
        trace_files_close();
        touch_close();
        trace_async_begin();
        profile_close();
        signature_close();
    }
    trace_files_open();
    p->sm = (struct sm_shape){.room = {.threads = params->threads,
                                       .blocks = params->blocks,
                                       .registers = params->registers,
                                       .shared = params->shared},
                              .register_unit = params->register_unit,
                              .sub_cores = params->sub_cores,
                              .shared_unit = params->shared_unit,
                              .shared_system = params->shared_system};
    p->rooms_at = arena_allocate(sms * sizeof(struct sm_room));
    for (uint32_t i = 0; i < sms; i++)
        *player_room(p, i) = p->sm.room;
    trace_writer_init(&p->writer, trace_player_stream(p), params->memory,
                      sms * params->blocks + (2 + ITRACE_CLUSTER) * params->kernels);
    for (uint32_t i = 0; i < params->kernels; i++) {
        p->kernel[i].insts_at = arena_allocate(TRACE_INSTS_MAX * sizeof(struct trace_inst));
        p->kernel[i].phases_at = arena_allocate(sizeof(struct player_phases));
    }
    p->asking = TRACE_INDEX_NONE;
    account_init(p);
}

/* ---- kernels ---- */

/* False: a block of this kernel never fits. */
static bool kernel_measure(struct trace_player *p, struct player_kernel *k,
                           const struct player_needs *needs)
{
    const char *limit;
    k->registers = needs->registers < 255 ? (uint32_t)needs->registers : 255;
    k->per_sm =
        sm_shape_blocks(&p->sm, needs->threads, needs->registers, needs->shared, &k->block, &limit);
    if (k->per_sm) {
        k->carve = sm_room_carve(k->per_sm * k->block.shared, p->sm.room.shared);
        return true;
    }
    snprintf(trace_files_get()->error, sizeof trace_files_get()->error,
             "%s: a block of %llu threads, %llu registers a thread and %llu bytes of shared memory "
             "does not fit on an SM: not enough %s",
             needs->name, (unsigned long long)needs->threads, (unsigned long long)needs->registers,
             (unsigned long long)needs->shared, limit);
    return false;
}

/* Opens the trace of a kernel. A binary copy is looked for after it is known that more than the
 * header is wanted: here, or when the kernel is chosen for. */
static const struct itrace *kernel_open(struct trace_player *p, struct player_kernel *k,
                                        uint32_t slot)
{
    bool some = platform_sampling()->kernels, listed = some && !platform_sampling()->automatic;
    const struct itrace *trace = trace_file_open(slot, k->command, some);
    if (!trace)
        return NULL;
    const uint32_t *grid = trace->header.grid;
    sample_enter(p, k, trace->header.kernel_name);
    progress_add_kernel((uint64_t)grid[0] * grid[1] * grid[2]);
    return listed && k->way != SAMPLING_SKIPPED ? trace_file_open(slot, k->command, false) : trace;
}

static uint32_t player_free_slot(const struct trace_player *p)
{
    uint32_t slot = 0, count = trace_player_params(p)->kernels;
    while (slot < count && p->kernel[slot].phase != PLAYER_FREE)
        slot++;
    return slot < count ? slot : TRACE_INDEX_NONE;
}

static struct player_kernel *kernel_begin_slot(struct trace_player *p, uint32_t slot)
{
    struct player_kernel *k = &p->kernel[slot];
    *k = (struct player_kernel){.phase = PLAYER_WAITING,
                                .command = p->command,
                                .insts_at = k->insts_at,
                                .phases_at = k->phases_at,
                                .uses_at = k->uses_at,
                                .pcs_at = k->pcs_at,
                                .reading_block = TRACE_INDEX_NONE,
                                .next_block = TRACE_INDEX_NONE};
    return k;
}

static bool traced_kernel_fits(struct trace_player *p, struct player_kernel *k,
                               const struct itrace_header *h)
{
    const struct player_needs needs = {.name = trace_files_get()->list.commands[k->command].name,
                                       .threads = (uint64_t)h->block[0] * h->block[1] * h->block[2],
                                       .registers = h->registers,
                                       .shared = h->shared_bytes};
    return kernel_measure(p, k, &needs);
}

/* The cycle in which a program launched the kernel: so long after as many kernels had ended.
 * Kernels that go in turn do not wait for their program. */
static uint64_t launch_time(const struct trace_player *p, const struct player_kernel *k)
{
    if (sample_in_turn())
        return 0;
    return p->ended < k->ended_before ? ENGINE_NEVER : p->ended_at + k->delay;
}

static bool traced_kernel_accept(struct trace_player *p)
{
    uint32_t slot = player_free_slot(p);
    if (slot == TRACE_INDEX_NONE)
        return false;
    struct player_kernel *k = kernel_begin_slot(p, slot);
    const struct itrace *trace = kernel_open(p, k, slot);
    bool good = trace && trace->layout.mask_digits <= 8 && traced_kernel_fits(p, k, &trace->header);
    if (!good) {
        if (trace && trace->layout.mask_digits > 8)
            trace_files_report(NULL, true, trace->path, 0, "warps of 64 lanes cannot be played");
        player_fail(p);
        k->phase = PLAYER_FREE;
        return false;
    }
    k->stream = trace->header.stream;
    k->local_base = trace->header.local_base;
    k->ended_before = trace->header.launch_behind < k->launch
                          ? trace->header.launch_behind
                          : k->launch - 1; /* a list cut short */
    k->delay = trace->header.launch_delay;
    k->start_at = launch_time(p, k);
    p->order[p->order_count++] = slot;
    p->command++;
    return true;
}

/* True if the kernel is the oldest of its CUDA stream. */
static bool kernel_is_due(const struct trace_player *p, uint32_t position)
{
    if (sample_in_turn())
        return position == 0;
    for (uint32_t i = 0; i < position; i++)
        if (p->kernel[p->order[i]].stream == p->kernel[p->order[position]].stream)
            return false;
    return true;
}

/* The name of a launch in traces of the run; NULL: it has none. */
static const char *launch_span(const struct player_kernel *k)
{
    return timeline_name(program_kernel_name(ptx_tables()->program, k->program_kernel));
}

static void launch_start(struct trace_player *p, struct player_kernel *k, const char *span)
{
    k->phase = PLAYER_LAUNCHING;
    k->start_at = trace_player_now(p) + trace_player_params(p)->launch_latency;
    account_begin(p, k);
    if (span)
        timeline_begin_launch(&p->io.base, (uint64_t)(k - p->kernel), span);
}

static void kernel_launch(struct trace_player *p, struct player_kernel *k)
{
    if (k->is_program) {
        launch_start(p, k, launch_span(k));
        return;
    }
    char name[SAMPLE_NAME];
    uint32_t slot = (uint32_t)(k - p->kernel);
    const struct itrace *trace = trace_file_at(slot, k->command, k->events);
    struct trace_file *file = &trace_files_get()->file[slot];
    if (!trace) {
        player_fail(p);
        return;
    }
    itrace_name_plain(trace->header.kernel_name, name, sizeof name);
    k->record = kernel_begin(&p->io.base, name, trace->header.kernel_name, 0);
    account_name_kernel(p, k, name, trace->header.kernel_name, 0, 0);
    file->span = timeline_name(name);
    launch_start(p, k, file->span);
}

static void kernel_leave(struct trace_player *p, uint32_t position)
{
    p->kernel[p->order[position]].phase = PLAYER_FREE;
    p->ended++;
    p->ended_at = trace_player_now(p);
    p->order_count--;
    for (uint32_t i = position; i < p->order_count; i++)
        p->order[i] = p->order[i + 1];
    for (uint32_t i = 0; i < p->order_count; i++) {
        struct player_kernel *k = &p->kernel[p->order[i]];
        if (k->phase == PLAYER_WAITING && k->start_at == ENGINE_NEVER)
            k->start_at = launch_time(p, k);
    }
}

/* False: there is no room yet for the answer to the driver. */
static bool launch_finish(struct trace_player *p, uint32_t position)
{
    struct player_kernel *k = &p->kernel[p->order[position]];
    const char *span = launch_span(k);
    if (!host_launch_end(p, k))
        return false;
    execute_end(p, k);
    sample_describe(p, k, NULL);
    kernel_end(&p->io.base, k->record);
    if (span)
        timeline_end(&p->io.base, (uint64_t)(k - p->kernel), span);
    kernel_leave(p, position);
    return true;
}

static void kernel_finish(struct trace_player *p, uint32_t position)
{
    uint32_t slot = p->order[position];
    struct player_kernel *k = &p->kernel[slot];
    struct trace_file *file = &trace_files_get()->file[slot];
    struct itrace *trace = trace_file_at(slot, k->command, k->events);
    if (trace) {
        itrace_report_unknown(trace);
        p->io.stats.gaps += itrace_gaps_total(&trace->gaps);
        sample_over(k, file);
    }
    sample_describe(p, k, trace);
    kernel_end(&p->io.base, k->record);
    if (file->span)
        timeline_end(&p->io.base, slot, file->span);
    trace_file_close(file);
    kernel_leave(p, position);
}

/* ---- the list ---- */

static bool commands_accept(struct trace_player *p)
{
    bool progress = false;
    while (p->command < trace_files_get()->list.count && p->fill_at == p->fill_end && !p->fills) {
        const struct itrace_command *command = &trace_files_get()->list.commands[p->command];
        if (!(command->name ? traced_kernel_accept(p) : copy_accept(p, command)))
            break;
        progress = true;
    }
    return progress;
}

/* ---- blocks ---- */

static bool kernel_has_block(const struct player_kernel *k)
{
    return k->next_block != TRACE_INDEX_NONE || k->at_block < k->end_block;
}

/* The blocks of a cluster go to as many SMs in one cycle: is there room for them from the
 * `tried`-th SM of this cycle on? Otherwise the first one waits. */
static bool cluster_fits(const struct trace_player *p, const struct player_kernel *k,
                         uint32_t tried)
{
    uint32_t sms = trace_player_work_count(p), rooms = 0;
    if (k->cluster < 2 || player_block(p, k->next_block)->rank)
        return true;
    for (uint32_t i = tried; i < sms && rooms < k->cluster; i++) {
        uint32_t sm = (p->first_sm + i) % sms;
        rooms += trace_player_work_can_send(p, sm) && sm_room_fits(player_room(p, sm), &k->block);
    }
    return rooms >= k->cluster || k->cluster > sms;
}

/* True if the time has come for another block, where all of them take turns. */
static bool turn_has_come(const struct trace_player *p)
{
    return p->turn / 100 <= trace_player_now(p) || p->cluster_rest;
}

/* A block has been placed, whose successor has its turn `block_cost` later. */
static void turn_end(struct trace_player *p, const struct player_kernel *k)
{
    uint64_t now = trace_player_now(p) * 100;
    p->turn = max(p->turn, now) + trace_player_params(p)->block_cost;
    if (k->cluster > 1)
        p->cluster_rest = (p->cluster_rest ? p->cluster_rest : k->cluster) - 1;
}

static bool block_place(struct trace_player *p, uint32_t sm, uint32_t tried)
{
    struct sm_room *room = player_room(p, sm);
    for (uint32_t i = 0; i < p->order_count; i++) {
        struct player_kernel *k = &p->kernel[p->order[i]];
        if (k->phase != PLAYER_RUNNING || !kernel_has_block(k) || !sm_room_fits(room, &k->block)
            || !cluster_fits(p, k, tried)
            || (k->next_block == TRACE_INDEX_NONE && !execute_block(p, k, sm)))
            continue;
        sm_room_acquire(room, &k->block);
        account_place(p, k, sm);
        turn_end(p, k);
        player_block(p, k->next_block)->placed = p->placed++;
        trace_player_work_send_run(p, sm, (uint16_t)p->order[i], k->next_block);
        read_block_placed(p, k);
        k->running_blocks++;
        if (k->next_block == TRACE_INDEX_NONE && !k->is_program)
            read_block(p, k);
        return true;
    }
    return false;
}

static bool blocks_place(struct trace_player *p)
{
    uint32_t sms = trace_player_work_count(p), first = p->next_sm, waiting = 0;
    bool progress = false;
    p->first_sm = first;
    for (uint32_t i = 0; i < p->order_count; i++) {
        struct player_kernel *k = &p->kernel[p->order[i]];
        if (k->phase != PLAYER_RUNNING)
            continue;
        if (read_wants(k))
            read_block(p, k);
        waiting += kernel_has_block(k);
    }
    for (uint32_t i = 0; waiting && i < sms && turn_has_come(p); i++) {
        uint32_t sm = first + i < sms ? first + i : first + i - sms;
        if (!trace_player_work_can_send(p, sm) || !block_place(p, sm, i))
            continue;
        p->next_sm = sm + 1 < sms ? sm + 1 : 0;
        progress = true;
    }
    if (waiting && !turn_has_come(p))
        trace_player_wake_at(p, p->turn / 100);
    return progress;
}

static void block_finished(struct trace_player *p, uint32_t sm, const struct thread_block_reply *m,
                           uint32_t block)
{
    struct trace_block *b = player_block(p, block);
    struct player_kernel *k = &p->kernel[b->kernel];
    k->blocks++;
    k->running_blocks--;
    progress_end_work_groups(1);
    k->warp_instructions += m->finished.warp_instructions;
    k->thread_instructions += m->finished.thread_instructions;
    sm_room_release(player_room(p, sm), &k->block);
    account_finish(p, k, sm);
    trace_writer_release(&p->writer, trace_player_stream(p), b);
    p->io.stats.blocks_done++;
}

static bool blocks_finished(struct trace_player *p)
{
    bool progress = false;
    for (uint32_t i = 0; i < trace_player_work_count(p); i++) {
        uint32_t bit = trace_player_work_first_pending(p) + i;
        uint64_t pending = component_pending(&p->io.base, bit / 64) >> (bit % 64);
        if (!pending) {
            i += 63 - bit % 64; /* nothing in the rest of this word */
            continue;
        }
        const struct thread_block_reply *m;
        while ((pending & 1) && (m = trace_player_work_peek_reply(p, i))) {
            if (message_kind(m) == THREAD_BLOCK_FINISHED)
                block_finished(p, i, m, m->finished.block);
            else if (player_has_host(p))
                execute_ask(p, i, m->more.block);
            else
                read_ask(p, i, m->more.block);
            trace_player_work_pop_reply(p, i);
            progress = true;
        }
    }
    return progress;
}

static bool kernels_step(struct trace_player *p)
{
    uint64_t now = trace_player_now(p);
    bool progress = false;
    for (uint32_t i = 0; i < p->order_count; i++) {
        struct player_kernel *k = &p->kernel[p->order[i]];
        if (k->phase == PLAYER_RUNNING && k->is_read && !k->running_blocks
            && k->next_block == TRACE_INDEX_NONE) {
            if (k->is_program && !launch_finish(p, i))
                continue;
            if (!k->is_program)
                kernel_finish(p, i);
            i--;
            progress = true;
            continue;
        }
        if (k->phase == PLAYER_WAITING && kernel_is_due(p, i)) {
            if (now < k->start_at) {
                trace_player_wake_at(p, k->start_at);
                continue;
            }
            k->phase = k->is_program ? PLAYER_READY : sample_begin(p, k);
            progress = true;
        }
        if (k->phase == PLAYER_UNTIMED) {
            kernel_launch(p, k);
            kernel_finish(p, i--);
            progress = true;
            continue;
        }
        if (k->phase == PLAYER_READY)
            kernel_launch(p, k);
        if (k->phase == PLAYER_LAUNCHING && now >= k->start_at) {
            k->phase = PLAYER_RUNNING;
            slot_account_running(&k->slots, &p->all, now);
            progress = true;
        }
        if (k->phase == PLAYER_LAUNCHING)
            trace_player_wake_at(p, k->start_at);
    }
    return progress;
}

/* A block that is too large for the memory of all blocks, when there is none to wait for. */
static void check_memory(struct trace_player *p)
{
    const struct player_kernel *stuck = NULL;
    for (uint32_t i = 0; i < p->order_count; i++) {
        const struct player_kernel *k = &p->kernel[p->order[i]];
        if (k->running_blocks || k->next_block != TRACE_INDEX_NONE || k->phase != PLAYER_RUNNING)
            return;
        stuck = k->reading_block != TRACE_INDEX_NONE || k->has_block_at_hand ? k : stuck;
    }
    if (!stuck)
        return;
    player_too_small(p, stuck);
    player_fail(p);
}

/* False: there is nothing to play. */
static bool has_list(struct trace_player *p)
{
    const char *path = trace_files_get()->path;
    if (first_player(p) != p->io.base.leaf) {
        const struct platform_instance *all = engine_base.platform->instances;
        engine_fail(&p->io.base,
                    "cannot play beside '%s': there is one list of traces, so a platform has one "
                    "trace_player; give it all streaming multiprocessors",
                    instance_text(all[first_player(p)].path));
        return false;
    }
    if (trace_files_get()->has_list)
        return true;
    if (path && trace_files_list(path)) {
        p->io.stats.left_out = trace_files_get()->list.left_out;
        return true;
    }
    if (!path)
        snprintf(trace_files_get()->error, sizeof trace_files_get()->error,
                 "this platform plays traces: name a list of them with --play sass=LIST");
    player_fail(p);
    return false;
}

static bool trace_player_tick(struct trace_player *p)
{
    bool has_host = player_has_host(p);
    if (!has_host && !has_list(p))
        return false;
    bool progress = blocks_finished(p);
    progress |= has_host && host_step(p);
    progress |= has_host ? execute_asked(p) : read_asked(p);
    progress |= copy_fill(p);
    progress |= blocks_place(p);
    progress |= kernels_step(p);
    progress |= commands_accept(p);
    if (!progress)
        check_memory(p);
    return progress;
}

static unsigned trace_player_outstanding(const struct trace_player *p, struct hang_report *report)
{
    unsigned left = p->order_count + p->fills + (p->move.size != 0);
    if (report)
        hang_note(report, "%u kernels under way, %u commands taken", p->order_count, p->command);
    return left;
}
