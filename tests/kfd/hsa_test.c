/* See hsa_test.h. */
#include "hsa_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hsa_agent_t gpus[GPUS_MAX];
int gpu_count;
static hsa_agent_t cpu;

enum {
    FENCES = 1 << HSA_PACKET_HEADER_BARRIER
             | HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE
             | HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE
};

void check(hsa_status_t status, const char *call)
{
    const char *text = "?";
    if (status == HSA_STATUS_SUCCESS)
        return;
    hsa_status_string(status, &text);
    printf("FAIL %s: %s\n", call, text);
    exit(1);
}

static hsa_status_t take_agent(hsa_agent_t agent, void *unused)
{
    hsa_device_type_t type;
    (void)unused;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_GPU && gpu_count < GPUS_MAX)
        gpus[gpu_count++] = agent;
    if (type == HSA_DEVICE_TYPE_CPU)
        cpu = agent;
    return HSA_STATUS_SUCCESS;
}

void open_agents(void)
{
    CHECK(hsa_init());
    CHECK(hsa_iterate_agents(take_agent, NULL));
}

/* Takes the last pool of global memory; of the host's, one for arguments of kernels. */
static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *chosen)
{
    hsa_amd_segment_t segment;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment == HSA_AMD_SEGMENT_GLOBAL)
        memcpy(chosen, &pool, sizeof pool);
    return HSA_STATUS_SUCCESS;
}

static void *allocate(hsa_agent_t agent, size_t bytes)
{
    hsa_amd_memory_pool_t pool = {0};
    void *memory = NULL;
    CHECK(hsa_amd_agent_iterate_memory_pools(agent, take_pool, &pool));
    CHECK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
    CHECK(hsa_amd_agents_allow_access((uint32_t)gpu_count, gpus, NULL, memory));
    return memory;
}

void *host_memory(size_t bytes)
{
    return allocate(cpu, bytes);
}

void *gpu_memory(int gpu, size_t bytes)
{
    return allocate(gpus[gpu], bytes);
}

hsa_agent_t host_agent(void)
{
    return cpu;
}

static hsa_status_t take_region(hsa_region_t region, void *chosen)
{
    memcpy(chosen, &region, sizeof region);
    return HSA_STATUS_SUCCESS;
}

hsa_region_t host_region(void)
{
    hsa_region_t region = {0};
    CHECK(hsa_agent_iterate_regions(cpu, take_region, &region));
    return region;
}

uint64_t load_kernel(int gpu, const char *path, const char *name)
{
    hsa_code_object_reader_t reader;
    hsa_executable_t code;
    hsa_executable_symbol_t symbol;
    uint64_t object = 0;
    CHECK(hsa_code_object_reader_create_from_file(open(path, O_RDONLY), &reader));
    CHECK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                    &code));
    CHECK(hsa_executable_load_agent_code_object(code, gpus[gpu], reader, NULL, NULL));
    CHECK(hsa_executable_freeze(code, NULL));
    CHECK(hsa_executable_get_symbol_by_name(code, name, &gpus[gpu], &symbol));
    CHECK(
        hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
    return object;
}

hsa_signal_t new_signal(hsa_signal_value_t value)
{
    hsa_signal_t signal;
    CHECK(hsa_signal_create(value, 0, NULL, &signal));
    return signal;
}

void wait_below(hsa_signal_t signal, hsa_signal_value_t value)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, value, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED)
           >= value)
        ;
}

void send_packet(hsa_queue_t *queue, const void *packet)
{
    uint64_t number = hsa_queue_add_write_index_relaxed(queue, 1);
    char *slot = (char *)queue->base_address + number % queue->size * 64;
    uint32_t first;
    memcpy(&first, packet, sizeof first);
    memcpy(slot + 4, (const char *)packet + 4, 60);
    __atomic_store_n((uint32_t *)(void *)slot, first, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)number);
}

void send_kernel(hsa_queue_t *queue, uint64_t kernel, void *arguments, uint32_t items,
                 hsa_signal_t done)
{
    const hsa_kernel_dispatch_packet_t packet = {.header = HSA_PACKET_TYPE_KERNEL_DISPATCH | FENCES,
                                                 .setup = 1,
                                                 .workgroup_size_x = 64,
                                                 .workgroup_size_y = 1,
                                                 .workgroup_size_z = 1,
                                                 .grid_size_x = items,
                                                 .grid_size_y = 1,
                                                 .grid_size_z = 1,
                                                 .kernel_object = kernel,
                                                 .kernarg_address = arguments,
                                                 .completion_signal = done};
    send_packet(queue, &packet);
}

void send_barrier(hsa_queue_t *queue, hsa_packet_type_t type, hsa_signal_t first,
                  hsa_signal_t second, hsa_signal_t done)
{
    const hsa_barrier_and_packet_t packet = {.header = (uint16_t)(type | FENCES),
                                             .dep_signal = {first, second},
                                             .completion_signal = done};
    send_packet(queue, &packet);
}

void *make_arguments(const void *a, const void *b, void *sum, int items)
{
    char *arguments = host_memory(4096);
    memcpy(arguments, &a, 8);
    memcpy(arguments + 8, &b, 8);
    memcpy(arguments + 16, &sum, 8);
    memcpy(arguments + 24, &items, 4);
    return arguments;
}
