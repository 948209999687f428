/* Blocks that are executed: the executor of PTX (components/nvidia/warp) runs a block when it is
 * placed, in the player's partition, so that bytes and order are the same on any number of threads.
 * player_observe.c writes records of the executed instructions.
 *
 * Calls are kept in host memory, by slot. A block is executed from its begin to its end before its
 * first instruction is issued. A block that reads a clock, waits for others, or is long is executed
 * as far as it comes. The SM asks for more of the block when it has issued that part. By then, the
 * block may have what it waited for. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/traces/instruction_trace/nvidia/cuda_recording.h"
#include "runtime/engine/component_failure.h"

#include "player_call.h"

enum {
    EXECUTE_BUDGET = 1 << 18, /* warp instructions of a new block at once */
    EXECUTE_ROUND = 1 << 14,  /* warp instructions at once when the SM asks for more of a block */
    EXECUTE_PIECE = 128,      /* instructions between two checks whether a new block only waits */
    EXECUTE_SHORT = 32,       /* instructions between two checks when the SM has asked for more */
    EXECUTE_ROOM = EXECUTE_ROUND * TRACE_RECORD / (TRACE_CHUNK - TRACE_RECORD) + 3 /* chunks */
};

/* A block that is on an SM and not over. */
struct player_kept {
    struct player_kept *next;
    struct player_call *call;
    uint32_t block, sm; /* block of the store, and the SM it is on */
    bool asks;
    uint64_t number; /* in the grid */
    void *memory;
    struct player_lanes lanes[TRACE_WARPS];
    struct player_mbarriers mbarriers;
    uint32_t part;                    /* how often it has gone on */
    struct player_recorded *recorded; /* for a recording: all that it has executed */
};

static struct player_call *player_calls;
static struct player_kept *player_kept; /* in the order in which they began */

static struct player_call *call_of(struct trace_player *p, struct player_kernel *k)
{
    for (struct player_call *c = player_calls; c; c = c->next)
        if (c->player == p && c->kernel == k)
            return c;
    struct player_call *c = grow_zeroed(sizeof *c, "a launch");
    c->player = p;
    c->kernel = k;
    c->next = player_calls;
    player_calls = c;
    return c;
}

/* ---- recordings ---- */

static void record_begin(struct player_call *c, const struct ptx_order *o)
{
    const struct warp_launch *l = &c->call.launch;
    const struct ptx_module *m = c->call.code->module;
    struct itrace_header h = {.kernel_id = o->number,
                              .shared_bytes = (uint64_t)l->kernel->shared_bytes + l->dynamic_shared,
                              .registers = l->kernel->registers,
                              .binary_version = m->target,
                              .shared_base = WARP_SHARED,
                              .local_base = WARP_LOCAL,
                              .launch_behind = c->player->ended,
                              .launch_delay = trace_player_now(c->player) - c->player->ended_at};
    if (!cuda_recording_is_on())
        return;
    snprintf(h.kernel_name, sizeof h.kernel_name, "%s", l->kernel->name);
    memcpy(h.grid, l->grid, sizeof h.grid);
    memcpy(h.block, l->block, sizeof h.block);
    free(c->insts);
    c->insts = grow_zeroed(m->instruction_count * sizeof *c->insts, "a recording");
    c->trace = cuda_trace_begin(&h);
    c->recorded = c->kernel->at_block;
}

/* A record as a step of a trace. The addresses of an instruction in the generic space become
 * generic addresses, which name their window. */
