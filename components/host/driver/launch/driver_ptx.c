/* Loads PTX, checks launches of it, and runs them in functional mode, all by the table of
 * components/nvidia/program: only platforms with such devices are linked with the executor. */
#include "driver_ptx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/program/driver_program.h"
#include "components/nvidia/program/ptx_services.h"
#include "components/sampling/sampling_options.h"
#include "runtime/engine/run_control.h"

enum { PTX_HEAP = 8 << 20 }; /* cudaLimitMallocHeapSize, "CUDA C++ Programming Guide", malloc() */

/* ---- code ---- */

static enum driver_status ptx_device(const struct driver *d, uint32_t number,
                                     const struct driver_device **device)
{
    enum driver_status status = handle_check(d, number);
    if (status != DRIVER_OK)
        return status;
    *device = &d->device[driver_handle_at(d, number)->member[0]];
    if (device_executes_ptx(*device))
        return DRIVER_OK;
    return driver_fail(DRIVER_INVALID_DEVICE, "%s executes %s and no PTX", (*device)->info.name,
                       (*device)->info.isa);
}

static enum driver_status call_register_ptx(struct driver *d, uint32_t number, const char *name,
                                            uint64_t address, const char *text, uint64_t size)
{
    const struct driver_device *device;
    enum driver_status status = ptx_device(d, number, &device);
    char error[PTX_ERROR_BYTES];
    if (status != DRIVER_OK)
        return status;
    if (!ptx_services()->add(name, address, text, size, error, sizeof error))
        return driver_fail(DRIVER_INVALID_VALUE, "%s", error);
    program_set_use(driver_program(d), address, PROGRAM_CODE);
    return DRIVER_OK;
}

static enum driver_status ptx_unregister(uint64_t address)
{
    return ptx_services() && ptx_services()->remove(address)
               ? DRIVER_OK
               : driver_fail(DRIVER_INVALID_ADDRESS, "no code is registered at 0x%" PRIx64,
                             address);
}

/* NULL: there is none. */
static const struct ptx_code *ptx_kernel_at(uint64_t entry, const struct warp_kernel **kernel)
{
    return ptx_services() ? ptx_services()->kernel(entry, kernel) : NULL;
}

static enum driver_status ptx_find(uint64_t entry, const struct ptx_code **code,
                                   const struct warp_kernel **kernel)
{
    *code = ptx_kernel_at(entry, kernel);
    return *code ? DRIVER_OK
                 : driver_fail(DRIVER_INVALID_ADDRESS,
                               "no kernel of a registered PTX module begins at 0x%" PRIx64, entry);
}

static enum driver_status ptx_register_kernel(const char *name, uint64_t entry)
{
    const struct ptx_code *code;
    const struct warp_kernel *kernel;
    char text[WARP_MISSING_BYTES];
    enum driver_status status = ptx_find(entry, &code, &kernel);
    if (status == DRIVER_OK
        && ptx_services()->missing(code->code, kernel->function, text, sizeof text))
        fprintf(stderr, "heddle: warning: %s (kernel '%s')\n", text, name);
    return status;
}

static enum driver_status call_ptx_kernel(struct driver *d, uint64_t entry,
                                          struct driver_ptx_kernel *to)
{
    (void)d;
    const struct ptx_code *code;
    const struct warp_kernel *kernel;
    enum driver_status status = ptx_find(entry, &code, &kernel);
    if (status != DRIVER_OK)
        return status;
    *to = (struct driver_ptx_kernel){.registers = kernel->registers,
                                     .shared_bytes = kernel->shared_bytes,
                                     .local_bytes = kernel->local_bytes,
                                     .parameter_bytes = kernel->parameter_bytes,
                                     .max_threads = kernel->threads_max,
                                     .sm = code->module->target,
                                     .ptx_version = code->module->version};
    for (uint32_t i = 0; i < code->module->variable_count; i++) {
        const struct ptx_variable *v = &code->module->variables[i];
        to->constant_bytes += v->space == PTX_SPACE_CONST ? (uint32_t)v->bytes : 0;
    }
    return DRIVER_OK;
}

/* ---- what a launch needs ---- */

