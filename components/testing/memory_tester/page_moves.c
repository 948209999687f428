/* Pages of the memory tester: where they lie, and how they move between GPUs and are copied at
 * random moments while episodes go on.
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
 * A page that was left is free at once and soon taken again, so a line or translation of it that is
 * still kept somewhere does harm.
 *
 * With `copies` a page may also get copies for reading on other GPUs; further ones without a pause.
 * A GPU that wants to write to such a page asks (`touch`), and the copies go. They also go at
 * random, and the page is then on any GPU that had one. Wishes for copies are met or not, at
 * random. */
#include "base/number.h"
#include "base/splitmix64.h"
#include "components/memory/tlb/tlb_shootdown.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/deferral.h"
#include "runtime/engine/store_log.h"
#include "runtime/state/platform.h"

#include "tester_state.h"

static uint64_t page_bytes(const struct memory_tester *c)
{
    return memory_tester_params(c)->page;
}

static uint32_t frames_each(const struct memory_tester *c)
{
    return memory_tester_params(c)->frames;
}

static uint64_t frame_address(const struct memory_tester *c, uint32_t frame)
{
    if (!memory_tester_gpu_count(c))
        return memory_tester_params(c)->base + frame * page_bytes(c);
    return platform_map_base(frame / frames_each(c)) + frame % frames_each(c) * page_bytes(c);
}

static uint32_t *page_frame(const struct memory_tester *c, uint32_t page)
{
    return arena_at(uint32_t, c->moves.frame_at) + page;
}

