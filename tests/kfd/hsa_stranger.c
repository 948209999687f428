/* Programs against the distribution's ROCr as users write them, by its documentation: signals,
 * packets, queues, copies, memory, agents. `hsa_stranger CASE FILE SYMBOL`; the kernel adds two
 * arrays of int. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hsa_test.h"

enum { ITEMS = 1024, BYTES = ITEMS * 4 };

static const char *file, *symbol;
static const hsa_signal_t none = {0};

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAIL hsa_stranger: line %d: %s\n", __LINE__, #condition);                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static hsa_queue_t *new_queue(int gpu, uint32_t packets)
{
    hsa_queue_t *queue;
    CHECK(hsa_queue_create(gpus[gpu], packets, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
                           UINT32_MAX, &queue));
    return queue;
}

static int *numbers(int step)
{
    int *made = host_memory(BYTES);
    for (int i = 0; i < ITEMS; i++)
        made[i] = step * i;
    return made;
}

static bool holds(const int *sum, int step)
{
    for (int i = 0; i < ITEMS; i++)
        if (sum[i] != step * i)
            return false;
    return true;
}

/* ---- signals ---- */

/* Each operation of a signal, and each condition of a wait, by the program alone. */
static void run_signals(void)
{
    hsa_signal_t s = new_signal(5);
    hsa_signal_add_relaxed(s, 10);
    hsa_signal_subtract_screlease(s, 3);
    EXPECT(hsa_signal_load_relaxed(s) == 12);
    hsa_signal_and_scacq_screl(s, 8);
    hsa_signal_or_scacquire(s, 3);
    hsa_signal_xor_relaxed(s, 1);
    EXPECT(hsa_signal_load_scacquire(s) == 10);
    EXPECT(hsa_signal_exchange_scacq_screl(s, 7) == 10 && hsa_signal_cas_relaxed(s, 8, 1) == 7);
    EXPECT(hsa_signal_cas_scacq_screl(s, 7, -2) == 7);
    uint64_t end = UINT64_MAX, soon = 100000;
    hsa_wait_state_t how = HSA_WAIT_STATE_BLOCKED;
    EXPECT(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, -2, end, how) == -2);
    EXPECT(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_NE, 0, end, how) == -2);
    EXPECT(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_LT, -1, end, how) == -2);
    EXPECT(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_GTE, -2, end, how) == -2);
    EXPECT(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_GTE, 3, soon, how) == -2);
    EXPECT(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_EQ, 3, soon, HSA_WAIT_STATE_ACTIVE)
           == -2);
    CHECK(hsa_signal_destroy(s));
}

/* A kernel changes one of several signals. One has no event, so the runtime looks at memory. */
static void run_any(void)
{
    hsa_signal_t s[3] = {none, new_signal(1), new_signal(1)};
    CHECK(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &s[0]));
    hsa_signal_condition_t conditions[3] = {HSA_SIGNAL_CONDITION_LT, HSA_SIGNAL_CONDITION_EQ,
                                            HSA_SIGNAL_CONDITION_LT};
    hsa_signal_value_t compare[3] = {1, 0, -5}, value = 9;
    int *one = numbers(1), *sum = numbers(0);
    send_kernel(new_queue(0, 64), load_kernel(0, file, symbol),
                make_arguments(one, one, sum, ITEMS), ITEMS, s[1]);
    EXPECT(hsa_amd_signal_wait_any(3, s, conditions, compare, UINT64_MAX, HSA_WAIT_STATE_BLOCKED,
                                   &value)
           == 1);
    EXPECT(value == 0 && holds(sum, 2));
}

static int calls;

static bool take_signal(hsa_signal_value_t value, void *gate)
{
    hsa_signal_t *next = gate;
    calls += value < 10;
    if (calls == 3)
        hsa_signal_store_screlease(*next, 0);
    return calls < 3;
}

/* A handler is called as often as its condition becomes true, until it has enough. */
static void run_handler(void)
{
    hsa_queue_t *queue = new_queue(0, 64);
    uint64_t kernel = load_kernel(0, file, symbol);
    hsa_signal_t done = new_signal(10), gate = new_signal(1);
    int *one = numbers(1), *sum = numbers(0);
    CHECK(hsa_amd_signal_async_handler(done, HSA_SIGNAL_CONDITION_LT, 10, take_signal, &gate));
    for (int i = 0; i < 3; i++)
        send_kernel(queue, kernel, make_arguments(one, one, sum, ITEMS), ITEMS, done);
    wait_below(gate, 1);
    EXPECT(calls == 3 && holds(sum, 2));
}