static void record_step(const struct player_call *c, const uint32_t *record)
{
    struct itrace_inst *inst = &c->insts[*record & TRACE_ID];
    unsigned space = trace_record_space(*record);
    uint64_t base = 0;
    if (inst->opcode.space == ITRACE_SPACE_GENERIC && space == TRACE_SHARED)
        base = WARP_SHARED;
    else if (inst->opcode.space == ITRACE_SPACE_GENERIC && space == TRACE_LOCAL)
        base = WARP_LOCAL;
    struct itrace_step step = {
        .inst = inst, .mask = trace_record_mask(record), .mode = ITRACE_MODE_LIST};
    step.count = trace_addresses(record, step.address);
    mbarrier_decode(record, &step.copy);
    for (unsigned i = 0; i < step.count; i++)
        step.address[i] += base;
    if (trace_record_mode(*record) == TRACE_STRIDE) {
        step.mode = ITRACE_MODE_STRIDE;
        step.stride = (int32_t)record[*record & TRACE_FULL ? 3 : 4];
    }
    cuda_trace_step(c->trace, &step);
}

static void record_write(struct player_call *c, const struct player_warp *warps, uint32_t count)
{
    cuda_trace_block(c->trace, c->recorded++);
    for (uint32_t w = 0; w < count; w++) {
        const uint32_t *from = warps[w].words;
        cuda_trace_warp(c->trace, w, warps[w].count);
        for (size_t at = 0; at < warps[w].word_count; at = trace_record_end(from, (uint32_t)at))
            if (from[at] == TRACE_PART)
                cuda_trace_part(c->trace, from[at + 1]);
            else
                record_step(c, from + at);
    }
    cuda_trace_block_end(c->trace);
}

static void recorded_free(struct player_recorded *r)
{
    if (r)
        for (uint32_t w = 0; w < r->warps; w++)
            free(r->warp[w].words);
    free(r);
}

/* Appends the instructions that the block has executed last to its recording. */
static void recorded_add(const struct player_call *c, struct player_recorded *r, uint32_t part)
{
    for (uint32_t w = 0; w < r->warps; w++) {
        struct player_warp *to = &r->warp[w];
        const struct player_warp *from = &c->warp[w];
        if (!from->word_count)
            continue;
        warp_reserve(to, from->word_count + 2);
        if (part) {
            to->words[to->word_count++] = TRACE_PART;
            to->words[to->word_count++] = part;
        }
        memcpy(to->words + to->word_count, from->words, from->word_count * sizeof *to->words);
        to->word_count += from->word_count;
        to->count += from->count;
    }
}

/* The begin of the block that has been executed last; NULL: nothing records. */
static struct player_recorded *recorded_begin(const struct player_call *c, uint64_t number,
                                              uint32_t warps)
{
    if (!c->trace)
        return NULL;
    struct player_recorded *r = grow_zeroed(sizeof *r, "a recording");
    r->number = number;
    r->warps = warps;
    recorded_add(c, r, 0);
    return r;
}

/* The block is over: writes it once all earlier blocks are written. */
static void recorded_end(struct player_call *c, struct player_recorded *r)
{
    struct player_recorded **link = &c->over;
    while (*link && (*link)->number < r->number)
        link = &(*link)->next;
    r->next = *link;
    *link = r;
    while (c->over && c->over->number == c->recorded) {
        r = c->over;
        record_write(c, r->warp, r->warps);
        c->over = r->next;
        recorded_free(r);
    }
}

static void record_block(struct player_call *c, uint64_t number, uint32_t warps)
{
    if (c->trace && number == c->recorded && !c->over)
        record_write(c, c->warp, warps);
    else if (c->trace)
        recorded_end(c, recorded_begin(c, number, warps));
}

/* ---- launches ---- */

/* Said once a run: how far its cycles can be trusted. */
static void execute_warn(void)
{
    static bool has_warned;
    if (!has_warned)
        fprintf(stderr,
                "note: cycles of a program in PTX are for comparisons of designs; traces of "
                "SASS (--play sass) are for comparisons with cards\n");
    has_warned = true;
}

static uint64_t execute_clock(void *context)
{
    return trace_player_now(((const struct player_call *)context)->player);
}

static uint64_t execute_nanoseconds(void *context)
{
    const struct trace_player *p = ((const struct player_call *)context)->player;
    return engine.domains[p->io.base.domain].time_ps / 1000;
}

