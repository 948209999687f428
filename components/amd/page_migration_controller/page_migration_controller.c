/* Page migration controller: lookups pass through it from top[i] to bottom[i], answers the other
 * way, with their tags. On the way it looks into the page table for managed pages that lie
 * elsewhere. It asks the driver for pages that the policy wants, once for each page at a time. The
 * driver decides when no kernel uses the page, has it copied here, line by line, changes the page
 * table and shoots the old mapping down; only then does it answer.
 *
 * The copy goes through the L2 caches on both sides, which are where all GPUs see memory, so
 * nothing needs to be flushed for it.
 *
 * TLBs learn where the copy of their own GPU lies if a page has copies for reading
 * (components/memory/page_table/page_copies.h). The controller puts that into the answers, since
 * the page table knows the page itself. Such a page is read-only. A write that finds it so
 * (`fault`) is held here while the driver is asked to let the copies go, and then looked up.
 *
 * With a policy that `faults`, a lookup of a page that lies elsewhere is answered "not yet" at
 * once. The cache asks again by a fault, which is held in the same way until the page has come. */
#include "page_migration_controller.gen.h"

#define UNIT_COLD

#include "components/memory/page_table/page_table.h"
#include "components/memory/page_table/program_table.h"
#include "components/protocols/mem/mem_mask.h"
#include "components/protocols/translate/translated_page.h"
#include "runtime/engine/index_pool.h"
#include "runtime/observe/hang.h"

#include "migration_policy.h"

#define PMC_LINE 64u

struct pmc_page {
    uint64_t page;
    uint32_t pid;
    uint8_t wish; /* enum page_wish */
    bool is_used, is_sent;
};

enum fault_state { FAULT_NONE, FAULT_UNASKED, FAULT_ASKED, FAULT_OVER };

/* A write that waits for copies to go, or an access that waits for its page. */
struct pmc_fault {
    uint64_t address;
    uint32_t pid;
    uint32_t input;
    uint16_t tag;
    uint8_t state; /* enum fault_state */
    uint8_t wish;  /* enum page_wish */
};

struct pmc_line {
    uint64_t to;
    bool is_read;    /* its bytes are here and wait to be written */
    bool is_writing; /* its bytes are on their way to memory */
    uint8_t data[PMC_LINE];
};

struct page_migration_controller {
    struct page_migration_controller_io io;
    uint32_t pages_at;  /* struct pmc_page[2 * wanted]; the second half is for faults */
    uint32_t faults_at; /* struct pmc_fault[faults] */
    uint32_t faults_held;
    uint32_t lines_at; /* struct pmc_line[lines], by tag */
    struct index_pool free_lines;
    uint32_t pages_to_send;
    uint32_t bytes_issued, bytes_written; /* bytes of the page that is being copied */
    uint32_t lines_read;                  /* lines that wait to be written */
};

static struct pmc_page *page_at(const struct page_migration_controller *c, uint32_t i)
{
    return arena_at(struct pmc_page, c->pages_at) + i;
}

static struct pmc_line *line_at(const struct page_migration_controller *c, uint32_t i)
{
    return arena_at(struct pmc_line, c->lines_at) + i;
}

static uint32_t wanted_count(const struct page_migration_controller *c)
{
    return page_migration_controller_params(c)->wanted;
}

static void page_migration_controller_init(struct page_migration_controller *c)
{
    uint32_t lines = page_migration_controller_params(c)->lines;
    c->pages_at = arena_allocate(2 * wanted_count(c) * sizeof(struct pmc_page));
    c->faults_at =
        arena_allocate(page_migration_controller_params(c)->faults * sizeof(struct pmc_fault));
    c->lines_at = arena_allocate(lines * sizeof(struct pmc_line));
    index_pool_init(&c->free_lines, lines);
}

/* ---- touches ---- */

/* Asks the driver for the page, unless that has been done. `is_held`: an access waits. False: too
 * many pages have been asked for. */
static bool request_page(struct page_migration_controller *c, uint64_t page, uint32_t pid,
                         enum page_wish wish, bool is_held)
{
    uint32_t place = UINT32_MAX, first = is_held ? wanted_count(c) : 0;
    for (uint32_t i = first; i < first + wanted_count(c); i++) {
        const struct pmc_page *p = page_at(c, i);
        if (p->is_used && p->page == page && p->pid == pid)
            return true;
        if (!p->is_used && place == UINT32_MAX)
            place = i;
    }
    if (place == UINT32_MAX)
        return false;
    *page_at(c, place) = (struct pmc_page){page, pid, (uint8_t)wish, true, false};
    c->pages_to_send++;
    return true;
}

