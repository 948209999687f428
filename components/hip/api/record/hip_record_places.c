/* Finds for an address the allocation or the variable that a recording names (see
 * hip_record_places.h). */
#include "hip_record_places.h"

#include "components/hip/api/hip_internal.h"

#include "hip_record_files.h"

/* A place in a module is one in a variable. */
static bool symbol_pointer(const struct hip_module *module, const struct hip_allocation *image,
                           uint64_t address, struct api_trace_pointer *pointer)
{
    for (size_t i = 0; i < module->object.symbol_count; i++) {
        const struct code_object_symbol *symbol = &module->object.symbols[i];
        uint64_t start = module->base + symbol->address;
        if (symbol->is_variable && address >= start
            && (address - start < symbol->size || address == start)) {
            size_t bytes = strlen(symbol->name) + 1; /* it must outlive its module */
            *pointer = (struct api_trace_pointer){
                .allocation = image->number,
                .space = API_TRACE_SYMBOL,
                .offset = address - start,
                .symbol = memcpy(hip_record_keep(bytes), symbol->name, bytes)};
            return true;
        }
    }
    return false;
}

bool hip_record_find(uint64_t address, struct api_trace_pointer *pointer)
{
    const struct hip_allocation *allocation = hip_find_allocation(address);
    if (!allocation)
        return false;
    const struct hip_module *module = hip_module_at(allocation->address);
    if (module || allocation->kind == HIP_MODULE_MEMORY)
        return module && symbol_pointer(module, allocation, address, pointer);
    bool is_host =
        allocation->kind == HIP_PINNED_MEMORY || allocation->kind == HIP_REGISTERED_MEMORY;
    *pointer = (struct api_trace_pointer){.allocation = allocation->number,
                                          .space = is_host ? API_TRACE_HOST : API_TRACE_DEVICE,
                                          .offset = address - allocation->address};
    return true;
}

/* Host memory that kernels use is named as what it is to them. */
static bool find_argument(uint64_t address, struct api_trace_pointer *pointer)
{
    const struct hip_allocation *allocation = hip_find_allocation(address);
    if (allocation && allocation->mapped_number > 0) {
        *pointer = (struct api_trace_pointer){.allocation = allocation->mapped_number,
                                              .space = API_TRACE_DEVICE,
                                              .offset = address - allocation->address};
        return true;
    }
    return hip_record_find(address, pointer) && pointer->space != API_TRACE_HOST;
}

void hip_record_arguments(const struct code_object_kernel *kernel, const uint8_t *kernarg,
                          struct api_trace_call *call)
{
    struct api_trace_argument *list =
        hip_record_keep(kernel->explicit_argument_count * sizeof *list + 1);
    for (uint32_t i = 0; i < kernel->explicit_argument_count; i++) {
        const struct code_object_argument *argument = &kernel->arguments[i];
        uint64_t value = 0;
        list[i].offset = argument->offset;
        list[i].size = argument->size;
        if (argument->kind == CODE_OBJECT_VALUE_GLOBAL_BUFFER && argument->size == sizeof value) {
            memcpy(&value, kernarg + argument->offset, sizeof value);
            list[i].is_pointer = find_argument(value, &list[i].pointer);
        }
        if (!list[i].is_pointer)
            list[i].bytes =
                memcpy(hip_record_keep(argument->size), kernarg + argument->offset, argument->size);
    }
    call->arguments = list;
    call->argument_count = kernel->explicit_argument_count;
}