/* For clusters. A block that has begun is at hand, kept, or over. */
static bool execute_find(void *blocks, uint64_t number, struct warp_block **block)
{
    const struct player_call *c = blocks;
    const struct player_kernel *k = c->kernel;
    *block = NULL;
    if (number == k->at_block && k->has_block_at_hand)
        *block = c->has_more ? c->block : NULL;
    else
        for (const struct player_kept *entry = player_kept; entry; entry = entry->next)
            *block = entry->call == c && entry->number == number ? entry->memory : *block;
    return number < k->at_block || (number == k->at_block && k->has_block_at_hand);
}

/* An instruction's id is the remainder of its number in the module. The ids of a kernel's
 * instructions and of all functions that it may call have to be different. */
static bool execute_has_ids(const struct ptx_module *m, const char *kernel)
{
    const struct ptx_function *entry = ptx_find_function(m, kernel);
    uint64_t *taken = grow_zeroed(TRACE_INSTS_MAX / 8, "the instructions of a kernel");
    bool is_new = true;
    for (uint32_t i = 0; i < m->function_count; i++) {
        const struct ptx_function *f = &m->functions[i];
        if (f->is_entry && f != entry)
            continue;
        for (uint32_t n = 0; is_new && n < f->instruction_count; n++) {
            uint32_t id = (f->first_instruction + n) % TRACE_INSTS_MAX;
            is_new = !(taken[id / 64] >> id % 64 & 1);
            taken[id / 64] |= (uint64_t)1 << id % 64;
        }
    }
    free(taken);
    return is_new;
}

static bool execute_begin(struct trace_player *p, struct player_kernel *k,
                          const struct aql_packet *packet, const struct command_request *m)
{
    struct player_call *c = call_of(p, k);
    uint32_t sms = trace_player_work_count(p);
    const struct ptx_order order = {
        .program = ptx_tables()->program,
        .pages = ptx_tables()->pages,
        .packet = packet,
        .entry = m->launch.entry,
        .title = program_kernel_name(ptx_tables()->program, k->program_kernel),
        .key = m->launch.packet_address,
        .number = ++p->launches,
        .pid = m->launch.pid,
        .gpu = packet->gpu,
        .sms = sms,
        .resident = 1};
    memset(c->decoded, 0, sizeof c->decoded);
    memset(c->exits, 0, sizeof c->exits);
    if (!ptx_call_begin(&c->call, &order, trace_files_get()->error,
                        sizeof trace_files_get()->error))
        return false;
    execute_warn();
    const struct warp_launch *l = &c->call.launch;
    const struct ptx_module *module = c->call.code->module;
    if (module->instruction_count > TRACE_INSTS_MAX && !execute_has_ids(module, l->kernel->name)) {
        snprintf(trace_files_get()->error, sizeof trace_files_get()->error,
                 "%s: more than %d instructions of PTX in a kernel and the functions of its module",
                 module->name, TRACE_INSTS_MAX);
        return false;
    }
    const struct player_needs needs = {.name = l->kernel->name,
                                       .threads = (uint64_t)l->block[0] * l->block[1] * l->block[2],
                                       .registers = l->kernel->registers,
                                       .shared =
                                           (uint64_t)l->kernel->shared_bytes + l->dynamic_shared};
    if (!kernel_measure(p, k, &needs))
        return false;
    c->call.launch.resident = sms * k->per_sm;
    c->is_checked = c->call.launch.observe != NULL;
    c->call.launch.observe = observe_step;
    c->call.launch.find_block = execute_find;
    c->call.launch.blocks = c;
    c->call.launch.clock = execute_clock;
    c->call.launch.nanoseconds = execute_nanoseconds;
    record_begin(c, &order);
    const char *symbol = program_kernel_symbol(order.program, k->program_kernel);
    account_name_kernel(p, k, program_kernel_name(order.program, k->program_kernel), symbol,
                        packet->gpu,
                        ptx_find_function(c->call.code->module, l->kernel->name)->first_instruction
                            * PTX_INSTRUCTION_BYTES);
    free(c->block);
    c->block = NULL;
    c->runs = true;
    return true;
}