static uint32_t *frame_owner(const struct memory_tester *c, uint32_t frame)
{
    return arena_at(uint32_t, c->moves.owner_at) + frame;
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

/* Tables for the controllers: the GPU of each, and its memory. */
static void gpus_register(struct memory_tester *c)
{
    const struct platform_table *table = engine_base.platform;
    struct program_table *program = memory_tester_program(c);
    uint32_t gpus = memory_tester_gpu_count(c);
    if (table->map_count < gpus || gpus > PROGRAM_GPUS)
        engine_die(&c->io.base, "%u GPUs are connected, but `map` names %u of them (at most %d)",
                   gpus, table->map_count, PROGRAM_GPUS);
    store_offer(program);
    for (uint32_t i = 0; i < gpus; i++) {
        uint32_t ring = engine_base.port_rings[2 * (memory_tester_io(c)->move_first + i)];
        program->gpu_of[table->rings[ring].receiver] = (uint16_t)i;
        program->memory_base[i] = platform_map_base(i);
        program->memory_size[i] = platform_map_size(i);
        if (frames_each(c) * page_bytes(c) > program->memory_size[i])
            engine_die(&c->io.base, "GPU %u has no room for %u pages", i, frames_each(c));
    }
}

/* Cycles to the next move. */
static uint64_t moves_calm(struct memory_tester *c)
{
    return 1 + splitmix64(&c->moves.random) % memory_tester_params(c)->calm;
}

static void pages_init(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    uint32_t gpus = memory_tester_gpu_count(c);
    if (!memory_tester_params(c)->translated)
        return;
    m->random = c->random ^ 0x6d6f766573u;
    m->page_count = (uint32_t)divide_up(memory_tester_params(c)->span, page_bytes(c));
    m->frame_count = gpus ? gpus * frames_each(c) : m->page_count;
    if (m->frame_count < m->page_count)
        engine_die(&c->io.base, "%u pages do not fit into %u; raise `frames`", m->page_count,
                   m->frame_count);
    if (gpus && tlb_without_shootdown())
        engine_die(&c->io.base,
                   "pages cannot move: no shoot-down reaches the TLB '%s'; connect its `control`",
                   tlb_without_shootdown());
    m->frame_at = arena_allocate(m->page_count * sizeof(uint32_t));
    m->owner_at = arena_allocate(m->frame_count * sizeof(uint32_t));
    m->wishes_at = arena_allocate(TESTER_WISHES * sizeof(struct tester_wish));
    page_table_init(memory_tester_page_table(c), (unsigned)__builtin_ctzll(page_bytes(c)),
                    m->frame_count);
    if (gpus)
        gpus_register(c);
    pages_scramble(c);
    m->due = moves_calm(c);
}

/* ---- what happens next ---- */

static uint64_t page_flags(const struct memory_tester *c, uint32_t page)
{
    uint64_t physical, flags = 0;
    page_table_look_up(memory_tester_page_table(c), TESTER_PID,
                       TESTER_VIRTUAL_BASE + page * page_bytes(c), &physical, &flags);
    return flags;
}

static uint64_t page_master(const struct memory_tester *c, uint32_t page)
{
    return frame_address(c, *page_frame(c, page));
}

static bool page_is_on(const struct memory_tester *c, uint32_t page, uint32_t gpu)
{
    return *page_frame(c, page) / frames_each(c) == gpu
           || page_copies_find(&memory_tester_page_table(c)->copies, page_master(c, page), gpu);
}

/* A free physical page of the GPU, from a random one on. */
static bool frame_find(struct memory_tester *c, uint32_t gpu)
{
    uint32_t first = (uint32_t)(splitmix64(&c->moves.random) % frames_each(c));
    for (uint32_t i = 0; i < frames_each(c); i++) {
        c->moves.to = gpu * frames_each(c) + (first + i) % frames_each(c);
        if (!*frame_owner(c, c->moves.to))
            return true;
    }
    return false;
}

static struct tester_wish *first_wish(const struct memory_tester *c)
{
    return arena_at(struct tester_wish, c->moves.wishes_at) + c->moves.first_wish % TESTER_WISHES;
}

/* Chooses the change that the first wish asks for. False: none, it is only answered. */
static bool choose_wished(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    const struct tester_wish *w = first_wish(c);
    bool copied = page_flags(c, w->page) & PAGE_TABLE_COPIED;
    m->page = w->page;
    m->gpu = w->gpu;
    m->kind = w->wish == PAGE_WISH_WRITE ? KIND_WRITE : KIND_COPY;
    if (w->wish == PAGE_WISH_WRITE)
        return copied;
    return memory_tester_params(c)->copies && splitmix64(&m->random) % 2
           && !page_is_on(c, m->page, m->gpu) && frame_find(c, m->gpu);
}

static bool choose_random(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    uint32_t gpus = memory_tester_gpu_count(c);
    uint32_t dice = (uint32_t)(splitmix64(&m->random) % 8);
    m->page = (uint32_t)(splitmix64(&m->random) % m->page_count);
    m->gpu = (uint32_t)(splitmix64(&m->random) % gpus);
    bool copied = page_flags(c, m->page) & PAGE_TABLE_COPIED;
    m->kind = memory_tester_params(c)->copies && dice < 5 ? KIND_COPY
              : copied                                    ? KIND_WRITE
                                                          : KIND_MOVE;
    if (m->kind == KIND_WRITE)
        return true;
    for (uint32_t i = 0; i < gpus; i++, m->gpu = (m->gpu + 1) % gpus)
        if (!page_is_on(c, m->page, m->gpu) && frame_find(c, m->gpu))
            return true;
    return false;
}

/* ---- it happens ---- */

static uint64_t moves_address(const struct memory_tester *c)
{
    return TESTER_VIRTUAL_BASE + c->moves.page * page_bytes(c);
}

static void moves_enter(struct memory_tester *c, enum moves_state state)
{
    c->moves.state = state;
    c->moves.told = c->moves.heard = 0;
}

/* The copies of the page go; if the GPU that writes has one, that is the page now. */
static void copies_go(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    struct page_table *table = memory_tester_page_table(c);
    uint32_t frame = *page_frame(c, m->page), left;
    struct page_copy copy;
    while (page_copies_remove(&table->copies, page_master(c, m->page), &copy)) {
        left = copy.gpu * frames_each(c)
               + (uint32_t)((copy.physical - platform_map_base(copy.gpu)) / page_bytes(c));
        if (copy.gpu == m->gpu) {
            uint32_t old = frame;
            frame = left;
            left = old;
        }
        *frame_owner(c, left) = 0;
    }
    page_place(c, m->page, frame);
}

static void moves_window_end(struct component *base)
{
    struct memory_tester *c = (struct memory_tester *)(void *)base;
    struct tester_moves *m = &c->moves;
    struct page_table *table = memory_tester_page_table(c);
    if (m->kind == KIND_WRITE) {
        copies_go(c);
    } else if (m->kind == KIND_MOVE) {
        *frame_owner(c, *page_frame(c, m->page)) = 0;
        page_place(c, m->page, m->to);
    } else {
        *frame_owner(c, m->to) = m->page + 1;
        page_copies_add(&table->copies, page_master(c, m->page), m->gpu, frame_address(c, m->to));
        page_table_enter(table, TESTER_PID, moves_address(c), page_master(c, m->page),
                         PAGE_TABLE_WRITABLE | PAGE_TABLE_UNIFIED | PAGE_TABLE_COPIED);
    }
    moves_enter(c, MOVES_SHOOT);
}

/* Sends each GPU what the state is about and counts answers. True: all have answered. */
static bool moves_tell(struct memory_tester *c, bool *progress)
{
    struct tester_moves *m = &c->moves;
    uint32_t gpus = memory_tester_gpu_count(c);
    for (; m->told < gpus && memory_tester_gpu_can_send(c, m->told); m->told++, *progress = true)
        if (m->state == MOVES_PAUSE)
            memory_tester_gpu_send_pause(c, m->told, 0);
        else if (m->state == MOVES_SHOOT)
            memory_tester_gpu_send_shootdown(c, m->told, 0, moves_address(c), page_bytes(c),
                                             TESTER_PID);
        else
            memory_tester_gpu_send_resume(c, m->told, 0);
    for (uint32_t i = 0; i < gpus; i++)
        for (; memory_tester_gpu_peek_reply(c, i); m->heard++, *progress = true)
            memory_tester_gpu_pop_reply(c, i);
    return m->heard == gpus;
}

static void moves_swap(struct memory_tester *c)
{
    moves_enter(c, MOVES_SWAP);
    engine_at_window_end(&c->io.base, moves_window_end);
}

/* Chooses what happens and begins with it. */
static void moves_choose(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    m->wished = m->wish_count && splitmix64(&m->random) % 4;
    if (!(m->wished ? choose_wished(c) : choose_random(c)))
        moves_enter(c, MOVES_ANSWER);
    else if (!m->paused && (m->kind != KIND_COPY || !(page_flags(c, m->page) & PAGE_TABLE_COPIED)))
        moves_enter(c, MOVES_PAUSE);
    else if (m->kind == KIND_WRITE)
        moves_swap(c);
    else
        moves_enter(c, MOVES_COPY);
}

static bool moves_begin(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    if (c->over == c->thread_count && !m->wish_count)
        return false;
    if (m->due > memory_tester_now(c)) {
        memory_tester_wake_at(c, m->due);
        return false;
    }
    m->left = (uint32_t)(splitmix64(&m->random) % 3);
    moves_choose(c);
    return true;
}

static bool moves_pause(struct memory_tester *c)
{
    bool progress = false;
    if (!moves_tell(c, &progress))
        return progress;
    c->moves.paused = true;
    if (c->moves.kind == KIND_WRITE)
        moves_swap(c);
    else
        moves_enter(c, MOVES_COPY);
    return true;
}

/* Asks for the copy, and sees it done. */
static bool moves_copy(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    if (!m->told) {
        if (!memory_tester_move_can_send(c, m->gpu))
            return false;
        memory_tester_move_send_fetch(c, m->gpu, 0, page_master(c, m->page),
                                      frame_address(c, m->to), (uint32_t)page_bytes(c), false);
        m->told = 1;
        return true;
    }
    if (!memory_tester_move_peek_reply(c, m->gpu))
        return false;
    memory_tester_move_pop_reply(c, m->gpu);
    moves_swap(c);
    return true;
}

static bool moves_shoot(struct memory_tester *c)
{
    bool progress = false;
    if (!moves_tell(c, &progress))
        return progress;
    c->io.stats.moves += c->moves.kind == KIND_MOVE;
    c->io.stats.copies_made += c->moves.kind == KIND_COPY;
    c->io.stats.copies_written += c->moves.kind == KIND_WRITE;
    moves_enter(c, MOVES_ANSWER);
    return true;
}

/* Answers the controller whose wish the move was, if any, and may begin another move. */
static bool moves_answer(struct memory_tester *c)
{
    struct tester_moves *m = &c->moves;
    if (m->wished) {
        const struct tester_wish *w = first_wish(c);
        if (!memory_tester_touch_can_reply(c, w->gpu))
            return false;
        memory_tester_touch_reply_noted(c, w->gpu, w->tag);
        m->first_wish = (m->first_wish + 1) % TESTER_WISHES;
        m->wish_count--;
    }
    if (m->left) {
        m->left -= m->left > 0;
        moves_choose(c);
        return true;
    }
    moves_enter(c, m->paused ? MOVES_RESUME : MOVES_CALM);
    m->due = memory_tester_now(c) + moves_calm(c);
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
        return moves_pause(c);
    case MOVES_COPY:
        return moves_copy(c);
    case MOVES_SWAP:
        return false;
    case MOVES_SHOOT:
        return moves_shoot(c);
    case MOVES_ANSWER:
        return moves_answer(c);
    case MOVES_RESUME:
        if (moves_tell(c, &progress)) {
            moves_enter(c, MOVES_CALM);
            m->paused = false;
            m->due = memory_tester_now(c) + moves_calm(c);
            progress = true;
        }
        return progress;
    }
    return false;
}

