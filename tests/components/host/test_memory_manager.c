/* The driver's memory under random use, against a model that is nothing but arrays: who owns each
 * physical page, and what each virtual page is. The model learns addresses only from answers and
 * judges them by the rules at the top of memory_manager.h; what is mapped it reads through the page
 * table, as an MMU does. HEDDLE_STRESS sets the number of operations. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/number.h"
#include "components/host/device_memory/memory_manager.h"
#include "runtime/engine/arena.h"
#include "tests/components/harness.h"
#include "tests/sanitized.h"

enum {
    GPUS = 8,
    PAGES = 512, /* a GPU, on average */
    PHYSICAL = GPUS * PAGES + GPUS * 64,
    VIRTUAL = 4 * GPUS * PAGES,
    PIDS = 5,   /* 1 .. 4 */
    MOST = 4096 /* allocations */
};
static const uint64_t first_virtual = (uint64_t)0x7e00 << 24;

enum virtual_state { FRESH, IN_USE, RETIRED };

struct model_page {
    enum virtual_state state;
    uint32_t pid;
    bool mapped;
    uint32_t physical;
    uint64_t flags;
};

struct model_allocation {
    uint32_t first, pages, pid; /* number of the first virtual page */
};

static struct {
    unsigned bits;
    uint32_t gpu_first[GPUS], gpu_pages[GPUS];
    bool owned[PHYSICAL];
    struct model_page page[VIRTUAL];
    struct model_allocation allocation[MOST];
    uint32_t count, mapped;
} model;
static struct memory_ref ref;
static uint64_t seed, done[12];

static uint32_t pick(uint32_t below)
{
    return (uint32_t)(harness_random(&seed) % below);
}

static uint64_t address_of(uint32_t page)
{
    return first_virtual + ((uint64_t)page << model.bits);
}

static uint32_t gpu_of(uint32_t physical)
{
    uint32_t gpu = 0;
    while (physical - model.gpu_first[gpu] >= model.gpu_pages[gpu])
        cr_assert_lt(++gpu, GPUS, "physical page %u is nobody's", physical);
    return gpu;
}

static uint32_t free_of(uint32_t gpu)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < model.gpu_pages[gpu]; i++)
        count += !model.owned[model.gpu_first[gpu] + i];
    return count;
}

static void start(unsigned bits, uint64_t random)
{
    uint32_t first = 3;
    arena_open();
    memset(&model, 0, sizeof model);
    model.bits = bits;
    seed = random;
    ref.memory = arena_at(struct memory_manager, arena_allocate(sizeof *ref.memory));
    ref.pages = arena_at(struct page_table, arena_allocate(sizeof *ref.pages));
    ref.program = arena_at(struct program_table, arena_allocate(sizeof *ref.program));
    memory_init(ref.memory, (uint64_t)1 << bits, (uint64_t)1 << bits);
    for (uint32_t i = 0; i < GPUS; i++) {
        model.gpu_first[i] = first;
        model.gpu_pages[i] = PAGES - 60 + i * 16; /* they differ */
        cr_assert_eq(memory_register_device(ref.memory, (uint64_t)first << bits,
                                            (uint64_t)model.gpu_pages[i] << bits),
                     MEMORY_OK);
        first += model.gpu_pages[i] + i % 3; /* some touch */
    }
    cr_assert_eq(
        memory_register_device(ref.memory, (uint64_t)(first - 9) << bits, (uint64_t)100 << bits),
        MEMORY_OVERLAP);
    memory_set_range(ref.memory, first_virtual, first_virtual + ((uint64_t)VIRTUAL << bits));
    page_table_init(ref.pages, bits, GPUS * PAGES);
}

/* ---- what the model does when the manager has done something ---- */

static void model_unmap(uint32_t page)
{
    if (!model.page[page].mapped)
        return;
    cr_assert(model.owned[model.page[page].physical]);
    model.owned[model.page[page].physical] = false;
    model.page[page].mapped = false;
    model.mapped--;
}

/* Takes over where a page lies now: on `gpu`, where nobody owned it. */
static void model_map(uint32_t page, uint32_t pid, uint32_t gpu, uint64_t flags)
{
    uint64_t physical = 0, seen = 0;
    cr_assert(page_table_look_up(ref.pages, pid, address_of(page) + 5, &physical, &seen));
    uint32_t number = (uint32_t)(physical >> model.bits);
    cr_assert_not(model.owned[number], "page %u is handed out twice", number);
    cr_assert_eq(gpu_of(number), gpu, "virtual page %u: on GPU %u, not %u", page, gpu_of(number),
                 gpu);
    cr_assert_eq(memory_device_of(ref.memory, physical + 5), gpu);
    cr_assert_eq(seen, flags);
    model.owned[number] = true;
    model.page[page].mapped = true;
    model.page[page].physical = number;
    model.page[page].flags = flags;
    model.mapped++;
}

