/* Pages of the memory tester: where they lie, and how they move between GPUs at random moments
 * while episodes go on. Included by memory_tester.c.
 *
 * Without GPUs (`gpu`) virtual pages lie in scrambled order in the span. With them each lies in any
 * of the pages of all GPUs, and after a random while one goes to a random free page elsewhere:
 *
 *   pause     all GPUs: what is under way is answered, first-level caches and TLBs forget all
 *   copy      by the page migration controller of the GPU that gets the page
 *   swap      of the page table's entry, at the end of a window
 *   shoot     the old translation down, on all GPUs; a further page may follow in the same pause
 *   resume    all GPUs
 *
 * A page that was left is free at once and soon taken again, so a line or translation of it that
 * somebody has kept does harm. What a policy asks for (`touch`) is answered and not done. */
#ifndef HEDDLE_COMPONENTS_PAGE_MOVES_H
#define HEDDLE_COMPONENTS_PAGE_MOVES_H

#include "components/driver/page_table.h"
#include "program_table.h"
#include "runtime/bug.h"
#include "runtime/platform.h"
#include "tester_state.h"

static uint64_t page_bytes(const struct memory_tester *c)
{
    return (uint64_t)memory_tester_params(c)->page;
}

static uint32_t frames_each(const struct memory_tester *c)
{
    return (uint32_t)memory_tester_params(c)->frames;
}

static uint64_t frame_address(const struct memory_tester *c, uint32_t frame)
{
    if (!memory_tester_gpu_count(c))
        return (uint64_t)memory_tester_params(c)->base + frame * page_bytes(c);
    return platform_map_base(frame / frames_each(c)) + frame % frames_each(c) * page_bytes(c);
}

static uint32_t *page_frame(const struct memory_tester *c, uint32_t page)
{
    return arena_at(uint32_t, c->moves.frame) + page;
}

static uint32_t *frame_owner(const struct memory_tester *c, uint32_t frame)
{
    return arena_at(uint32_t, c->moves.owner) + frame;
}

static void page_place(struct memory_tester *c, uint32_t page, uint32_t frame)
{
    *page_frame(c, page) = frame;
    *frame_owner(c, frame) = page + 1;
    page_table_enter(memory_tester_page_table(c), TESTER_PID,
                     TESTER_VIRTUAL_BASE + page * page_bytes(c), frame_address(c, frame),
                     PAGE_TABLE_WRITABLE | PAGE_TABLE_UNIFIED);
}

/* Each virtual page to a physical page of its own. */
static void pages_scramble(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    uint32_t *order = arena_at(uint32_t, arena_allocate((size_t)m->frame_count * sizeof(uint32_t)));
    for (uint32_t i = 0; i < m->frame_count; i++)
        order[i] = i;
    for (uint32_t i = 0; i < m->page_count; i++) {
        uint32_t j = i + below(c, m->frame_count - i), frame = order[j];
        order[j] = order[i];
        page_place(c, i, frame);
    }
}

/* What the controllers look up: which GPU they belong to, and what memory that has. */
static void gpus_note(struct memory_tester *c)
{
    const struct platform_table *table = engine_base.platform;
    struct program_table *program = memory_tester_program(c);
    uint32_t gpus = memory_tester_gpu_count(c);
    if (table->map_count < gpus || gpus > PROGRAM_GPUS)
        die("%s: %u GPUs are connected, but `map` names %u of them (at most %d)",
            table->strings + table->instances[c->io.base.leaf].path, gpus, table->map_count,
            PROGRAM_GPUS);
    for (uint32_t i = 0; i < gpus; i++) {
        uint32_t ring = engine_base.port_rings[2 * (memory_tester_io(c)->move_first + i)];
        program->gpu_of[table->rings[ring].receiver] = (uint8_t)i;
        program->memory_base[i] = platform_map_base(i);
        program->memory_size[i] = platform_map_size(i);
        if (frames_each(c) * page_bytes(c) > program->memory_size[i])
            die("%s: GPU %u has no room for %u pages",
                table->strings + table->instances[c->io.base.leaf].path, i, frames_each(c));
    }
}

/* Cycles to the next move. */
static uint64_t moves_calm(struct memory_tester *c)
{
    return 1 + random_step(&c->moves.random) % (uint64_t)memory_tester_params(c)->calm;
}

static void pages_init(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    uint32_t gpus = memory_tester_gpu_count(c);
    if (!memory_tester_params(c)->translated)
        return;
    m->random = c->random ^ 0x6d6f766573u;
    m->page_count =
        (uint32_t)(((uint64_t)memory_tester_params(c)->span + page_bytes(c) - 1) / page_bytes(c));
    m->frame_count = gpus ? gpus * frames_each(c) : m->page_count;
    if (m->frame_count < m->page_count)
        die("memory tester: %u pages do not fit into %u; raise `frames`", m->page_count,
            m->frame_count);
    m->frame = arena_allocate(m->page_count * sizeof(uint32_t));
    m->owner = arena_allocate(m->frame_count * sizeof(uint32_t));
    page_table_init(memory_tester_page_table(c), (unsigned)__builtin_ctzll(page_bytes(c)),
                    m->frame_count);
    if (gpus)
        gpus_note(c);
    pages_scramble(c);
    m->due = moves_calm(c);
}

