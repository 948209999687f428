/* The calls of /dev/kfd by number (linux/kfd_ioctl.h), and the function that does each of them.
 * What is not in the table answers ENOTTY, and is named once. The sizes of arguments are those of
 * the distribution's header; a caller with a shorter or longer one gets ENOTTY for it, too, as its
 * number differs. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kfd_machine.h"
#include "program_memory.h"

enum {
    /* Words of GB_TILE_MODE and GB_MACROTILE_MODE, and the array mode in bits 2..5 of the former
     * (amdgpu, gfx_v8_0.c, gca_8_0_enum.h). */
    TILE_MODES = 32,
    MACRO_TILE_MODES = 16,
    LINEAR_ALIGNED = 1 << 2
};

/* ---- calls that ask for facts ---- */

static int get_version(struct kfd_request *request)
{
    struct kfd_ioctl_get_version_args *call = request->argument;
    call->major_version = KFD_MAJOR_VERSION;
    call->minor_version = KFD_MINOR_VERSION;
    return 0;
}

static struct kfd_process_device_apertures apertures_of(uint32_t gpu)
{
    const struct isa_traits *traits = kfd.gpu[gpu].traits;
    return (struct kfd_process_device_apertures){
        .lds_base = (uint64_t)traits->shared_aperture << 32,
        .lds_limit = (uint64_t)traits->shared_aperture << 32 | UINT32_MAX,
        .scratch_base = (uint64_t)traits->private_aperture << 32,
        .scratch_limit = (uint64_t)traits->private_aperture << 32 | UINT32_MAX,
        .gpuvm_base = 0x10000, /* SVM_USER_BASE of kfd_flat_memory.c */
        .gpuvm_limit = ((uint64_t)1 << 47) - 1,
        .gpu_id = kfd_gpu_id(gpu)};
}

static int get_apertures(struct kfd_request *request)
{
    struct kfd_ioctl_get_process_apertures_args *call = request->argument;
    call->num_of_nodes =
        kfd.gpu_count < NUM_OF_SUPPORTED_GPUS ? kfd.gpu_count : NUM_OF_SUPPORTED_GPUS;
    for (uint32_t i = 0; i < call->num_of_nodes; i++)
        call->process_apertures[i] = apertures_of(i);
    return 0;
}

static int get_apertures_new(struct kfd_request *request)
{
    struct kfd_ioctl_get_process_apertures_new_args *call = request->argument;
    struct kfd_process_device_apertures list[KFD_GPUS_MAX];
    uint32_t count = call->num_of_nodes < kfd.gpu_count ? call->num_of_nodes : kfd.gpu_count;
    if (!call->num_of_nodes) { /* it asks how many there are */
        call->num_of_nodes = kfd.gpu_count;
        return 0;
    }
    for (uint32_t i = 0; i < count; i++)
        list[i] = apertures_of(i);
    call->num_of_nodes = count;
    return program_write(call->kfd_process_device_apertures_ptr, list, count * sizeof *list)
               ? 0
               : -EFAULT;
}

/* All counters are simulated time. */
static int get_clocks(struct kfd_request *request)
{
    struct kfd_ioctl_get_clock_counters_args *call = request->argument;
    if (call->gpu_id && kfd_find_gpu(call->gpu_id) < 0)
        return -EINVAL;
    uint64_t now = kfd_read_clock();
    call->gpu_clock_counter = call->gpu_id ? now : 0;
    call->cpu_clock_counter = call->system_clock_counter = now;
    call->system_clock_freq = 1000000000;
    return 0;
}

static int get_available_memory(struct kfd_request *request)
{
    struct kfd_ioctl_get_available_memory_args *call = request->argument;
    int gpu = kfd_find_gpu(call->gpu_id);
    uint64_t free_bytes = 0, total;
    if (gpu < 0)
        return -EINVAL;
    int result =
        kfd_status(kfd.api->memory_info((uint32_t)gpu, &free_bytes, &total), "free memory");
    call->available = free_bytes;
    return result;
}

/* Writes up to `count` words, all the same, to the program's array. */
static int write_words(uint64_t address, uint32_t word, uint32_t count)
{
    uint32_t words[TILE_MODES];
    for (uint32_t i = 0; i < count; i++)
        words[i] = word;
    return program_write(address, words, count * sizeof word) ? 0 : -EFAULT;
}

/* Nothing of simulated memory is tiled: all modes are linear ones. */
static int get_tile_config(struct kfd_request *request)
{
    struct kfd_ioctl_get_tile_config_args *call = request->argument;
    if (kfd_find_gpu(call->gpu_id) < 0)
        return -EINVAL;
    if (call->num_tile_configs > TILE_MODES)
        call->num_tile_configs = TILE_MODES;
    if (call->num_macro_tile_configs > MACRO_TILE_MODES)
        call->num_macro_tile_configs = MACRO_TILE_MODES;
    call->gb_addr_config = call->num_banks = call->num_ranks = 0;
    int result = write_words(call->tile_config_ptr, LINEAR_ALIGNED, call->num_tile_configs);
    return result ? result
                  : write_words(call->macro_tile_config_ptr, 0, call->num_macro_tile_configs);
}