static bool fresh_run_exists(uint32_t pages, uint32_t align)
{
    for (uint32_t at = 0; at + pages <= VIRTUAL; at++) {
        uint32_t i = 0;
        if ((address_of(at) >> model.bits) % align)
            continue;
        while (i < pages && model.page[at + i].state == FRESH)
            i++;
        if (i == pages)
            return true;
    }
    return false;
}

static void recycle(void)
{
    memory_recycle(ref.memory);
    for (uint32_t i = 0; i < VIRTUAL; i++)
        if (model.page[i].state == RETIRED)
            model.page[i].state = FRESH;
    done[8]++;
}

/* ---- operations ---- */

/* Are `pages` pages from `first` on fresh? */
static bool fresh_from(uint32_t first, uint32_t pages)
{
    for (uint32_t i = 0; i < pages; i++)
        if (first + i >= VIRTUAL || model.page[first + i].state != FRESH)
            return false;
    return true;
}

/* Takes over an allocation of `pages` pages at `address`, spread over the GPUs. */
static void model_allocate(uint64_t address, uint32_t pages, uint32_t pid, const uint32_t *gpu,
                           uint32_t devices, uint64_t flags)
{
    uint32_t first = (uint32_t)((address - first_virtual) >> model.bits), at = first;
    for (uint32_t i = 0; i < devices; i++) {
        for (uint32_t n = pages / devices + (i < pages % devices); n; n--, at++) {
            cr_assert_eq(model.page[at].state, FRESH,
                         "address of page %u is handed out while it is used or retired", at);
            model.page[at].state = IN_USE;
            model.page[at].pid = pid;
            model_map(at, pid, gpu[i], flags);
        }
    }
    model.allocation[model.count++] = (struct model_allocation){first, pages, pid};
    cr_assert_lt(model.count, MOST);
    done[0]++;
}

static void allocate(void)
{
    bool is_fixed = !pick(6); /* at an address of its own */
    uint32_t want = pick(VIRTUAL);
    uint32_t devices = pick(4) ? 1 : 2 + pick(GPUS - 1), gpu[GPUS],
             pages = pick(20) ? 1 + pick(24) : 1 + pick(600);
    uint32_t pid = 1 + pick(PIDS - 1), align = pick(8) ? 1 : 1u << pick(6), first_gpu = pick(GPUS);
    uint64_t flags = PAGE_TABLE_WRITABLE | (pick(2) ? PAGE_TABLE_UNIFIED : 0), address = 0;
    bool enough = true;
    for (uint32_t i = 0; i < devices; i++) {
        gpu[i] = (first_gpu + i * 3) % GPUS; /* 3 and 8 have no common factor: all differ */
        enough = enough && free_of(gpu[i]) >= pages / devices + (i < pages % devices);
    }
    uint64_t size = ((uint64_t)pages << model.bits) - pick(1 << model.bits);
    struct memory_request q = {.pid = pid,
                               .use = PROGRAM_BUFFER,
                               .flags = (uint32_t)flags,
                               .size = size,
                               .align = (uint64_t)align << model.bits,
                               .fixed = is_fixed ? address_of(want) : 0,
                               .device = gpu,
                               .device_count = devices};
    enum memory_result result = memory_allocate(ref, &q, &address);
    cr_assert_eq(result == MEMORY_OUT_OF_PAGES, !enough);
    if (result == MEMORY_OUT_OF_PAGES) {
        done[9]++;
        return;
    }
    if (is_fixed) {
        cr_assert_eq(result == MEMORY_OK, fresh_from(want, pages));
        if (result != MEMORY_OK) {
            cr_assert(result == MEMORY_RECYCLE_FIRST || result == MEMORY_OUT_OF_ADDRESSES);
            return;
        }
        cr_assert_eq(address, address_of(want));
        align = 1;
    }
    if (result == MEMORY_RECYCLE_FIRST) {
        cr_assert_not(fresh_run_exists(pages, align));
        recycle();
        result = memory_allocate(ref, &q, &address);
    }
    if (result == MEMORY_OUT_OF_ADDRESSES) {
        cr_assert_not(fresh_run_exists(pages, align));
        done[10]++;
        return;
    }
    cr_assert_eq(result, MEMORY_OK);
    cr_assert_eq(address % ((uint64_t)align << model.bits), 0);
    model_allocate(address, pages, pid, gpu, devices, flags);
}