/* ---- a move ---- */

/* Chooses a page, and a free physical one of another GPU. False: none was found. */
static bool moves_choose(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    uint32_t first = (uint32_t)(random_step(&m->random) % m->frame_count);
    m->page = (uint32_t)(random_step(&m->random) % m->page_count);
    uint32_t here = *page_frame(c, m->page) / frames_each(c);
    for (uint32_t i = 0; i < m->frame_count; i++) {
        m->to = (first + i) % m->frame_count;
        m->gpu = m->to / frames_each(c);
        if (m->gpu != here && !*frame_owner(c, m->to))
            return true;
    }
    return false;
}

static uint64_t moves_address(const struct memory_tester *c)
{
    return TESTER_VIRTUAL_BASE + c->moves.page * page_bytes(c);
}

static void moves_enter(struct memory_tester *c, enum moves_state state)
{
    c->moves.state = state;
    c->moves.told = c->moves.heard = 0;
}

static void moves_window_end(struct component *base)
{
    struct memory_tester *c = (struct memory_tester *)(void *)base;
    struct tester_moves *m = &c->moves;
    *frame_owner(c, *page_frame(c, m->page)) = 0;
    page_place(c, m->page, m->to);
    moves_enter(c, MOVES_SHOOT);
}

/* Sends each GPU what the state is about and counts answers. True: all have answered. */
static bool moves_tell(struct memory_tester *c, bool *progress)
{
    struct tester_moves *m = &c->moves;
    uint32_t gpus = memory_tester_gpu_count(c);
    for (; m->told < gpus && memory_tester_gpu_can_send(c, m->told); m->told++, *progress = true) {
        if (m->state == MOVES_PAUSE)
            memory_tester_gpu_send_pause(c, m->told, 0);
        else if (m->state == MOVES_SHOOT)
            memory_tester_gpu_send_shootdown(c, m->told, 0, moves_address(c), page_bytes(c),
                                             TESTER_PID);
        else
            memory_tester_gpu_send_resume(c, m->told, 0);
    }
    for (uint32_t i = 0; i < gpus; i++) {
        for (; memory_tester_gpu_peek_reply(c, i); m->heard++, *progress = true)
            memory_tester_gpu_pop_reply(c, i);
    }
    return m->heard == gpus;
}

static bool moves_begin(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    if (c->over == c->thread_count)
        return false;
    if (m->due > memory_tester_now(c)) {
        memory_tester_wake_at(c, m->due);
        return false;
    }
    m->left = (uint32_t)(random_step(&m->random) % 3);
    if (moves_choose(c))
        moves_enter(c, MOVES_PAUSE);
    else
        m->due = memory_tester_now(c) + moves_calm(c);
    return true;
}

/* Asks for the copy, and sees it done. */
static bool moves_copy(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    if (!m->told) {
        if (!memory_tester_move_can_send(c, m->gpu))
            return false;
        memory_tester_move_send_fetch(c, m->gpu, 0, frame_address(c, *page_frame(c, m->page)),
                                      frame_address(c, m->to), (uint32_t)page_bytes(c));
        m->told = 1;
        return true;
    }
    if (!memory_tester_move_peek_reply(c, m->gpu))
        return false;
    memory_tester_move_pop_reply(c, m->gpu);
    moves_enter(c, MOVES_SWAP);
    engine_at_window_end(&c->io.base, moves_window_end);
    return true;
}

static bool moves_step(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    bool progress = false;
    switch ((enum moves_state)m->state) {
    case MOVES_CALM:
        return moves_begin(c);
    case MOVES_PAUSE:
        if (moves_tell(c, &progress))
            moves_enter(c, MOVES_COPY);
        return progress;
    case MOVES_COPY:
        return moves_copy(c);
    case MOVES_SWAP:
        return false;
    case MOVES_SHOOT:
        if (moves_tell(c, &progress)) {
            c->io.stats.moves++;
            moves_enter(c, m->left && moves_choose(c) ? MOVES_COPY : MOVES_RESUME);
            m->left -= m->left > 0;
        }
        return progress;
    case MOVES_RESUME:
        if (moves_tell(c, &progress)) {
            moves_enter(c, MOVES_CALM);
            m->due = memory_tester_now(c) + moves_calm(c);
        }
        return progress;
    }
    return false;
}

static bool pages_step(struct memory_tester *c)
{
    bool progress = false;
    for (uint32_t i = 0; i < memory_tester_touch_count(c); i++) {
        const struct page_touch_request *m;
        while ((m = memory_tester_touch_peek(c, i)) && memory_tester_touch_can_reply(c, i)) {
            memory_tester_touch_reply_noted(c, i, m->tag);
            memory_tester_touch_pop(c, i);
            progress = true;
        }
    }
    if (!memory_tester_gpu_count(c))
        return progress;
    while (moves_step(c))
        progress = true;
    return progress;
}

#endif
