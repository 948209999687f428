/* The calls of /dev/kfd that ROCt of ROCm 6 and 7 makes, in its order, without ROCt: version,
 * apertures, the VM, available memory, the page of events as memory of the GPU, the runtime's
 * announcement, a queue with the longer argument, events with ages, dma-bufs, memory by attributes,
 * notices. Each answer is checked, also those that refuse, and so are descriptors behind many
 * others and in a child. `kfd_calls MINOR svm|plain`: the minor version, and whether the GPU has
 * memory by attributes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "components/kfd/channel/kfd_new_ioctls.h"

enum { GPU = 4096, PAGE = 4096, NONE = 9999 };

static int kfd, node;
static uint32_t minor;

static bool called[256]; /* by number */

/* 0, or the reason. */
static int call(unsigned long request, void *argument)
{
    called[_IOC_NR(request)] = true;
    return ioctl(kfd, request, argument) == 0 ? 0 : errno;
}

/* For the comparison with the reference page. */
static void tell_calls(void)
{
    printf("calls:");
    for (int i = 0; i < 256; i++)
        if (called[i])
            printf(" 0x%02x", i);
    puts("");
}

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAIL kfd_calls: line %d: %s\n", __LINE__, #condition);                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void *fresh(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(at != MAP_FAILED);
    return at;
}

/* Memory of the GPU that the program sees, too, at the address that it has reserved. */
static uint64_t allocate(void *at, uint64_t size, uint32_t kind)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args a = {.va_addr = (uintptr_t)at,
                                                   .size = size,
                                                   .gpu_id = GPU,
                                                   .flags = kind | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE
                                                            | KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE};
    uint32_t gpu = GPU;
    EXPECT(call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a) == 0);
    EXPECT(
        mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, node, (off_t)a.mmap_offset)
        == at);
    struct kfd_ioctl_map_memory_to_gpu_args m = {
        .handle = a.handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    EXPECT(call(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &m) == 0 && m.n_success == 1);
    return a.handle;
}

static void begin(void)
{
    struct kfd_ioctl_get_version_args version;
    struct kfd_process_device_apertures apertures[4];
    struct kfd_ioctl_get_process_apertures_new_args list = {0};
    struct kfd_ioctl_acquire_vm_args vm = {.drm_fd = (uint32_t)node, .gpu_id = GPU};
    struct kfd_ioctl_get_available_memory_args memory = {.gpu_id = GPU};
    EXPECT(call(AMDKFD_IOC_GET_VERSION, &version) == 0);
    EXPECT(version.major_version == 1 && version.minor_version == minor);
    EXPECT(call(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &list) == 0 && list.num_of_nodes == 1);
    list.kfd_process_device_apertures_ptr = (uintptr_t)apertures;
    EXPECT(call(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &list) == 0 && apertures[0].gpu_id == GPU);
    EXPECT(call(AMDKFD_IOC_ACQUIRE_VM, &vm) == 0);
    EXPECT(call(AMDKFD_IOC_AVAILABLE_MEMORY, &memory) == (minor < 9 ? ENOTTY : 0));
    EXPECT(minor < 9 || memory.available > 1 << 20);
    memory.gpu_id = NONE;
    EXPECT(call(AMDKFD_IOC_AVAILABLE_MEMORY, &memory) == (minor < 9 ? ENOTTY : EINVAL));
}

/* What ROCt does of each GPU before there is a queue: policies, the page of registers that flush,
 * scratch, clocks, tiling (for images), the trap handler. */