static void execute_end(struct trace_player *p, struct player_kernel *k)
{
    struct player_call *c = call_of(p, k);
    ptx_call_end(&c->call);
    cuda_trace_end(c->trace);
    c->trace = NULL;
    c->runs = false;
}

static bool execute_is_over(void)
{
    for (const struct player_call *c = player_calls; c; c = c->next)
        if (c->runs)
            return false;
    return !ptx_heap_exists();
}

static void execute_fail(const struct trace_player *p, const struct warp_fault *fault)
{
    ptx_fault_set(fault->kind);
    bool by_access = fault->kind == WARP_FAULT_ADDRESS;
    engine_fail_program(&p->io.base, by_access ? &fault->address : NULL, fault->text);
}

/* Executes the block as far as it comes. False: the run has failed. */
static bool execute_run(const struct trace_player *p, struct player_call *c,
                        struct warp_block *block, uint64_t budget, uint64_t piece, bool *more)
{
    struct warp_launch *l = &c->call.launch;
    struct warp_fault fault = {0};
    for (unsigned i = 0; i < TRACE_WARPS; i++)
        c->warp[i].word_count = c->warp[i].count = 0;
    uint64_t first = l->instructions, before;
    uint32_t waits = 0, warps = c->kernel->block.threads / 32;
    enum warp_end end;
    do {
        before = l->instructions;
        end = warp_block_run(l, block, piece, &fault);
        waits = watch_waits(&c->watch) || l->instructions == before ? waits + 1 : 0;
    } while (end == WARP_WAITS && waits < warps && l->instructions - first < budget);
    *more = end == WARP_WAITS || end == WARP_CLOCK;
    if (end == WARP_FAULT)
        execute_fail(p, &fault);
    return end != WARP_FAULT;
}

/* ---- blocks in the store ---- */

/* Chunks that hold the records of a block. */
static uint64_t execute_chunks(const struct player_call *c)
{
    uint64_t words = 0;
    for (unsigned i = 0; i < TRACE_WARPS; i++)
        words += c->warp[i].word_count;
    return words / (TRACE_CHUNK - TRACE_RECORD) + 2;
}

/* Bits of the warps whose lanes have all ended. */
static uint32_t execute_ended(const struct player_call *c, const struct trace_block *b)
{
    uint32_t ended = 0;
    for (uint32_t w = 0; w < b->warps; w++)
        ended |= c->lanes[w].exited == lanes_of(c, w) ? 1u << w : 0;
    return ended;
}

/* Puts what the block has executed into the store, warp by warp, from `at` on. */
static void execute_store(struct trace_player *p, const struct player_call *c,
                          struct trace_block *b, bool more)
{
    const struct trace_stream *stream = trace_player_stream(p);
    uint32_t write_at = b->first * TRACE_CHUNK;
    for (uint32_t w = 0; w < b->warps; w++) {
        const uint32_t *from = c->warp[w].words;
        for (size_t at = 0, end; at < c->warp[w].word_count; at = end) {
            end = trace_record_end(from, (uint32_t)at);
            unsigned length = (unsigned)(end - at);
            uint32_t to = trace_writer_room(&p->writer, stream, b, write_at, length);
            if (!at)
                b->warp[w].at = to;
            memcpy(trace_writer_word(stream, to), from + at, length * sizeof *from);
            write_at = to + length;
        }
        b->warp[w].count = c->warp[w].count;
    }
    b->more = more;
    b->ended = execute_ended(c, b);
}

/* True if the store has room for the records of the executed instructions. */
static bool execute_has_room(const struct trace_player *p, const struct player_call *c)
{
    if (execute_chunks(c) > p->writer.chunks) {
        player_too_small(p, c->kernel);
        player_fail(p);
        return false;
    }
    return execute_chunks(c) <= p->writer.free_count;
}

/* ---- blocks that are not over ---- */