static uint32_t own_gpu(const struct page_migration_controller *c)
{
    return program_gpu_of(page_migration_controller_program(c), c->io.base.leaf);
}

static uint64_t page_of(const struct page_migration_controller *c, uint64_t address)
{
    const struct page_table *table = page_migration_controller_page_table(c);
    return address >> table->page_bits << table->page_bits;
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
    uint32_t gpu = own_gpu(c);
    const struct migration_touch t = {
        .page = page_of(c, address),
        .pid = pid,
        .is_local = physical - program->memory_base[gpu] < program->memory_size[gpu]
                    || page_copies_find(&table->copies, physical, gpu),
        .is_placed = (flags & PAGE_TABLE_PLACED) != 0,
    };
    c->io.stats.touched++;
    const struct migration_policy_ops *policy = page_migration_controller_policy_ops(c);
    if (policy->wants(page_migration_controller_policy(c), &t)
        && !request_page(c, t.page, pid, policy->copies ? PAGE_WISH_COPY : PAGE_WISH_MOVE, false))
        c->io.stats.left_out++;
}

/* ---- accesses that wait ---- */

static struct pmc_fault *fault_at(const struct page_migration_controller *c, uint32_t i)
{
    return arena_at(struct pmc_fault, c->faults_at) + i;
}

static bool has_copies(const struct page_migration_controller *c, uint64_t address, uint32_t pid)
{
    uint64_t physical, flags;
    return page_table_look_up(page_migration_controller_page_table(c), pid, address, &physical,
                              &flags)
           && (flags & PAGE_TABLE_COPIED);
}

/* True if the page must come before it is accessed. */
static bool is_away(const struct page_migration_controller *c, uint64_t address, uint32_t pid,
                    uint64_t *flags)
{
    const struct page_table *table = page_migration_controller_page_table(c);
    const struct program_table *program = page_migration_controller_program(c);
    uint64_t physical;
    uint32_t gpu = own_gpu(c);
    return page_migration_controller_policy_ops(c)->faults
           && page_table_look_up(table, pid, address, &physical, flags)
           && (*flags & PAGE_TABLE_UNIFIED) && !(*flags & PAGE_TABLE_REMOTE)
           && physical - program->memory_base[gpu] >= program->memory_size[gpu]
           && !page_copies_find(&table->copies, physical, gpu);
}

/* Asks the driver for the page, or for the end of copies, if the fault has to wait for that. False:
 * it has not. */
static bool ask_for_fault(struct page_migration_controller *c, struct pmc_fault *f)
{
    uint64_t flags = 0;
    if (is_away(c, f->address, f->pid, &flags))
        f->wish = flags & PAGE_TABLE_READ_MOSTLY ? PAGE_WISH_COPY : PAGE_WISH_FETCH;
    else if (f->wish == PAGE_WISH_WRITE && has_copies(c, f->address, f->pid))
        f->wish = PAGE_WISH_WRITE;
    else
        return false;
    f->state = request_page(c, page_of(c, f->address), f->pid, (enum page_wish)f->wish, true)
                   ? FAULT_ASKED
                   : FAULT_UNASKED;
    return true;
}

/* A fault comes: it waits here, or is looked up. False: there is no room for it. */
static bool accept_fault(struct page_migration_controller *c, uint32_t input,
                         const struct translate_request *m)
{
    uint32_t count = page_migration_controller_params(c)->faults, i = 0;
    while (i < count && fault_at(c, i)->state != FAULT_NONE)
        i++;
    if (i == count)
        return false;
    struct pmc_fault f = {.address = m->fault.address,
                          .pid = m->fault.pid,
                          .input = input,
                          .tag = m->tag,
                          .wish = PAGE_WISH_WRITE};
    if (!ask_for_fault(c, &f)) {
        page_migration_controller_bottom_send_lookup(c, input, m->tag, f.address, f.pid);
        touch(c, f.address, f.pid);
        return true;
    }
    *fault_at(c, i) = f;
    c->faults_held++;
    c->io.stats.write_faults += f.wish == PAGE_WISH_WRITE;
    c->io.stats.far_faults += f.wish != PAGE_WISH_WRITE;
    return true;
}