static void *wait_there(void *signal)
{
    wait_below(*(hsa_signal_t *)signal, 1);
    return NULL;
}

/* Threads that have asked for nothing wait for what another one asks for. */
static void run_threads(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    hsa_signal_t done = new_signal(1);
    int *one = numbers(1), *sum = numbers(0);
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&thread[i], NULL, wait_there, &done) == 0);
    send_kernel(new_queue(0, 64), load_kernel(0, file, symbol),
                make_arguments(one, one, sum, ITEMS), ITEMS, done);
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_join(thread[i], NULL) == 0);
    EXPECT(holds(sum, 2));
}

/* More signals than the driver has events. */
static void run_crowd(void)
{
    enum { MANY = 5000 };
    static hsa_signal_t s[MANY];
    hsa_queue_t *queue = new_queue(0, 64);
    for (int i = 0; i < MANY; i++)
        s[i] = new_signal(1);
    send_barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, none, none, s[MANY - 1]);
    send_barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, s[MANY - 1], none, s[0]);
    wait_below(s[0], 1);
    wait_below(s[MANY - 1], 1);
    for (int i = 0; i < MANY; i++)
        CHECK(hsa_signal_destroy(s[i]));
}

/* ---- packets and queues ---- */

static void send_value(hsa_queue_t *queue, hsa_signal_t s, hsa_signal_condition32_t condition,
                       hsa_signal_value_t value, hsa_signal_value_t mask, hsa_signal_t done)
{
    hsa_amd_barrier_value_packet_t packet = {
        .header = {HSA_PACKET_TYPE_VENDOR_SPECIFIC, HSA_AMD_PACKET_TYPE_BARRIER_VALUE, 0},
        .signal = s,
        .value = value,
        .mask = mask,
        .cond = condition,
        .completion_signal = done};
    send_packet(queue, &packet);
}

/* Barriers for values of signals, under masks, in a row. */
static void run_values(void)
{
    hsa_queue_t *queue = new_queue(0, 64);
    hsa_signal_t s = new_signal(0x10), done = new_signal(4), last = new_signal(1);
    send_value(queue, s, HSA_SIGNAL_CONDITION_EQ, 0x21, 0xff, done);
    send_value(queue, s, HSA_SIGNAL_CONDITION_NE, 0, 0xf00, done);
    send_value(queue, s, HSA_SIGNAL_CONDITION_LT, 2, 0x3, done);
    send_value(queue, s, HSA_SIGNAL_CONDITION_GTE, 0x300, 0xf00, last);
    hsa_signal_store_screlease(s, 0x21);
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 4, UINT64_MAX, HSA_WAIT_STATE_ACTIVE);
    EXPECT(hsa_signal_load_relaxed(done) == 3);
    hsa_signal_store_screlease(s, 0x221);
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 2, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    EXPECT(hsa_signal_load_relaxed(last) == 1);
    hsa_signal_store_screlease(s, 0x321);
    wait_below(last, 1);
}

/* A ring that is written round many times, full whenever there is room. */
static void run_ring(void)
{
    enum { PACKETS = 64, ALL = 1000 };
    hsa_queue_t *queue = new_queue(0, PACKETS);
    uint64_t kernel = load_kernel(0, file, symbol);
    hsa_signal_t done = new_signal(ALL);
    int *one = numbers(1), *sum = numbers(0);
    void *arguments = make_arguments(one, sum, sum, 64);
    for (uint64_t i = 0; i < ALL; i++) {
        while (hsa_queue_load_write_index_relaxed(queue)
                   - hsa_queue_load_read_index_scacquire(queue)
               >= PACKETS)
            ;
        send_kernel(queue, kernel, arguments, 64, done);
    }
    wait_below(done, 1);
    EXPECT(hsa_queue_load_read_index_scacquire(queue) == ALL);
    for (int i = 0; i < 64; i++)
        EXPECT(sum[i] == ALL * i);
}

/* A kernel leaves its results in caches, and a fence of another queue ends before the kernel does:
 * the fence behind the kernel is needed all the same. */
