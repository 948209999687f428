/* Thread blocks out of a kernel's trace, one at a time. Reading stops where memory is short and
 * goes on there when blocks have ended. */
#include <string.h>

#include "components/traces/instruction_trace/tools/itrace_filter.h"
#include "runtime/engine/component_failure.h"

#include "trace_player_state.h"

static void player_too_small(const struct trace_player *p, const struct player_kernel *k)
{
    snprintf(trace_files_get()->error, sizeof trace_files_get()->error,
             "%s: a thread block does not fit into 'memory' of the trace_player, %lld MiB",
             k->is_program ? "a block that is executed"
                           : trace_files_get()->list.commands[k->command].name,
             (long long)(trace_player_params(p)->memory >> 20));
}

/* The simulation ends with the error of the readers. */
static void player_fail(const struct trace_player *p)
{
    engine_fail(&p->io.base, "%s", trace_files_get()->error);
}

static bool read_begin(struct trace_player *p, struct player_kernel *k)
{
    struct trace_writer *w = &p->writer;
    if (w->free_count < 2 || w->blocks_free == TRACE_INDEX_NONE)
        return false;
    uint32_t number = w->blocks_free;
    struct trace_block *b = player_block(p, number);
    w->blocks_free = b->next;
    *b = (struct trace_block){.insts_at = k->insts_at,
                              .carve = k->carve,
                              .kernel = (uint32_t)(k - p->kernel),
                              .threads = k->block.threads,
                              .warps = k->block.threads / 32,
                              .asks = k->accounts,
                              .profile = k->profile,
                              .pcs_at = k->pcs_at,
                              .local_base = k->local_base};
    b->first = b->last = trace_writer_copy(w, trace_player_stream(p));
    k->write_at = b->first * TRACE_CHUNK;
    k->reading_block = number;
    phases_begin(k);
    return true;
}

static enum trace_space read_space(const struct itrace *trace)
{
    static const uint8_t spaces[ITRACE_SPACE_COUNT] = {[ITRACE_SPACE_NONE] = TRACE_NOWHERE,
                                                       [ITRACE_SPACE_GLOBAL] = TRACE_GLOBAL,
                                                       [ITRACE_SPACE_SHARED] = TRACE_SHARED,
                                                       [ITRACE_SPACE_LOCAL] = TRACE_LOCAL,
                                                       [ITRACE_SPACE_GENERIC] = TRACE_GLOBAL};
    const struct itrace_step *step = &trace->step;
    if (!step->count)
        return (enum trace_space)spaces[step->inst->opcode.space];
    return (enum trace_space)spaces[itrace_space(trace, step->inst, step->address[0])];
}

/* A record of the warp goes into the store. Those of the block's first part are counted apart. */
static void read_record(struct trace_player *p, struct player_kernel *k, const uint32_t *words,
                        unsigned length)
{
    const struct trace_stream *stream = trace_player_stream(p);
    struct trace_block *b = player_block(p, k->reading_block);
    uint32_t at = trace_writer_room(&p->writer, stream, b, k->write_at, length);
    if (!b->warp[k->warp].count && !b->warp[k->warp].rest)
        b->warp[k->warp].at = at;
    b->warp[k->warp].count += !k->part;
    b->warp[k->warp].rest += k->part != 0;
    memcpy(trace_writer_word(stream, at), words, length * sizeof words[0]);
    k->write_at = at + length;
}

/* Takes the instruction into the program and the step into its warp. False: the error has the
 * reason. */
static bool read_step(struct trace_player *p, struct player_kernel *k, const struct itrace *trace)
{
    const struct itrace_inst *inst = trace->step.inst;
    uint32_t words[TRACE_RECORD];
    if (k->way == SAMPLING_MEMORY_ONLY && !itrace_filter_keeps(inst))
        return true;
    profile_step(inst);
    if (inst->id >= TRACE_INSTS_MAX) {
        trace_files_report(NULL, true, trace->path, 0, "more than 65,536 static instructions");
        return false;
    }
    if (inst->id >= k->inst_count) {
        struct trace_inst *to = &arena_at(struct trace_inst, k->insts_at)[inst->id];
        *to = trace_writer_decode(inst);
        trace_async_decode(inst, to);
        account_name(p, k, inst, NULL);
        k->inst_count = inst->id + 1;
    }
    const struct trace_inst *first = arena_at(struct trace_inst, k->insts_at) + inst->id;
    if (first->unit == TRACE_COPIER)
        trace_async_step(&trace->step);
    p->io.stats.unknown += !inst->known;
    phases_pass(k, inst, first->kind);
    unsigned length = trace_has_phase(first->kind)
                          ? phase_read(k, words, first->kind, &trace->step)
                          : trace_writer_record(words, inst->id, &trace->step, read_space(trace));
    if (k->part != trace->part) {
        k->part = trace->part;
        read_record(p, k, (uint32_t[]){TRACE_PART, k->part}, 2);
    }
    read_record(p, k, words, length);
    return true;
}

static bool read_warp(struct trace_player *p, struct player_kernel *k, const struct itrace *trace)
{
    k->warp = trace->warp;
    k->part = 0;
    phases_begin_warp(k);
    if (k->warp < player_block(p, k->reading_block)->warps)
        return true;
    trace_files_report(NULL, true, trace->path, 0,
                       "a warp whose number is beyond the block's threads");
    return false;
}