static void model_drop(uint32_t number)
{
    struct model_allocation a = model.allocation[number];
    for (uint32_t i = a.first; i < a.first + a.pages; i++) {
        model_unmap(i);
        model.page[i].state = RETIRED;
    }
    model.allocation[number] = model.allocation[--model.count];
}

static void release(void)
{
    uint32_t number = pick(model.count);
    struct model_allocation a = model.allocation[number];
    if (a.pages > 1)
        cr_assert_eq(memory_free(ref, address_of(a.first + 1)), MEMORY_NOT_ALLOCATED);
    cr_assert_eq(memory_free(ref, address_of(a.first)), MEMORY_OK);
    cr_assert_eq(memory_free(ref, address_of(a.first)), MEMORY_NOT_ALLOCATED);
    model_drop(number);
    done[1]++;
}

static void remap(void)
{
    struct model_allocation a = model.allocation[pick(model.count)];
    uint32_t gpu = pick(GPUS), first = a.first + pick(a.pages),
             pages = 1 + pick(a.first + a.pages - first), needed = 0;
    bool all_mapped = true, moves[1024] = {false};
    for (uint32_t i = 0; i < pages; i++) {
        all_mapped = all_mapped && model.page[first + i].mapped;
        moves[i] = model.page[first + i].mapped && gpu_of(model.page[first + i].physical) != gpu;
        needed += moves[i];
    }
    enum memory_result expected = !all_mapped             ? MEMORY_NOT_MAPPED
                                  : free_of(gpu) < needed ? MEMORY_OUT_OF_PAGES
                                                          : MEMORY_OK;
    cr_assert_eq(
        memory_remap(ref, a.pid, address_of(first) + 1, ((uint64_t)pages << model.bits) - 1, gpu),
        expected);
    cr_assert_eq(memory_remap(ref, PIDS, address_of(first), 1, gpu), MEMORY_NOT_MAPPED,
                 "another process");
    if (expected != MEMORY_OK)
        return;
    for (uint32_t i = 0; i < pages; i++)
        if (moves[i])
            model_unmap(first + i);
    for (uint32_t i = 0; i < pages; i++)
        if (moves[i])
            model_map(first + i, a.pid, gpu, model.page[first + i].flags);
    done[2]++;
}

static void remove_page(void)
{
    struct model_allocation a = model.allocation[pick(model.count)];
    uint32_t page = a.first + pick(a.pages);
    bool mapped = model.page[page].mapped;
    cr_assert_eq(memory_remove_page(ref, a.pid, address_of(page) + 7),
                 mapped ? MEMORY_OK : MEMORY_NOT_MAPPED);
    model_unmap(page);
    done[3]++;
}

/* A page at an address of some allocation, of the right or a wrong process, or at an address that
 * nobody has. */
static void place(void)
{
    uint32_t gpu = pick(GPUS), page = pick(VIRTUAL), pid = 1 + pick(PIDS - 1);
    uint64_t flags = PAGE_TABLE_WRITABLE | (pick(2) ? PAGE_TABLE_UNIFIED : 0), physical = 0;
    if (pick(4)) {
        struct model_allocation a = model.allocation[pick(model.count)];
        page = a.first + pick(a.pages);
        pid = a.pid;
    }
    struct model_page *p = &model.page[page];
    enum memory_result expected = p->state == IN_USE && p->pid != pid ? MEMORY_NOT_ALLOCATED
                                  : !free_of(gpu)                     ? MEMORY_OUT_OF_PAGES
                                  : p->state == RETIRED               ? MEMORY_RECYCLE_FIRST
                                                                      : MEMORY_OK;
    cr_assert_eq(memory_allocate_page_at(ref, pid, gpu, address_of(page) + 9, flags, &physical),
                 expected);
    if (expected != MEMORY_OK)
        return;
    bool is_new = p->state == FRESH;
    if (p->mapped) { /* the old one may not be handed out before the new one is taken */
        cr_assert_neq(physical >> model.bits, p->physical);
        model_unmap(page);
    }
    p->state = IN_USE;
    p->pid = pid;
    model_map(page, pid, gpu, flags);
    cr_assert_eq(physical >> model.bits, p->physical);
    if (is_new)
        model.allocation[model.count++] = (struct model_allocation){page, 1, pid};
    done[4]++;
}

