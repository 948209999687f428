/* A hostile program: random calls of /dev/kfd with random arguments, among them valid ones, maps of
 * random offsets, a queue whose ring holds anything and whose doorbells announce anything.
 * `kfd_random COUNT SEED`. All that it may get is an error: PASS means that the machine still
 * answers at the end. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "components/kfd/channel/kfd_new_ioctls.h"

static uint64_t state;

static uint64_t number(void) /* splitmix64 */
{
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* A word that calls may take for something: small, a GPU's number, an address, a handle. */
static uint64_t word(uint64_t page)
{
    switch (number() % 8) {
    case 0:
        return number() % 16;
    case 1:
        return 4096;
    case 2:
        return page + number() % 4 * 4096;
    case 3:
        return UINT64_C(4096) << 32 | number() % 64;
    case 4:
        return UINT64_C(1) << number() % 64;
    case 5:
        return number();
    case 6:
        return number() % 64 * 4096;
    default:
        return 0;
    }
}

/* Calls that there are; a quarter of all is made up. */
static const unsigned long requests[] = {
    AMDKFD_IOC_GET_VERSION,
    AMDKFD_IOC_CREATE_QUEUE,
    AMDKFD_IOC_DESTROY_QUEUE,
    AMDKFD_IOC_SET_MEMORY_POLICY,
    AMDKFD_IOC_GET_CLOCK_COUNTERS,
    AMDKFD_IOC_GET_PROCESS_APERTURES,
    AMDKFD_IOC_UPDATE_QUEUE,
    AMDKFD_IOC_CREATE_EVENT,
    AMDKFD_IOC_DESTROY_EVENT,
    AMDKFD_IOC_SET_EVENT,
    AMDKFD_IOC_RESET_EVENT,
    AMDKFD_IOC_WAIT_EVENTS,
    AMDKFD_IOC_GET_TILE_CONFIG,
    AMDKFD_IOC_GET_PROCESS_APERTURES_NEW,
    AMDKFD_IOC_ACQUIRE_VM,
    AMDKFD_IOC_ALLOC_MEMORY_OF_GPU,
    AMDKFD_IOC_FREE_MEMORY_OF_GPU,
    AMDKFD_IOC_MAP_MEMORY_TO_GPU,
    AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU,
    AMDKFD_IOC_SET_CU_MASK,
    AMDKFD_IOC_GET_QUEUE_WAVE_STATE,
    AMDKFD_IOC_GET_DMABUF_INFO,
    AMDKFD_IOC_IMPORT_DMABUF,
    AMDKFD_IOC_ALLOC_QUEUE_GWS,
    AMDKFD_IOC_SMI_EVENTS,
    AMDKFD_IOC_SVM + (8 << _IOC_SIZESHIFT),
    AMDKFD_IOC_SVM + (64 << _IOC_SIZESHIFT),
    AMDKFD_IOC_SET_XNACK_MODE,
    AMDKFD_IOC_AVAILABLE_MEMORY,
    AMDKFD_IOC_EXPORT_DMABUF,
    AMDKFD_IOC_RUNTIME_ENABLE,
    AMDKFD_IOC_IPC_IMPORT_HANDLE,
    AMDKFD_IOC_IPC_EXPORT_HANDLE,
};

static unsigned long next_request(void)
{
    if (number() % 4 == 0)
        return _IOC(number() % 4, 'K', number() % 64, number() % 128);
    return requests[number() % (sizeof requests / sizeof requests[0])];
}

static int kfd, node;

/* ---- a queue that lies ---- */

enum { PACKETS = 64, PACKET_BYTES = 64, DOORBELLS = 8192, GPU = 4096 };
static char *ring; /* the packets, and a page with both indices behind them */
static char *doorbells;
static uint32_t queue;

static void make_queue(void)
{
    struct kfd_ioctl_create_queue_args q = {.ring_base_address = (uintptr_t)ring,
                                            .read_pointer_address = (uintptr_t)ring + 4096,
                                            .write_pointer_address = (uintptr_t)ring + 4104,
                                            .ring_size = PACKETS * PACKET_BYTES,
                                            .gpu_id = GPU,
                                            .queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
                                            .queue_percentage = 100};
    struct kfd_ioctl_destroy_queue_args old = {.queue_id = queue};
    ioctl(kfd, AMDKFD_IOC_DESTROY_QUEUE, &old);
    if (ioctl(kfd, AMDKFD_IOC_CREATE_QUEUE, &q) == 0)
        queue = q.queue_id;
}

static bool open_queue(void)
{
    ring = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct kfd_ioctl_alloc_memory_of_gpu_args a = {.va_addr = (uintptr_t)ring,
                                                   .size = 8192,
                                                   .gpu_id = GPU,
                                                   .flags = KFD_IOC_ALLOC_MEM_FLAGS_GTT
                                                            | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE};
    uint32_t gpu = GPU;
    if (ring == MAP_FAILED || ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a) != 0)
        return false;
    struct kfd_ioctl_map_memory_to_gpu_args m = {
        .handle = a.handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    if (mmap(ring, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, node, (off_t)a.mmap_offset)
            != ring
        || ioctl(kfd, AMDKFD_IOC_MAP_MEMORY_TO_GPU, &m) != 0)
        return false;
    off_t offset = (off_t)((uint64_t)3 << 62 | (uint64_t)GPU << 46);
    /* Past the end of all doorbells there is nothing to map. */
    if (mmap(NULL, 16 * DOORBELLS, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, offset) != MAP_FAILED)
        return false;
    for (size_t size = DOORBELLS; size >= 4096; size /= 2) { /* those of gfx8 have half of it */
        doorbells = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, offset);
        if (doorbells != MAP_FAILED)
            break;
    }
    make_queue();
    return doorbells != MAP_FAILED;
}

