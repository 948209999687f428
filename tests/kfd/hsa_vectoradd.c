/* An HSA program against the distribution's ROCr: a kernel of a code object, dispatched twice by
 * packets that it writes itself. `hsa_vectoradd FILE SYMBOL` prints PASS, the name of the GPU and
 * the kernel's time. The kernel adds two arrays of int: (a, b, sum, count). */
#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 1024

static void check(hsa_status_t status, const char *call)
{
    const char *text = "?";
    if (status == HSA_STATUS_SUCCESS)
        return;
    hsa_status_string(status, &text);
    printf("FAIL %s: %s\n", call, text);
    exit(1);
}
#define CHECK(call) check(call, #call)

static hsa_agent_t gpu, cpu;
static hsa_amd_memory_pool_t device_memory, host_memory;

static hsa_status_t take_agent(hsa_agent_t agent, void *unused)
{
    hsa_device_type_t type;
    (void)unused;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_GPU && !gpu.handle)
        gpu = agent;
    if (type == HSA_DEVICE_TYPE_CPU)
        cpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *chosen)
{
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (chosen == &device_memory || flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
        memcpy(chosen, &pool, sizeof pool);
    return HSA_STATUS_SUCCESS;
}

static void *allocate(hsa_amd_memory_pool_t pool, size_t bytes)
{
    void *memory = NULL;
    CHECK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
    CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, memory));
    return memory;
}

static hsa_executable_symbol_t load(const char *path, const char *name)
{
    hsa_code_object_reader_t reader;
    hsa_executable_t code;
    hsa_executable_symbol_t symbol;
    CHECK(hsa_code_object_reader_create_from_file(open(path, O_RDONLY), &reader));
    CHECK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                    &code));
    CHECK(hsa_executable_load_agent_code_object(code, gpu, reader, NULL, NULL));
    CHECK(hsa_executable_freeze(code, NULL));
    CHECK(hsa_executable_get_symbol_by_name(code, name, &gpu, &symbol));
    return symbol;
}

/* Writes a dispatch packet and rings; both scopes are the system. */
static void dispatch(hsa_queue_t *queue, hsa_executable_symbol_t symbol, void *arguments,
                     hsa_signal_t done)
{
    uint64_t number = hsa_queue_add_write_index_relaxed(queue, 1);
    hsa_kernel_dispatch_packet_t *p =
        (hsa_kernel_dispatch_packet_t *)queue->base_address + number % queue->size;
    memset((char *)p + 4, 0, sizeof *p - 4);
    p->workgroup_size_x = 64;
    p->workgroup_size_y = p->workgroup_size_z = p->grid_size_y = p->grid_size_z = 1;
    p->grid_size_x = ITEMS;
    p->kernarg_address = arguments;
    p->completion_signal = done;
    CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                         &p->kernel_object));
    uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER
                      | HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE
                      | HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    __atomic_store_n((uint32_t *)(void *)p, header | 1 << 16, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)number);
}

int main(int count, char **words)
{
    hsa_queue_t *queue;
    hsa_signal_t done;
    char name[64];
    if (count != 3)
        return 2;
    CHECK(hsa_init());
    CHECK(hsa_iterate_agents(take_agent, NULL));
    CHECK(hsa_amd_agent_iterate_memory_pools(gpu, take_pool, &device_memory));
    CHECK(hsa_amd_agent_iterate_memory_pools(cpu, take_pool, &host_memory));
    CHECK(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
    CHECK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &queue));
    CHECK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    hsa_executable_symbol_t symbol = load(words[1], words[2]);
    int *a = allocate(host_memory, ITEMS * sizeof *a),
        *b = allocate(host_memory, ITEMS * sizeof *b);
    int *sum = allocate(device_memory, ITEMS * sizeof *sum), *back = a;
    char *arguments = allocate(host_memory, 4096);
    const int items = ITEMS;
    hsa_amd_profiling_dispatch_time_t time;
    CHECK(hsa_signal_create(1, 0, NULL, &done));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < ITEMS; i++) {
            a[i] = i;
            b[i] = round + 2 * i;
        }
        memcpy(arguments, &a, 8);
        memcpy(arguments + 8, &b, 8);
        memcpy(arguments + 16, &sum, 8);
        memcpy(arguments + 24, &items, 4);
        hsa_signal_store_relaxed(done, 1);
        dispatch(queue, symbol, arguments, done);
        while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                         HSA_WAIT_STATE_BLOCKED)
               > 0)
            ;
        CHECK(hsa_amd_profiling_get_dispatch_time(gpu, done, &time));
        CHECK(hsa_memory_copy(back, sum, ITEMS * sizeof *back));
        for (int i = 0; i < ITEMS; i++) {
            if (back[i] != round + 3 * i) {
                printf("FAIL round %d, item %d: %d\n", round, i, back[i]);
                return 1;
            }
        }
    }
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_shut_down());
    printf("PASS hsa_vectoradd on %s, %" PRIu64 " ns\n", name, time.end - time.start);
    return 0;
}
