/* Order and limits: queues, tickets, stream rules, and how much is under way at a time. */
#include "command.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "driver_bench.h"

static struct bench b;
static uint8_t bytes[16384];

static void start(void)
{
    b = bench_start(bench_params(), "dma_copy", "hip");
}

static uint32_t new_queue(uint32_t device)
{
    uint32_t queue = 0;
    cr_assert_eq(b.api->queue_create(device, 0, &queue), DRIVER_OK);
    return queue;
}

static uint64_t write_bytes(uint32_t queue, uint64_t at, uint64_t size)
{
    uint64_t ticket = 0;
    cr_assert_eq(b.api->write(queue, at, bytes, size, &ticket), DRIVER_OK, "%s",
                 b.api->error_text());
    return ticket;
}

static uint64_t mark(uint32_t queue)
{
    uint64_t ticket = 0;
    cr_assert_eq(b.api->mark(queue, true, &ticket), DRIVER_OK);
    return ticket;
}

Test(driver_queues, a_command_begins_when_the_one_before_it_is_done, .init = start)
{
    uint64_t at = bench_allocate(b, 0, 1024);
    write_bytes(0, at, 512);
    bench_wait(b, write_bytes(0, at + 512, 512));
    cr_assert_eq(bench_count(b, 0), 4);
    cr_expect_leq(bench_seen(b, 0, 1).cycle, bench_seen(b, 0, 0).cycle + 1, "one stream of bytes");
    cr_expect_gt(bench_seen(b, 0, 2).cycle, bench_seen(b, 0, 1).cycle + BENCH_LATENCY);
}

Test(driver_queues, queues_take_turns_message_by_message, .init = start)
{
    uint64_t first = bench_allocate(b, 0, BENCH_PAGE), second = bench_allocate(b, 0, BENCH_PAGE);
    uint32_t queue = new_queue(0);
    uint64_t ticket = write_bytes(0, first, 1024);
    bench_wait(b, write_bytes(queue, second, 1024));
    bench_wait(b, ticket);
    for (uint32_t i = 0; i < 8; i++)
        cr_expect_eq(bench_seen(b, 0, i).address & ~(uint64_t)(BENCH_PAGE - 1),
                     bench_physical(b, i % 2 ? second : first), "message %u", i);
}

Test(driver_queues, a_mark_bears_the_time_of_what_is_before_it, .init = start)
{
    uint64_t at = bench_allocate(b, 0, 256);
    uint64_t before = mark(0), write = write_bytes(0, at, 256), after = mark(0);
    bench_wait(b, after);
    cr_expect_lt(bench_cycle_of(b, before), bench_cycle_of(b, write));
    cr_expect_geq(bench_cycle_of(b, write), bench_seen(b, 0, 0).cycle + BENCH_LATENCY);
    cr_expect_leq(bench_cycle_of(b, after) - bench_cycle_of(b, write), 1);
}

Test(driver_queues, work_behind_wait_for_begins_when_the_ticket_is_done, .init = start)
{
    uint64_t at = bench_allocate(b, 0, 512), far = bench_allocate(b, 1, 256);
    uint64_t awaited = write_bytes(0, at, 512);
    cr_assert_eq(b.api->wait_for(1, awaited), DRIVER_OK);
    bench_wait(b, write_bytes(1, far, 256));
    cr_expect_gt(bench_seen(b, 1, 0).cycle, bench_seen(b, 0, 1).cycle + BENCH_LATENCY);
    cr_expect_eq(b.api->wait_for(1, 1000), DRIVER_INVALID_VALUE, "no such command");
}

Test(driver_queues, no_more_messages_are_under_way_than_in_flight_says)
{
    struct driver_params params = bench_params();
    params.in_flight = 3;
    b = bench_start(params, "dma_copy", "hip");
    uint64_t at = bench_allocate(b, 0, sizeof bytes);
    bench_wait(b, write_bytes(0, at, 16 * 256));
    cr_assert_eq(bench_count(b, 0), 16);
    for (uint32_t i = 3; i < 16; i++)
        cr_expect_geq(bench_seen(b, 0, i).cycle, bench_seen(b, 0, i - 3).cycle + BENCH_LATENCY,
                      "message %u", i);
    cr_expect_leq(bench_seen(b, 0, 2).cycle, bench_seen(b, 0, 0).cycle + 2);
}