/* Takes the questions of controllers. A wish for a move moves no page. */
static bool wishes_accept(struct memory_tester *c, uint32_t gpu)
{
    struct tester_moves *m = &c->moves;
    const struct page_touch_request *t;
    bool progress = false;
    while (m->wish_count < TESTER_WISHES && (t = memory_tester_touch_peek(c, gpu))) {
        uint32_t page = (uint32_t)((t->touched.address - TESTER_VIRTUAL_BASE) / page_bytes(c));
        if (t->touched.wish != PAGE_WISH_MOVE)
            arena_at(struct tester_wish,
                     m->wishes_at)[(m->first_wish + m->wish_count++) % TESTER_WISHES] =
                (struct tester_wish){page, gpu, t->tag, (uint8_t)t->touched.wish};
        else if (memory_tester_touch_can_reply(c, gpu))
            memory_tester_touch_reply_noted(c, gpu, t->tag);
        else
            break;
        memory_tester_touch_pop(c, gpu);
        progress = true;
    }
    return progress;
}

static bool pages_step(struct memory_tester *c)
{
    bool progress = false;
    for (uint32_t i = 0; i < memory_tester_touch_count(c); i++)
        progress |= wishes_accept(c, i);
    if (!memory_tester_gpu_count(c))
        return progress;
    while (moves_step(c))
        progress = true;
    return progress;
}
