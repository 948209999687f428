/* Page migration controller: lookups pass through it from top[i] to bottom[i], answers the other
 * way, with their tags. On the way it looks into the page table: is the page managed, does it lie
 * here? What the policy wants is asked of the driver, once for each page at a time. The driver
 * decides when nobody uses the page, has it copied here, line by line, changes the page table and
 * shoots the old mapping down; only then is the question answered.
 *
 * The copy goes through the L2 caches on both sides, which are where all GPUs see memory, so
 * nothing needs to be flushed for it. */
#include "page_migration_controller.gen.h"

#include "components/driver/page_table.h"
#include "components/driver/program_table.h"
#include "components/mem/index_pool.h"
#include "components/mem/mem_mask.h"
#include "migration_policy.h"
#include "runtime/hang.h"

#define PMC_LINE 64u

struct pmc_page {
    uint64_t page;
    uint32_t pid;
    bool used, sent;
};

struct pmc_line {
    uint64_t to;
    bool read; /* its bytes are here and wait to be written */
    bool writing;
    uint8_t data[PMC_LINE];
};

struct page_migration_controller {
    struct page_migration_controller_io io;
    uint32_t pages; /* arena: struct pmc_page[wanted] */
    uint32_t lines; /* arena: struct pmc_line[lines], by tag */
    struct index_pool free_lines;
    uint32_t pages_used, pages_to_send;
    uint32_t issued, finished; /* bytes of the page that is being copied */
    uint32_t lines_read;       /* that wait to be written */
};

static struct pmc_page *page_at(const struct page_migration_controller *c, uint32_t i)
{
    return arena_at(struct pmc_page, c->pages) + i;
}

static struct pmc_line *line_at(const struct page_migration_controller *c, uint32_t i)
{
    return arena_at(struct pmc_line, c->lines) + i;
}

static uint32_t wanted_count(const struct page_migration_controller *c)
{
    return (uint32_t)page_migration_controller_params(c)->wanted;
}

static void page_migration_controller_init(struct page_migration_controller *c)
{
    uint32_t lines = (uint32_t)page_migration_controller_params(c)->lines;
    c->pages = arena_allocate(wanted_count(c) * sizeof(struct pmc_page));
    c->lines = arena_allocate(lines * sizeof(struct pmc_line));
    index_pool_init(&c->free_lines, lines);
    page_migration_controller_policy_ops(c)->setup(page_migration_controller_policy(c));
}

/* ---- touches ---- */

/* Asks for the page, unless it is asked for already or too many are. */
static void want(struct page_migration_controller *c, uint64_t page, uint32_t pid)
{
    uint32_t place = UINT32_MAX;
    for (uint32_t i = 0; i < wanted_count(c) && c->pages_used; i++) {
        const struct pmc_page *p = page_at(c, i);
        if (p->used && p->page == page && p->pid == pid)
            return;
    }
    for (uint32_t i = 0; i < wanted_count(c) && place == UINT32_MAX; i++)
        place = page_at(c, i)->used ? UINT32_MAX : i;
    if (place == UINT32_MAX) {
        c->io.stats.left_out++;
        return;
    }
    *page_at(c, place) = (struct pmc_page){page, pid, true, false};
    c->pages_used++;
    c->pages_to_send++;
    c->io.stats.wanted_pages++;
}

/* A first-level TLB has asked for the page. */
static void touch(struct page_migration_controller *c, uint64_t address, uint32_t pid)
{
    const struct page_table *table = page_migration_controller_page_table(c);
    const struct program_table *program = page_migration_controller_program(c);
    uint64_t physical, flags;
    if (!page_table_look_up(table, pid, address, &physical, &flags)
        || !(flags & PAGE_TABLE_UNIFIED))
        return;
    uint32_t gpu = program_gpu_of(program, c->io.base.leaf);
    const struct migration_touch t = {
        .page = address >> table->page_bits << table->page_bits,
        .pid = pid,
        .local = physical - program->memory_base[gpu] < program->memory_size[gpu],
        .placed = (flags & PAGE_TABLE_PLACED) != 0,
    };
    c->io.stats.touched++;
    if (page_migration_controller_policy_ops(c)->wants(page_migration_controller_policy(c), &t))
        want(c, t.page, pid);
}

static bool pass_lookups(struct page_migration_controller *c)
{
    bool progress = false;
    for (uint32_t i = 0; i < page_migration_controller_top_count(c); i++) {
        const struct translate_request *m;
        while ((m = page_migration_controller_top_peek(c, i))
               && page_migration_controller_bottom_can_send(c, i)) {
            page_migration_controller_bottom_send_lookup(c, i, m->tag, m->lookup.address,
                                                         m->lookup.pid);
            touch(c, m->lookup.address, m->lookup.pid);
            page_migration_controller_top_pop(c, i);
            progress = true;
        }
    }
    return progress;
}