static enum driver_status call_ptx_blocks(struct driver *d, uint32_t number, uint64_t entry,
                                          uint32_t threads, uint64_t dynamic_shared,
                                          uint32_t *blocks)
{
    const struct driver_device *device;
    const struct ptx_code *code;
    const struct warp_kernel *kernel;
    const char *limit;
    enum driver_status status = ptx_device(d, number, &device);
    if (status == DRIVER_OK)
        status = ptx_find(entry, &code, &kernel);
    if (status == DRIVER_OK)
        *blocks = ptx_services()->blocks(entry, &device->sm, threads,
                                         kernel->shared_bytes + dynamic_shared, &limit);
    return status;
}

/* Launches without time leave nothing in caches: functional warm-up, samples and profiles of memory
 * are of traces (components/nvidia/trace_player/trace_touch.c). */
static enum driver_status ptx_check_sampling(const char *name)
{
    const struct sampling *s = platform_sampling();
    bool warms = s->kernels && s->warmup == SAMPLING_FUNCTIONAL;
    if (!s->automatic && !warms && platform_profile() != PLATFORM_PROFILE_MEMORY)
        return DRIVER_OK;
    return driver_fail(
        DRIVER_INVALID_VALUE,
        "%s: not of a program in PTX; record what it executes (--record "
        "instructions=DIR) and play that (--play sass=DIR/kernelslist.g)%s (kernel "
        "'%s')",
        s->automatic ? "--kernels auto, --mode sampled"
        : warms      ? "--warmup functional"
                     : "--profile memory",
        warms && !s->automatic ? ", or choose --warmup none, perfect or memory:N" : "", name);
}

static enum driver_status ptx_check(const struct driver_device *device, uint64_t entry,
                                    const struct driver_launch *l)
{
    const struct ptx_code *code;
    const struct warp_kernel *kernel;
    const char *limit;
    char text[WARP_MISSING_BYTES];
    uint32_t threads = (uint32_t)l->block[0] * l->block[1] * l->block[2];
    enum driver_status status = ptx_find(entry, &code, &kernel);
    if (status != DRIVER_OK)
        return status;
    status = ptx_check_sampling(l->name);
    if (status != DRIVER_OK)
        return status;
    if (ptx_services()->missing(code->code, kernel->function, text, sizeof text))
        return driver_fail(DRIVER_FAULT, "%s (kernel '%s')", text, l->name);
    if (threads > kernel->threads_max)
        return driver_fail(DRIVER_TOO_LARGE,
                           "blocks of %u threads; the kernel says at most %u (kernel '%s')",
                           threads, kernel->threads_max, l->name);
    if (!ptx_services()->blocks(entry, &device->sm, threads, l->group_bytes, &limit))
        return driver_fail(DRIVER_TOO_LARGE,
                           "a block of %u threads, %u registers a thread and %u bytes of shared "
                           "memory does not fit on an SM of %s: not enough %s (kernel '%s')",
                           threads, kernel->registers, l->group_bytes, device->info.name, limit,
                           l->name);
    return DRIVER_OK;
}

static enum driver_status call_set_kernel_heap(struct driver *d, uint32_t number, uint64_t bytes)
{
    const struct driver_device *device;
    enum driver_status status = ptx_device(d, number, &device);
    if (status == DRIVER_OK)
        d->device[driver_handle_at(d, number)->member[0]].heap_bytes = bytes;
    return status;
}

static enum driver_status ptx_prepare(struct driver *d, uint32_t gpu, uint32_t pid, uint64_t entry)
{
    const struct warp_kernel *kernel;
    const struct ptx_code *code = ptx_kernel_at(entry, &kernel);
    uint64_t address, bytes = d->device[gpu].heap_bytes ? d->device[gpu].heap_bytes : PTX_HEAP;
    if (!code || !ptx_services()->allocates(code) || ptx_services()->heap_has(gpu, pid))
        return DRIVER_OK;
    enum driver_status status = memory_allocate_own(d, gpu, pid, bytes, PROGRAM_SCRATCH, &address);
    if (status == DRIVER_OK)
        ptx_services()->heap_set(gpu, pid, address, bytes);
    return status;
}

static enum driver_ptx_fault api_ptx_fault(void)
{
    _Static_assert((int)DRIVER_PTX_INSTRUCTION == (int)WARP_FAULT_INSTRUCTION, "faults differ");
    return ptx_services() ? (enum driver_ptx_fault)ptx_services()->fault() : DRIVER_PTX_FAULT_NONE;
}

