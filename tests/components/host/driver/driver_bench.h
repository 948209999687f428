/* A driver between a program, which is the test, and GPUs, which are servers of the harness: they
 * log every command and answer it after a fixed time, on a memory that is an array. */
#ifndef HEDDLE_TESTS_COMPONENTS_HOST_DRIVER_DRIVER_BENCH_H
#define HEDDLE_TESTS_COMPONENTS_HOST_DRIVER_DRIVER_BENCH_H

#include "driver.gen.h"

#include "components/host/driver/driver_api.h"
#include "tests/components/harness.h"

enum {
    BENCH_GPUS = 2,
    BENCH_PAGE = 4096,
    BENCH_MEMORY = 4 << 20, /* bytes of a GPU */
    BENCH_LATENCY = 20,     /* cycles of a GPU for any command */
    BENCH_SEEN = 512
};

struct bench {
    uint32_t driver;
    uint32_t gpu[BENCH_GPUS];
    uint32_t host; /* memory of the host: bench_start_with_host() */
    const struct driver_api *api;
};

/* The memories of the GPUs and of the host one after the other: indexed by physical address. */
extern uint8_t bench_memory[(BENCH_GPUS + 1) * BENCH_MEMORY];

/* As driver.heddle says. */
struct driver_params bench_params(void);
/* `copy` and `streams`: the parts in the driver's slots. */
struct bench bench_start(struct driver_params params, const char *copy, const char *streams);
/* With memory of the host behind the GPUs. */
struct bench bench_start_with_host(void);
const struct driver_stats *bench_stats(struct bench b);

/* A command as a GPU has seen it. */
struct bench_command {
    uint64_t cycle;
    uint8_t kind;     /* enum command_request_kind */
    uint64_t address; /* physical; of launches: the packet's, virtual */
    uint64_t size;
    uint64_t source; /* copies */
    uint32_t pid;    /* launches and shoot-downs */
    const uint8_t *payload;
};

uint32_t bench_count(struct bench b, uint32_t gpu);
struct bench_command bench_seen(struct bench b, uint32_t gpu, uint32_t i);
/* How many of this kind. */
uint32_t bench_count_kind(struct bench b, uint32_t gpu, uint8_t kind);
/* The kinds that the GPU has seen, a letter each: Launch, Write, Read, Fill, Copy, (f)X flush,
 * Shoot-down. */
const char *bench_kinds(struct bench b, uint32_t gpu);

/* What must succeed. */
uint64_t bench_allocate(struct bench b, uint32_t device, uint64_t bytes);
uint64_t bench_physical(struct bench b, uint64_t address);
void bench_wait(struct bench b, uint64_t ticket);
uint64_t bench_cycle_of(struct bench b, uint64_t ticket);
/* A kernel whose code lies at `entry`; `arguments` bytes at `kernarg`. */
struct driver_launch bench_kernel(uint64_t entry, const void *kernarg, uint32_t arguments);

#endif
