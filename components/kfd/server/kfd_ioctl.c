/* The calls of /dev/kfd by number (linux/kfd_ioctl.h), and the function that does each of them.
 * What is not in the table, or came to Linux after the version that the program is told, answers
 * ENOTTY, and is named once. As with Linux a caller may have a shorter or longer argument than the
 * driver, from an older or newer header: missing bytes are 0, and bytes too many come back
 * unchanged. */
#include "kfd_ioctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/number.h"
#include "components/kfd/channel/kfd_new_ioctls.h"
#include "components/kfd/channel/program_memory.h"

#include "kfd_machine.h"

enum {
    /* Words of GB_TILE_MODE and GB_MACROTILE_MODE, and the array mode in bits 2..5 of the former
     * (amdgpu, gfx_v8_0.c, gca_8_0_enum.h). */
    TILE_MODES = 32,
    MACRO_TILE_MODES = 16,
    LINEAR_ALIGNED = 1 << 2
};

/* ---- calls that ask for facts ---- */

static int get_version(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_get_version_args *call = request->argument;
    (void)p;
    call->major_version = KFD_MAJOR_VERSION;
    call->minor_version = kfd.minor_version;
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

static int get_apertures(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_get_process_apertures_args *call = request->argument;
    (void)p;
    call->num_of_nodes = min(kfd.gpu_count, NUM_OF_SUPPORTED_GPUS);
    for (uint32_t i = 0; i < call->num_of_nodes; i++)
        call->process_apertures[i] = apertures_of(i);
    return 0;
}

static int get_apertures_new(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_get_process_apertures_new_args *call = request->argument;
    struct kfd_process_device_apertures list[KFD_GPUS_MAX];
    uint32_t count = min(call->num_of_nodes, kfd.gpu_count);
    if (!call->num_of_nodes) { /* it asks how many there are */
        call->num_of_nodes = kfd.gpu_count;
        return 0;
    }
    for (uint32_t i = 0; i < count; i++)
        list[i] = apertures_of(i);
    call->num_of_nodes = count;
    return program_write(p->pid, call->kfd_process_device_apertures_ptr, list, count * sizeof *list)
               ? 0
               : -EFAULT;
}

/* All counters are simulated time. */
static int get_clocks(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_get_clock_counters_args *call = request->argument;
    if (call->gpu_id && kfd_find_gpu(call->gpu_id) < 0)
        return -EINVAL;
    uint64_t now = kfd_read_clock(p);
    call->gpu_clock_counter = call->gpu_id ? now : 0;
    call->cpu_clock_counter = call->system_clock_counter = now;
    call->system_clock_freq = 1000000000;
    return 0;
}

static int get_available_memory(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_get_available_memory_args *call = request->argument;
    int gpu = kfd_find_gpu(call->gpu_id);
    (void)p;
    uint64_t free_bytes = 0, total;
    if (gpu < 0)
        return -EINVAL;
    int result =
        kfd_status(kfd.api->memory_info((uint32_t)gpu, &free_bytes, &total), "free memory");
    call->available = free_bytes;
    return result;
}

/* Writes up to `count` words, all the same, to the program's array. */
static int write_words(const struct kfd_process *p, uint64_t address, uint32_t word, uint32_t count)
{
    uint32_t words[TILE_MODES];
    for (uint32_t i = 0; i < count; i++)
        words[i] = word;
    return program_write(p->pid, address, words, count * sizeof word) ? 0 : -EFAULT;
}

/* Nothing of simulated memory is tiled: all modes are linear ones. */
static int get_tile_config(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_get_tile_config_args *call = request->argument;
    if (kfd_find_gpu(call->gpu_id) < 0)
        return -EINVAL;
    if (call->num_tile_configs > TILE_MODES)
        call->num_tile_configs = TILE_MODES;
    if (call->num_macro_tile_configs > MACRO_TILE_MODES)
        call->num_macro_tile_configs = MACRO_TILE_MODES;
    call->gb_addr_config = call->num_banks = call->num_ranks = 0;
    int result = write_words(p, call->tile_config_ptr, LINEAR_ALIGNED, call->num_tile_configs);
    return result ? result
                  : write_words(p, call->macro_tile_config_ptr, 0, call->num_macro_tile_configs);
}

/* ---- calls that prepare a GPU ---- */

static int acquire_vm(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_acquire_vm_args *call = request->argument;
    (void)p;
    return kfd_find_gpu(call->gpu_id) < 0 ? -EINVAL : 0;
}

/* All memory is coherent with the program at the ends of kernels, which satisfies both policies. */
static int set_memory_policy(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_set_memory_policy_args *call = request->argument;
    (void)p;
    if (kfd_find_gpu(call->gpu_id) < 0)
        return -EINVAL;
    return call->default_policy > KFD_IOC_CACHE_POLICY_NONCOHERENT
                   || call->alternate_policy > KFD_IOC_CACHE_POLICY_NONCOHERENT
               ? -EINVAL
               : 0;
}

/* Private memory is the driver's: it gives each launch what its packet asks for. */
static int set_scratch(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_set_scratch_backing_va_args *call = request->argument;
    (void)p;
    return kfd_find_gpu(call->gpu_id) < 0 ? -EINVAL : 0;
}

/* A trap ends the simulation with a message, whether or not there is a handler for it. */
static int set_trap_handler(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_set_trap_handler_args *call = request->argument;
    (void)p;
    return kfd_find_gpu(call->gpu_id) < 0 ? -EINVAL : 0;
}

static bool all_retry(void)
{
    bool all = true;
    for (uint32_t i = 0; i < kfd.gpu_count; i++)
        all &= kfd.gpu[i].retries;
    return all;
}

/* XNACK is off at first, and errors are those of Linux (kfd_chardev.c). */
static int set_xnack(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_set_xnack_mode_args *call = request->argument;
    bool on = call->xnack_enabled > 0;
    if (call->xnack_enabled < 0) {
        call->xnack_enabled = p->retries;
        return 0;
    }
    if (kfd_queues_any(p))
        return -EBUSY;
    if (on && !all_retry())
        return -EPERM;
    if (on != p->retries && kfd_svm_any(p))
        return -EBUSY; /* ranges that are given to GPUs would have to be given anew */
    p->retries = on;
    return 0;
}

/* State for a debugger, which there is none of: the driver only remembers that the runtime
 * has announced itself. */
static int enable_runtime(struct kfd_process *p, struct kfd_request *request)
{
    const struct kfd_ioctl_runtime_enable_args *call = request->argument;
    bool enable = call->mode_mask & KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK;
    if (enable && p->has_runtime)
        return -EBUSY;
    if (enable && kfd_queues_any(p))
        return -EEXIST;
    p->has_runtime = enable;
    return 0;
}

/* The first interface for debuggers, which Linux has refused since 5.17. */
static int refuse_debugger(struct kfd_process *p, struct kfd_request *request)
{
    (void)p, (void)request;
    return -EPERM;
}

/* ---- the table ---- */

/* The times at which calls work: after the simulation has ended, and in the middle of a kernel, as
 * they need nothing of the driver. */
enum { AFTER_END = 1, MID_KERNEL = 2, ALWAYS = AFTER_END | MID_KERNEL };

struct call {
    unsigned long request;
    int (*run)(struct kfd_process *p, struct kfd_request *request);
    uint8_t when;
    uint8_t since; /* N of version 1.N */
};

static const struct call calls[] = {
    {AMDKFD_IOC_GET_VERSION, get_version, ALWAYS, 1},
    {AMDKFD_IOC_CREATE_QUEUE, kfd_queue_create, 0, 1},
    {AMDKFD_IOC_DESTROY_QUEUE, kfd_queue_destroy, AFTER_END, 1},
    {AMDKFD_IOC_SET_MEMORY_POLICY, set_memory_policy, ALWAYS, 1},
    {AMDKFD_IOC_GET_CLOCK_COUNTERS, get_clocks, ALWAYS, 1},
    {AMDKFD_IOC_GET_PROCESS_APERTURES, get_apertures, ALWAYS, 1},
    {AMDKFD_IOC_UPDATE_QUEUE, kfd_queue_update, ALWAYS, 1},
    {AMDKFD_IOC_CREATE_EVENT, kfd_event_create, ALWAYS, 1},
    {AMDKFD_IOC_DESTROY_EVENT, kfd_event_destroy, ALWAYS, 1},
    {AMDKFD_IOC_SET_EVENT, kfd_event_set, ALWAYS, 1},
    {AMDKFD_IOC_RESET_EVENT, kfd_event_reset, ALWAYS, 1},
    {AMDKFD_IOC_WAIT_EVENTS, kfd_event_wait, ALWAYS, 1},
    {AMDKFD_IOC_DBG_REGISTER_DEPRECATED, refuse_debugger, ALWAYS, 1},
    {AMDKFD_IOC_DBG_UNREGISTER_DEPRECATED, refuse_debugger, ALWAYS, 1},
    {AMDKFD_IOC_DBG_ADDRESS_WATCH_DEPRECATED, refuse_debugger, ALWAYS, 1},
    {AMDKFD_IOC_DBG_WAVE_CONTROL_DEPRECATED, refuse_debugger, ALWAYS, 1},
    {AMDKFD_IOC_SET_SCRATCH_BACKING_VA, set_scratch, ALWAYS, 1},
    {AMDKFD_IOC_GET_TILE_CONFIG, get_tile_config, ALWAYS, 1},
    {AMDKFD_IOC_SET_TRAP_HANDLER, set_trap_handler, ALWAYS, 1},
    {AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, get_apertures_new, ALWAYS, 1},
    {AMDKFD_IOC_ACQUIRE_VM, acquire_vm, ALWAYS, 1},
    {AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, kfd_memory_allocate, 0, 1},
    {AMDKFD_IOC_FREE_MEMORY_OF_GPU, kfd_memory_free, AFTER_END, 1},
    {AMDKFD_IOC_MAP_MEMORY_TO_GPU, kfd_memory_map, AFTER_END, 1},
    {AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, kfd_memory_unmap, AFTER_END, 1},
    {AMDKFD_IOC_SET_CU_MASK, kfd_queue_mask, ALWAYS, 1},
    {AMDKFD_IOC_GET_QUEUE_WAVE_STATE, kfd_queue_wave_state, ALWAYS, 1},
    {AMDKFD_IOC_GET_DMABUF_INFO, kfd_share_dmabuf_info, ALWAYS, 1},
    {AMDKFD_IOC_IMPORT_DMABUF, kfd_share_import_dmabuf, 0, 1},
    {AMDKFD_IOC_ALLOC_QUEUE_GWS, kfd_queue_allocate_gws, MID_KERNEL, 1},
    {AMDKFD_IOC_SMI_EVENTS, kfd_smi_events_open, ALWAYS, 3},
    {AMDKFD_IOC_SVM, kfd_svm_call, 0, 5},
    {AMDKFD_IOC_SET_XNACK_MODE, set_xnack, ALWAYS, 5},
    {AMDKFD_IOC_AVAILABLE_MEMORY, get_available_memory, 0, 9},
    {AMDKFD_IOC_EXPORT_DMABUF, kfd_share_export_dmabuf, ALWAYS, 12},
    {AMDKFD_IOC_RUNTIME_ENABLE, enable_runtime, ALWAYS, 13},
    {AMDKFD_IOC_IPC_IMPORT_HANDLE, kfd_share_import_handle, 0, 1},
    {AMDKFD_IOC_IPC_EXPORT_HANDLE, kfd_share_export_handle, ALWAYS, 1},
};
enum { CALLS = ARRAY_COUNT(calls) };

/* Linux, too, goes by the number alone. */
static const struct call *find_call(unsigned long request)
{
    for (size_t i = 0; i < CALLS; i++)
        if (_IOC_NR(calls[i].request) == _IOC_NR(request)
            && _IOC_TYPE(request) == AMDKFD_IOCTL_BASE)
            return calls[i].since <= kfd.minor_version ? &calls[i] : NULL;
    return NULL;
}

static void warn_missing(unsigned long number)
{
    /* ROCr asks for a debugger's call at its start and does without; kernels of Linux lack it. */
    enum { DEBUG_TRAP = 0x82 };
    static uint8_t has_warned[256] = {[DEBUG_TRAP] = 1};
    if (!__atomic_exchange_n(&has_warned[_IOC_NR(number)], 1, __ATOMIC_RELAXED))
        kfd_say("ioctl 0x%02lx of /dev/kfd (0x%08lx) is not there; the program gets ENOTTY",
                (unsigned long)_IOC_NR(number), number);
}

/* Attributes follow the argument itself. */
static bool has_attributes(const struct kfd_ioctl_svm_args *svm, size_t size)
{
    return size >= sizeof *svm && svm->nattr <= (size - sizeof *svm) / sizeof svm->attrs[0];
}

bool kfd_ioctl_runs_mid_kernel(unsigned long number)
{
    const struct call *call = find_call(number);
    return !call || call->when & MID_KERNEL;
}

int kfd_ioctl_run(struct kfd_process *p, struct kfd_request *request,
                  const struct kfd_call *message, bool *returns)
{
    unsigned long number = message->word[0];
    const struct call *call = message->word[1] & KFD_IOCTL_OTHER ? NULL : find_call(number);
    *returns = false;
    if (!call) {
        warn_missing(number);
        return -ENOTTY;
    }
    if (message->word[1] & KFD_IOCTL_UNREADABLE && _IOC_DIR(call->request) & _IOC_WRITE)
        return -EFAULT;
    if (kfd.has_ended && !(call->when & AFTER_END))
        return -ENODEV;
    if (call->run == kfd_svm_call && !has_attributes(request->argument, message->size))
        return -EINVAL;
    *returns = _IOC_DIR(call->request) & _IOC_READ;
    return call->run(p, request);
}