/* The driver has done what faults on a page wait for: they are looked up, and what could not be
 * asked is asked now. */
static void end_faults(struct page_migration_controller *c, const struct pmc_page *p)
{
    for (uint32_t i = 0, seen = 0; seen < c->faults_held; i++) {
        struct pmc_fault *f = fault_at(c, i);
        seen += f->state != FAULT_NONE;
        if (f->state == FAULT_ASKED && page_of(c, f->address) == p->page && f->pid == p->pid)
            f->state = FAULT_OVER;
        else if (f->state == FAULT_UNASKED && !ask_for_fault(c, f))
            f->state = FAULT_OVER;
    }
}

static bool pass_faults(struct page_migration_controller *c)
{
    bool progress = false;
    for (uint32_t i = 0, seen = 0, held = c->faults_held; seen < held; i++) {
        struct pmc_fault *f = fault_at(c, i);
        seen += f->state != FAULT_NONE;
        if (f->state != FAULT_OVER || !page_migration_controller_bottom_can_send(c, f->input))
            continue;
        progress = true;
        if (ask_for_fault(c, f)) /* again */
            continue;
        page_migration_controller_bottom_send_lookup(c, f->input, f->tag, f->address, f->pid);
        f->state = FAULT_NONE;
        c->faults_held--;
    }
    return progress;
}

/* ---- lookups and answers ---- */

static bool pass_lookups(struct page_migration_controller *c)
{
    bool progress = false;
    for (uint32_t i = 0; i < page_migration_controller_top_count(c); i++) {
        const struct translate_request *m;
        while ((m = page_migration_controller_top_peek(c, i))
               && page_migration_controller_bottom_can_send(c, i)) {
            uint64_t flags;
            if (message_kind(m) == TRANSLATE_FAULT) {
                if (!accept_fault(c, i, m))
                    break;
            } else if (is_away(c, m->lookup.address, m->lookup.pid, &flags)) {
                if (!page_migration_controller_top_can_reply(c, i))
                    break;
                uint32_t bits = page_migration_controller_page_table(c)->page_bits;
                page_migration_controller_top_reply_found(c, i, m->tag, 0, (uint8_t)bits, 0, 0);
            } else {
                page_migration_controller_bottom_send_lookup(c, i, m->tag, m->lookup.address,
                                                             m->lookup.pid);
                touch(c, m->lookup.address, m->lookup.pid);
            }
            page_migration_controller_top_pop(c, i);
            progress = true;
        }
    }
    return progress;
}

/* The location of a page for this GPU: its own copy in place of the page. */
static uint64_t own_location(const struct page_migration_controller *c,
                             const struct translate_reply *m)
{
    const struct page_table *table = page_migration_controller_page_table(c);
    if (page_may_be_written(m->found.traits) || !m->found.page_bits
        || !page_copies_count(&table->copies))
        return m->found.physical;
    const struct page_copy *copy = page_copies_find(&table->copies, m->found.physical, own_gpu(c));
    return copy ? copy->physical : m->found.physical;
}

static bool pass_answers(struct page_migration_controller *c)
{
    bool progress = false;
    for (uint32_t i = 0; i < page_migration_controller_top_count(c); i++) {
        const struct translate_reply *m;
        while ((m = page_migration_controller_bottom_peek_reply(c, i))
               && page_migration_controller_top_can_reply(c, i)) {
            page_migration_controller_top_reply_found(c, i, m->tag, own_location(c, m),
                                                      m->found.page_bits, m->found.fragment_bits,
                                                      m->found.traits);
            page_migration_controller_bottom_pop_reply(c, i);
            progress = true;
        }
    }
    return progress;
}