/* A page moves as page migration does it: hold, swap, give back. */
static void move(void)
{
    struct model_allocation a = model.allocation[pick(model.count)];
    uint32_t page = a.first + pick(a.pages), gpu = pick(GPUS);
    uint64_t to = 0, from = 0;
    bool room = free_of(gpu) > 0;
    cr_assert_eq(memory_hold_page(ref.memory, gpu, &to), room);
    if (!room)
        return;
    bool mapped = model.page[page].mapped;
    cr_assert_eq(memory_swap_page(ref, a.pid, address_of(page), to, &from),
                 mapped ? MEMORY_OK : MEMORY_NOT_MAPPED);
    if (mapped) {
        cr_assert_eq(from >> model.bits, model.page[page].physical);
        model_unmap(page);
        model_map(page, a.pid, gpu, model.page[page].flags);
    }
    cr_assert(memory_give_page(ref.memory, mapped ? from : to));
    cr_assert_not(memory_give_page(ref.memory, mapped ? from : to), "given back twice");
    done[5]++;
}

static void end_process(void)
{
    uint32_t pid = 1 + pick(PIDS - 1);
    memory_free_process(ref, pid);
    for (uint32_t i = model.count; i-- > 0;)
        if (model.allocation[i].pid == pid)
            model_drop(i);
    done[6]++;
}

/* Everything at once: what is mapped, in whose process, what is free, and in how many pieces. */
static void check_everything(void)
{
    uint64_t physical = 0, flags = 0, pieces = 0, fresh = 0;
    uint32_t owned = 0;
    for (uint32_t i = 0; i < VIRTUAL; i++) {
        for (uint32_t pid = 1; pid < PIDS; pid++) {
            bool expected = model.page[i].mapped && model.page[i].pid == pid;
            cr_assert_eq(page_table_look_up(ref.pages, pid, address_of(i), &physical, &flags),
                         expected);
            if (expected) {
                cr_assert_eq(physical >> model.bits, model.page[i].physical);
                cr_assert_eq(flags, model.page[i].flags);
            }
        }
        fresh += model.page[i].state == FRESH;
        const struct program_allocation *a = program_find(ref.program, address_of(i));
        cr_assert_eq(a != NULL, model.page[i].state == IN_USE);
        cr_assert(!a || a->pid == model.page[i].pid);
    }
    for (uint32_t i = 0; i < GPUS; i++) {
        const struct page_allocator *list = &ref.memory->device[i].pages;
        cr_assert_eq(list->free_pages, free_of(i));
        cr_assert_leq(list->count, model.gpu_pages[i] - free_of(i) + 1,
                      "more pieces than owned pages keep apart");
        owned += model.gpu_pages[i] - free_of(i);
    }
    pieces = ref.memory->fresh.count + ref.memory->retired.count;
    cr_assert_leq(pieces, 2 * (model.count + ref.memory->retired.count) + 1);
    cr_assert_eq(ref.memory->fresh.free_pages, fresh);
    cr_assert_eq(owned, model.mapped);
    cr_assert_eq(ref.pages->pages, model.mapped);
    cr_assert_eq(ref.program->allocation_count, model.count);
}

static void stress(uint64_t operations, uint64_t check_every)
{
    for (uint64_t step = 0; step < operations; step++) {
        uint32_t r = pick(1000);
        if (!model.count || r < 330)
            allocate();
        else if (r < 640)
            release();
        else if (r < 720)
            remap();
        else if (r < 800)
            remove_page();
        else if (r < 900)
            place();
        else if (r < 999)
            move();
        else
            end_process();
        if (step % check_every == 0)
            check_everything();
    }
    check_everything();
    while (model.count)
        release();
    recycle();
    check_everything();
    for (uint32_t i = 0; i < GPUS; i++)
        cr_assert_eq(ref.memory->device[i].pages.count, 1,
                     "GPU %u: all pages are back, but in %u pieces", i,
                     ref.memory->device[i].pages.count);
    cr_assert_eq(ref.memory->fresh.count, 1);
    cr_assert_eq(ref.pages->node_count - ref.pages->free_count, 1,
                 "all nodes of the page table are back");
}

