/* The layout of kernel arguments: explicit ones where the metadata says, hidden ones from the
 * geometry. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "components/amd/isa/object/kernarg.h"

#include "objects.h"

static const struct kernarg_geometry geometry = {
    .grid = {1000, 30, 1},
    .block = {64, 4, 1},
    .dynamic_lds_bytes = 4096,
    .shared_aperture = 0x20000000ull << 32,
    .private_aperture = 0x20000001ull << 32,
};

static struct code_object read_object(const char *name)
{
    size_t size = 0;
    unsigned char *bytes = objects_read(name, &size);
    struct code_object object;
    cr_assert(code_object_read(&object, bytes, size), "%s", object.error);
    free(bytes);
    return object;
}

static uint64_t argument(const struct code_object_kernel *kernel, const uint8_t *buffer,
                         enum code_object_value_kind kind)
{
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        uint64_t value = 0;
        if (kernel->arguments[i].kind == kind) {
            memcpy(&value, buffer + kernel->arguments[i].offset, kernel->arguments[i].size);
            return value;
        }
    }
    cr_assert_fail("kernel '%s' has no argument of kind %d", kernel->name, (int)kind);
    return 0;
}

Test(kernarg, fills_explicit_and_hidden_arguments)
{
    struct code_object object = read_object("v5.hsaco");
    const struct code_object_kernel *kernel = code_object_find_kernel(&object, "tile");
    uint64_t pointer = 0x123456789abc;
    uint32_t lds = 256;
    uint16_t where[4] = {1, 2, 3, 4};
    char bias = -5;
    void *values[] = {&pointer, &lds, where, &bias};
    uint8_t *buffer = malloc(kernarg_size(kernel));
    memset(buffer, 0xaa, kernarg_size(kernel));
    cr_assert_eq(kernarg_fill(kernel, values, &geometry, buffer), -1);
    cr_assert_arr_eq(buffer, &pointer, 8);
    cr_assert_arr_eq(buffer + 8, &lds, 4);
    cr_assert_arr_eq(buffer + 16, where, 8);
    cr_assert_eq(buffer[24], 0xfb);
    cr_assert_eq(buffer[25], 0, "padding is zero");
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_BLOCK_COUNT_X), 15);
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_BLOCK_COUNT_Y), 7);
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_GROUP_SIZE_X), 64);
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_GROUP_SIZE_Z), 1);
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_REMAINDER_X), 40);
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_REMAINDER_Y), 2);
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_GRID_DIMS), 2);
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_SHARED_BASE), 0x20000000);
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_PRIVATE_BASE), 0x20000001);
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_HOSTCALL_BUFFER), 0);
    free(buffer);
    code_object_release(&object);
}

Test(kernarg, takes_packed_arguments)
{
    struct code_object object = read_object("v4.hsaco");
    const struct code_object_kernel *kernel = code_object_find_kernel(&object, "add");
    const uint64_t packed[3] = {11, 22, 33};
    uint8_t *buffer = malloc(kernarg_size(kernel));
    memset(buffer, 0xaa, kernarg_size(kernel));
    cr_assert_eq(kernarg_fill_packed(kernel, packed, 20, &geometry, buffer), -1);
    cr_assert_arr_eq(buffer, packed, 20);
    cr_assert_eq(argument(kernel, buffer, CODE_OBJECT_VALUE_HIDDEN_GLOBAL_OFFSET_Z), 0);
    cr_assert_eq(kernarg_fill_packed(kernel, packed, 19, &geometry, buffer), 2,
                 "the last one is cut");
    cr_assert_eq(kernarg_fill_packed(kernel, packed, 0, &geometry, buffer), 0);
    free(buffer);
    code_object_release(&object);
}

Test(kernarg, names_the_missing_argument)
{
    struct code_object object = read_object("v4.hsaco");
    const struct code_object_kernel *kernel = code_object_find_kernel(&object, "add");
    uint64_t pointer = 1;
    void *values[] = {&pointer, NULL, NULL};
    uint8_t *buffer = malloc(kernarg_size(kernel));
    cr_assert_eq(kernarg_fill(kernel, values, &geometry, buffer), 1);
    cr_assert_eq(kernarg_fill(kernel, NULL, &geometry, buffer), 0);
    free(buffer);
    code_object_release(&object);
}