static void run_release(void)
{
    enum { MANY = 65536 };
    hsa_queue_t *queue = new_queue(0, 64), *other = new_queue(0, 64);
    hsa_signal_t done = new_signal(1), early = new_signal(1);
    int *numbers = host_memory(MANY * 4), *sum = gpu_memory(0, MANY * 4);
    for (int i = 0; i < MANY; i++)
        numbers[i] = i;
    hsa_kernel_dispatch_packet_t packet = {
        .header = HSA_PACKET_TYPE_KERNEL_DISPATCH
                  | HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE
                  | HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
        .setup = 1,
        .workgroup_size_x = 64,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = MANY,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .kernel_object = load_kernel(0, file, symbol),
        .kernarg_address = make_arguments(numbers, numbers, sum, MANY)};
    send_packet(queue, &packet);
    send_barrier(other, HSA_PACKET_TYPE_BARRIER_AND, none, none, early);
    send_barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, none, none, done);
    wait_below(done, 1);
    EXPECT(hsa_signal_load_relaxed(early) == 0);
    for (int i = 0; i < MANY; i++)
        EXPECT(sum[i] == 2 * i);
}

/* Packets with host code between them that waits for nothing. How far the first has come when
 * the second is there is up to the host. */
static void run_pause(void)
{
    hsa_queue_t *queue = new_queue(0, 64);
    hsa_signal_t done = new_signal(2);
    uint64_t kernel = load_kernel(0, file, symbol);
    int *sum = host_memory(BYTES);
    void *arguments = make_arguments(numbers(1), numbers(2), sum, ITEMS);
    send_kernel(queue, kernel, arguments, ITEMS, done);
    usleep(200000);
    send_kernel(queue, kernel, arguments, ITEMS, done);
    wait_below(done, 1);
    EXPECT(holds(sum, 3));
}

/* More queues than the GPU has places for, of which some work, and one when all have gone. */
static void run_queues(void)
{
    enum { MOST = 40 };
    static hsa_queue_t *queue[MOST];
    int count = 0;
    while (count < MOST
           && hsa_queue_create(gpus[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue[count])
                  == HSA_STATUS_SUCCESS)
        count++;
    EXPECT(count == MOST);
    for (int i = 0; i < count; i += 7) {
        hsa_signal_t done = new_signal(1);
        send_barrier(queue[i], HSA_PACKET_TYPE_BARRIER_OR, none, none, done);
        wait_below(done, 1);
    }
    for (int i = 0; i < count; i++)
        CHECK(hsa_queue_destroy(queue[i]));
    EXPECT(new_queue(0, 64) != NULL);
}

/* What a queue may be told: priority, mask, inactive; a queue of the program's own. */
static void run_settings(void)
{
    hsa_queue_t *queue = new_queue(0, 64), *soft;
    uint32_t all[4] = {~0u, ~0u, ~0u, ~0u}, units = 0, got[4] = {0};
    hsa_signal_t done = new_signal(1), bell = new_signal(0);
    hsa_region_t region = host_region();
    CHECK(hsa_agent_get_info(gpus[0], (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT,
                             &units));
    CHECK(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_HIGH));
    CHECK(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_LOW));
    CHECK(hsa_amd_queue_cu_set_mask(queue, units / 32 * 32, all));
    CHECK(hsa_amd_queue_cu_get_mask(queue, units / 32 * 32, got));
    EXPECT(got[0] == ~0u);
    send_barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, none, none, done);
    wait_below(done, 1);
    CHECK(hsa_queue_inactivate(queue));
    CHECK(hsa_soft_queue_create(region, 64, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_AGENT_DISPATCH,
                                bell, &soft));
    hsa_signal_store_relaxed(done, 1);
    send_barrier(soft, HSA_PACKET_TYPE_AGENT_DISPATCH, none, none, done);
    EXPECT(hsa_signal_load_scacquire(bell) == 0 && hsa_queue_load_write_index_relaxed(soft) == 1);
    CHECK(hsa_queue_destroy(soft));
    CHECK(hsa_queue_destroy(queue));
}