Test(driver_queues, a_call_waits_for_room_among_the_commands)
{
    struct driver_params params = bench_params();
    params.commands = 2;
    b = bench_start(params, "dma_copy", "hip");
    uint64_t at = bench_allocate(b, 0, 256), first = write_bytes(0, at, 256), time = b.api->now();
    write_bytes(0, at, 256);
    cr_expect_eq(b.api->now(), time, "enqueueing takes no time");
    uint64_t third = write_bytes(0, at, 256);
    cr_expect_gt(b.api->now(), time, "one had to end");
    cr_expect_eq(b.api->query(first), DRIVER_OK);
    bench_wait(b, third);
}

Test(driver_queues, each_call_costs_the_host_its_time)
{
    struct driver_params params = bench_params();
    params.api_cost = 500;
    b = bench_start(params, "dma_copy", "hip");
    uint64_t at = bench_allocate(b, 0, 256), far = bench_allocate(b, 1, 256);
    uint64_t first = write_bytes(0, at, 256);
    bench_wait(b, write_bytes(1, far, 256));
    bench_wait(b, first);
    cr_expect_geq(bench_seen(b, 1, 0).cycle, bench_seen(b, 0, 0).cycle + 500);
}

Test(driver_queues, asking_lets_time_pass, .init = start)
{
    uint64_t at = bench_allocate(b, 0, sizeof bytes);
    uint64_t ticket = write_bytes(0, at, sizeof bytes), time = b.api->now();
    enum driver_status status = b.api->query(ticket);
    while (status == DRIVER_NOT_READY)
        status = b.api->query(ticket);
    cr_expect_eq(status, DRIVER_OK);
    cr_expect_gt(b.api->now(), time);
    time = b.api->now();
    cr_expect_eq(b.api->query(ticket), DRIVER_OK);
    cr_expect_eq(b.api->now(), time, "of what is done it takes none");
}

Test(driver_queues, the_last_ticket_of_a_queue_is_forgotten_when_it_is_done, .init = start)
{
    uint64_t at = bench_allocate(b, 0, 256), last = 99;
    cr_assert_eq(b.api->last(0, &last), DRIVER_OK);
    cr_expect_eq(last, 0);
    uint64_t ticket = write_bytes(0, at, 256);
    cr_assert_eq(b.api->last(0, &last), DRIVER_OK);
    cr_expect_eq(last, ticket);
    bench_wait(b, ticket);
    cr_assert_eq(b.api->last(0, &last), DRIVER_OK);
    cr_expect_eq(last, 0);
}

Test(driver_queues, a_queue_of_a_device_stays_and_others_end, .init = start)
{
    uint32_t queue = new_queue(0);
    cr_expect_eq(b.api->queue_destroy(0), DRIVER_INVALID_VALUE);
    write_bytes(queue, bench_allocate(b, 0, 256), 256);
    cr_expect_eq(b.api->queue_destroy(queue), DRIVER_OK);
    cr_expect_eq(bench_count(b, 0), 1, "its work is done first");
    cr_expect_eq(b.api->mark(queue, true, NULL), DRIVER_INVALID_VALUE);
}

Test(driver_queues, a_release_waits_for_queued_work, .init = start)
{
    uint64_t at = bench_allocate(b, 0, 256), ticket = write_bytes(0, at, 256);
    cr_assert_eq(b.api->release(at), DRIVER_OK);
    cr_expect_eq(bench_count(b, 0), 1);
    cr_expect_eq(b.api->query(ticket), DRIVER_OK);
    cr_expect_eq(b.api->release(at), DRIVER_INVALID_ADDRESS);
    cr_expect_eq(b.api->write(0, at, bytes, 4, NULL), DRIVER_INVALID_ADDRESS);
}

/* ---- stream rules ---- */

Test(driver_queues, hip_takes_every_call, .init = start)
{
    uint64_t blocker = 0;
    write_bytes(0, bench_allocate(b, 0, 256), 256);
    cr_expect_eq(b.api->call_begin(0, DRIVER_STREAM_COPY, true, &blocker), DRIVER_OK);
    cr_expect_eq(b.api->call_end(0, 0), DRIVER_OK);
    cr_expect(b.api->stream_flags() & DRIVER_STREAMS_FRONT_END);
}