static void kept_add(struct player_call *c, uint32_t block, uint32_t sm, uint32_t warps)
{
    struct player_kept *entry = grow_zeroed(sizeof *entry, "a block of a launch");
    struct player_kept **last = &player_kept;
    *entry = (struct player_kept){
        .call = c, .block = block, .sm = sm, .number = c->kernel->at_block, .memory = c->block};
    memcpy(entry->lanes, c->lanes, sizeof entry->lanes);
    entry->mbarriers = c->mbarriers;
    entry->recorded = recorded_begin(c, entry->number, warps);
    c->block = NULL;
    while (*last)
        last = &(*last)->next;
    *last = entry;
}

static void kept_remove(struct player_kept *entry)
{
    struct player_kept **link = &player_kept;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    free(entry->memory);
    free(entry);
}

static bool execute_block(struct trace_player *p, struct player_kernel *k, uint32_t sm)
{
    struct player_call *c = call_of(p, k);
    if (p->writer.blocks_free == TRACE_INDEX_NONE || p->writer.free_count < 2)
        return false;
    if (!c->block) {
        size_t size = round_up(warp_block_bytes(&c->call.launch), 64);
        c->block = grow_checked(aligned_alloc(64, size), "a block of a launch");
    }
    if (!k->has_block_at_hand) {
        memset(c->lanes, 0, sizeof c->lanes);
        c->mbarriers = (struct player_mbarriers){0};
        struct warp_block *block = warp_block_begin(&c->call.launch, k->at_block, sm, c->block);
        if (!execute_run(p, c, block, EXECUTE_BUDGET, EXECUTE_PIECE, &c->has_more))
            return false;
    }
    k->has_block_at_hand = true;
    if (!execute_has_room(p, c) || !read_begin(p, k))
        return false;
    struct trace_block *b = player_block(p, k->reading_block);
    execute_store(p, c, b, c->has_more);
    if (c->has_more)
        kept_add(c, k->reading_block, sm, b->warps);
    else
        record_block(c, k->at_block, b->warps);
    b->next = TRACE_INDEX_NONE;
    k->next_block = k->reading_block;
    k->reading_block = TRACE_INDEX_NONE;
    k->has_block_at_hand = false;
    k->blocks_ahead++;
    k->at_block++;
    k->is_read = k->at_block == k->end_block;
    return true;
}

static void execute_ask(struct trace_player *p, uint32_t sm, uint32_t block)
{
    struct player_kept *entry = player_kept;
    while (entry->call->player != p || entry->block != block)
        entry = entry->next;
    entry->sm = sm;
    entry->asks = true;
    trace_writer_restart(&p->writer, trace_player_stream(p), player_block(p, block));
}

/* Goes on with a block. False: there is no room, or the run has failed. */
static bool kept_go_on(struct trace_player *p, struct player_kept *entry)
{
    struct player_call *c = entry->call;
    struct trace_block *b = player_block(p, entry->block);
    bool has_more;
    if (!trace_player_work_can_send(p, entry->sm) || c->kernel->has_block_at_hand
        || p->writer.free_count < EXECUTE_ROOM)
        return false;
    memcpy(c->lanes, entry->lanes, sizeof c->lanes);
    c->mbarriers = entry->mbarriers;
    warp_block_grant_clock(&c->call.launch, entry->memory);
    if (!execute_run(p, c, entry->memory, EXECUTE_ROUND, EXECUTE_SHORT, &has_more))
        return false;
    execute_store(p, c, b, has_more);
    memcpy(entry->lanes, c->lanes, sizeof c->lanes);
    entry->part++;
    if (entry->recorded)
        recorded_add(c, entry->recorded, entry->part);
    entry->asks = false;
    trace_player_work_send_go_on(p, entry->sm, 0, entry->block);
    if (!has_more) {
        if (entry->recorded)
            recorded_end(c, entry->recorded);
        kept_remove(entry);
    }
    return true;
}

static bool execute_asked(struct trace_player *p)
{
    bool progress = false;
    for (struct player_kept *entry = player_kept, *next; entry; entry = next) {
        next = entry->next;
        progress |= entry->asks && entry->call->player == p && kept_go_on(p, entry);
    }
    return progress;
}
