/* Rules of the driver's memory, one at a time. test_memory_manager.c checks all of them at once, at
 * random, against a model. */
#include <criterion/criterion.h>
#include <string.h>

#include "components/host/device_memory/memory_manager.h"
#include "runtime/engine/arena.h"

enum { GPUS = 4, PAGES = 32, PAGE = 4096 };

static const uint64_t window = (uint64_t)0x7e00 << 24;
static const uint32_t all_gpus[GPUS] = {0, 1, 2, 3};
static struct memory_ref ref;

/* Four GPUs of PAGES pages each, and twice as many virtual pages as all of them have. */
static void start(void)
{
    arena_open();
    ref.memory = arena_at(struct memory_manager, arena_allocate(sizeof *ref.memory));
    ref.pages = arena_at(struct page_table, arena_allocate(sizeof *ref.pages));
    ref.program = arena_at(struct program_table, arena_allocate(sizeof *ref.program));
    memory_init(ref.memory, PAGE, PAGE);
    for (uint64_t i = 0; i < GPUS; i++)
        cr_assert_eq(memory_register_device(ref.memory, i * PAGES * PAGE, PAGES * PAGE), MEMORY_OK);
    memory_set_range(ref.memory, window, window + 2 * GPUS * PAGES * PAGE);
    page_table_init(ref.pages, 12, GPUS * PAGES);
}

static enum memory_result allocate(uint32_t pid, uint32_t gpus, uint64_t pages, uint64_t fixed,
                                   uint64_t *address)
{
    const struct memory_request q = {.pid = pid,
                                     .flags = PAGE_TABLE_WRITABLE,
                                     .size = pages * PAGE,
                                     .fixed = fixed,
                                     .device = all_gpus,
                                     .device_count = gpus};
    return memory_allocate(ref, &q, address);
}

/* The GPU of a page, or GPUS when it is not mapped in the process. */
static uint32_t gpu_of(uint32_t pid, uint64_t address)
{
    uint64_t physical, flags;
    if (!page_table_look_up(ref.pages, pid, address, &physical, &flags))
        return GPUS;
    return memory_device_of(ref.memory, physical);
}

static uint64_t free_pages(uint32_t gpu)
{
    return ref.memory->device[gpu].pages.free_pages;
}

Test(memory_rules, allocates_at_an_address_only_where_all_of_it_is_free, .init = start)
{
    uint64_t address = 0, wanted = window + 8 * PAGE;
    cr_assert_eq(allocate(1, 1, 4, wanted, &address), MEMORY_OK);
    cr_expect_eq(address, wanted);
    cr_expect_eq(gpu_of(1, wanted + 3 * PAGE), 0);
    cr_expect_eq(allocate(1, 1, 4, wanted, &address), MEMORY_OUT_OF_ADDRESSES);
    cr_expect_eq(allocate(1, 1, 4, wanted + 3 * PAGE, &address), MEMORY_OUT_OF_ADDRESSES);
    cr_expect_eq(allocate(1, 1, 1, wanted + 100, &address), MEMORY_OUT_OF_ADDRESSES,
                 "no page starts");
    cr_expect_eq(allocate(1, 1, 2, window - PAGE, &address), MEMORY_OUT_OF_ADDRESSES,
                 "half outside");
    cr_expect_eq(free_pages(0), PAGES - 4, "a call that fails takes nothing");
    cr_expect_eq(allocate(1, 1, 4, wanted + 4 * PAGE, &address), MEMORY_OK);
}

/* Memory of the host that kernels use, too. */
Test(memory_rules, addresses_outside_of_the_range_are_free_again_at_once, .init = start)
{
    uint64_t address = 0, wanted = window - 8 * PAGE;
    cr_assert_eq(allocate(1, 1, 4, wanted, &address), MEMORY_OK);
    cr_expect_eq(address, wanted);
    cr_expect_eq(allocate(1, 1, 1, wanted + 3 * PAGE, &address), MEMORY_OUT_OF_ADDRESSES, "in use");
    cr_expect_eq(allocate(1, 1, 1, wanted + 100, &address), MEMORY_OUT_OF_ADDRESSES,
                 "no page starts");
    cr_assert_eq(memory_free(ref, wanted), MEMORY_OK);
    cr_expect_eq(free_pages(0), PAGES);
    cr_assert_eq(allocate(1, 1, 2, wanted + PAGE, &address), MEMORY_OK);
}

Test(memory_rules, splits_fifteen_pages_on_four_gpus_as_4_4_4_3, .init = start)
{
    static const uint32_t expected[15] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3};
    uint64_t address = 0;
    cr_assert_eq(allocate(1, GPUS, 15, 0, &address), MEMORY_OK);
    for (uint64_t i = 0; i < 15; i++)
        cr_expect_eq(gpu_of(1, address + i * PAGE), expected[i], "page %u", (unsigned)i);
    for (uint32_t gpu = 0; gpu < GPUS; gpu++)
        cr_expect_eq(free_pages(gpu), PAGES - memory_share_of(15, GPUS, gpu));
}

