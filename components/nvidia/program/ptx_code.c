/* Keeps the modules of the program and begins launches of their kernels. The table is searched by
 * address. */
#include "ptx_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/nvidia/ptx/ptx_object.h"

#include "ptx_checks.h"
#include "ptx_debug.h"
#include "ptx_internal.h"
#include "ptx_services.h"

static struct ptx_code *codes;
static enum warp_fault_kind last_fault;

static struct ptx_module *code_parse(const char *name, const char *text, size_t size, char *error,
                                     size_t error_size)
{
    struct ptx_error mistake;
    struct ptx_module *module = ptx_parse(name, text, size, &mistake);
    if (module)
        ptx_layout(module);
    else
        snprintf(error, error_size, "%s", mistake.text);
    return module;
}

static struct ptx_module *code_read(const char *name, const char *text, size_t size,
                                    struct code_object *object, char *error, size_t error_size)
{
    struct ptx_module *module = code_parse(name, text, size, error, error_size);
    if (module)
        ptx_object_describe(module, object);
    return module;
}

static bool code_add(const char *name, uint64_t address, const char *text, size_t size, char *error,
                     size_t error_size)
{
    struct ptx_module *module = code_parse(name, text, size, error, error_size);
    if (!module)
        return false;
    if (module->warnings && *module->warnings)
        fprintf(stderr, "heddle: warning: %s", module->warnings);
    struct ptx_code *c = grow_memory(NULL, sizeof *c, PTX_PROGRAM);
    *c = (struct ptx_code){.next = codes,
                           .address = address,
                           .size = module->image_bytes,
                           .module = module,
                           .code = warp_prepare(module, address)};
    codes = c;
    ptx_debug_code(c, text, size);
    return true;
}

static bool code_remove(uint64_t address)
{
    for (struct ptx_code **link = &codes; *link; link = &(*link)->next) {
        struct ptx_code *c = *link;
        if (c->address != address)
            continue;
        *link = c->next;
        warp_release(c->code);
        ptx_free(c->module);
        free(c);
        return true;
    }
    return false;
}

static const struct ptx_code *code_kernel(uint64_t entry, const struct warp_kernel **kernel)
{
    for (const struct ptx_code *c = codes; c; c = c->next) {
        if (entry - c->address < c->size) {
            *kernel = warp_kernel_at(c->code, entry);
            return *kernel ? c : NULL;
        }
    }
    return NULL;
}

void ptx_fault_set(enum warp_fault_kind kind)
{
    last_fault = kind;
}

enum warp_fault_kind ptx_fault(void)
{
    return last_fault;
}

/* ---- launches ---- */

static int call_print(void *context, const struct warp_block *block, uint32_t thread,
                      uint64_t format, uint64_t arguments)
{
    struct ptx_call *c = context;
    struct ptx_text *to = ptx_output_of(c->gpu, c->key);
    return ptx_print(&c->launch, block, thread, format, arguments, to);
}

static uint64_t call_allocate(void *context, uint64_t bytes)
{
    const struct ptx_call *c = context;
    return ptx_heap_allocate(c->gpu, c->view.pid, bytes);
}

static void call_release(void *context, uint64_t address)
{
    const struct ptx_call *c = context;
    ptx_heap_release(c->gpu, c->view.pid, address);
}

/* Copies the arguments from the device's memory. */
static bool call_read_parameters(struct ptx_call *c, uint64_t address)
{
    uint32_t bytes = c->launch.kernel->parameter_bytes;
    c->parameters = grow_memory(NULL, bytes, PTX_PROGRAM);
    c->launch.parameters = c->parameters;
    if (!bytes)
        return true;
    if (!host_view_is_allocated(&c->view, address, bytes))
        return false;
    host_view_read(&c->view, address, c->parameters, bytes);
    return true;
}

bool ptx_call_begin(struct ptx_call *c, const struct ptx_order *o, char *error, size_t error_size)
{
    const struct warp_kernel *kernel;
    const struct ptx_code *code = code_kernel(o->entry, &kernel);
    if (!code) {
        snprintf(error, error_size, "no kernel in PTX begins at 0x%" PRIx64, o->entry);
        return false;
    }
    *c = (struct ptx_call){.code = code, .gpu = o->gpu, .key = o->key};
    host_view_refresh(&c->view, o->program, o->pages, o->pid);
    c->view.gpu = o->gpu;
    c->view.unit = HOST_VIEW_UNIT_NONE;
    c->launch = (struct warp_launch){.code = code->code,
                                     .kernel = kernel,
                                     .title = o->title,
                                     .sms = o->sms,
                                     .resident = o->resident,
                                     .number = o->number,
                                     .view = &c->view,
                                     .print = call_print,
                                     .allocate = call_allocate,
                                     .release = call_release,
                                     .context = c};
    const struct ptx_function *function = &code->module->functions[kernel->function];
    for (unsigned i = 0; i < 3; i++) {
        c->launch.cluster[i] = aql_cluster(o->packet, i);
        if (!c->launch.cluster[i])
            c->launch.cluster[i] = function->cluster[i];
        c->launch.block[i] = o->packet->work_group[i];
        c->launch.grid[i] = divide_up(o->packet->grid[i], c->launch.block[i]);
    }
    if (o->packet->group_bytes > kernel->shared_bytes)
        c->launch.dynamic_shared = o->packet->group_bytes - kernel->shared_bytes;
    ptx_checks_begin(c, o);
    ptx_debug_begin(c);
    if (!call_read_parameters(c, o->packet->kernarg)) {
        snprintf(error, error_size, "the arguments are not in the device's memory (kernel '%s')",
                 kernel->name);
        return false;
    }
    return warp_launch_check(&c->launch, error, error_size);
}

void ptx_call_end(struct ptx_call *c)
{
    ptx_debug_end(c);
    free(c->parameters);
    c->parameters = NULL;
}

static bool code_allocates(const struct ptx_code *code)
{
    return ptx_find_function(code->module, "malloc") != NULL;
}

static uint32_t code_blocks(uint64_t entry, const struct sm_shape *sm, uint32_t threads,
                            uint64_t shared_bytes, const char **limit)
{
    const struct warp_kernel *kernel;
    struct sm_room block;
    return code_kernel(entry, &kernel)
               ? sm_shape_blocks(sm, threads, kernel->registers, shared_bytes, &block, limit)
               : 0;
}

const struct ptx_services ptx_code_services = {
    .read = code_read,
    .image = ptx_image,
    .release = ptx_free,
    .add = code_add,
    .remove = code_remove,
    .kernel = code_kernel,
    .missing = warp_code_missing,
    .blocks = code_blocks,
    .allocates = code_allocates,
    .call_begin = ptx_call_begin,
    .call_end = ptx_call_end,
    .grid_run = warp_grid_run,
    .output_give = ptx_output_give,
    .output_give_all = ptx_output_give_all,
    .fault_note = ptx_fault_set,
    .fault = ptx_fault,
    .heap_set = ptx_heap_set,
    .heap_has = ptx_heap_has,
    .heap_drop = ptx_heap_drop,
};