/* ---- functional mode ---- */

static bool ptx_is_interrupted(void *context)
{
    (void)context;
    return engine_is_interrupted();
}

static enum functional_end ptx_end_of(enum warp_end end, const struct warp_grid *grid)
{
    switch (end) {
    case WARP_DONE:
        return FUNCTIONAL_DONE;
    case WARP_DEADLOCK:
        return FUNCTIONAL_DEADLOCK;
    case WARP_INTERRUPTED:
        return grid->limit && grid->launch.instructions >= grid->limit ? FUNCTIONAL_LIMIT
                                                                       : FUNCTIONAL_INTERRUPTED;
    default:
        return FUNCTIONAL_FAULT;
    }
}

static void ptx_take_result(struct functional_result *result, const struct driver_command *k,
                            const struct warp_grid *grid, const struct warp_fault *fault)
{
    result->instructions = grid->launch.instructions;
    if (result->end == FUNCTIONAL_DONE)
        result->work_groups = k->launch.groups;
    if (result->end == FUNCTIONAL_LIMIT)
        snprintf(result->text, sizeof result->text,
                 "%" PRIu64
                 " warp instructions have been executed (--max-cycles, --max-instructions)",
                 engine_instructions() + result->instructions);
    if (result->end == FUNCTIONAL_FAULT || result->end == FUNCTIONAL_DEADLOCK)
        snprintf(result->text, sizeof result->text, "%s%s", fault->text,
                 result->end == FUNCTIONAL_FAULT
                     ? ""
                     : "; functional mode ends a kernel of PTX before it begins the next command: "
                       "use timing mode where another one is to end the wait");
    if (result->end != FUNCTIONAL_FAULT)
        return;
    ptx_services()->fault_note(fault->kind);
    result->by_access = fault->kind == WARP_FAULT_ADDRESS;
    result->address = fault->address;
}

static void ptx_execute(const struct driver *d, const struct driver_command *k, uint32_t number,
                        struct functional_result *result)
{
    const struct driver_device *device = &d->device[number];
    struct ptx_call call;
    struct warp_fault fault = {0};
    const char *limit;
    uint32_t threads = (uint32_t)k->launch.packet.work_group[0] * k->launch.packet.work_group[1]
                       * k->launch.packet.work_group[2];
    uint64_t most = platform_max_instructions(), before = engine_instructions();
    const struct ptx_order order = {
        .program = driver_program(d),
        .pages = driver_page_table(d),
        .packet = &k->launch.packet,
        .entry = k->launch.entry,
        .title = program_kernel_name(driver_program(d), k->launch.kernel),
        .key = argument_ring_seen(d, number, k->pid)->address + k->ring_offset,
        .number = k->launch.number,
        .pid = k->pid,
        .gpu = number,
        .sms = device->info.compute_units,
        .resident = device->info.compute_units
                    * ptx_services()->blocks(k->launch.entry, &device->sm, threads,
                                             k->launch.packet.group_bytes, &limit)};
    *result = (struct functional_result){.end = FUNCTIONAL_FAULT};
    if (!ptx_services()->call_begin(&call, &order, result->text, sizeof result->text))
        return;
    call.launch.before = before;
    struct warp_grid grid = {.launch = call.launch,
                             .first = k->launch.first_group,
                             .count = k->launch.groups,
                             .limit = !most           ? 0
                                      : most > before ? most - before
                                                      : 1,
                             .stop = ptx_is_interrupted,
                             .is_alone = driver_is_alone};
    result->end = ptx_end_of(ptx_services()->grid_run(&grid, &fault), &grid);
    ptx_take_result(result, k, &grid, &fault);
    ptx_services()->call_end(&call);
    if (result->end != FUNCTIONAL_DONE)
        ptx_over(d, k, number);
}

static void ptx_print_for(const char *text, size_t size)
{
    driver_process()->print(driver_process()->printing_device, text, size);
}

static void ptx_over(const struct driver *d, const struct driver_command *k, uint32_t number)
{
    const struct driver_device *device = &d->device[number];
    driver_process()->printing_device = driver_queue_at(d, k->queue)->handle;
    if (device_executes_ptx(device))
        ptx_services()->output_give(number,
                                    argument_ring_seen(d, number, k->pid)->address + k->ring_offset,
                                    driver_process()->print ? ptx_print_for : NULL);
}
