/* A hostile program: random calls of /dev/kfd with random arguments, among them valid ones, and
 * maps of random offsets. `kfd_random COUNT SEED`. All that it may get is an error: PASS means that
 * the machine still answers at the end. */
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

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
static const unsigned long requests[] = {AMDKFD_IOC_GET_VERSION,
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
                                         AMDKFD_IOC_SVM,
                                         AMDKFD_IOC_SET_XNACK_MODE,
                                         AMDKFD_IOC_AVAILABLE_MEMORY};

static unsigned long next_request(void)
{
    if (number() % 4 == 0)
        return _IOC(number() % 4, 'K', number() % 64, number() % 128);
    return requests[number() % (sizeof requests / sizeof requests[0])];
}

int main(int count, char **words)
{
    enum { PAGES = 64, TIMEOUT = 4 }; /* the latter is a word of 4 bytes */
    uint64_t calls = count > 1 ? strtoull(words[1], NULL, 0) : 2000, good = 0;
    uint64_t argument[64];
    uint32_t version[2] = {0, 0};
    state = count > 2 ? strtoull(words[2], NULL, 0) : 1;
    int kfd = open("/dev/kfd", O_RDWR), node = open("/dev/dri/renderD128", O_RDWR);
    char *room =
        mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kfd < 0 || node < 0 || room == MAP_FAILED)
        return 1;
    for (uint64_t i = 0; i < calls; i++) {
        unsigned long request = next_request();
        for (size_t k = 0; k < 64; k++)
            argument[k] = word((uintptr_t)room);
        if (request == AMDKFD_IOC_WAIT_EVENTS) /* not for long */
            ((uint32_t *)argument)[TIMEOUT] = 0;
        good += ioctl(kfd, request, number() % 16 ? (void *)argument : (void *)(uintptr_t)number())
                == 0;
        if (number() % 8)
            continue;
        void *at = mmap(NULL, (1 + number() % 4) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                        number() % 2 ? kfd : node, (off_t)(word(0) / 4096 * 4096));
        if (at != MAP_FAILED)
            munmap(at, 4096);
    }
    if (ioctl(kfd, _IOR('K', 1, uint64_t), version) != 0 || version[0] != 1)
        return 1;
    printf("PASS kfd_random: %llu of %llu calls did something\n", (unsigned long long)good,
           (unsigned long long)calls);
    return 0;
}