static bool ask_driver(struct page_migration_controller *c)
{
    bool progress = false;
    while (page_migration_controller_touch_peek_reply(c)) {
        struct pmc_page *p = page_at(c, page_migration_controller_touch_peek_reply(c)->tag);
        p->is_used = false;
        if (page_migration_controller_touch_peek_reply(c)->tag >= wanted_count(c))
            end_faults(c, p);
        page_migration_controller_touch_pop_reply(c);
        progress = true;
    }
    for (uint32_t i = 0; c->pages_to_send && i < 2 * wanted_count(c); i++) {
        struct pmc_page *p = page_at(c, i);
        if (!p->is_used || p->is_sent)
            continue;
        if (!page_migration_controller_touch_can_send(c))
            break;
        page_migration_controller_touch_send_touched(c, (uint16_t)i, p->page, p->pid,
                                                     (enum page_wish)p->wish);
        p->is_sent = true;
        c->pages_to_send--;
        progress = true;
    }
    return progress;
}

/* ---- copying a page ---- */

static bool receive_lines(struct page_migration_controller *c)
{
    bool progress = false;
    const struct mem_reply *m;
    while ((m = page_migration_controller_mem_peek_reply(c))) {
        struct pmc_line *line = line_at(c, m->tag);
        if (line->is_writing) {
            index_pool_release(&c->free_lines, m->tag);
            c->bytes_written += PMC_LINE;
        } else {
            memcpy(line->data,
                   mem_data_data(page_migration_controller_mem_reply_payload(c), PMC_LINE),
                   PMC_LINE);
            line->is_read = true;
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
    void *payload =
        page_migration_controller_mem_send_write(c, (uint16_t)i, line->to, 0, SCOPE_WAVEFRONT);
    mem_mask_store(mem_write_mask(payload, PMC_LINE), mem_mask_range(0, PMC_LINE, PMC_LINE),
                   PMC_LINE);
    memcpy(mem_write_data(payload, PMC_LINE), line->data, PMC_LINE);
    line->is_read = false;
    line->is_writing = true;
    c->lines_read--;
}

static bool send_lines(struct page_migration_controller *c, const struct page_move_request *m)
{
    bool progress = false;
    for (uint32_t i = 0; c->lines_read && page_migration_controller_mem_can_send(c); i++) {
        if (line_at(c, i)->is_read) {
            write_line(c, i);
            progress = true;
        }
    }
    while (c->bytes_issued < m->fetch.size && index_pool_has(&c->free_lines)
           && page_migration_controller_mem_can_send(c)) {
        uint32_t i = index_pool_acquire(&c->free_lines);
        *line_at(c, i) = (struct pmc_line){.to = m->fetch.to + c->bytes_issued};
        page_migration_controller_mem_send_read(c, (uint16_t)i, m->fetch.from + c->bytes_issued,
                                                PMC_LINE, 0, false);
        c->bytes_issued += PMC_LINE;
        progress = true;
    }
    return progress;
}

static void count_page(struct page_migration_controller *c, const struct page_move_request *m)
{
    const struct program_table *program = page_migration_controller_program(c);
    uint32_t gpu = own_gpu(c);
    if (m->fetch.from - program->memory_base[gpu] < program->memory_size[gpu]) {
        c->io.stats.evicted_pages++;
        c->io.stats.evicted_bytes += m->fetch.size;
        return;
    }
    c->io.stats.pages++;
    c->io.stats.bytes += m->fetch.size;
    c->io.stats.refaults += m->fetch.again;
}

static bool copy_page(struct page_migration_controller *c)
{
    const struct page_move_request *m = page_migration_controller_move_peek(c);
    bool progress = receive_lines(c);
    if (!m)
        return progress;
    progress |= send_lines(c, m);
    if (c->bytes_written < m->fetch.size || !page_migration_controller_move_can_reply(c))
        return progress;
    count_page(c, m);
    page_migration_controller_move_reply_fetched(c, m->tag);
    page_migration_controller_move_pop(c);
    c->bytes_issued = c->bytes_written = 0;
    return true;
}

static bool page_migration_controller_tick(struct page_migration_controller *c)
{
    bool progress = pass_answers(c);
    progress |= pass_lookups(c);
    progress |= ask_driver(c);
    progress |= pass_faults(c);
    return copy_page(c) || progress;
}

static unsigned page_migration_controller_outstanding(const struct page_migration_controller *c,
                                                      struct hang_report *report)
{
    if (report && c->bytes_issued)
        hang_note(report, "copies a page: %u bytes read, %u written", c->bytes_issued,
                  c->bytes_written);
    if (report && c->faults_held)
        hang_note(report, "%u accesses wait for their pages, or for copies of these to go",
                  c->faults_held);
    return (c->bytes_issued > 0) + c->faults_held;
}
