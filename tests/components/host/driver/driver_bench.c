/* See driver_bench.h. */
#include "driver_bench.h"

#include "command.gen.h"
#include "dma_copy.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/unit.h"

extern const struct unit_type driver__generic;
const void *platform_driver(void);

static const uint64_t window = (uint64_t)0x7e00 << 24;
uint8_t bench_memory[(BENCH_GPUS + 1) * BENCH_MEMORY];

/* ---- a compute unit, so that the driver finds one in the tables ---- */

struct compute_unit {
    struct {
        struct component base;
    } io;
};

static void compute_unit_init(struct compute_unit *c)
{
    (void)c;
}

static bool compute_unit_tick(struct compute_unit *c)
{
    (void)c;
    return false;
}

static unsigned compute_unit_outstanding(const struct compute_unit *c, struct hang_report *report)
{
    (void)c, (void)report;
    return 0;
}

UNIT_DEFINE_WALK(compute_unit)

static const struct unit_type compute_unit_unit = {
    .name = "compute_unit",
    .source = "driver_bench.c",
    .instance_bytes = sizeof(struct compute_unit),
    .io_words_offset = sizeof(struct component),
    .init = compute_unit_init_one,
    .tick = compute_unit_tick_one,
    .walk = compute_unit_walk,
    .outstanding = compute_unit_outstanding_one,
};
static const struct build_type compute_unit_type = {.unit = &compute_unit_unit};

/* ---- GPUs ---- */

static const struct command_request *request_of(const struct harness_message *m,
                                                struct message *header)
{
    memset(header, 0, sizeof *header);
    memcpy(header->fields, m->fields, sizeof header->fields);
    return (const struct command_request *)(const void *)header;
}

static void answer(const struct harness_message *m, struct harness_message *reply)
{
    struct message header;
    const struct command_request *r = request_of(m, &header);
    reply->kind = m->kind == COMMAND_READ ? COMMAND_DATA : COMMAND_DONE;
    switch (m->kind) {
    case COMMAND_WRITE:
        memcpy(bench_memory + r->write.address, m->payload, r->write.size);
        break;
    case COMMAND_READ:
        memcpy(reply->payload, bench_memory + r->read.address, r->read.size);
        break;
    case COMMAND_FILL:
        for (uint32_t i = 0; i < r->fill.size; i += 4) {
            uint32_t pattern = r->fill.pattern;
            memcpy(bench_memory + r->fill.address + i, &pattern, 4);
        }
        break;
    case COMMAND_COPY:
        memcpy(bench_memory + r->copy.destination, bench_memory + r->copy.source, r->copy.size);
        break;
    default:
        break;
    }
}

uint32_t bench_count(struct bench b, uint32_t gpu)
{
    return harness_count(b.gpu[gpu]);
}

struct bench_command bench_seen(struct bench b, uint32_t gpu, uint32_t i)
{
    struct message header;
    const struct harness_message *m = harness_log(b.gpu[gpu], i);
    const struct command_request *r = request_of(m, &header);
    struct bench_command c = {.cycle = m->cycle, .kind = m->kind, .payload = m->payload};
    cr_assert_lt(i, bench_count(b, gpu));
    switch (m->kind) {
    case COMMAND_LAUNCH:
        c.address = r->launch.packet_address;
        c.pid = r->launch.pid;
        break;
    case COMMAND_COPY:
        c.address = r->copy.destination;
        c.source = r->copy.source;
        c.size = r->copy.size;
        break;
    case COMMAND_SHOOTDOWN:
        c.address = r->shootdown.address;
        c.size = r->shootdown.size;
        c.pid = r->shootdown.pid;
        break;
    case COMMAND_FLUSH:
    case COMMAND_FENCE:
        break;
    default: /* they begin alike */
        c.address = r->write.address;
        c.size = r->write.size;
    }
    return c;
}

uint32_t bench_count_kind(struct bench b, uint32_t gpu, uint8_t kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < bench_count(b, gpu); i++)
        count += harness_log(b.gpu[gpu], i)->kind == kind;
    return count;
}

const char *bench_kinds(struct bench b, uint32_t gpu)
{
    static char text[BENCH_GPUS][BENCH_SEEN];
    static const char letters[] = {
        [COMMAND_LAUNCH] = 'L', [COMMAND_WRITE] = 'W', [COMMAND_READ] = 'R',
        [COMMAND_FILL] = 'F',   [COMMAND_COPY] = 'C',  [COMMAND_ATOMIC] = 'A',
        [COMMAND_FENCE] = 'N',  [COMMAND_FLUSH] = 'X', [COMMAND_SHOOTDOWN] = 'S',
        [COMMAND_PAUSE] = 'P',  [COMMAND_RESUME] = 'G'};
    uint32_t count = bench_count(b, gpu);
    for (uint32_t i = 0; i < count && i < BENCH_SEEN - 1; i++)
        text[gpu][i] = letters[harness_log(b.gpu[gpu], i)->kind];
    text[gpu][count < BENCH_SEEN ? count : BENCH_SEEN - 1] = '\0';
    return text[gpu];
}

/* ---- the driver ---- */