Test(memory_manager, agrees_with_a_model_under_random_use)
{
    const char *wanted = getenv("HEDDLE_STRESS");
    uint64_t operations =
        wanted ? strtoull(wanted, NULL, 10) : tests_amount(1000000, 200000, 50000);
    cr_assert_gt(operations, 0);
    memset(done, 0, sizeof done);
    start(12, 1);
    stress(operations / 2, 2000);
    start(16, 2);
    stress(operations - operations / 2, 2000);
    for (unsigned i = 0; i < 7; i++)
        cr_assert_gt(done[i], operations / 5000, "operation %u was hardly done", i);
    cr_assert_gt(done[8], 10, "addresses came round %u times", (unsigned)done[8]);
    cr_assert_gt(done[9], 10, "memory ran out %u times", (unsigned)done[9]);
}

/* 15 pages on 4 GPUs: 4, 4, 4 and 3, in consecutive runs (MGPUSim, "Unified GPUs"). */
Test(memory_manager, pages_are_split_evenly_in_consecutive_runs)
{
    static const struct {
        uint32_t pages, devices, last[4]; /* the last page on each */
    } cases[] = {{15, 4, {3, 7, 11, 14}}, {16, 4, {3, 7, 11, 15}}, {3, 4, {0, 1, 2, 2}},
                 {7, 3, {2, 4, 6, 6}},    {1, 2, {0, 0, 0, 0}},    {5, 1, {4, 4, 4, 4}}};
    for (unsigned c = 0; c < ARRAY_COUNT(cases); c++) {
        const uint32_t devices[] = {2, 0, 7, 5};
        uint64_t address = 0, physical = 0, flags = 0;
        start(12, 1);
        const struct memory_request q = {.pid = 1,
                                         .size = (uint64_t)cases[c].pages << 12,
                                         .device = devices,
                                         .device_count = cases[c].devices};
        cr_assert_eq(memory_allocate(ref, &q, &address), MEMORY_OK);
        for (uint32_t i = 0, at = 0; i < cases[c].pages; i++) {
            at += i > cases[c].last[at];
            cr_assert(
                page_table_look_up(ref.pages, 1, address + ((uint64_t)i << 12), &physical, &flags));
            cr_expect_eq(memory_device_of(ref.memory, physical), devices[at], "case %u: page %u", c,
                         i);
        }
    }
}

/* Runs of two pages in turn; the last one goes beyond the end. */
static uint64_t deal(void *of, uint64_t first, uint64_t count, uint32_t devices, uint32_t *place)
{
    ++*(uint32_t *)of;
    (void)count;
    *place = (uint32_t)(first / 2 % devices);
    return 2 - first % 2;
}

Test(memory_manager, pages_are_split_as_the_request_says)
{
    const uint32_t devices[] = {2, 0, 7};
    uint32_t asked = 0;
    uint64_t address = 0, physical = 0, flags = 0;
    start(12, 1);
    const struct memory_request q = {
        .pid = 1, .size = 9 << 12, .device = devices, .device_count = 3, .run = deal, .of = &asked};
    cr_assert_eq(memory_allocate(ref, &q, &address), MEMORY_OK);
    cr_expect_gt(asked, 0);
    for (uint32_t i = 0; i < 9; i++) {
        cr_assert(
            page_table_look_up(ref.pages, 1, address + ((uint64_t)i << 12), &physical, &flags));
        cr_expect_eq(memory_device_of(ref.memory, physical), devices[i / 2 % 3], "page %u", i);
    }
    for (uint32_t place = 0; place < 3; place++)
        cr_expect_eq(memory_count_of(&q, 9, place), 4 - place, "%u", place);
}

/* The pages of a shared allocation are the same ones in both processes, and stay when one of them
 * stops sharing. */
Test(memory_manager, processes_share_an_allocation)
{
    const uint32_t device = 3;
    uint64_t address = 0, one = 0, other = 0, flags = 0;
    start(12, 1);
    const struct memory_request q = {
        .pid = 1, .size = 3 << 12, .device = &device, .device_count = 1};
    cr_assert_eq(memory_allocate(ref, &q, &address), MEMORY_OK);
    cr_assert_not(page_table_look_up(ref.pages, 2, address, &other, &flags));
    cr_assert(memory_share(ref, address, 2));
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert(page_table_look_up(ref.pages, 1, address + i * 4096u, &one, &flags));
        cr_assert(page_table_look_up(ref.pages, 2, address + i * 4096u, &other, &flags));
        cr_assert_eq(one, other);
    }
    memory_unshare(ref, address, 2);
    cr_assert_not(page_table_look_up(ref.pages, 2, address, &other, &flags));
    cr_assert(page_table_look_up(ref.pages, 1, address, &one, &flags));
    cr_assert_eq(memory_free(ref, address), MEMORY_OK);
    cr_assert_eq(ref.pages->pages, 0);
}