static void prepare_gpu(void)
{
    struct kfd_ioctl_get_process_apertures_args old;
    struct kfd_ioctl_set_memory_policy_args policy = {.gpu_id = GPU, .default_policy = 1};
    struct kfd_ioctl_set_scratch_backing_va_args scratch = {.va_addr = 1 << 20, .gpu_id = GPU};
    struct kfd_ioctl_set_trap_handler_args trap = {.tba_addr = 1 << 20, .gpu_id = GPU};
    struct kfd_ioctl_get_clock_counters_args before = {.gpu_id = GPU}, behind = {.gpu_id = GPU};
    uint32_t tile[32], macro[16];
    struct kfd_ioctl_get_tile_config_args tiles = {.tile_config_ptr = (uintptr_t)tile,
                                                   .macro_tile_config_ptr = (uintptr_t)macro,
                                                   .gpu_id = GPU,
                                                   .num_tile_configs = 32,
                                                   .num_macro_tile_configs = 16};
    struct kfd_ioctl_alloc_memory_of_gpu_args page = {.va_addr = (uintptr_t)fresh(PAGE),
                                                      .size = PAGE,
                                                      .gpu_id = GPU,
                                                      .flags = KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP
                                                               | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE
                                                               | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT};
    EXPECT(call(AMDKFD_IOC_GET_PROCESS_APERTURES, &old) == 0 && old.num_of_nodes == 1);
    EXPECT(call(AMDKFD_IOC_SET_MEMORY_POLICY, &policy) == 0);
    policy.default_policy = 2;
    EXPECT(call(AMDKFD_IOC_SET_MEMORY_POLICY, &policy) == EINVAL);
    EXPECT(call(AMDKFD_IOC_SET_SCRATCH_BACKING_VA, &scratch) == 0);
    EXPECT(call(AMDKFD_IOC_SET_TRAP_HANDLER, &trap) == 0);
    trap.gpu_id = NONE;
    EXPECT(call(AMDKFD_IOC_SET_TRAP_HANDLER, &trap) == EINVAL);
    EXPECT(call(AMDKFD_IOC_GET_CLOCK_COUNTERS, &before) == 0);
    EXPECT(call(AMDKFD_IOC_GET_CLOCK_COUNTERS, &behind) == 0);
    EXPECT(behind.gpu_clock_counter > before.gpu_clock_counter);
    EXPECT(behind.system_clock_freq == 1000000000);
    EXPECT(call(AMDKFD_IOC_GET_TILE_CONFIG, &tiles) == 0 && tile[31] == tile[0]);
    EXPECT(tiles.num_tile_configs == 32 && tiles.num_macro_tile_configs == 16);
    EXPECT(call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &page) == 0 && page.mmap_offset >> 62 == 0);
    EXPECT(mmap((void *)(uintptr_t)page.va_addr, PAGE, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED, kfd, (off_t)page.mmap_offset)
           == (void *)(uintptr_t)page.va_addr);
    *(volatile uint32_t *)(uintptr_t)page.va_addr = 1; /* HDP flush */
}

static int announce(uint32_t mode)
{
    struct kfd_ioctl_runtime_enable_args a = {.r_debug = 0x1000, .mode_mask = mode};
    return call(AMDKFD_IOC_RUNTIME_ENABLE, &a);
}

/* A queue with the argument of 1.17, which names an SDMA engine behind the others. */
static uint32_t make_queue(void)
{
    struct {
        struct kfd_ioctl_create_queue_args queue;
        uint32_t engine, pad;
    } a = {.queue = {.ring_size = PAGE,
                     .gpu_id = GPU,
                     .queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
                     .queue_percentage = 100,
                     .queue_priority = 7},
           .engine = 77};
    char *ring = fresh(2 * PAGE);
    allocate(ring, 2 * PAGE, KFD_IOC_ALLOC_MEM_FLAGS_GTT);
    a.queue.ring_base_address = (uintptr_t)ring;
    a.queue.read_pointer_address = (uintptr_t)ring + PAGE;
    a.queue.write_pointer_address = (uintptr_t)ring + PAGE + 64;
    EXPECT(call(AMDKFD_IOWR(0x02, a), &a) == 0);
    EXPECT(a.queue.doorbell_offset >> 62 == 3 && (a.queue.doorbell_offset >> 46 & 0xffff) == GPU);
    EXPECT(a.engine == 77); /* it came back as it was */
    /* A driver's header of before 1.11 had less behind the argument: the rest counts as 0. */
    struct kfd_ioctl_destroy_queue_args gone = {.queue_id = a.queue.queue_id};
    EXPECT(call(AMDKFD_IOC_DESTROY_QUEUE, &gone) == 0);
    EXPECT(call(AMDKFD_IOC_DESTROY_QUEUE, &gone) == EINVAL);
    EXPECT(call(AMDKFD_IOWR(0x02, a), &a) == 0);
    struct kfd_ioctl_update_queue_args stop = {
        .queue_id = a.queue.queue_id, .queue_percentage = 0, .queue_priority = 7};
    EXPECT(call(AMDKFD_IOC_UPDATE_QUEUE, &stop) == 0);
    stop.queue_priority = KFD_MAX_QUEUE_PRIORITY + 1;
    EXPECT(call(AMDKFD_IOC_UPDATE_QUEUE, &stop) == EINVAL);
    return a.queue.queue_id;
}

