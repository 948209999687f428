/* Describes the kernels and variables of a parsed module, and recognises a text of PTX by its first
 * word. */
#include "ptx_object.h"

#include <stdlib.h>
#include <string.h>

#include "ptx.h"

enum { PARAMETERS_ALIGN = 16 };

static bool begins_with(const char *at, const char *end, const char *with)
{
    size_t length = strlen(with);
    return (size_t)(end - at) >= length && memcmp(at, with, length) == 0;
}

/* The text after blanks and comments. */
static const char *skip_comments(const char *at, const char *end)
{
    while (at < end) {
        const char *close = begins_with(at, end, "//")   ? "\n"
                            : begins_with(at, end, "/*") ? "*/"
                                                         : NULL;
        if (!close && *at != ' ' && *at != '\t' && *at != '\r' && *at != '\n')
            break;
        for (at += close ? 2 : 0; close && at < end && !begins_with(at, end, close);)
            at++;
        at += at < end ? (close ? strlen(close) : 1) : 0;
    }
    return at;
}

bool ptx_object_recognise(const void *bytes, size_t size)
{
    const char *end = (const char *)bytes + size;
    return begins_with(skip_comments(bytes, end), end, ".version");
}

static const char *copy_name(struct code_object *object, const char *name)
{
    return region_strndup(&object->memory, name, strlen(name));
}

static bool may_be_pointer(const struct ptx_variable *param)
{
    return param->count == 1 && param->bytes == 8 && !ptx_type_is_float(param->type);
}

static void describe_kernel(struct code_object *object, const struct ptx_function *function,
                            struct code_object_kernel *kernel)
{
    *kernel = (struct code_object_kernel){
        .name = copy_name(object, function->name),
        .entry_address = function->offset,
        .kernarg_size = function->param_bytes,
        .kernarg_align = PARAMETERS_ALIGN,
        .group_size = function->shared_bytes,
        .wavefront_size = 32,
        .arguments =
            region_take_array(&object->memory, function->param_count, sizeof *kernel->arguments),
        .argument_count = function->param_count,
        .explicit_argument_count = function->param_count,
    };
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct ptx_variable *param = &function->params[i];
        kernel->arguments[i] = (struct code_object_argument){
            .name = copy_name(object, param->name),
            .kind = may_be_pointer(param) ? CODE_OBJECT_VALUE_GLOBAL_BUFFER
                                          : CODE_OBJECT_VALUE_BY_VALUE,
            .type_name = "",
            .address_space = "",
            .access = "",
            .offset = (uint32_t)param->offset,
            .size = (uint32_t)param->bytes};
    }
}

static int compare_symbols(const void *a, const void *b)
{
    const struct code_object_symbol *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* Symbols are found by name, in their order. */
static void describe_variables(struct code_object *object, const struct ptx_module *ptx)
{
    object->symbols =
        region_take_array(&object->memory, ptx->variable_count, sizeof *object->symbols);
    for (uint32_t i = 0; i < ptx->variable_count; i++) {
        const struct ptx_variable *variable = &ptx->variables[i];
        if (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST)
            object->symbols[object->symbol_count++] =
                (struct code_object_symbol){.name = copy_name(object, variable->name),
                                            .address = variable->offset,
                                            .size = variable->bytes,
                                            .is_variable = true};
    }
    qsort(object->symbols, object->symbol_count, sizeof *object->symbols, compare_symbols);
}

void ptx_object_describe(const struct ptx_module *ptx, struct code_object *object)
{
    object->memory.contents = "a PTX module";
    object->kernels =
        region_take_array(&object->memory, ptx->function_count, sizeof *object->kernels);
    for (uint32_t i = 0; i < ptx->function_count; i++)
        if (ptx->functions[i].is_entry && ptx->functions[i].is_defined)
            describe_kernel(object, &ptx->functions[i], &object->kernels[object->kernel_count++]);
    object->version = ptx->target;
    object->span = ptx->image_bytes > 0 ? ptx->image_bytes : 1;
    describe_variables(object, ptx);
}