struct driver_params bench_params(void)
{
    return (struct driver_params){.page_size = BENCH_PAGE,
                                  .fragment = BENCH_PAGE,
                                  .poll_cost = 1000,
                                  .commands = 65536,
                                  .staged_rate = 4000000000,
                                  .staged_read_rate = 4000000000,
                                  .staging = DRIVER_STAGING_TOGETHER,
                                  .launch_by = DRIVER_LAUNCH_BY_COMMAND,
                                  .queue_packets = 64,
                                  .in_flight = 32,
                                  .migration_interval = 2000,
                                  .copy_interval = 10000};
}

static struct bench start(struct driver_params params, const char *copy, const char *streams,
                          const char *eviction)
{
    enum { GPU, TOUCH, MOVE, QUEUES, DOORBELL, INTERRUPT, CALLS, HOST, PORTS };
    static const struct build_port ports[PORTS] = {
        [GPU] = {"gpu", BUILD_OUT, true},           [TOUCH] = {"touch", BUILD_IN, true},
        [MOVE] = {"move", BUILD_OUT, true},         [QUEUES] = {"queues", BUILD_OUT, true},
        [DOORBELL] = {"doorbell", BUILD_OUT, true}, [INTERRUPT] = {"interrupt", BUILD_IN, true},
        [CALLS] = {"calls", BUILD_IN, true},        [HOST] = {"host", BUILD_OUT, false}};
    enum { OWN = sizeof params / sizeof(int64_t), MESSAGE_BYTES = 256 };
    static const uint32_t places[] = {OWN, 0, OWN + 1, 0, 0, 0};
    /* No prefetch and call path. */
    const char *const parts[] = {copy, streams, eviction, NULL, "consecutive", NULL};
    const struct build_type type = {.unit = &driver__generic,
                                    .ports = ports,
                                    .port_count = PORTS,
                                    .parts = parts,
                                    .part_count = 6,
                                    .part_params = places,
                                    .store_count = 2};
    int64_t values[OWN + 2];
    uint32_t memories = eviction ? BENCH_GPUS + 1 : BENCH_GPUS;
    struct bench b = {0};
    memcpy(values, &params, sizeof params);
    values[OWN] = MESSAGE_BYTES;  /* of dma_copy */
    values[OWN + 1] = BENCH_PAGE; /* blocks that are evicted */
    memset(bench_memory, 0, sizeof bench_memory);
    harness_start();
    b.driver = build_instance(&type, 0, "driver", values, NULL, OWN + 2);
    build_instance(&compute_unit_type, 0, "compute_unit", NULL, NULL, 0);
    for (uint32_t i = 0; i < BENCH_GPUS; i++)
        b.gpu[i] = harness_server(BENCH_LATENCY, answer);
    if (eviction)
        b.host = harness_dma_engine(BENCH_LATENCY, answer);
    for (uint32_t i = 0; i < memories; i++) {
        build_map(build_space("memory", (uint64_t)i * BENCH_MEMORY, BENCH_MEMORY, BENCH_PAGE, 1));
        harness_wire(HARNESS_COMMAND, (struct build_end){b.driver, GPU, i},
                     (struct build_end){i < BENCH_GPUS ? b.gpu[i] : b.host, 0, 0}, 16, 1, 1);
    }
    harness_build();
    b.api = platform_driver();
    cr_assert_not_null(b.api);
    cr_assert_eq(b.api->set_window(window, (uint64_t)1 << 30), DRIVER_OK);
    return b;
}

struct bench bench_start(struct driver_params params, const char *copy, const char *streams)
{
    return start(params, copy, streams, NULL);
}

struct bench bench_start_with_host(void)
{
    return start(bench_params(), "dma_copy", "hip", "lru_eviction");
}

const struct driver_stats *bench_stats(struct bench b)
{
    return &((const struct driver_io *)harness_instance(b.driver))->stats;
}

uint64_t bench_allocate(struct bench b, uint32_t device, uint64_t bytes)
{
    uint64_t address = 0;
    cr_assert_eq(b.api->allocate(device, bytes, 0, &address), DRIVER_OK, "%s", b.api->error_text());
    return address;
}

uint64_t bench_physical(struct bench b, uint64_t address)
{
    struct driver_page page;
    cr_assert_eq(b.api->page_info(address, &page), DRIVER_OK, "%s", b.api->error_text());
    return page.physical + address % BENCH_PAGE;
}

void bench_wait(struct bench b, uint64_t ticket)
{
    cr_assert_eq(b.api->wait(ticket), DRIVER_OK, "%s", b.api->error_text());
}

uint64_t bench_cycle_of(struct bench b, uint64_t ticket)
{
    uint64_t ps = 0;
    cr_assert_eq(b.api->time_of(ticket, &ps), DRIVER_OK, "%s", b.api->error_text());
    return ps / 1000;
}

struct driver_launch bench_kernel(uint64_t entry, const void *kernarg, uint32_t arguments)
{
    return (struct driver_launch){.name = "kernel",
                                  .symbol = "kernel",
                                  .entry = entry,
                                  .grid = {256, 1, 1},
                                  .block = {64, 1, 1},
                                  .kernarg = kernarg,
                                  .kernarg_bytes = arguments,
                                  .kernarg_align = 8};
}