static void use_queues(bool svm)
{
    uint32_t all[32], none[32] = {0};
    memset(all, 0xff, sizeof all);
    EXPECT(announce(0) == (minor < 13 ? ENOTTY : 0));
    if (minor >= 13)
        EXPECT(announce(1) == 0 && announce(3) == EBUSY && announce(0) == 0);
    uint32_t queue = make_queue();
    EXPECT(announce(1) == (minor < 13 ? ENOTTY : EEXIST));
    struct kfd_ioctl_set_cu_mask_args mask = {queue, 1024, (uintptr_t)all};
    EXPECT(call(AMDKFD_IOC_SET_CU_MASK, &mask) == 0);
    mask.num_cu_mask = 33;
    EXPECT(call(AMDKFD_IOC_SET_CU_MASK, &mask) == EINVAL);
    mask = (struct kfd_ioctl_set_cu_mask_args){queue, 32, (uintptr_t)none};
    EXPECT(call(AMDKFD_IOC_SET_CU_MASK, &mask) == EINVAL);
    mask.cu_mask_ptr = 16;
    EXPECT(call(AMDKFD_IOC_SET_CU_MASK, &mask) == EFAULT);
    struct kfd_ioctl_get_queue_wave_state_args state = {.queue_id = queue};
    EXPECT(call(AMDKFD_IOC_GET_QUEUE_WAVE_STATE, &state) == EINVAL);
    struct kfd_ioctl_alloc_queue_gws_args sync = {.queue_id = queue, .num_gws = 1};
    EXPECT(call(AMDKFD_IOC_ALLOC_QUEUE_GWS, &sync) == (svm ? 0 : ENODEV)); /* both: from gfx9 on */
}

static char *read_only;
static volatile sig_atomic_t faults;

static void open_page(int number)
{
    (void)number;
    faults++;
    mprotect(read_only, PAGE, PROT_READ | PROT_WRITE);
}

/* Where doorbells have been, a fault is the program's again. */
static void reuse_doorbells(void)
{
    struct sigaction action = {.sa_handler = open_page};
    sigaction(SIGSEGV, &action, NULL);
    off_t offset = (off_t)((uint64_t)3 << 62 | (uint64_t)GPU << 46);
    read_only = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, offset);
    EXPECT(read_only != MAP_FAILED && munmap(read_only, PAGE) == 0);
    EXPECT(mmap(read_only, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
           == read_only);
    *(volatile char *)read_only = 1;
    EXPECT(faults == 1 && munmap(read_only, PAGE) == 0);
    signal(SIGSEGV, SIG_DFL);
}

/* An event that was signalled while nobody waited ends the wait of one who has seen an older age.
 */
static void use_events(void)
{
    void *page = fresh(8 * PAGE);
    uint64_t handle = allocate(page, 8 * PAGE, KFD_IOC_ALLOC_MEM_FLAGS_GTT), age = 1;
    struct kfd_ioctl_create_event_args made = {
        .event_page_offset = handle, .event_type = KFD_IOC_EVENT_SIGNAL, .auto_reset = 1};
    EXPECT(call(AMDKFD_IOC_CREATE_EVENT, &made) == 0);
    struct kfd_event_data data = {.event_id = made.event_id};
    struct kfd_ioctl_wait_events_args wait = {.events_ptr = (uintptr_t)&data, .num_events = 1};
    struct kfd_ioctl_set_event_args set = {.event_id = made.event_id};
    EXPECT(call(AMDKFD_IOC_WAIT_EVENTS, &wait) == 0 && wait.wait_result == 1);
    EXPECT(call(AMDKFD_IOC_SET_EVENT, &set) == 0);
    EXPECT(call(AMDKFD_IOC_WAIT_EVENTS, &wait) == 0 && wait.wait_result == 0);
    memcpy(&data, &age, sizeof age);
    EXPECT(call(AMDKFD_IOC_WAIT_EVENTS, &wait) == 0);
    EXPECT(wait.wait_result == (minor < 14 ? 1u : 0u)); /* it has reset itself meanwhile */
    memcpy(&age, &data, sizeof age);
    EXPECT(age == (minor < 14 ? 1 : 2));
    EXPECT(call(AMDKFD_IOC_WAIT_EVENTS, &wait) == 0 && wait.wait_result == 1);
    struct kfd_ioctl_reset_event_args reset = {.event_id = made.event_id};
    struct kfd_ioctl_destroy_event_args gone = {.event_id = made.event_id};
    data = (struct kfd_event_data){.event_id = made.event_id};
    EXPECT(call(AMDKFD_IOC_SET_EVENT, &set) == 0 && call(AMDKFD_IOC_RESET_EVENT, &reset) == 0);
    EXPECT(call(AMDKFD_IOC_WAIT_EVENTS, &wait) == 0 && wait.wait_result == 1);
    EXPECT(call(AMDKFD_IOC_DESTROY_EVENT, &gone) == 0);
    EXPECT(call(AMDKFD_IOC_WAIT_EVENTS, &wait) == EINVAL);
}