Test(memory_rules, fragments_do_not_keep_an_allocation_from_its_pages, .init = start)
{
    uint64_t address[PAGES], large = 0;
    for (uint32_t i = 0; i < PAGES; i++)
        cr_assert_eq(allocate(1, 1, 1, 0, &address[i]), MEMORY_OK);
    for (uint32_t i = 0; i < PAGES; i += 2)
        cr_assert_eq(memory_free(ref, address[i]), MEMORY_OK);
    cr_expect_eq(ref.memory->device[0].pages.count, PAGES / 2, "no two free pages are neighbours");
    cr_assert_eq(allocate(1, 1, PAGES / 2, 0, &large), MEMORY_OK);
    for (uint64_t i = 0; i < PAGES / 2; i++)
        cr_expect_eq(gpu_of(1, large + i * PAGE), 0);
    cr_expect_eq(free_pages(0), 0);
}

Test(memory_rules, frees_an_allocation_once, .init = start)
{
    uint64_t address = 0;
    cr_assert_eq(allocate(1, 1, 3, 0, &address), MEMORY_OK);
    cr_expect_eq(memory_free(ref, address + PAGE), MEMORY_NOT_ALLOCATED, "not its start");
    cr_expect_eq(memory_free(ref, address), MEMORY_OK);
    cr_expect_eq(memory_free(ref, address), MEMORY_NOT_ALLOCATED);
    cr_expect_eq(free_pages(0), PAGES);
    cr_expect_eq(gpu_of(1, address), GPUS);
}

Test(memory_rules, hands_an_address_out_again_only_after_it_was_recycled, .init = start)
{
    enum { VIRTUAL = 2 * GPUS * PAGES };
    uint64_t address = 0, first = 0;
    for (uint32_t i = 0; i < VIRTUAL; i++) {
        cr_assert_eq(allocate(1, 1, 1, 0, &address), MEMORY_OK);
        first = i ? first : address;
        cr_assert_eq(address, first + (uint64_t)i * PAGE, "a freed address is not used again");
        cr_assert_eq(memory_free(ref, address), MEMORY_OK);
    }
    cr_expect_eq(allocate(1, 1, 1, 0, &address), MEMORY_RECYCLE_FIRST);
    memory_recycle(ref.memory);
    cr_assert_eq(allocate(1, 1, 1, 0, &address), MEMORY_OK);
    cr_expect_eq(address, first);
}

Test(memory_rules, remaps_pages_and_gives_the_old_ones_back, .init = start)
{
    uint64_t address = 0;
    cr_assert_eq(allocate(1, 1, 4, 0, &address), MEMORY_OK);
    cr_assert_eq(memory_remap(ref, 1, address + PAGE + 100, PAGE, 2), MEMORY_OK);
    cr_expect_eq(gpu_of(1, address), 0);
    cr_expect_eq(gpu_of(1, address + PAGE), 2, "the range touches two pages");
    cr_expect_eq(gpu_of(1, address + 2 * PAGE), 2);
    cr_expect_eq(gpu_of(1, address + 3 * PAGE), 0);
    cr_expect_eq(free_pages(0), PAGES - 2);
    cr_expect_eq(free_pages(2), PAGES - 2);
    cr_expect_eq(memory_remap(ref, 1, address + 3 * PAGE, 2 * PAGE, 1), MEMORY_NOT_MAPPED);
    cr_expect_eq(free_pages(1), PAGES, "a call that fails moves nothing");
}

Test(memory_rules, a_process_sees_only_its_own_pages, .init = start)
{
    uint64_t one = 0, other = 0;
    cr_assert_eq(allocate(1, 1, 2, 0, &one), MEMORY_OK);
    cr_assert_eq(allocate(2, 1, 2, 0, &other), MEMORY_OK);
    cr_expect_neq(one, other);
    cr_expect_eq(gpu_of(2, one), GPUS);
    cr_expect_eq(gpu_of(1, other), GPUS);
    cr_assert(memory_share(ref, one, 2));
    cr_expect_eq(gpu_of(2, one + PAGE), 0);
    memory_unshare(ref, one, 2);
    memory_free_process(ref, 2);
    cr_expect_eq(gpu_of(2, other), GPUS);
    cr_expect_eq(gpu_of(1, one), 0);
    cr_expect_eq(free_pages(0), PAGES - 2);
}

Test(memory_rules, says_when_pages_run_out_and_takes_none, .init = start)
{
    uint64_t address = 0;
    cr_expect_eq(allocate(1, 1, PAGES + 1, 0, &address), MEMORY_OUT_OF_PAGES);
    cr_assert_eq(allocate(1, 1, PAGES, 0, &address), MEMORY_OK);
    cr_expect_eq(allocate(1, 1, 1, 0, &address), MEMORY_OUT_OF_PAGES);
    cr_expect_eq(allocate(1, GPUS, GPUS, 0, &address), MEMORY_OUT_OF_PAGES, "GPU 0 has none");
    for (uint32_t gpu = 1; gpu < GPUS; gpu++)
        cr_expect_eq(free_pages(gpu), PAGES);
}

