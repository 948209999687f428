/* Devices as the program sees them: a GPU, a GPU in a process of its own (a context), several GPUs
 *as one (unified).
 *.
 *
 * A handle names a process and a list of GPUs. Memory that is allocated for it spreads over its
 *GPUs in consecutive runs of pages, and the work-groups of a launch do the same (memory_share_of).
 *A GPU may belong to any number of handles, and a process has as many handles as it uses. Numbers
 *of handles that were destroyed are used again; a process ends with its last handle, and its number
 *is used again after a shoot-down. */
#include <stdio.h>
#include <string.h>

#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/memory/tlb/tlb_shootdown.h"

#include "driver_program.h"

static enum driver_status handle_check(const struct driver *d, uint32_t number)
{
    if (number < d->handle_count && driver_handle_at(d, number)->is_used)
        return DRIVER_OK;
    return driver_fail(DRIVER_INVALID_DEVICE,
                       number < d->handle_count
                           ? "device %u was destroyed; the platform has %u GPUs"
                           : "there is no device %u; the platform has %u",
                       number, d->gpu_count);
}

static bool handle_has(const struct driver_handle *h, uint32_t gpu)
{
    for (uint32_t i = 0; i < h->count; i++)
        if (h->member[i] == gpu)
            return true;
    return false;
}

static uint32_t handle_open(struct driver *d, uint32_t pid, const uint32_t *member, uint32_t count)
{
    uint32_t number = d->gpu_count;
    while (number < d->handle_count && driver_handle_at(d, number)->is_used)
        number++;
    if (number >= DRIVER_HANDLES_MAX)
        return DRIVER_NONE;
    if (number >= d->handle_count)
        d->handle_count = number + 1;
    struct driver_handle *h = driver_handle_at(d, number);
    *h = (struct driver_handle){.is_used = true, .pid = pid, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        h->member[i] = member[i];
        h->part_queue[i] = DRIVER_NONE;
    }
    return number;
}

static uint32_t handle_count_pid(const struct driver *d, uint32_t pid)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->handle_count; i++)
        count += driver_handle_at(d, i)->is_used && driver_handle_at(d, i)->pid == pid;
    return count;
}

static void handles_init(struct driver *d)
{
    d->handles = arena_allocate(DRIVER_HANDLES_MAX * sizeof(struct driver_handle));
    for (uint32_t i = 0; i < d->gpu_count; i++) {
        *driver_handle_at(d, i) =
            (struct driver_handle){.is_used = true, .pid = DRIVER_PID, .count = 1};
        driver_handle_at(d, i)->member[0] = i;
        driver_handle_at(d, i)->part_queue[0] = DRIVER_NONE;
    }
    d->handle_count = d->gpu_count;
}

/* "0, 1, 2 and 3" */
static void handle_list(uint32_t count, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%u",
                               i == 0          ? ""
                               : i + 1 < count ? ", "
                                               : " and ",
                               i);
}

static enum driver_status call_unify(struct driver *d, const uint32_t *gpus, uint32_t count,
                                     uint32_t *handle)
{
    char list[400];
    handle_list(d->gpu_count, list, sizeof list);
    if (!count || count > DRIVER_DEVICES)
        return driver_fail(DRIVER_INVALID_VALUE,
                           "a unified device of %u GPUs; the platform has %u: %s", count,
                           d->gpu_count, list);
    for (uint32_t i = 0; i < count; i++) {
        if (gpus[i] >= d->gpu_count)
            return driver_fail(DRIVER_INVALID_DEVICE,
                               "unified device: there is no GPU %u; the GPUs are %s", gpus[i],
                               list);
        if (strcmp(d->device[gpus[i]].info.isa, d->device[gpus[0]].info.isa) != 0)
            return driver_fail(DRIVER_INVALID_DEVICE,
                               "unified device: GPU %u is %s, GPU %u is %s; they must be alike",
                               gpus[0], d->device[gpus[0]].info.isa, gpus[i],
                               d->device[gpus[i]].info.isa);
        for (uint32_t j = 0; j < i; j++) {
            if (gpus[i] == gpus[j])
                return driver_fail(DRIVER_INVALID_VALUE, "unified device: GPU %u is named twice",
                                   gpus[i]);
        }
    }
    *handle = handle_open(d, DRIVER_PID, gpus, count);
    return *handle == DRIVER_NONE ? driver_fail(
               DRIVER_OUT_OF_MEMORY, "more than %d devices and contexts", DRIVER_HANDLES_MAX)
                                  : DRIVER_OK;
}

static void handle_info(const struct driver *d, const struct driver_handle *h,
                        struct driver_device_info *info)
{
    *info = d->device[h->member[0]].info;
    info->process = h->pid;
    for (uint32_t i = 1; i < h->count; i++) {
        const struct driver_device_info *other = &d->device[h->member[i]].info;
        info->memory_bytes += other->memory_bytes;
        info->compute_units += other->compute_units;
        info->l2_bytes += other->l2_bytes;
        info->memory_bandwidth_bytes_per_s += other->memory_bandwidth_bytes_per_s;
        if (other->max_work_group < info->max_work_group)
            info->max_work_group = other->max_work_group;
        if (other->lds_bytes_per_cu < info->lds_bytes_per_cu)
            info->lds_bytes_per_cu = other->lds_bytes_per_cu;
    }
    if (h->count > 1) {
        char name[sizeof info->name];
        memcpy(name, info->name, sizeof name);
        snprintf(info->name, sizeof info->name, "%u x %.50s", h->count, name);
    }
}

static enum driver_status shootdown_check(void)
{
    const char *tlb = tlb_without_shootdown();
    return tlb ? driver_fail(DRIVER_INVALID_VALUE,
                             "mappings cannot be changed: no shoot-down reaches the TLB '%s'; "
                             "connect its `control` to `tlb_control` of the command processor",
                             tlb)
               : DRIVER_OK;
}
