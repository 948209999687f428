/* The code-object reader on what compilers write, versions 2 to 5, and on damaged files. The
 * expected numbers come from the sources in kernels.cl and relocations.s and from `llvm-readelf
 * --notes`. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

#include "components/amd/isa/object/code_object.h"
#include "components/amd/isa/object/kernarg.h"
#include "tests/sanitized.h"

#include "objects.h"

static struct code_object read_good(const char *name)
{
    size_t size = 0;
    unsigned char *bytes = objects_read(name, &size);
    struct code_object object;
    cr_assert_eq(code_object_image_size(bytes, size), size);
    cr_assert(code_object_read(&object, bytes, size), "%s: %s", name, object.error);
    free(bytes);
    return object;
}

struct expected {
    char file[20];
    uint32_t version;
    char target[28];
    uint32_t add_kernarg, tile_kernarg;
    bool add_dispatch_ptr;
    uint32_t denorm_32;
};

ParameterizedTestParameters(code_object, reads_all_versions)
{
    static struct expected list[] = {
        {"v2.hsaco", 2, "gfx803", 80, 28, true, 0},
        {"v3.hsaco", 3, "gfx803", 80, 28, true, 0},
        {"v4.hsaco", 4, "gfx803", 80, 28, true, 0},
        {"v5.hsaco", 5, "gfx803", 280, 288, false, 0},
        {"gfx906.hsaco", 4, "gfx906:sramecc+:xnack-", 80, 28, true, 3},
        {"gfx90a.hsaco", 4, "gfx90a", 80, 28, true, 3},
    };
    return cr_make_param_array(struct expected, list, sizeof list / sizeof list[0]);
}

ParameterizedTest(struct expected *expected, code_object, reads_all_versions)
{
    struct code_object object = read_good(expected->file);
    char target[64];
    code_object_target_name(&object.target, target, sizeof target);
    cr_assert_str_eq(target, expected->target);
    cr_assert_eq(object.version, expected->version);
    cr_assert_eq(object.kernel_count, 2);
    const struct code_object_kernel *add = code_object_find_kernel(&object, "add");
    const struct code_object_kernel *tile = code_object_find_kernel(&object, "tile");
    cr_assert(add && tile && !code_object_find_kernel(&object, "ad"));
    cr_assert_eq(add->kernarg_size, expected->add_kernarg);
    cr_assert_eq(tile->kernarg_size, expected->tile_kernarg);
    cr_assert_eq(add->explicit_argument_count, 3);
    cr_assert_eq(add->arguments[2].offset, 16);
    cr_assert_eq(add->arguments[2].kind, CODE_OBJECT_VALUE_BY_VALUE);
    cr_assert_eq(tile->explicit_argument_count, 4);
    cr_assert_eq(tile->arguments[1].kind, CODE_OBJECT_VALUE_DYNAMIC_SHARED_POINTER);
    cr_assert_eq(tile->arguments[2].offset, 16, "a short3 is aligned to 8");
    cr_assert_eq(tile->arguments[3].size, 1);
    cr_assert_eq(add->group_size, 0);
    cr_assert_eq(tile->group_size, 256);
    cr_assert_eq(add->private_size, 0);
    cr_assert_eq(add->wavefront_size, 64);
    cr_assert_eq(add->max_group_threads, 256);
    const struct kernel_registers *a = &add->registers, *t = &tile->registers;
    cr_assert(a->private_segment_buffer && a->kernarg_ptr);
    cr_assert_eq(a->dispatch_ptr, expected->add_dispatch_ptr);
    cr_assert(a->work_group_id[0] && !a->work_group_id[1]);
    cr_assert(t->work_group_id[1] && !t->work_group_id[2]);
    cr_assert_eq(a->work_item_dimensions, 1);
    cr_assert_eq(t->work_item_dimensions, 2);
    cr_assert_eq(a->float_mode, 0xc0 | expected->denorm_32 << 4);
    cr_assert(a->ieee_mode && a->dx10_clamp);
    cr_assert_eq(object.span % CODE_OBJECT_PAGE, 0);
    code_object_release(&object);
}

/* An instruction that every kernel ends with shows that the entry points into loaded code. */
Test(code_object, entry_points_to_instructions)
{
    static const char *const files[] = {"v2.hsaco", "v3.hsaco", "v4.hsaco", "v5.hsaco"};
    for (size_t file = 0; file < 4; file++) {
        struct code_object object = read_good(files[file]);
        const struct code_object_kernel *add = code_object_find_kernel(&object, "add");
        uint8_t *memory = malloc(object.span);
        code_object_load(&object, 0x10000, memory);
        bool ended = false;
        for (uint64_t at = add->entry_address; at + 4 <= object.span && !ended; at += 4)
            ended = memcmp(memory + at, "\x00\x00\x81\xbf", 4) == 0; /* s_endpgm */
        cr_assert(ended, "%s", files[file]);
        cr_assert_eq(memory[add->entry_address + 3] >> 6, 3,
                     "scalar memory or scalar ALU comes first");
        free(memory);
        code_object_release(&object);
    }
}