Test(driver_queues, balar_keeps_the_default_stream_until_nothing_is_pending)
{
    b = bench_start(bench_params(), "dma_copy", "balar");
    uint32_t queue = new_queue(0);
    uint64_t at = bench_allocate(b, 0, 256), blocker = 0;
    cr_assert_eq(b.api->call_begin(queue, DRIVER_STREAM_COPY_ASYNC, false, &blocker), DRIVER_OK);
    uint64_t ticket = write_bytes(queue, at, 256);
    cr_assert_eq(b.api->call_end(queue, ticket), DRIVER_OK);
    cr_expect_eq(b.api->call_begin(0, DRIVER_STREAM_COPY, true, &blocker), DRIVER_NOT_READY);
    cr_expect_eq(blocker, ticket);
    bench_wait(b, ticket);
    cr_expect_eq(b.api->call_begin(0, DRIVER_STREAM_COPY, true, &blocker), DRIVER_OK);
}

Test(driver_queues, only_two_gpus_that_exist_are_peers, .init = start)
{
    cr_expect_eq(b.api->set_peer(0, 9, true), DRIVER_INVALID_DEVICE);
    cr_expect_str_eq(b.api->error_text(), "there is no GPU 9; the platform has 2");
    cr_expect_eq(b.api->set_peer(9, 0, true), DRIVER_INVALID_DEVICE);
    cr_expect_str_eq(b.api->error_text(), "there is no GPU 9; the platform has 2");
    cr_expect_eq(b.api->set_peer(1, 1, true), DRIVER_INVALID_DEVICE);
    cr_expect_str_eq(b.api->error_text(), "GPU 1 cannot be its own peer");
}

/* ---- memory of the host ---- */

static void start_with_host(void)
{
    b = bench_start_with_host();
}

Test(driver_queues, a_program_cannot_name_memory_of_the_host, .init = start_with_host)
{
    const uint32_t host = BENCH_GPUS;
    struct driver_device_info info;
    uint32_t made = 0;
    uint64_t ticket, value, at = 0;
    cr_expect_eq(b.api->device_count(), BENCH_GPUS);
    cr_expect_eq(b.api->device_info(host, &info), DRIVER_INVALID_DEVICE);
    cr_expect_str_eq(b.api->error_text(), "there is no device 2; the platform has 2");
    cr_expect_eq(b.api->memory_info(host, &value, &value), DRIVER_INVALID_DEVICE);
    cr_expect_eq(b.api->allocate(host, 64, 0, &at), DRIVER_INVALID_DEVICE);
    cr_expect_eq(b.api->allocate_unified(host, 64, 0, &at), DRIVER_INVALID_DEVICE);
    cr_expect_eq(b.api->register_code(host, "code", 0, bytes, 64), DRIVER_INVALID_DEVICE);
    cr_expect_eq(b.api->context_create(host, 0, &made), DRIVER_INVALID_DEVICE);
    cr_expect_eq(b.api->context_create(0, host, &made), DRIVER_INVALID_DEVICE);
    cr_expect_eq(b.api->queue_create(host, 0, &made), DRIVER_INVALID_DEVICE);
    cr_expect_eq(b.api->queue_destroy(host), DRIVER_INVALID_VALUE);
    cr_expect_str_eq(b.api->error_text(), "there is no queue 2");
    cr_expect_eq(b.api->mark(host, true, &ticket), DRIVER_INVALID_VALUE);
}

Test(driver_queues, what_a_program_makes_follows_the_gpus, .init = start_with_host)
{
    static const uint32_t gpus[] = {0, 1};
    struct driver_page page;
    uint32_t unified = 0, context = 0, queue = new_queue(1);
    uint64_t at = 0;
    cr_assert_eq(b.api->unify(gpus, 2, &unified), DRIVER_OK);
    cr_assert_eq(b.api->context_create(0, 0, &context), DRIVER_OK);
    cr_expect_eq(unified, BENCH_GPUS);
    cr_expect_eq(context, BENCH_GPUS + 1);
    cr_expect_eq(queue, BENCH_GPUS);
    cr_expect_eq(b.api->queue_destroy(queue), DRIVER_OK, "%s", b.api->error_text());
    cr_expect_eq(b.api->context_destroy(context), DRIVER_OK, "%s", b.api->error_text());
    cr_expect_eq(b.api->context_destroy(unified), DRIVER_OK, "%s", b.api->error_text());
    cr_expect_eq(b.api->context_destroy(1), DRIVER_INVALID_VALUE);
    cr_assert_eq(b.api->allocate_unified(0, BENCH_PAGE, 0, &at), DRIVER_OK);
    cr_assert_eq(b.api->page_info(at, &page), DRIVER_OK);
    cr_expect_eq(page.device, DRIVER_HOST_DEVICE, "managed memory begins there");
}
