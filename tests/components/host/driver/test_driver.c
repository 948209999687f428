/* Each kind of command: what a GPU gets to see, in which order, and what the program gets back. */
#include "command.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "components/protocols/command/aql_packet.h"

#include "driver_bench.h"

static struct bench b;

static void start(void)
{
    b = bench_start(bench_params(), "dma_copy", "hip");
}

static void pattern(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256 + 1);
}

Test(driver, a_write_is_cut_at_messages_and_pages, .init = start)
{
    static uint8_t bytes[1000];
    uint64_t ticket, at = bench_allocate(b, 0, 2 * BENCH_PAGE) + BENCH_PAGE - 300;
    static const uint64_t sizes[] = {44, 256, 256, 256, 188};
    pattern(bytes, sizeof bytes);
    cr_assert_eq(b.api->write(0, at, bytes, sizeof bytes, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_assert_eq(bench_count(b, 0), 5);
    for (uint32_t i = 0, done = 0; i < 5; done += sizes[i++]) {
        struct bench_command c = bench_seen(b, 0, i);
        cr_expect_eq(c.kind, COMMAND_WRITE);
        cr_expect_eq(c.size, sizes[i], "message %u has %u bytes", i, (unsigned)c.size);
        cr_expect_eq(c.address, bench_physical(b, at + done));
        cr_expect_eq(memcmp(c.payload, bytes + done, sizes[i]), 0);
    }
    cr_expect_eq(bench_stats(b)->bytes_to_gpu, sizeof bytes);
    cr_expect_eq(bench_count(b, 1), 0);
}

Test(driver, a_read_brings_what_was_written, .init = start)
{
    static uint8_t bytes[3000], back[3000];
    uint64_t ticket, at = bench_allocate(b, 1, sizeof bytes);
    pattern(bytes, sizeof bytes);
    cr_assert_eq(b.api->write(1, at, bytes, sizeof bytes, NULL), DRIVER_OK);
    cr_assert_eq(b.api->read(1, back, at, sizeof back, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_expect_eq(memcmp(bytes, back, sizeof bytes), 0);
    cr_expect_str_eq(bench_kinds(b, 1), "WWWWWWWWWWWWRRRRRRRRRRRR");
    cr_expect_eq(bench_stats(b)->bytes_from_gpu, sizeof back);
}

Test(driver, a_fill_sends_words_as_fills_and_the_ends_as_writes, .init = start)
{
    const uint8_t byte[] = {0x5a, 0xa5};
    uint64_t ticket, at = bench_allocate(b, 0, 256) + 2;
    cr_assert_eq(b.api->fill(0, at, byte, 2, 50, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_expect_str_eq(bench_kinds(b, 0), "WFW");
    cr_expect_eq(bench_seen(b, 0, 0).size, 2);
    cr_expect_eq(bench_seen(b, 0, 1).size, 96);
    cr_expect_eq(bench_seen(b, 0, 2).size, 2);
    const uint8_t *seen = bench_memory + bench_physical(b, at - 2);
    for (uint32_t i = 0; i < 104; i++)
        cr_expect_eq(seen[i], i < 2 || i >= 102 ? 0 : byte[i % 2], "byte %u", i);
}

Test(driver, a_fill_of_three_bytes_is_refused, .init = start)
{
    uint64_t at = bench_allocate(b, 0, 256);
    cr_expect_eq(b.api->fill(0, at, "abc", 3, 2, NULL), DRIVER_INVALID_VALUE);
    cr_expect_eq(b.api->fill(0, at, "ab", 2, 129, NULL), DRIVER_INVALID_ADDRESS);
    cr_expect_eq(b.api->fill(9, at, "ab", 2, 1, NULL), DRIVER_INVALID_VALUE);
}

Test(driver, a_copy_inside_of_a_gpu_is_a_message_a_page, .init = start)
{
    uint64_t ticket, from = bench_allocate(b, 0, 2 * BENCH_PAGE);
    uint64_t to = bench_allocate(b, 0, 2 * BENCH_PAGE);
    pattern(bench_memory + bench_physical(b, from), BENCH_PAGE);
    cr_assert_eq(b.api->copy(0, to, from, 2 * BENCH_PAGE, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_expect_str_eq(bench_kinds(b, 0), "CC");
    cr_expect_eq(bench_seen(b, 0, 1).source, bench_physical(b, from + BENCH_PAGE));
    cr_expect_eq(memcmp(bench_memory + bench_physical(b, to),
                        bench_memory + bench_physical(b, from), BENCH_PAGE),
                 0);
}

/* Through the host, in pieces: each is written as soon as it has been read, while others are. The
 * ends of messages lie elsewhere in the target than in the source. */
Test(driver, a_copy_between_gpus_without_a_fabric_goes_through_the_host, .init = start)
{
    enum { BYTES = 20 * 1024, SHIFT = 100, COPIED = BYTES - 2 * SHIFT, MESSAGE = 256 };
    uint64_t ticket, from = bench_allocate(b, 0, BYTES), to = bench_allocate(b, 1, BYTES);
    for (uint64_t i = 0; i < BYTES; i++)
        bench_memory[bench_physical(b, from + i)] = (uint8_t)(i * 7 + i / 251);
    cr_assert_eq(b.api->copy(0, to, from + SHIFT, COPIED, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    uint32_t reads = bench_count_kind(b, 0, COMMAND_READ),
             writes = bench_count_kind(b, 1, COMMAND_WRITE);
    cr_assert_eq(reads, BYTES / MESSAGE);
    cr_assert_eq(writes, 2 * reads - 1, "each piece in two parts, but for the first");
    cr_expect_gt(bench_seen(b, 1, 0).cycle, bench_seen(b, 0, 0).cycle + BENCH_LATENCY);
    cr_expect_gt(bench_seen(b, 1, writes - 1).cycle,
                 bench_seen(b, 0, reads - 1).cycle + BENCH_LATENCY);
    cr_expect_lt(bench_seen(b, 1, 0).cycle, bench_seen(b, 0, reads - 1).cycle, "side by side");
    for (uint64_t i = 0; i < COPIED; i++)
        cr_assert_eq(bench_memory[bench_physical(b, to + i)],
                     bench_memory[bench_physical(b, from + SHIFT + i)], "byte %u", (unsigned)i);
}

Test(driver, copies_of_magic_copy_send_no_message)
{
    static uint8_t back[600];
    b = bench_start(bench_params(), "magic_copy", "hip");
    uint64_t ticket, at = bench_allocate(b, 0, sizeof back);
    cr_assert_eq(b.api->read(0, back, at, sizeof back, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_expect_eq(bench_count(b, 0), 0);
    cr_expect_eq(bench_stats(b)->commands, 1);
}

/* ---- what the host takes ---- */

enum { US = 1000000 }; /* picoseconds; a cycle is a nanosecond */

Test(driver, an_event_takes_what_it_costs)
{
    uint64_t first, second;
    struct driver_params params = bench_params();
    params.event_cost = 3 * US;
    b = bench_start(params, "dma_copy", "hip");
    cr_assert_eq(b.api->mark(0, true, &first), DRIVER_OK);
    cr_assert_eq(b.api->mark(0, true, &second), DRIVER_OK);
    bench_wait(b, second);
    uint64_t between = bench_cycle_of(b, second) - bench_cycle_of(b, first);
    cr_expect(between >= 3000 && between < 3010, "%u cycles", (unsigned)between);
}

/* The first has its time 2 us after it was recorded, and the second is recorded 1 or 5 us later. */
Test(driver, events_are_as_far_apart_as_the_program_records_them)
{
    struct driver_params params = bench_params();
    params.event_cost = 2 * US;
    for (unsigned slow = 0; slow < 2; slow++) {
        uint64_t first, second;
        params.record_cost = slow ? 5 * US : 1 * US;
        b = bench_start(params, "dma_copy", "hip");
        cr_assert_eq(b.api->mark(0, true, &first), DRIVER_OK);
        cr_assert_eq(b.api->mark(0, true, &second), DRIVER_OK);
        bench_wait(b, second);
        uint64_t between = bench_cycle_of(b, second) - bench_cycle_of(b, first);
        uint64_t expected = slow ? 5000 : 2000;
        cr_expect(between >= expected && between < expected + 10, "%u cycles", (unsigned)between);
    }
}

/* The cycle in which the GPU sees the first message of a copy of so many bytes. */
static uint64_t copy_begins(struct driver_params params, uint64_t bytes, bool back)
{
    static uint8_t buffer[2 << 20];
    uint64_t ticket, at;
    b = bench_start(params, "dma_copy", "hip");
    at = bench_allocate(b, 0, bytes);
    cr_assert_eq(back ? b.api->read(0, buffer, at, bytes, &ticket)
                      : b.api->write(0, at, buffer, bytes, &ticket),
                 DRIVER_OK);
    bench_wait(b, ticket);
    return bench_seen(b, 0, 0).cycle;
}

Test(driver, a_copy_begins_when_it_is_set_up)
{
    struct driver_params params = bench_params();
    uint64_t plain = copy_begins(params, 1000, false);
    params.copy_setup = 5 * US;
    params.staged = params.staged_read = 1000;
    params.staged_setup = 2 * US;
    params.staged_rate = params.staged_read_rate = 500000000; /* 2 ns a byte */
    params.read_setup = 1 * US;
    for (unsigned back = 0; back < 2; back++) {
        uint64_t before = plain + back * 1000;
        cr_expect_eq(copy_begins(params, 1000, back), before + 2000 + 2000);
        cr_expect_eq(copy_begins(params, 100, back), before + 2000 + 200);
        cr_expect_eq(copy_begins(params, 1001, back), before + 5000);
    }
}

Test(driver, each_way_of_a_copy_has_its_own_buffer)
{
    struct driver_params params = bench_params();
    uint64_t plain = copy_begins(params, 1000, false);
    params.staged = 0;
    params.copy_setup = 5 * US;
    params.staged_read = 1000;
    params.staged_read_rate = 250000000; /* 4 ns a byte */
    cr_expect_eq(copy_begins(params, 1000, false), plain + 5000);
    cr_expect_eq(copy_begins(params, 1000, true), plain + 4000);
}

Test(driver, pages_are_pinned_one_by_one_below_a_huge_one)
{
    struct driver_params params = bench_params();
    uint64_t plain = copy_begins(params, 1000, false);
    params.pin_page = 1 * US;
    cr_expect_eq(copy_begins(params, 4096, false), plain + 1000);
    cr_expect_eq(copy_begins(params, 4097, true), plain + 2000);
    cr_expect_eq(copy_begins(params, 2 << 20, false), plain);
}

Test(driver, what_stays_inside_moves_by_fragments)
{
    uint64_t ticket;
    struct driver_params params = bench_params();
    params.fragment = 4 * BENCH_PAGE;
    b = bench_start(params, "dma_copy", "hip");
    uint64_t from = bench_allocate(b, 0, 4 * BENCH_PAGE), to = bench_allocate(b, 0, 4 * BENCH_PAGE);
    pattern(bench_memory + bench_physical(b, from), 4 * BENCH_PAGE);
    cr_assert_eq(b.api->fill(0, to, "abcd", 4, BENCH_PAGE / 2, NULL), DRIVER_OK);
    cr_assert_eq(b.api->copy(0, to + 100, from, 3 * BENCH_PAGE, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_assert_str_eq(bench_kinds(b, 0), "FC");
    cr_expect_eq(bench_seen(b, 0, 0).size, 2 * BENCH_PAGE);
    cr_expect_eq(bench_seen(b, 0, 1).size, 3 * BENCH_PAGE);
    cr_expect_arr_eq(bench_memory + bench_physical(b, to) + 100,
                     bench_memory + bench_physical(b, from), 3 * BENCH_PAGE);
}

Test(driver, fills_and_copies_inside_have_a_set_up_of_their_own)
{
    uint64_t ticket;
    struct driver_params params = bench_params();
    params.copy_setup = 5 * US;
    params.blit_setup = 1 * US;
    b = bench_start(params, "dma_copy", "hip");
    uint64_t at = bench_allocate(b, 0, 2048);
    cr_assert_eq(b.api->fill(0, at, "abcd", 4, 16, NULL), DRIVER_OK);
    cr_assert_eq(b.api->copy(0, at + 1024, at, 64, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_assert_str_eq(bench_kinds(b, 0), "FC");
    uint64_t filled = bench_seen(b, 0, 0).cycle, copied = bench_seen(b, 0, 1).cycle;
    cr_expect(filled >= 1000 && filled < 1010);
    cr_expect(copied - filled > 1000 + BENCH_LATENCY && copied - filled < 1030 + BENCH_LATENCY);
}

Test(driver, after_a_wait_the_program_goes_on_later)
{
    static uint8_t buffer[64];
    uint64_t waited, next, at;
    struct driver_params params = bench_params();
    params.wait_cost = 4 * US;
    b = bench_start(params, "dma_copy", "hip");
    at = bench_allocate(b, 0, sizeof buffer);
    cr_assert_eq(b.api->mark(0, true, &waited), DRIVER_OK);
    bench_wait(b, waited);
    cr_assert_eq(b.api->read(0, buffer, at, sizeof buffer, &next), DRIVER_OK);
    bench_wait(b, next);
    uint64_t begun = bench_seen(b, 0, 0).cycle - bench_cycle_of(b, waited);
    cr_expect(begun >= 4000 && begun < 4010, "%u cycles", (unsigned)begun);
    cr_assert_eq(b.api->mark(0, true, &waited), DRIVER_OK); /* a copy has that in its set-up */
    bench_wait(b, waited);
    cr_expect_lt(bench_cycle_of(b, waited), bench_cycle_of(b, next) + 10);
}

Test(driver, shared_memory_moves_in_no_time)
{
    static uint8_t bytes[3000], back[3000];
    uint64_t there, returned, at;
    struct driver_params params = bench_params();
    params.copy_setup = 5 * US;
    params.host_memory = DRIVER_HOST_MEMORY_SHARED;
    b = bench_start(params, "dma_copy", "hip");
    at = bench_allocate(b, 0, sizeof bytes);
    pattern(bytes, sizeof bytes);
    cr_assert_eq(b.api->write_shared(0, at, bytes, sizeof bytes, &there), DRIVER_OK);
    cr_assert_eq(b.api->read_shared(0, back, at, sizeof back, &returned), DRIVER_OK);
    bench_wait(b, returned);
    cr_expect_lt(bench_cycle_of(b, returned), 100);
    cr_expect_eq(bench_count(b, 0), 0, "no message");
    cr_assert_eq(b.api->write(0, at, bytes, sizeof bytes, &there), DRIVER_OK);
    bench_wait(b, there);
    cr_expect_gt(bench_cycle_of(b, there), 5000, "a copy of the program's is one");
    cr_expect_gt(bench_count(b, 0), 0);
}

/* ---- launches ---- */

static uint64_t load_code(uint32_t device)
{
    static const uint32_t code[16] = {0xbf810000u};
    uint64_t at = bench_allocate(b, device, sizeof code);
    cr_assert_eq(b.api->register_code(device, "code", at, code, sizeof code), DRIVER_OK);
    return at;
}

Test(driver, a_launch_sends_packet_and_arguments_and_then_itself, .init = start)
{
    uint64_t arguments[2] = {11, 22}, ticket, entry = load_code(0);
    struct driver_launch kernel = bench_kernel(entry, arguments, sizeof arguments);
    cr_assert_eq(b.api->launch(0, &kernel, &ticket), DRIVER_OK, "%s", b.api->error_text());
    bench_wait(b, ticket);
    cr_assert_str_eq(bench_kinds(b, 0), "WL");
    struct bench_command staged = bench_seen(b, 0, 0), launch = bench_seen(b, 0, 1);
    cr_expect_eq(staged.size, 64 + sizeof arguments);
    cr_expect_eq(memcmp(staged.payload + 64, arguments, sizeof arguments), 0);
    cr_expect_gt(launch.cycle, staged.cycle + BENCH_LATENCY, "the packet has arrived");
    cr_expect_eq(bench_physical(b, launch.address), staged.address);
    cr_expect_eq(launch.pid, 1);
    cr_expect_eq(bench_stats(b)->launches, 1);
    cr_expect_geq(bench_cycle_of(b, ticket), launch.cycle + BENCH_LATENCY);
}

Test(driver, staged_separately_arguments_and_packet_are_copies_of_their_own)
{
    struct driver_params params = bench_params();
    params.staging = DRIVER_STAGING_SEPARATE;
    b = bench_start(params, "dma_copy", "hip");
    uint64_t arguments[2] = {11, 22}, ticket;
    struct driver_launch kernel = bench_kernel(load_code(0), arguments, sizeof arguments);
    cr_assert_eq(b.api->launch(0, &kernel, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_assert_str_eq(bench_kinds(b, 0), "WWL");
    struct bench_command first = bench_seen(b, 0, 0), second = bench_seen(b, 0, 1);
    cr_expect_eq(first.size, sizeof arguments);
    cr_expect_eq(second.size, 64);
    cr_expect_eq(first.address, second.address + 64);
    cr_expect_gt(second.cycle, first.cycle + BENCH_LATENCY, "one after the other");
    cr_expect_eq(bench_stats(b)->commands, 3);
}

Test(driver, equal_arguments_are_not_copied_again, .init = start)
{
    uint64_t arguments[2] = {11, 22}, ticket;
    struct driver_launch kernel = bench_kernel(load_code(0), arguments, sizeof arguments);
    cr_assert_eq(b.api->launch(0, &kernel, NULL), DRIVER_OK);
    cr_assert_eq(b.api->launch(0, &kernel, NULL), DRIVER_OK);
    arguments[1]++;
    cr_assert_eq(b.api->launch(0, &kernel, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_expect_str_eq(bench_kinds(b, 0), "WLLWL");
    cr_expect_eq(bench_stats(b)->launch_copies_saved, 2 + 2, "packet, arguments; code twice");
}

Test(driver, a_launch_that_cannot_run_is_refused_before_anything_is_sent, .init = start)
{
    struct driver_launch kernel = bench_kernel(load_code(0), NULL, 0);
    kernel.block[0] = 2000;
    cr_expect_eq(b.api->launch(0, &kernel, NULL), DRIVER_TOO_LARGE);
    kernel = bench_kernel(load_code(0), NULL, 0);
    kernel.group_bytes = 65537;
    cr_expect_eq(b.api->launch(0, &kernel, NULL), DRIVER_TOO_LARGE);
    kernel = bench_kernel(load_code(0), NULL, 0);
    kernel.grid[1] = 0;
    cr_expect_eq(b.api->launch(0, &kernel, NULL), DRIVER_INVALID_VALUE);
    kernel = bench_kernel(0x1234, NULL, 0);
    cr_expect_eq(b.api->launch(0, &kernel, NULL), DRIVER_INVALID_ADDRESS);
    cr_expect_eq(bench_count(b, 0), 0);
}

Test(driver, a_unified_launch_gives_each_gpu_its_groups, .init = start)
{
    static const uint32_t gpus[] = {0, 1};
    uint32_t device = 0, queue = 0;
    uint64_t ticket, argument = 5;
    cr_assert_eq(b.api->unify(gpus, 2, &device), DRIVER_OK);
    cr_assert_eq(b.api->queue_create(device, 0, &queue), DRIVER_OK);
    struct driver_launch kernel = bench_kernel(load_code(device), &argument, sizeof argument);
    kernel.grid[0] = 5 * 64;
    cr_assert_eq(b.api->launch(queue, &kernel, &ticket), DRIVER_OK, "%s", b.api->error_text());
    bench_wait(b, ticket);
    for (uint32_t gpu = 0; gpu < 2; gpu++) {
        struct aql_packet packet;
        cr_assert_str_eq(bench_kinds(b, gpu), "WL");
        memcpy(&packet, bench_seen(b, gpu, 1).payload, sizeof packet);
        cr_expect_eq(aql_first_group(&packet), gpu ? 3 : 0);
        cr_expect_eq(aql_groups(&packet), gpu ? 2 : 3);
    }
    cr_expect_eq(bench_stats(b)->unified_launches, 1);
}

/* ---- flushes ---- */

Test(driver, a_copy_flushes_once_after_a_kernel_has_run, .init = start)
{
    uint8_t back[4];
    uint64_t ticket, at = bench_allocate(b, 0, 64), argument = 1;
    struct driver_launch kernel = bench_kernel(load_code(0), &argument, sizeof argument);
    cr_assert_eq(b.api->read(0, back, at, 4, NULL), DRIVER_OK);
    cr_assert_eq(b.api->launch(0, &kernel, NULL), DRIVER_OK);
    cr_assert_eq(b.api->read(0, back, at, 4, NULL), DRIVER_OK);
    cr_assert_eq(b.api->read(0, back, at, 4, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_expect_str_eq(bench_kinds(b, 0), "RWLXRR");
    cr_expect_eq(bench_stats(b)->flushes, 1);
    cr_expect_gt(bench_seen(b, 0, 4).cycle, bench_seen(b, 0, 3).cycle + BENCH_LATENCY,
                 "the flush has been answered");
}

Test(driver, a_kernel_makes_no_other_process_flush, .init = start)
{
    uint8_t back[4];
    uint32_t context = 0, queue = 0;
    uint64_t ticket, argument = 1;
    cr_assert_eq(b.api->context_create(0, 0, &context), DRIVER_OK);
    cr_assert_eq(b.api->queue_create(context, 0, &queue), DRIVER_OK);
    uint64_t theirs = bench_allocate(b, context, 64);
    struct driver_launch kernel = bench_kernel(load_code(0), &argument, sizeof argument);
    cr_assert_eq(b.api->launch(0, &kernel, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_assert_eq(b.api->read(queue, back, theirs, 4, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_expect_str_eq(bench_kinds(b, 0), "WLR");
}

Test(driver, a_peer_that_may_be_written_to_is_flushed_too, .init = start)
{
    uint8_t back[4];
    uint64_t ticket, argument = 1, open = 0;
    cr_assert_eq(b.api->allocate_unified(1, 64, 0, &open), DRIVER_OK);
    struct driver_launch kernel = bench_kernel(load_code(0), &argument, sizeof argument);
    cr_assert_eq(b.api->launch(0, &kernel, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_assert_eq(b.api->read(1, back, open, 4, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_expect_str_eq(bench_kinds(b, 1), "XR");
}

/* ---- mappings ---- */

Test(driver, a_remapped_page_is_shot_down_on_all_gpus, .init = start)
{
    uint64_t at = bench_allocate(b, 0, 3 * BENCH_PAGE);
    cr_assert_eq(b.api->remap(at + BENCH_PAGE, BENCH_PAGE, 1), DRIVER_OK, "%s",
                 b.api->error_text());
    for (uint32_t gpu = 0; gpu < BENCH_GPUS; gpu++) {
        cr_assert_str_eq(bench_kinds(b, gpu), "S");
        struct bench_command shot = bench_seen(b, gpu, 0);
        cr_expect_eq(shot.address, at + BENCH_PAGE);
        cr_expect_eq(shot.size, BENCH_PAGE);
        cr_expect_eq(shot.pid, 1);
    }
    cr_expect_eq(bench_physical(b, at + BENCH_PAGE) / BENCH_MEMORY, 1);
    cr_expect_eq(bench_physical(b, at) / BENCH_MEMORY, 0);
    cr_expect_eq(bench_stats(b)->shootdowns, BENCH_GPUS);
}

Test(driver, a_write_to_pages_of_two_gpus_goes_to_both, .init = start)
{
    static uint8_t bytes[512];
    uint64_t ticket, at = bench_allocate(b, 0, 2 * BENCH_PAGE);
    cr_assert_eq(b.api->remap(at + BENCH_PAGE, 1, 1), DRIVER_OK);
    cr_assert_eq(b.api->write(0, at + BENCH_PAGE - 256, bytes, sizeof bytes, &ticket), DRIVER_OK);
    bench_wait(b, ticket);
    cr_expect_str_eq(bench_kinds(b, 0), "SW");
    cr_expect_str_eq(bench_kinds(b, 1), "SW");
}