/* ---- calls that prepare a GPU ---- */

static int acquire_vm(struct kfd_request *request)
{
    const struct kfd_ioctl_acquire_vm_args *call = request->argument;
    return kfd_find_gpu(call->gpu_id) < 0 ? -EINVAL : 0;
}

/* All memory is coherent with the program at the ends of kernels, which satisfies both policies. */
static int set_memory_policy(struct kfd_request *request)
{
    const struct kfd_ioctl_set_memory_policy_args *call = request->argument;
    if (kfd_find_gpu(call->gpu_id) < 0)
        return -EINVAL;
    return call->default_policy > KFD_IOC_CACHE_POLICY_NONCOHERENT
                   || call->alternate_policy > KFD_IOC_CACHE_POLICY_NONCOHERENT
               ? -EINVAL
               : 0;
}

/* Private memory is the driver's: it gives each launch what its packet asks for. */
static int set_scratch(struct kfd_request *request)
{
    const struct kfd_ioctl_set_scratch_backing_va_args *call = request->argument;
    return kfd_find_gpu(call->gpu_id) < 0 ? -EINVAL : 0;
}

/* A trap ends the simulation with a message, whether or not there is a handler for it. */
static int set_trap_handler(struct kfd_request *request)
{
    const struct kfd_ioctl_set_trap_handler_args *call = request->argument;
    return kfd_find_gpu(call->gpu_id) < 0 ? -EINVAL : 0;
}

static int set_xnack(struct kfd_request *request)
{
    struct kfd_ioctl_set_xnack_mode_args *call = request->argument;
    if (call->xnack_enabled > 0)
        return -EPERM; /* as of GPUs that cannot retry (kfd_chardev.c) */
    call->xnack_enabled = 0;
    return 0;
}

/* ---- the table ---- */

struct call {
    unsigned long request;
    const char *name;
    int (*run)(struct kfd_request *request);
    bool when_over; /* it works when the simulation has ended */
    bool aside;     /* it needs nothing of the driver */
};

static const struct call calls[] = {
    {AMDKFD_IOC_GET_VERSION, "GET_VERSION", get_version, true, true},
    {AMDKFD_IOC_CREATE_QUEUE, "CREATE_QUEUE", kfd_queue_create, false, false},
    {AMDKFD_IOC_DESTROY_QUEUE, "DESTROY_QUEUE", kfd_queue_destroy, true, false},
    {AMDKFD_IOC_UPDATE_QUEUE, "UPDATE_QUEUE", kfd_queue_update, true, true},
    {AMDKFD_IOC_SET_MEMORY_POLICY, "SET_MEMORY_POLICY", set_memory_policy, true, true},
    {AMDKFD_IOC_GET_CLOCK_COUNTERS, "GET_CLOCK_COUNTERS", get_clocks, true, true},
    {AMDKFD_IOC_GET_PROCESS_APERTURES, "GET_PROCESS_APERTURES", get_apertures, true, true},
    {AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, "GET_PROCESS_APERTURES_NEW", get_apertures_new, true,
     true},
    {AMDKFD_IOC_CREATE_EVENT, "CREATE_EVENT", kfd_event_create, true, true},
    {AMDKFD_IOC_DESTROY_EVENT, "DESTROY_EVENT", kfd_event_destroy, true, true},
    {AMDKFD_IOC_SET_EVENT, "SET_EVENT", kfd_event_set, true, true},
    {AMDKFD_IOC_RESET_EVENT, "RESET_EVENT", kfd_event_reset, true, true},
    {AMDKFD_IOC_WAIT_EVENTS, "WAIT_EVENTS", kfd_event_wait, true, true},
    {AMDKFD_IOC_SET_SCRATCH_BACKING_VA, "SET_SCRATCH_BACKING_VA", set_scratch, true, true},
    {AMDKFD_IOC_GET_TILE_CONFIG, "GET_TILE_CONFIG", get_tile_config, true, true},
    {AMDKFD_IOC_SET_TRAP_HANDLER, "SET_TRAP_HANDLER", set_trap_handler, true, true},
    {AMDKFD_IOC_ACQUIRE_VM, "ACQUIRE_VM", acquire_vm, true, true},
    {AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, "ALLOC_MEMORY_OF_GPU", kfd_memory_allocate, false, false},
    {AMDKFD_IOC_FREE_MEMORY_OF_GPU, "FREE_MEMORY_OF_GPU", kfd_memory_free, true, false},
    {AMDKFD_IOC_MAP_MEMORY_TO_GPU, "MAP_MEMORY_TO_GPU", kfd_memory_map, true, true},
    {AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, "UNMAP_MEMORY_FROM_GPU", kfd_memory_unmap, true, true},
    {AMDKFD_IOC_ALLOC_QUEUE_GWS, "ALLOC_QUEUE_GWS", kfd_queue_allocate_gws, false, true},
    {AMDKFD_IOC_SET_XNACK_MODE, "SET_XNACK_MODE", set_xnack, true, true},
    {AMDKFD_IOC_AVAILABLE_MEMORY, "AVAILABLE_MEMORY", get_available_memory, false, false},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static const struct call *find_call(unsigned long request)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (calls[i].request == (uint32_t)request)
            return &calls[i];
    }
    return NULL;
}

