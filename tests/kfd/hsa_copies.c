/* Copies by the SDMA engines of a GPU, as the distribution's ROCr asks for them, and a queue whose
 * packets the program writes. `hsa_copies chain | windows | packets | fault`. */
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "hsa_test.h"

enum { BYTES = 300000, PAGE = 4096, GPU_ID = 4096 /* of the first GPU */ };

static hsa_agent_t cpu;

static void fail(const char *what, long value)
{
    printf("FAIL %s: %ld\n", what, value);
    exit(1);
}

static hsa_status_t take_cpu(hsa_agent_t agent, void *unused)
{
    hsa_device_type_t type;
    (void)unused;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU)
        cpu = agent;
    return HSA_STATUS_SUCCESS;
}

static uint8_t *bytes(unsigned step)
{
    uint8_t *made = host_memory(BYTES);
    for (unsigned i = 0; i < BYTES; i++)
        made[i] = (uint8_t)(step * (i + i / 251));
    return made;
}

/* To the GPU, there, and back, each behind the one before; the first when the program says so. */
static void run_chain(void)
{
    uint8_t *from = bytes(1), *to = bytes(0), *one = gpu_memory(0, BYTES),
            *two = gpu_memory(0, BYTES);
    hsa_signal_t gate = new_signal(1), over[3];
    hsa_amd_profiling_async_copy_time_t time[3];
    for (int i = 0; i < 3; i++)
        over[i] = new_signal(1);
    CHECK(hsa_amd_profiling_async_copy_enable(true));
    CHECK(hsa_amd_memory_async_copy(one, gpus[0], from, cpu, BYTES, 1, &gate, over[0]));
    CHECK(hsa_amd_memory_async_copy(two, gpus[0], one, gpus[0], BYTES, 1, &over[0], over[1]));
    CHECK(hsa_amd_memory_async_copy(to, cpu, two, gpus[0], BYTES, 1, &over[1], over[2]));
    if (hsa_signal_load_scacquire(over[0]) != 1)
        fail("a copy did not wait", 0);
    hsa_signal_store_screlease(gate, 0);
    wait_below(over[2], 1);
    if (memcmp(from, to, BYTES) != 0)
        fail("wrong bytes", 1);
    for (int i = 0; i < 3; i++)
        CHECK(hsa_amd_profiling_get_async_copy_time(over[i], &time[i]));
    for (int i = 0; i < 3; i++)
        if (time[i].end < time[i].start || (i && time[i].start < time[i - 1].end))
            fail("a copy has no time of its own", i);
    printf("%ld ns, %ld ns\n", (long)(time[0].end - time[0].start),
           (long)(time[2].end - time[2].start));
}

/* Boxes of bytes between pitched boxes, there and back at another place. */
static void run_windows(void)
{
    static const hsa_dim3_t at = {3, 2, 1}, back = {8, 0, 2},
                            box[] = {{64, 7, 3}, {5, 9, 2}, {1, 1, 1}};
    hsa_pitched_ptr_t from = {bytes(1), 100, 1200}, to = {bytes(0), 72, 72 * 9},
                      there = {gpu_memory(0, BYTES), 128, 2048};
    for (int i = 0; i < 3; i++) {
        hsa_signal_t over[] = {new_signal(1), new_signal(1)};
        uint8_t *target = memset(to.base, 0, BYTES);
        const uint8_t *source = from.base;
        CHECK(hsa_amd_memory_async_copy_rect(&there, &back, &from, &at, &box[i], gpus[0],
                                             hsaHostToDevice, 0, NULL, over[0]));
        CHECK(hsa_amd_memory_async_copy_rect(&to, &back, &there, &back, &box[i], gpus[0],
                                             hsaDeviceToHost, 1, over, over[1]));
        wait_below(over[1], 1);
        for (uint32_t n = 0; n < 9 * 72 * 6; n++) {
            uint32_t x = n % 72 - back.x, y = n / 72 % 9 - back.y, z = n / 72 / 9 - back.z;
            uint8_t expected = 0;
            if (x < box[i].x && y < box[i].y && z < box[i].z)
                expected = source[(z + at.z) * 1200 + (y + at.y) * 100 + x + at.x];
            if (target[n] != expected)
                fail("a wrong byte", n);
        }
    }
}

/* A queue without ROCr: a fence in good order, then a packet that there is not, or another fence
 * for memory that there is not. */
static void run_packets(bool unmapped)
{
    char *ring = host_memory(PAGE), *pointers = host_memory(PAGE), *result = host_memory(PAGE);
    struct kfd_ioctl_create_queue_args queue = {.ring_base_address = (uintptr_t)ring,
                                                .ring_size = PAGE,
                                                .read_pointer_address = (uintptr_t)pointers,
                                                .write_pointer_address = (uintptr_t)pointers + 8,
                                                .gpu_id = GPU_ID,
                                                .queue_type = KFD_IOC_QUEUE_TYPE_SDMA,
                                                .queue_percentage = 100};
    const uint32_t fence[] = {5, (uint32_t)(uintptr_t)result, (uint32_t)((uintptr_t)result >> 32),
                              7};
    int fd = open("/dev/kfd", O_RDWR), more = 0;
    char name[64];
    CHECK(hsa_agent_get_info(gpus[0], HSA_AGENT_INFO_NAME, name));
    bool is_gfx8 = strncmp(name, "gfx8", 4) == 0;
    memset(ring, 0xff, PAGE);
    memcpy(ring, fence, sizeof fence);
    if (unmapped)
        memcpy(ring + sizeof fence, (uint32_t[]){5, 0x12344, 0, 7}, sizeof fence);
    *result = 0;
    if (ioctl(fd, AMDKFD_IOC_CREATE_QUEUE, &queue) != 0)
        fail("no queue", fd);
    for (struct kfd_ioctl_create_queue_args one = queue; more < 100; more++)
        if (ioctl(fd, AMDKFD_IOC_CREATE_QUEUE, &one) != 0)
            break;
    printf("%d queues more\n", more);
    hsa_queue_t *kernels;
    CHECK(hsa_queue_create(gpus[0], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &kernels));
    size_t span = is_gfx8 ? PAGE : 2 * PAGE;
    char *page = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                      (off_t)(queue.doorbell_offset & ~(span - 1)));
    uint32_t *short_bell = (uint32_t *)(void *)page + queue.queue_id;
    uint64_t *bell = (uint64_t *)(void *)(page + queue.doorbell_offset % span);
    if (is_gfx8)
        *short_bell = sizeof fence;
    else
        *bell = sizeof fence;
    while (*(volatile char *)result != 7)
        ;
    printf("the fence is there\n");
    fflush(stdout);
    if (is_gfx8)
        *short_bell = 2 * sizeof fence;
    else
        *bell = 2 * sizeof fence;
    for (;;) /* the machine tells ROCr, which ends the program */
        wait_below(new_signal(1), 1);
}

int main(int argc, char **argv)
{
    const char *which = argc == 2 ? argv[1] : "";
    open_agents();
    CHECK(hsa_iterate_agents(take_cpu, NULL));
    if (!strcmp(which, "chain"))
        run_chain();
    else if (!strcmp(which, "windows"))
        run_windows();
    else if (!strcmp(which, "packets"))
        run_packets(false);
    else if (!strcmp(which, "fault"))
        run_packets(true);
    else
        fail("the cases are chain, windows, packets and fault", argc);
    printf("PASS hsa_copies %s\n", which);
    return 0;
}