/* ---- blocks in several parts ---- */

static void part_describe(struct trace_block *b)
{
    b->more = b->ended = 0;
    for (uint32_t w = 0; w < b->warps; w++) {
        b->more |= b->warp[w].rest != 0;
        b->ended |= (uint32_t)!b->warp[w].rest << w;
    }
}

/* The instructions that follow become the warp's, as far as they belong to the block's part. */
static void part_begin(const struct trace_player *p, struct trace_block *b, uint32_t warp)
{
    const uint32_t *words = trace_writer_word(trace_player_stream(p), 0);
    uint32_t at = b->warp[warp].at, *rest = &b->warp[warp].rest;
    for (uint32_t i = 0; i < b->warp[warp].count; i++)
        at = trace_record_end(words, trace_record(words, at));
    b->warp[warp].count = 0;
    if (*rest)
        at = trace_record(words, at);
    b->warp[warp].at = at;
    if (!*rest || words[at + 1] != b->part)
        return;
    b->warp[warp].at = at = trace_record_end(words, at);
    for (--*rest; *rest; --*rest, b->warp[warp].count++) {
        at = trace_record(words, at);
        if (words[at] == TRACE_PART)
            break;
        at = trace_record_end(words, at);
    }
}

static void read_ask(struct trace_player *p, uint32_t sm, uint32_t block)
{
    struct trace_block *b = player_block(p, block);
    uint32_t *link = &p->asking;
    while (*link != TRACE_INDEX_NONE && player_block(p, *link)->placed < b->placed)
        link = &player_block(p, *link)->next;
    b->next = *link;
    b->sm = sm;
    *link = block;
}

static bool read_asked(struct trace_player *p)
{
    bool progress = false;
    for (uint32_t *link = &p->asking; *link != TRACE_INDEX_NONE;) {
        uint32_t block = *link;
        struct trace_block *b = player_block(p, block);
        if (!trace_player_work_can_send(p, b->sm)) {
            link = &b->next;
            continue;
        }
        b->part++;
        for (uint32_t w = 0; w < b->warps; w++)
            part_begin(p, b, w);
        part_describe(b);
        trace_player_work_send_go_on(p, b->sm, 0, block);
        *link = b->next;
        progress = true;
    }
    return progress;
}

/* The block that was read is the last of those to be placed. How many blocks a cluster of the
 * kernel has is known when the first block of its second cluster has been read. */
static void read_block_end(struct trace_player *p, struct player_kernel *k,
                           const struct itrace *trace)
{
    struct trace_block *b = player_block(p, k->reading_block);
    b->rank = trace->cluster_rank > 0 ? (uint32_t)trace->cluster_rank : 0;
    b->next = TRACE_INDEX_NONE;
    part_describe(b);
    phases_end(p, k, b);
    if (!k->cluster && (trace->cluster_rank < 0 || (k->blocks_ahead && !b->rank)))
        k->cluster = k->blocks_ahead ? k->blocks_ahead : 1;
    if (k->next_block == TRACE_INDEX_NONE)
        k->next_block = k->reading_block;
    else
        player_block(p, k->last_block)->next = k->reading_block;
    k->last_block = k->reading_block;
    k->blocks_ahead++;
    k->reading_block = TRACE_INDEX_NONE;
}

/* The block that is next is placed. */
static void read_block_placed(struct trace_player *p, struct player_kernel *k)
{
    k->next_block = player_block(p, k->next_block)->next;
    k->blocks_ahead--;
}

/* True if a block has to be read before another one is placed. */
static bool read_wants(const struct player_kernel *k)
{
    return !k->is_read && !k->is_program
           && (k->next_block == TRACE_INDEX_NONE
               || (!k->cluster && k->blocks_ahead <= ITRACE_CLUSTER));
}

/* The next block of `k` becomes k->next, if there is one and memory for it. A first cluster is read
 * whole, and the block after it. */
static void read_block(struct trace_player *p, struct player_kernel *k)
{
    uint32_t slot = (uint32_t)(k - p->kernel);
    const struct itrace *trace = trace_file_at(slot, k->command, k->events);
    while (trace && read_wants(k)) {
        if (k->reading_block != TRACE_INDEX_NONE ? p->writer.free_count < 2 : !read_begin(p, k))
            return;
        bool good = true;
        k->events++;
        switch (trace_file_next(slot)) {
        case ITRACE_END:
            trace_writer_release(&p->writer, trace_player_stream(p),
                                 player_block(p, k->reading_block));
            k->reading_block = TRACE_INDEX_NONE;
            k->is_read = true;
            k->cluster = k->cluster ? k->cluster : k->blocks_ahead;
            break;
        case ITRACE_WARP:
            good = read_warp(p, k, trace);
            break;
        case ITRACE_STEP:
            good = read_step(p, k, trace);
            break;
        case ITRACE_BLOCK_END:
            read_block_end(p, k, trace);
            break;
        case ITRACE_ERROR:
            good = false;
            break;
        case ITRACE_BLOCK:
            break;
        }
        if (!good)
            trace = NULL;
    }
    if (!trace)
        player_fail(p);
}