static int refuse(unsigned long request)
{
    /* ROCr asks for a debugger's call at its start and does without; kernels of Linux lack it. */
    enum { DEBUG_TRAP = 0x82 };
    static uint8_t said[256] = {[DEBUG_TRAP] = 1};
    if (!__atomic_exchange_n(&said[_IOC_NR(request)], 1, __ATOMIC_RELAXED))
        kfd_say("ioctl 0x%02lx of /dev/kfd (0x%08lx) is not there; the program gets ENOTTY",
                (unsigned long)_IOC_NR(request), request);
    errno = ENOTTY;
    return -1;
}

/* ---- descriptors ---- */

enum { DESCRIPTORS = 1024 };
static uint8_t kinds[DESCRIPTORS]; /* atomic: by number; 0: not ours, 1: kfd, 2: render node */

int kfd_open(bool render, int minor)
{
    if (!kfd_machine_open()) {
        errno = ENODEV;
        return -1;
    }
    if (render && (minor < KFD_RENDER_MINOR || minor >= KFD_RENDER_MINOR + (int)kfd.gpu_count)) {
        errno = ENOENT;
        return -1;
    }
    int fd = memfd_create(render ? "heddle render node" : "heddle kfd", MFD_CLOEXEC);
    if (fd >= DESCRIPTORS) {
        close(fd);
        errno = EMFILE;
        return -1;
    }
    if (fd >= 0)
        __atomic_store_n(&kinds[fd], render ? 2 : 1, __ATOMIC_RELEASE);
    return fd;
}

static int kind_of(int fd)
{
    return fd >= 0 && fd < DESCRIPTORS ? __atomic_load_n(&kinds[fd], __ATOMIC_ACQUIRE) : 0;
}

int kfd_close(int fd)
{
    if (kind_of(fd))
        __atomic_store_n(&kinds[fd], 0, __ATOMIC_RELEASE);
    return close(fd);
}

/* Waits for events, at most as long as the call says. */
static int wait_events(struct kfd_request *request)
{
    const struct kfd_ioctl_wait_events_args *call = request->argument;
    if (call->timeout == UINT32_MAX) /* KFD_EVENT_TIMEOUT_INFINITE */
        return kfd_ask(request);
    if (!kfd_ask_for(request, call->timeout)) {
        struct kfd_request end = {.run = kfd_event_give_up, .argument = request, .aside = true};
        kfd_ask(&end);
    }
    return request->result;
}

int kfd_ioctl(int fd, unsigned long number, void *argument)
{
    const struct call *call = kind_of(fd) == 1 ? find_call(number) : NULL;
    _Alignas(8) char copy[1024];
    size_t size = _IOC_SIZE(number);
    if (!call)
        return refuse(number);
    if (!program_read(copy, (uintptr_t)argument, size))
        return -1;
    struct kfd_request request = {
        .run = call->run, .argument = copy, .aside = call->aside, .drives = kfd_is_ringer()};
    int result = (kfd.lost || kfd.finished) && !call->when_over ? -ENODEV
                 : call->run == kfd_event_wait                  ? wait_events(&request)
                                                                : kfd_ask(&request);
    if (!program_write((uintptr_t)argument, copy, size) && result == 0)
        result = -EFAULT;
    if (result == 0)
        return 0;
    errno = -result;
    return -1;
}

void *kfd_map(int fd, void *address, size_t length, int protection, int flags, off_t offset)
{
    struct kfd_mapping mapping = {.render = kind_of(fd) == 2,
                                  .address = address,
                                  .length = length,
                                  .protection = protection,
                                  .flags = flags,
                                  .offset = (uint64_t)offset};
    struct kfd_request request = {.run = kfd_memory_show, .argument = &mapping};
    int result = kind_of(fd) ? kfd_ask(&request) : -EBADF;
    if (result == 0)
        return mapping.address;
    errno = -result;
    return MAP_FAILED;
}
