/* Metadata of versions 3 to 6: the msgpack map of an NT_AMDGPU_METADATA note (LLVM AMDGPU guide,
 * "Code Object V3 Metadata"). Keys that are not known are skipped.
 *
 * The msgpack library allocates a container before it reads its elements, so a scan first checks
 * that every container and string can be as large as it claims, and bounds the nesting. */
#include <msgpack.h>
#include <string.h>

#include "base/number.h"

#include "code_object_internal.h"

enum { NESTING_MAX = 16 };

/* One value's header: bytes it takes, bytes of text after it, values inside it. */
struct head {
    size_t size;
    uint64_t text, values;
};

static uint64_t big_endian(const uint8_t *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* The msgpack specification's table of first bytes. False when the header is cut off or reserved.
 */
static bool read_head(const uint8_t *bytes, size_t size, struct head *head)
{
    static const struct {
        uint8_t length_size, fixed; /* bytes of a length field, then fixed bytes of content */
        uint8_t inside;             /* what the length counts: 0 text, 1 values, 2 pairs */
    } wide[32] = {
        [0x00] = {0, 0, 0},                                          /* nil */
        [0x02] = {0, 0, 0}, [0x03] = {0, 0, 0},                      /* false, true */
        [0x04] = {1, 0, 0}, [0x05] = {2, 0, 0},  [0x06] = {4, 0, 0}, /* bin */
        [0x07] = {1, 1, 0}, [0x08] = {2, 1, 0},  [0x09] = {4, 1, 0}, /* ext */
        [0x0a] = {0, 4, 0}, [0x0b] = {0, 8, 0},                      /* float */
        [0x0c] = {0, 1, 0}, [0x0d] = {0, 2, 0},  [0x0e] = {0, 4, 0}, [0x0f] = {0, 8, 0},
        [0x10] = {0, 1, 0}, [0x11] = {0, 2, 0},  [0x12] = {0, 4, 0}, [0x13] = {0, 8, 0},
        [0x14] = {0, 2, 0}, [0x15] = {0, 3, 0},  [0x16] = {0, 5, 0}, /* fixext */
        [0x17] = {0, 9, 0}, [0x18] = {0, 17, 0}, [0x19] = {1, 0, 0}, [0x1a] = {2, 0, 0},
        [0x1b] = {4, 0, 0},                     /* str */
        [0x1c] = {2, 0, 1}, [0x1d] = {4, 0, 1}, /* array */
        [0x1e] = {2, 0, 2}, [0x1f] = {4, 0, 2}, /* map */
    };
    if (size == 0)
        return false;
    uint8_t first = bytes[0];
    *head = (struct head){.size = 1};
    if (first < 0x80 || first >= 0xe0)
        return true;
    if (first < 0xc0) {
        head->values = first < 0x90 ? 2u * (first & 15u) : first < 0xa0 ? first & 15u : 0;
        head->text = first >= 0xa0 ? first & 31u : 0;
        return true;
    }
    unsigned row = first - 0xc0u;
    if (row == 1 || size - 1 < wide[row].length_size)
        return false;
    uint64_t length = big_endian(bytes + 1, wide[row].length_size);
    head->size += wide[row].length_size;
    head->text = wide[row].fixed + (wide[row].inside == 0 ? length : 0);
    head->values = wide[row].inside * length;
    return true;
}

/* True if one value with all that is in it can lie in `size` bytes. */
static bool is_plausible(const uint8_t *bytes, size_t size)
{
    uint64_t remaining[NESTING_MAX] = {1};
    unsigned depth = 0;
    size_t at = 0;
    for (;;) {
        while (remaining[depth] == 0) {
            if (depth == 0)
                return true;
            depth--;
        }
        remaining[depth]--;
        struct head head;
        if (!read_head(bytes + at, size - at, &head))
            return false;
        at += head.size;
        if (head.text > size - at || head.values > size - at)
            return false;
        at += head.text;
        if (head.values > 0) {
            if (++depth == NESTING_MAX)
                return false;
            remaining[depth] = head.values;
        }
    }
}

static const msgpack_object *find_member(const msgpack_object *map, const char *key)
{
    if (!map || map->type != MSGPACK_OBJECT_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object *each = &map->via.map.ptr[i].key;
        if (each->type == MSGPACK_OBJECT_STR && each->via.str.size == strlen(key)
            && memcmp(each->via.str.ptr, key, each->via.str.size) == 0)
            return &map->via.map.ptr[i].val;
    }
    return NULL;
}

static uint32_t find_number(const msgpack_object *map, const char *key, uint32_t otherwise)
{
    const msgpack_object *value = find_member(map, key);
    if (!value || value->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
        return otherwise;
    return value->via.u64 >= UINT32_MAX ? UINT32_MAX - 1 : (uint32_t)value->via.u64;
}

static const char *find_text(struct code_object *object, const msgpack_object *map, const char *key)
{
    const msgpack_object *value = find_member(map, key);
    if (!value || value->type != MSGPACK_OBJECT_STR)
        return "";
    return region_strndup(&object->memory, value->via.str.ptr, value->via.str.size);
}

static bool find_truth(const msgpack_object *map, const char *key)
{
    const msgpack_object *value = find_member(map, key);
    return value && value->type == MSGPACK_OBJECT_BOOLEAN && value->via.boolean;
}

/* Three numbers; what is not that leaves zeros. */
static void find_group(const msgpack_object *map, const char *key, uint32_t group[3])
{
    const msgpack_object *list = find_member(map, key);
    if (!list || list->type != MSGPACK_OBJECT_ARRAY || list->via.array.size != 3)
        return;
    for (int i = 0; i < 3; i++) {
        const msgpack_object *number = &list->via.array.ptr[i];
        if (number->type == MSGPACK_OBJECT_POSITIVE_INTEGER && number->via.u64 <= UINT32_MAX)
            group[i] = (uint32_t)number->via.u64;
    }
}

static bool read_argument(struct code_object *object, const msgpack_object *map,
                          struct code_object_kernel *kernel, uint32_t index)
{
    struct code_object_argument *argument = &kernel->arguments[index];
    const msgpack_object *kind = find_member(map, ".value_kind");
    argument->offset = find_number(map, ".offset", UINT32_MAX);
    argument->size = find_number(map, ".size", UINT32_MAX);
    argument->name = find_text(object, map, ".name");
    argument->type_name = find_text(object, map, ".type_name");
    argument->address_space = find_text(object, map, ".address_space");
    argument->access = find_text(object, map, ".access");
    argument->pointee_align = find_number(map, ".pointee_align", 0);
    argument->is_const = find_truth(map, ".is_const");
    argument->is_restrict = find_truth(map, ".is_restrict");
    argument->is_volatile = find_truth(map, ".is_volatile");
    argument->is_pipe = find_truth(map, ".is_pipe");
    argument->kind = CODE_OBJECT_VALUE_UNKNOWN;
    if (kind && kind->type == MSGPACK_OBJECT_STR)
        argument->kind = code_object_value_kind_of(kind->via.str.ptr, kind->via.str.size, true);
    if (argument->kind == CODE_OBJECT_VALUE_UNKNOWN) {
        return code_object_fail(object, "argument %u of kernel '%.120s' is of an unknown kind",
                                index, kernel->name);
    }
    return true;
}

static bool read_kernel(struct code_object *object, const msgpack_object *map,
                        struct code_object_kernel *kernel)
{
    kernel->name = find_text(object, map, ".name");
    const char *descriptor = find_text(object, map, ".symbol");
    const struct code_object_symbol *symbol = code_object_find_symbol(object, descriptor);
    if (*kernel->name == '\0' || !symbol) {
        return code_object_fail(object, "kernel '%.120s' has no descriptor '%.120s'", kernel->name,
                                descriptor);
    }
    kernel->descriptor_address = symbol->address;
    for (size_t i = 0; i < CODE_OBJECT_FACTS; i++)
        kernel->stated[i] = find_number(map, code_object_facts[i].key, CODE_OBJECT_UNSTATED);
    kernel->kernarg_size = kernel->stated[0] == CODE_OBJECT_UNSTATED ? 0 : kernel->stated[0];
    kernel->kernarg_align = find_number(map, ".kernarg_segment_align", 8);
    kernel->max_group_threads = find_number(map, ".max_flat_workgroup_size", 0);
    kernel->has_dynamic_stack = find_truth(map, ".uses_dynamic_stack");
    find_group(map, ".reqd_workgroup_size", kernel->required_group);
    find_group(map, ".workgroup_size_hint", kernel->group_hint);
    kernel->vector_hint = find_text(object, map, ".vec_type_hint");
    if (kernel->kernarg_align > 4096
        || (kernel->kernarg_align & (kernel->kernarg_align - 1)) != 0) {
        return code_object_fail(object, "kernel '%.120s' wants its arguments aligned to %u bytes",
                                kernel->name, kernel->kernarg_align);
    }
    kernel->kernarg_align = max(kernel->kernarg_align, 4);
    const msgpack_object *arguments = find_member(map, ".args");
    if (!arguments || arguments->type != MSGPACK_OBJECT_ARRAY)
        return true;
    kernel->argument_count = arguments->via.array.size;
    kernel->arguments =
        region_take_array(&object->memory, kernel->argument_count, sizeof *kernel->arguments);
    for (uint32_t i = 0; i < kernel->argument_count; i++)
        if (!read_argument(object, &arguments->via.array.ptr[i], kernel, i))
            return false;
    return true;
}

static bool read_formats(struct code_object *object, const msgpack_object *formats)
{
    if (!formats)
        return true;
    if (formats->type != MSGPACK_OBJECT_ARRAY)
        return code_object_fail(object, "metadata has a damaged list of formats");
    object->formats = region_take_array(&object->memory, formats->via.array.size, sizeof(char *));
    for (uint32_t i = 0; i < formats->via.array.size; i++) {
        const msgpack_object *text = &formats->via.array.ptr[i];
        if (text->type != MSGPACK_OBJECT_STR)
            return code_object_fail(object, "metadata has a damaged list of formats");
        object->formats[object->format_count++] =
            region_strndup(&object->memory, text->via.str.ptr, text->via.str.size);
    }
    return true;
}

static bool read_root(struct code_object *object, const msgpack_object *root)
{
    const msgpack_object *kernels = find_member(root, "amdhsa.kernels");
    if (!kernels)
        return true; /* device functions and variables only */
    if (kernels->type != MSGPACK_OBJECT_ARRAY || kernels->via.array.size > CODE_OBJECT_KERNELS_MAX)
        return code_object_fail(object, "metadata has a damaged list of kernels");
    uint32_t count = kernels->via.array.size;
    object->kernels = region_take_array(&object->memory, count, sizeof *object->kernels);
    for (uint32_t i = 0; i < count; i++) {
        if (!read_kernel(object, &kernels->via.array.ptr[i], &object->kernels[i]))
            return false;
        object->kernel_count++;
    }
    return read_formats(object, find_member(root, "amdhsa.printf"));
}

bool code_object_read_metadata_msgpack(struct code_object *object, const uint8_t *bytes,
                                       size_t size)
{
    if (!is_plausible(bytes, size))
        return code_object_fail(object, "metadata is damaged: a value is larger than the note");
    msgpack_unpacked result;
    msgpack_unpacked_init(&result);
    bool sound =
        msgpack_unpack_next(&result, (const char *)bytes, size, NULL) == MSGPACK_UNPACK_SUCCESS;
    sound =
        sound ? read_root(object, &result.data) : code_object_fail(object, "metadata is damaged");
    msgpack_unpacked_destroy(&result);
    return sound;
}