Test(code_object, reads_descriptor_fields_and_applies_relocations)
{
    struct code_object object = read_good("relocations.hsaco");
    const struct code_object_kernel *kernel = code_object_find_kernel(&object, "nothing");
    cr_assert(kernel);
    cr_assert_eq(kernel->kernarg_align, 16);
    cr_assert_eq(kernel->group_size, 512);
    cr_assert_eq(kernel->private_size, 24);
    const struct kernel_registers *k = &kernel->registers;
    cr_assert_eq(k->vgprs, 12);
    cr_assert_eq(k->user_sgprs, 2);
    cr_assert_not(k->private_segment_buffer);
    cr_assert(k->work_group_id[0] && k->work_group_id[2]);
    cr_assert_eq(k->work_item_dimensions, 3);
    cr_assert_eq(k->float_mode >> 4 & 3, 3);
    const struct code_object_symbol *value = code_object_find_symbol(&object, "value");
    const struct code_object_symbol *pointer = code_object_find_symbol(&object, "pointer");
    cr_assert(value && pointer && value->is_variable && value->size == 8 && pointer->size == 16);
    uint64_t base = 0x7000123000, stored[2];
    uint8_t *memory = malloc(object.span);
    code_object_load(&object, base, memory);
    memcpy(stored, memory + value->address, 8);
    cr_assert_eq(stored[0], 0x1122334455667788);
    memcpy(stored, memory + pointer->address, 16);
    cr_assert_eq(stored[0], base + value->address + 4);
    cr_assert_eq(stored[1], base + kernel->entry_address);
    free(memory);
    code_object_release(&object);
}

Test(code_object, makes_the_same_descriptor_for_version_2)
{
    uint8_t descriptors[2][64];
    uint32_t rsrc[2][3];
    static const char *const files[] = {"v2.hsaco", "v3.hsaco"};
    for (size_t file = 0; file < 2; file++) {
        struct code_object object = read_good(files[file]);
        const struct code_object_kernel *kernel = code_object_find_kernel(&object, "tile");
        kernarg_make_descriptor(&object, kernel, descriptors[file]);
        memcpy(rsrc[file], descriptors[file] + 48, 12);
        int64_t offset;
        memcpy(&offset, descriptors[file] + 16, 8);
        cr_assert_eq(kernel->descriptor_address + (uint64_t)offset, kernel->entry_address);
        code_object_release(&object);
    }
    cr_assert_arr_eq(descriptors[0], descriptors[1], 8, "sizes of LDS and scratch");
    cr_assert_eq(rsrc[0][1], rsrc[1][1], "registers set up at the start");
    cr_assert_eq(rsrc[0][2], rsrc[1][2], "properties");
}

/* Whatever is flipped, the reader answers; and what it accepts can be loaded. */
static void read_damaged(const unsigned char *bytes, size_t size)
{
    struct code_object object;
    if (code_object_read(&object, bytes, size)) {
        uint8_t *memory = malloc(object.span);
        code_object_load(&object, 0x1000, memory);
        free(memory);
    } else {
        cr_assert_str_not_empty(object.error);
    }
    code_object_release(&object);
}

Test(code_object, survives_truncation_and_flipped_bytes)
{
    static const char *const files[] = {"v2.hsaco", "v4.hsaco", "v5.hsaco", "relocations.hsaco"};
    for (size_t file = 0; file < sizeof files / sizeof files[0]; file++) {
        size_t size = 0;
        unsigned char *bytes = objects_read(files[file], &size);
        for (size_t length = 0; length < size; length += tests_amount(7, 21, 63)) {
            unsigned char *cut = malloc(length + 1);
            memcpy(cut, bytes, length);
            read_damaged(cut, length);
            cr_assert_leq(code_object_image_size(cut, length), length);
            free(cut);
        }
        for (size_t at = 0; at < size; at += tests_amount(1, 3, 9)) {
            unsigned char before = bytes[at];
            bytes[at] ^= (unsigned char)(1u << at % 8);
            read_damaged(bytes, size);
            bytes[at] = 0xff;
            read_damaged(bytes, size);
            bytes[at] = before;
        }
        free(bytes);
    }
}

struct preload_case {
    char file[32], gfx[8];
    unsigned version;
};