Test(memory_rules, a_removed_page_can_be_placed_again, .init = start)
{
    uint64_t address = 0, physical = 0;
    cr_assert_eq(allocate(1, 1, 3, 0, &address), MEMORY_OK);
    cr_assert_eq(memory_remove_page(ref, 1, address + PAGE), MEMORY_OK);
    cr_expect_eq(memory_remove_page(ref, 1, address + PAGE), MEMORY_NOT_MAPPED);
    cr_expect_eq(gpu_of(1, address + PAGE), GPUS);
    cr_expect_eq(memory_allocate_page_at(ref, 2, 3, address + PAGE, 0, &physical),
                 MEMORY_NOT_ALLOCATED, "it belongs to another process");
    cr_assert_eq(memory_allocate_page_at(ref, 1, 3, address + PAGE, 0, &physical), MEMORY_OK);
    cr_expect_eq(gpu_of(1, address + PAGE), 3);
}

Test(memory_rules, aligns_allocations_to_the_fragments_that_they_fill, .init = start)
{
    ref.memory->fragment = 8 * PAGE;
    uint64_t small, large, odd, physical, flags;
    cr_assert_eq(allocate(1, 1, 1, 0, &small), MEMORY_OK);
    cr_assert_eq(allocate(1, 1, 16, 0, &large), MEMORY_OK);
    cr_assert_eq(allocate(1, 1, 5, 0, &odd), MEMORY_OK);
    cr_expect_eq(large % (8 * PAGE), 0);
    ref.pages->fragment_bits = 15;
    cr_assert(page_table_look_up(ref.pages, 1, large, &physical, &flags));
    cr_expect_eq(physical % (8 * PAGE), 0);
    for (uint64_t i = 0; i < 16; i++)
        cr_expect_eq(page_table_fragment(ref.pages, 1, large + i * PAGE, &physical), 15);
    cr_expect_eq(odd, small + PAGE, "both share a fragment");
    cr_expect_eq(page_table_fragment(ref.pages, 1, odd + 3 * PAGE, &physical), 15);
}

Test(memory_rules, small_buffers_share_a_fragment_until_the_last_is_freed, .init = start)
{
    enum { WHOLE = 8 };
    ref.memory->fragment = WHOLE * PAGE;
    uint64_t first = 0, second = 0, other = 0, behind = 0, spread = 0;
    cr_assert_eq(allocate(1, 1, 1, 0, &first), MEMORY_OK);
    cr_assert_eq(allocate(1, 1, 3, 0, &second), MEMORY_OK);
    cr_expect_eq(second, first + PAGE);
    cr_expect_eq(free_pages(0), PAGES - WHOLE);
    cr_assert_eq(allocate(2, 1, 1, 0, &other), MEMORY_OK);
    cr_expect_eq(free_pages(0), PAGES - 2 * WHOLE, "a process has blocks of its own");
    cr_assert_eq(allocate(1, 1, WHOLE - 1, 0, &behind), MEMORY_OK);
    cr_expect_eq(behind % (WHOLE * PAGE), 0, "this one needs another block");
    cr_assert_eq(allocate(1, 2, 2, 0, &spread), MEMORY_OK);
    cr_expect_eq(free_pages(0), PAGES - 3 * WHOLE - 1, "pages of several GPUs have none");
    cr_assert_eq(memory_free(ref, first), MEMORY_OK);
    cr_expect_eq(memory_free(ref, first), MEMORY_NOT_ALLOCATED);
    cr_expect_eq(gpu_of(1, second), 0);
    cr_expect_eq(free_pages(0), PAGES - 3 * WHOLE - 1);
    cr_assert_eq(memory_free(ref, second), MEMORY_OK);
    cr_expect_eq(gpu_of(1, second), GPUS);
    cr_expect_eq(free_pages(0), PAGES - 2 * WHOLE - 1);
    cr_assert_eq(memory_free(ref, behind), MEMORY_OK);
    cr_assert_eq(allocate(1, 1, 1, 0, &first), MEMORY_OK);
    cr_expect_neq(first, behind + (WHOLE - 1) * PAGE, "its block is given up");
    memory_free_process(ref, 2);
    cr_expect_eq(free_pages(0), PAGES - WHOLE - 1);
    ref.memory->skip = 3;
    cr_assert_eq(allocate(2, 1, 1, 0, &other), MEMORY_OK);
    cr_expect_eq(other % (WHOLE * PAGE), 3 * PAGE);
}

Test(memory_rules, without_room_for_fragments_pages_still_do, .init = start)
{
    ref.memory->fragment = 8 * PAGE;
    uint64_t address;
    cr_assert_eq(allocate(1, 1, 1, 0, &address), MEMORY_OK);
    cr_assert_eq(allocate(1, 1, PAGES - 8 - 1, 0, &address), MEMORY_OK);
    cr_assert_eq(allocate(1, 1, 7, 0, &address), MEMORY_OK, "from the block");
    cr_expect_eq(free_pages(0), 1);
    cr_assert_eq(allocate(1, 1, 1, 0, &address), MEMORY_OK);
    cr_expect_eq(free_pages(0), 0);
}