/* Packets of all kinds with random words, whose kernels are no addresses of the ring, and random
 * doorbells, most of them this queue's. */
static void lie(void)
{
    for (uint64_t i = number() % 4; i < PACKETS; i += 1 + number() % 16) {
        uint64_t words[PACKET_BYTES / 8];
        for (size_t k = 0; k < PACKET_BYTES / 8; k++)
            words[k] = word(number() % 4 ? (uintptr_t)ring + 4096 : 0);
        words[0] = (words[0] & ~UINT64_C(0xffff)) | (number() & 0x1e00) | number() % 7;
        if ((words[0] & 0xff) == 2)
            words[4] = number() | 1;
        memcpy(ring + i * PACKET_BYTES, words, sizeof words);
    }
    if (number() % 4 == 0)
        *(volatile uint64_t *)(void *)(ring + 4096 + number() % 2 * 8) = word((uintptr_t)ring);
    uint64_t slot = number() % 4 ? queue : number() % 512;
    uint64_t value = number() % 4 ? number() % PACKETS : word((uintptr_t)ring);
    if (number() % 2)
        *(volatile uint64_t *)(void *)(doorbells + slot % 512 * 8) = value;
    else
        *(volatile uint32_t *)(void *)(doorbells + slot % 1024 * 4) = (uint32_t)value;
    make_queue();
}

/* ---- calls and maps ---- */

static int call_randomly(char *room)
{
    union {
        uint64_t word[128];
        struct kfd_ioctl_wait_events_args wait;
        struct kfd_ioctl_smi_events_args notices;
        struct kfd_ioctl_export_dmabuf_args exported;
    } argument;
    unsigned long request = next_request();
    for (size_t k = 0; k < 128; k++)
        argument.word[k] = word((uintptr_t)room);
    if (request == AMDKFD_IOC_WAIT_EVENTS) /* not for long */
        argument.wait.timeout = 0;
    int result =
        ioctl(kfd, request, number() % 16 ? (void *)&argument : (void *)(uintptr_t)number());
    if (result == 0 && request == AMDKFD_IOC_SMI_EVENTS)
        close((int)argument.notices.anon_fd);
    if (result == 0 && request == AMDKFD_IOC_EXPORT_DMABUF)
        close((int)argument.exported.dmabuf_fd);
    return result;
}

/* A part of what was mapped stays. */
static void map_randomly(void)
{
    size_t pages = 1 + number() % 4, kept = number() % pages;
    void *at = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                    number() % 2 ? kfd : node, (off_t)(word(0) / 4096 * 4096));
    if (at != MAP_FAILED)
        munmap((char *)at + kept * 4096, (pages - kept) * 4096);
}

int main(int count, char **words)
{
    enum { PAGES = 64 };
    uint64_t calls = count > 1 ? strtoull(words[1], NULL, 0) : 2000, good = 0;
    uint32_t version[2] = {0, 0};
    state = count > 2 ? strtoull(words[2], NULL, 0) : 1;
    kfd = open("/dev/kfd", O_RDWR);
    node = open("/dev/dri/renderD128", O_RDWR);
    char *room =
        mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kfd < 0 || node < 0 || room == MAP_FAILED || !open_queue()) {
        puts("FAIL kfd_random: opening");
        return 1;
    }
    for (uint64_t i = 0; i < calls; i++) {
        uint64_t what = number() % 16;
        good += call_randomly(room) == 0;
        if (what < 2)
            map_randomly();
        else if (what == 2)
            lie();
    }
    if (ioctl(kfd, AMDKFD_IOC_GET_VERSION, version) != 0 || version[0] != 1)
        return 1;
    printf("PASS kfd_random: %llu of %llu calls did something\n", (unsigned long long)good,
           (unsigned long long)calls);
    return 0;
}