ParameterizedTestParameters(code_object, reads_what_gfx90a_and_gfx942_add)
{
    static struct preload_case cases[] = {
        {"preload-gfx90a-v4.hsaco", "gfx90a", 4}, {"preload-gfx90a-v5.hsaco", "gfx90a", 5},
        {"preload-gfx90a-v6.hsaco", "gfx90a", 6}, {"preload-gfx942-v4.hsaco", "gfx942", 4},
        {"preload-gfx942-v5.hsaco", "gfx942", 5}, {"preload-gfx942-v6.hsaco", "gfx942", 6}};
    return cr_make_param_array(struct preload_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(struct preload_case *each, code_object, reads_what_gfx90a_and_gfx942_add)
{
    struct code_object object = read_good(each->file);
    const struct code_object_kernel *kernel = code_object_find_kernel(&object, "taker");
    cr_assert(kernel);
    cr_expect_eq(object.version, each->version);
    cr_expect_str_eq(object.target.gfx, each->gfx);
    cr_expect_eq(object.target.xnack, CODE_OBJECT_FEATURE_ANY);
    cr_expect_eq(object.target.sramecc, CODE_OBJECT_FEATURE_ANY);
    cr_expect_eq(kernel->registers.vgprs, 304);
    cr_expect_eq(kernel->registers.accum_offset, 40);
    cr_expect_eq(kernel->registers.preload, 5);
    cr_expect_eq(kernel->registers.preload_offset, 2);
    cr_expect_eq(kernel->registers.user_sgprs, 7);
    code_object_release(&object);
}

Test(code_object, reads_code_for_several_targets)
{
    struct code_object object = read_good("generic.hsaco");
    cr_expect_str_eq(object.target.gfx, "gfx9-generic");
    cr_expect_eq(object.version, 6);
    cr_expect_eq(object.kernel_count, 1);
    code_object_release(&object);
}

Test(code_object, says_how_to_link_what_is_not)
{
    size_t size = 0;
    struct code_object object;
    unsigned char *bytes = objects_read("generic.o", &size);
    cr_assert_not(code_object_read(&object, bytes, size));
    cr_expect(strstr(object.error, "link it with ld.lld -shared"), "message is '%s'", object.error);
    code_object_release(&object);
    free(bytes);
}

struct damage {
    size_t at;
    unsigned char value;
    char word[24];
};

ParameterizedTestParameters(code_object, says_what_is_wrong)
{
    static struct damage list[] = {
        {0, 0, "not an ELF"},       {4, 1, "64-bit"},        {7, 0, "OS ABI"},
        {8, 7, "version 9"},        {16, 1, "not a linked"}, {18, 62, "machine"},
        {48, 0x99, "architecture"}, {32, 0xf0, "load"},
    };
    return cr_make_param_array(struct damage, list, sizeof list / sizeof list[0]);
}

ParameterizedTest(struct damage *damage, code_object, says_what_is_wrong)
{
    size_t size = 0;
    unsigned char *bytes = objects_read("v4.hsaco", &size);
    bytes[damage->at] = damage->value;
    struct code_object object;
    cr_assert_not(code_object_read(&object, bytes, size));
    cr_assert(strstr(object.error, damage->word), "message is '%s'", object.error);
    code_object_release(&object);
    free(bytes);
}

/* A field of a descriptor, by the offset of a byte of it: what is added, and what is cleared first.
 */
struct contradiction {
    char key[2][28]; /* that metadata of version 2, and of later ones, states it by */
    unsigned at[2];  /* in a descriptor of version 2, and of later ones */
    unsigned char clear, add;
    bool accepted; /* more registers than are used */
};

ParameterizedTestParameters(code_object, names_metadata_that_contradicts_a_descriptor)
{
    static struct contradiction list[] = {
        {{"KernargSegmentSize", ".kernarg_segment_size"}, {72, 8}, 0, 8, false},
        {{"GroupSegmentFixedSize", ".group_segment_fixed_size"}, {64, 0}, 0, 4, false},
        {{"PrivateSegmentFixedSize", ".private_segment_fixed_size"}, {60, 4}, 0, 4, false},
        {{"WavefrontSize", ".wavefront_size"}, {103, 57}, 0xff, 5, false},
        {{"NumSGPRs", ".sgpr_count"}, {48, 48}, 0xc0, 0, false},
        {{"NumVGPRs", ".vgpr_count"}, {48, 48}, 0x3f, 0, false},
        {{"NumVGPRs", ".vgpr_count"}, {48, 48}, 0, 1, true},
    };
    return cr_make_param_array(struct contradiction, list, sizeof list / sizeof list[0]);
}

ParameterizedTest(struct contradiction *each, code_object,
                  names_metadata_that_contradicts_a_descriptor)
{
    static const char *const files[] = {"v2.hsaco", "v3.hsaco", "v4.hsaco", "v5.hsaco"};
    for (size_t file = 0; file < sizeof files / sizeof files[0]; file++) {
        struct code_object good = read_good(files[file]), object;
        unsigned later = good.version > 2;
        const struct code_object_kernel *tile = code_object_find_kernel(&good, "tile");
        size_t size = 0, segment = 0;
        while (tile->descriptor_address - good.segments[segment].address
               >= good.segments[segment].file_size)
            segment++;
        size_t at = (size_t)(good.segments[segment].bytes - good.image)
                    + (size_t)(tile->descriptor_address - good.segments[segment].address);
        unsigned char *bytes = objects_read(files[file], &size);
        unsigned char *byte = &bytes[at + each->at[later]];
        *byte = (unsigned char)((*byte & ~each->clear) + each->add);
        bool read = code_object_read(&object, bytes, size);
        cr_expect_eq(read, each->accepted, "%s, %s: %s", files[file], each->key[later],
                     object.error);
        if (!read) {
            cr_expect(strstr(object.error, "kernel 'tile'")
                          && strstr(object.error, "descriptor says")
                          && strstr(object.error, each->key[later]),
                      "%s: message is '%s'", files[file], object.error);
        }
        code_object_release(&object);
        code_object_release(&good);
        free(bytes);
    }
}