/* Times of a kernel, in ticks of the GPU and of the system. */
static void run_times(void)
{
    hsa_queue_t *queue = new_queue(0, 64);
    hsa_signal_t done = new_signal(1);
    hsa_amd_profiling_dispatch_time_t time = {0};
    uint64_t before, behind, begun, frequency;
    int *one = numbers(1), *sum = numbers(0);
    CHECK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
    CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before));
    send_kernel(queue, load_kernel(0, file, symbol), make_arguments(one, one, sum, ITEMS), ITEMS,
                done);
    wait_below(done, 1);
    CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &behind));
    CHECK(hsa_amd_profiling_get_dispatch_time(gpus[0], done, &time));
    CHECK(hsa_amd_profiling_convert_tick_to_system_domain(gpus[0], time.start, &begun));
    EXPECT(frequency && before <= time.start && time.start <= time.end && time.end <= behind);
    EXPECT(begun >= before && begun <= behind);
}

/* ---- memory ---- */

/* A chain of copies: none begins before its signal, and the first waits for the program. */
static void run_chain(void)
{
    int *from = numbers(3), *to = numbers(0), *near = gpu_memory(0, BYTES),
        *far = gpu_memory(gpu_count - 1, BYTES);
    hsa_signal_t gate = new_signal(1), s[3] = {new_signal(1), new_signal(1), new_signal(1)};
    hsa_agent_t first = gpus[0], last = gpus[gpu_count - 1];
    CHECK(hsa_amd_memory_async_copy(to, host_agent(), far, last, BYTES, 1, &s[1], s[2]));
    CHECK(hsa_amd_memory_async_copy(far, last, near, first, BYTES, 1, &s[0], s[1]));
    CHECK(hsa_amd_memory_async_copy(near, first, from, host_agent(), BYTES, 1, &gate, s[0]));
    EXPECT(
        hsa_signal_wait_scacquire(s[0], HSA_SIGNAL_CONDITION_LT, 1, 1000000, HSA_WAIT_STATE_BLOCKED)
        == 1);
    EXPECT(holds(to, 0));
    hsa_signal_store_screlease(gate, 0);
    wait_below(s[2], 1);
    EXPECT(holds(to, 3) && hsa_signal_load_relaxed(s[0]) == 0);
    CHECK(hsa_amd_memory_fill(near, 7, ITEMS));
    CHECK(hsa_memory_copy(to, near, BYTES));
    EXPECT(to[0] == 7 && to[ITEMS - 1] == 7);
}

/* Memory of malloc(), which a kernel uses while it is locked. */
static void run_locked(void)
{
    int *mine = malloc(3 * BYTES + 64), *there = NULL;
    hsa_signal_t done = new_signal(1);
    hsa_amd_pointer_info_t info = {.size = sizeof info};
    for (int i = 0; i < ITEMS; i++) {
        mine[i + 5] = i;
        mine[i + 5 + ITEMS] = 4 * i;
    }
    CHECK(hsa_amd_memory_lock(mine, 3 * BYTES + 64, gpus, gpu_count, (void **)&there));
    CHECK(hsa_amd_pointer_info(there, &info, NULL, NULL, NULL));
    EXPECT(info.type == HSA_EXT_POINTER_TYPE_LOCKED && info.hostBaseAddress == mine);
    send_kernel(new_queue(0, 64), load_kernel(0, file, symbol),
                make_arguments(there + 5, there + 5 + ITEMS, there + 5 + 2 * ITEMS, ITEMS), ITEMS,
                done);
    wait_below(done, 1);
    EXPECT(holds(mine + 5 + 2 * ITEMS, 5));
    CHECK(hsa_amd_memory_unlock(mine));
    mine[0] = 1;
    EXPECT(holds(mine + 5 + 2 * ITEMS, 5));
    free(mine);
}

static hsa_status_t count_pools(hsa_amd_memory_pool_t pool, void *count)
{
    bool allowed = false;
    size_t size = 0;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                       &allowed));
    void *memory = NULL;
    if (allowed) { /* more than there is, then nothing, then a page */
        EXPECT(hsa_amd_memory_pool_allocate(pool, size + 4096, 0, &memory) != HSA_STATUS_SUCCESS);
        EXPECT(hsa_amd_memory_pool_allocate(pool, 0, 0, &memory) != HSA_STATUS_SUCCESS);
        CHECK(hsa_amd_memory_pool_allocate(pool, 4096, 0, &memory));
        CHECK(hsa_amd_memory_pool_free(memory));
    }
    ++*(int *)count;
    return HSA_STATUS_SUCCESS;
}