/* Three allocations of a page are one memory; freed in any order, each passes on what it owns. */
Test(memory_manager, a_page_at_several_addresses_is_freed_with_the_last_of_them)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const uint32_t device = 1;
    for (unsigned order = 0; order < 6; order++) {
        uint64_t address[3] = {0}, physical[3], flags, first;
        start(12, 1);
        const uint64_t all = ref.memory->device[1].pages.free_pages;
        for (int i = 0; i < 3; i++) {
            const struct memory_request q = {
                .pid = 1, .size = 2 << 12, .device = &device, .device_count = 1};
            cr_assert_eq(memory_allocate(ref, &q, &address[i]), MEMORY_OK);
        }
        cr_assert(page_table_look_up(ref.pages, 1, address[0], &first, &flags));
        cr_assert_eq(memory_join(ref, 1, address[1], 1 << 12, address[0]), MEMORY_OK);
        cr_assert_eq(memory_join(ref, 1, address[2], 1 << 12, address[1]), MEMORY_OK);
        cr_assert_eq(ref.memory->device[1].pages.free_pages, all - 4);
        cr_assert_eq(memory_join(ref, 1, address[2], 3 << 12, address[1]), MEMORY_NOT_MAPPED);
        for (int n = 0; n < 3; n++) {
            uint64_t going = address[orders[order][n]];
            for (int left = n + 1; left < 3; left++) {
                int other = orders[order][left];
                cr_assert(page_table_look_up(ref.pages, 1, address[other], &physical[0], &flags));
                cr_assert_eq(physical[0], first, "order %u, step %d", order, n);
                cr_assert_eq(memory_join(ref, 1, going, 1 << 12, address[other]), MEMORY_OK);
            }
            cr_assert_eq(memory_free(ref, going), MEMORY_OK);
            cr_expect_eq(ref.memory->device[1].pages.free_pages,
                         n == 2 ? all : all - 3 + (uint64_t)n, "order %u, step %d", order, n);
        }
    }
}

/* However a page is left, the pages of its copies are free again, and it may be written. */
Test(memory_manager, copies_go_with_their_page)
{
    const uint32_t device = 2;
    for (unsigned way = 0; way < 4; way++) {
        uint64_t address = 0, physical = 0, flags = 0, copy = 0, left = 0;
        bool writable = false;
        start(12, 1);
        const struct memory_request q = {.pid = 1,
                                         .flags = PAGE_TABLE_WRITABLE | PAGE_TABLE_UNIFIED,
                                         .size = 2 << 12,
                                         .device = &device,
                                         .device_count = 1};
        cr_assert_eq(memory_allocate(ref, &q, &address), MEMORY_OK);
        uint64_t before[GPUS];
        for (uint32_t i = 0; i < GPUS; i++)
            before[i] = ref.memory->device[i].pages.free_pages;
        cr_assert(page_table_look_up(ref.pages, 1, address, &physical, &flags));
        for (uint32_t gpu = 3; gpu < 6; gpu++) {
            cr_assert(memory_hold_page(ref.memory, gpu, &copy));
            cr_assert(page_copies_add(&ref.pages->copies, physical, gpu, copy));
        }
        page_table_enter(ref.pages, 1, address, physical, flags | PAGE_TABLE_COPIED);
        cr_assert(page_table_find(ref.pages, 1, address, &physical, &writable) && !writable);
        if (way == 0)
            cr_assert_eq(memory_remap(ref, 1, address, 1, device), MEMORY_OK);
        else if (way == 1)
            cr_assert_eq(memory_remap(ref, 1, address, 1, 7), MEMORY_OK);
        else if (way == 2)
            cr_assert_eq(memory_allocate_page_at(ref, 1, device, address, q.flags, &left),
                         MEMORY_OK);
        else
            cr_assert_eq(memory_free(ref, address), MEMORY_OK);
        cr_expect_eq(page_copies_count(&ref.pages->copies), 0);
        for (uint32_t gpu = 3; gpu < 6; gpu++)
            cr_expect_eq(ref.memory->device[gpu].pages.free_pages, before[gpu], "way %u", way);
        cr_expect_eq(page_table_find(ref.pages, 1, address, &physical, &writable), way < 3);
        cr_expect(way == 3 || writable, "way %u", way);
    }
}