static bool pass_answers(struct page_migration_controller *c)
{
    bool progress = false;
    for (uint32_t i = 0; i < page_migration_controller_top_count(c); i++) {
        const struct translate_reply *m;
        while ((m = page_migration_controller_bottom_peek_reply(c, i))
               && page_migration_controller_top_can_reply(c, i)) {
            page_migration_controller_top_reply_found(c, i, m->tag, m->found.physical,
                                                      m->found.page_bits, m->found.valid,
                                                      m->found.writable);
            page_migration_controller_bottom_pop_reply(c, i);
            progress = true;
        }
    }
    return progress;
}

static bool ask(struct page_migration_controller *c)
{
    bool progress = false;
    while (page_migration_controller_touch_peek_reply(c)) {
        page_at(c, page_migration_controller_touch_peek_reply(c)->tag)->used = false;
        c->pages_used--;
        page_migration_controller_touch_pop_reply(c);
        progress = true;
    }
    for (uint32_t i = 0; c->pages_to_send && i < wanted_count(c); i++) {
        struct pmc_page *p = page_at(c, i);
        if (!p->used || p->sent)
            continue;
        if (!page_migration_controller_touch_can_send(c))
            break;
        page_migration_controller_touch_send_touched(c, (uint16_t)i, p->page, p->pid);
        p->sent = true;
        c->pages_to_send--;
        progress = true;
    }
    return progress;
}

/* ---- copying a page ---- */

static bool take_lines(struct page_migration_controller *c)
{
    bool progress = false;
    const struct mem_reply *m;
    while ((m = page_migration_controller_mem_peek_reply(c))) {
        struct pmc_line *line = line_at(c, m->tag);
        if (line->writing) {
            index_pool_give(&c->free_lines, m->tag);
            c->finished += PMC_LINE;
        } else {
            memcpy(line->data,
                   mem_data_data(page_migration_controller_mem_reply_payload(c), PMC_LINE),
                   PMC_LINE);
            line->read = true;
            c->lines_read++;
        }
        page_migration_controller_mem_pop_reply(c);
        progress = true;
    }
    return progress;
}

static void write_line(struct page_migration_controller *c, uint32_t i)
{
    struct pmc_line *line = line_at(c, i);
    void *payload = page_migration_controller_mem_send_write(c, (uint16_t)i, line->to, 0);
    mem_mask_store(mem_write_mask(payload, PMC_LINE), mem_mask_range(0, PMC_LINE, PMC_LINE),
                   PMC_LINE);
    memcpy(mem_write_data(payload, PMC_LINE), line->data, PMC_LINE);
    line->read = false;
    line->writing = true;
    c->lines_read--;
}

static bool send_lines(struct page_migration_controller *c, const struct page_move_request *m)
{
    bool progress = false;
    for (uint32_t i = 0; c->lines_read && page_migration_controller_mem_can_send(c); i++) {
        if (line_at(c, i)->read) {
            write_line(c, i);
            progress = true;
        }
    }
    while (c->issued < m->fetch.size && index_pool_has(&c->free_lines)
           && page_migration_controller_mem_can_send(c)) {
        uint32_t i = index_pool_take(&c->free_lines);
        *line_at(c, i) = (struct pmc_line){.to = m->fetch.to + c->issued};
        page_migration_controller_mem_send_read(c, (uint16_t)i, m->fetch.from + c->issued, PMC_LINE,
                                                0, false);
        c->issued += PMC_LINE;
        progress = true;
    }
    return progress;
}

static bool copy_page(struct page_migration_controller *c)
{
    const struct page_move_request *m = page_migration_controller_move_peek(c);
    bool progress = take_lines(c);
    if (!m)
        return progress;
    progress |= send_lines(c, m);
    if (c->finished < m->fetch.size || !page_migration_controller_move_can_reply(c))
        return progress;
    c->io.stats.pages++;
    c->io.stats.bytes += m->fetch.size;
    page_migration_controller_move_reply_fetched(c, m->tag);
    page_migration_controller_move_pop(c);
    c->issued = c->finished = 0;
    return true;
}

static bool page_migration_controller_tick(struct page_migration_controller *c)
{
    bool progress = pass_answers(c);
    progress |= pass_lookups(c);
    progress |= ask(c);
    return copy_page(c) || progress;
}

static unsigned page_migration_controller_outstanding(const struct page_migration_controller *c,
                                                      struct hang_report *report)
{
    if (report && c->issued)
        hang_note(report, "copies a page: %u bytes read, %u written", c->issued, c->finished);
    return c->issued > 0;
}