/* What agents say of themselves, and their pools at their limits. */
static void run_agents(void)
{
    for (int i = 0; i < gpu_count; i++) {
        char name[64] = "";
        uint32_t lanes = 0, queue_most = 0, node = 0;
        int pools = 0;
        hsa_agent_t g = gpus[i];
        CHECK(hsa_agent_get_info(g, HSA_AGENT_INFO_NAME, name));
        CHECK(hsa_agent_get_info(g, HSA_AGENT_INFO_WAVEFRONT_SIZE, &lanes));
        CHECK(hsa_agent_get_info(g, HSA_AGENT_INFO_QUEUE_MAX_SIZE, &queue_most));
        CHECK(hsa_agent_get_info(g, HSA_AGENT_INFO_NODE, &node));
        EXPECT(!strncmp(name, "gfx", 3) && lanes == 64 && queue_most >= 4096);
        EXPECT(node == (uint32_t)i + 1);
        CHECK(hsa_amd_agent_iterate_memory_pools(g, count_pools, &pools));
        EXPECT(pools >= 2);
        hsa_queue_t *queue;
        EXPECT(hsa_queue_create(g, 2 * queue_most, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue)
               != HSA_STATUS_SUCCESS);
        EXPECT(hsa_queue_create(g, 100, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue)
               != HSA_STATUS_SUCCESS);
    }
}

static hsa_signal_t told;
static uint64_t fault_at;

static hsa_status_t take_fault(const hsa_amd_event_t *event, void *unused)
{
    (void)unused;
    EXPECT(event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT);
    EXPECT(event->memory_fault.agent.handle == gpus[0].handle);
    fault_at = event->memory_fault.virtual_address;
    hsa_signal_store_screlease(told, 0);
    return HSA_STATUS_SUCCESS;
}

/* A program may take faults of its kernels itself. */
static void run_fault(void)
{
    int *one = numbers(1);
    const uint64_t wrong = 0x10000000000;
    told = new_signal(1);
    CHECK(hsa_amd_register_system_event_handler(take_fault, NULL));
    send_kernel(new_queue(0, 64), load_kernel(0, file, symbol),
                make_arguments(one, one, (void *)wrong, ITEMS), ITEMS, new_signal(1));
    wait_below(told, 1);
    printf("fault at 0x%llx\n", (unsigned long long)fault_at);
    EXPECT(fault_at >> 12 == wrong >> 12);
}

/* A child that is made after the start has no GPU, and does no harm to its parent. */
static void run_fork(void)
{
    hsa_queue_t *queue = new_queue(0, 64);
    uint64_t kernel = load_kernel(0, file, symbol);
    hsa_signal_t done = new_signal(1);
    int *one = numbers(1), *sum = numbers(0), status = 0;
    send_kernel(queue, kernel, make_arguments(one, one, sum, ITEMS), ITEMS, done);
    pid_t child = fork();
    if (child == 0) {
        hsa_queue_t *other;
        _exit(hsa_queue_create(gpus[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &other)
              == HSA_STATUS_SUCCESS);
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    wait_below(done, 1);
    EXPECT(holds(sum, 2));
}

/* hsa_shut_down() and hsa_init() again. */
static void run_again(void)
{
    run_any();
    CHECK(hsa_shut_down());
    gpu_count = 0;
    open_agents();
    run_any();
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"signals", run_signals}, {"any", run_any},         {"handler", run_handler},
                 {"threads", run_threads}, {"crowd", run_crowd},     {"values", run_values},
                 {"ring", run_ring},       {"queues", run_queues},   {"settings", run_settings},
                 {"times", run_times},     {"chain", run_chain},     {"locked", run_locked},
                 {"agents", run_agents},   {"fault", run_fault},     {"fork", run_fork},
                 {"again", run_again},     {"release", run_release}, {"pause", run_pause}};
    if (count != 4)
        return 2;
    file = words[2];
    symbol = words[3];
    open_agents();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (!strcmp(cases[i].name, words[1])) {
            cases[i].run();
            printf("PASS hsa_stranger %s\n", words[1]);
            return 0;
        }
    }
    return 2;
}