static void share_memory(void)
{
    void *at = fresh(2 * PAGE);
    uint64_t handle = allocate(at, 2 * PAGE, KFD_IOC_ALLOC_MEM_FLAGS_VRAM);
    struct kfd_ioctl_export_dmabuf_args file = {.handle = handle, .flags = O_CLOEXEC};
    struct kfd_ioctl_get_dmabuf_info_args info = {.dmabuf_fd = (uint32_t)kfd};
    EXPECT(call(AMDKFD_IOC_GET_DMABUF_INFO, &info) == EINVAL);
    info.dmabuf_fd = 1000;
    EXPECT(call(AMDKFD_IOC_GET_DMABUF_INFO, &info) == EBADF);
    EXPECT(call(AMDKFD_IOC_EXPORT_DMABUF, &file) == (minor < 12 ? ENOTTY : 0));
    struct kfd_ioctl_ipc_export_handle_args number = {.handle = handle, .gpu_id = GPU};
    struct kfd_ioctl_ipc_import_handle_args back = {.gpu_id = GPU};
    EXPECT(call(AMDKFD_IOC_IPC_EXPORT_HANDLE, &number) == 0);
    EXPECT(call(AMDKFD_IOC_IPC_IMPORT_HANDLE, &back) == EINVAL);
    memcpy(back.share_handle, number.share_handle, sizeof back.share_handle);
    char *second = fresh(2 * PAGE), *first = at;
    back.va_addr = (uintptr_t)second;
    EXPECT(call(AMDKFD_IOC_IPC_IMPORT_HANDLE, &back) == 0 && back.handle != handle);
    EXPECT(mmap(second, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, node,
                (off_t)back.mmap_offset)
           == second);
    first[PAGE] = 77; /* one memory at two addresses */
    EXPECT(second[PAGE] == 77);
    second[5] = 78;
    EXPECT(first[5] == 78);
    EXPECT(call(AMDKFD_IOC_IPC_IMPORT_HANDLE, &back) == EADDRINUSE);
    if (minor < 12)
        return;
    EXPECT(fcntl((int)file.dmabuf_fd, F_GETFD) == FD_CLOEXEC);
    int copy = dup((int)file.dmabuf_fd);
    close((int)file.dmabuf_fd);
    info.dmabuf_fd = (uint32_t)copy;
    EXPECT(call(AMDKFD_IOC_GET_DMABUF_INFO, &info) == 0);
    EXPECT(info.size == 2 * PAGE && info.gpu_id == GPU && info.metadata_size == 0);
    EXPECT(info.flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM);
    struct kfd_ioctl_import_dmabuf_args import = {
        .va_addr = (uintptr_t)fresh(2 * PAGE), .gpu_id = GPU, .dmabuf_fd = (uint32_t)copy};
    EXPECT(call(AMDKFD_IOC_IMPORT_DMABUF, &import) == 0);
    struct kfd_ioctl_free_memory_of_gpu_args gone = {handle};
    uint32_t gpu = GPU;
    struct kfd_ioctl_unmap_memory_from_gpu_args apart = {
        .handle = handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    EXPECT(call(AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &apart) == 0 && apart.n_success == 1);
    EXPECT(call(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &gone) == 0);
    EXPECT(second[PAGE] == 77 && call(AMDKFD_IOC_GET_DMABUF_INFO, &info) == 0);
    gone.handle = import.handle;
    EXPECT(call(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &gone) == 0 && second[5] == 78);
    gone.handle = back.handle;
    EXPECT(call(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &gone) == 0);
    EXPECT(call(AMDKFD_IOC_GET_DMABUF_INFO, &info) == EINVAL);
    file.handle = handle;
    EXPECT(call(AMDKFD_IOC_EXPORT_DMABUF, &file) == EINVAL);
}

enum { MOST = 6 };
struct attributes {
    struct kfd_ioctl_svm_args call;
    struct kfd_ioctl_svm_attribute list[MOST];
};

/* Pairs of type and value. */
static int attributes(uint32_t op, char *at, size_t size, struct attributes *a, uint32_t count,
                      const uint32_t *pairs)
{
    a->call = (struct kfd_ioctl_svm_args){(uintptr_t)at, size, op, count};
    memcpy(a->list, pairs, count * sizeof a->list[0]);
    size_t bytes = sizeof a->call + count * sizeof a->list[0];
    return call(_IOC(_IOC_READ | _IOC_WRITE, 'K', 0x20, bytes), a);
}
#define SET(at, size, ...)                                                                         \
    attributes(KFD_IOCTL_SVM_OP_SET_ATTR, at, size, &a, sizeof((uint32_t[]){__VA_ARGS__}) / 8,     \
               (uint32_t[]){__VA_ARGS__})
#define GET(at, size, ...)                                                                         \
    attributes(KFD_IOCTL_SVM_OP_GET_ATTR, at, size, &a, sizeof((uint32_t[]){__VA_ARGS__}) / 8,     \
               (uint32_t[]){__VA_ARGS__})

static int retry;
static int set_retry(int on)
{
    struct kfd_ioctl_set_xnack_mode_args mode = {.xnack_enabled = on};
    int result = call(AMDKFD_IOC_SET_XNACK_MODE, &mode);
    retry = mode.xnack_enabled;
    return result;
}

/* These GPUs cannot: their pages do not move. */
static void ask_for_retries(void)
{
    EXPECT(set_retry(1) == EPERM && set_retry(0) == 0);
    EXPECT(set_retry(-1) == 0 && retry == 0);
}

static void use_attributes(bool svm)
{
    struct attributes a;
    enum { PAGES = 16 };
    const uint32_t ALWAYS_MAPPED = 0x51; /* by the host, executable, mapped */
    char *at = fresh(PAGES * PAGE);
    const uint32_t home = KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, may = KFD_IOCTL_SVM_ATTR_ACCESS,
                   may_not = KFD_IOCTL_SVM_ATTR_NO_ACCESS, set = KFD_IOCTL_SVM_ATTR_SET_FLAGS,
                   clear = KFD_IOCTL_SVM_ATTR_CLR_FLAGS;
    EXPECT(set_retry(1) == EBUSY); /* a process with queues */
    /* As ROCt asks for the area of a queue's state, in this order: prefetched, at the GPU for good,
     * flags, access, granularity. */
    EXPECT(SET(fresh(PAGE), PAGE, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, GPU, home, GPU, clear,
               ~ALWAYS_MAPPED, set, ALWAYS_MAPPED, may, GPU, KFD_IOCTL_SVM_ATTR_GRANULARITY, 0xff)
           == (svm ? 0 : EINVAL));
    memset(at, 5, PAGES * PAGE);
    EXPECT(SET(at, PAGES * PAGE, may, GPU, home, GPU) == (svm ? 0 : EINVAL));
    if (!svm)
        return;
    EXPECT(at[0] == 5 && at[PAGES * PAGE - 1] == 5);
    EXPECT(GET(at, PAGES * PAGE, may, GPU, home, 0) == 0);
    EXPECT(a.list[0].type == may && a.list[1].value == GPU);
    EXPECT(SET(at + PAGE, PAGE, set, 0x10, home, 0) == 0); /* in the middle */
    EXPECT(GET(at, 4 * PAGE, set, 0, home, 0, clear, 0) == 0);
    EXPECT(a.list[0].value == 3 && a.list[1].value == 0xffffffff && a.list[2].value == 0xffffffec);
    EXPECT(GET(at + PAGE, PAGE, set, 0, home, 0) == 0);
    EXPECT(a.list[0].value == 0x13 && a.list[1].value == 0);
    EXPECT(SET(at, PAGES * PAGE, may_not, GPU) == 0 && at[PAGE] == 5);
    EXPECT(GET(at + PAGE, PAGE, may, GPU) == 0 && a.list[0].type == may_not);
    EXPECT(SET(at, PAGES * PAGE, may, GPU) == 0);
    EXPECT(munmap(at + 4 * PAGE, 4 * PAGE) == 0); /* what is left goes on */
    EXPECT(at[3 * PAGE] == 5 && at[8 * PAGE] == 5);
    EXPECT(SET(at, PAGES * PAGE, may, GPU) == EFAULT);
    EXPECT(GET(at + 8 * PAGE, 8 * PAGE, may, GPU) == 0 && a.list[0].type == may);
    EXPECT(SET(at, PAGE, may, NONE) == EINVAL && SET(at, PAGE, 99, 0) == EINVAL);
    EXPECT(SET(at + 1, PAGE, may, GPU) == EINVAL && SET(at, 0, may, GPU) == EINVAL);
    a.call.nattr = 1000; /* more than the argument has */
    EXPECT(call(AMDKFD_IOC_SVM, &a) == EINVAL);
    allocate(at + 4 * PAGE, PAGE, KFD_IOC_ALLOC_MEM_FLAGS_VRAM);
    EXPECT(SET(at + 4 * PAGE, PAGE, may, GPU) == EADDRINUSE);
}

static void listen_and_refuse(void)
{
    struct kfd_ioctl_smi_events_args notices = {.gpuid = NONE};
    uint64_t mask = UINT64_MAX >> 1;
    char line[96], words[256] = {0};
    EXPECT(call(AMDKFD_IOC_SMI_EVENTS, &notices) == EINVAL);
    notices.gpuid = GPU;
    EXPECT(call(AMDKFD_IOC_SMI_EVENTS, &notices) == 0);
    int fd = (int)notices.anon_fd;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    EXPECT(write(fd, &mask, sizeof mask) == sizeof mask && poll(&ready, 1, 0) == 0);
    EXPECT(read(fd, line, sizeof line) == -1 && errno == EAGAIN && close(fd) == 0);
    /* The debugger of before 5.17, and what is not there: checkpoints, the debugger of 1.13 and
     * that of ROCm's branch, copies between processes, counters, samples of the pc, the profiler,
     * files by the GPU, a second address space (1.19). */
    for (unsigned long number = 0x0d; number <= 0x10; number++)
        EXPECT(call(_IOC(_IOC_WRITE, 'K', number, 16), words) == EPERM);
    static const unsigned char missing[] = {0x22, 0x26, 0x82, 0x83, 0x84,
                                            0x85, 0x86, 0x87, 0x27, 0x7f};
    for (size_t i = 0; i < sizeof missing; i++)
        EXPECT(call(_IOC(_IOC_READ | _IOC_WRITE, 'K', missing[i], 64), words) == ENOTTY);
    EXPECT(call(_IOC(_IOC_READ, 'L', 1, 8), words) == ENOTTY);
}

static void open_behind_many_files(void)
{
    enum { OTHERS = 1024 };
    int others[OTHERS];
    struct rlimit files;
    struct kfd_ioctl_get_version_args version = {0};
    EXPECT(getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max > 2 * OTHERS);
    files.rlim_cur = files.rlim_max;
    EXPECT(setrlimit(RLIMIT_NOFILE, &files) == 0);
    for (int i = 0; i < OTHERS; i++)
        EXPECT((others[i] = dup(kfd)) >= 0);
    int last = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    EXPECT(last > OTHERS && ioctl(last, AMDKFD_IOC_GET_VERSION, &version) == 0);
    EXPECT(version.minor_version == minor && close(last) == 0);
    for (int i = 0; i < OTHERS; i++)
        EXPECT(close(others[i]) == 0);
    EXPECT(call(AMDKFD_IOC_GET_VERSION, &version) == 0);
}

static void fork_a_child(void)
{
    struct kfd_ioctl_get_version_args version = {0};
    int status;
    pid_t child = fork();
    if (child == 0) {
        EXPECT(call(AMDKFD_IOC_GET_VERSION, &version) == EBADF);
        EXPECT(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, node, 0) == MAP_FAILED && errno == EBADF);
        _exit(0);
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

int main(int count, char **words)
{
    EXPECT(count == 3);
    minor = (uint32_t)atoi(words[1]);
    kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    node = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    EXPECT(kfd >= 0 && node >= 0);
    bool svm = !strcmp(words[2], "svm");
    begin();
    open_behind_many_files();
    fork_a_child();
    prepare_gpu();
    ask_for_retries();
    use_queues(svm);
    reuse_doorbells();
    use_events();
    share_memory();
    use_attributes(svm);
    listen_and_refuse();
    tell_calls();
    puts("PASS kfd_calls");
    return 0;
}
