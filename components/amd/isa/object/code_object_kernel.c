/* Kernel descriptors, targets and value kinds: the tables and bit fields of the code-object reader.
 *
 * Source of every bit position: LLVM "User Guide for AMDGPU Backend", sections "Code Object V3
 * Kernel Descriptor" and "ELF header" (EF_AMDGPU_MACH, features); for version 2 amd_kernel_code_t
 * of the HSA headers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/isa/isa_target.h"

#include "code_object_internal.h"

enum { DESCRIPTOR_SIZE = 64, KERNEL_CODE_SIZE = 256 };

static const struct {
    uint8_t machine;
    char gfx[16];
} machines[] = {
    {0x20, "gfx600"},         {0x21, "gfx601"},          {0x3a, "gfx602"},
    {0x22, "gfx700"},         {0x23, "gfx701"},          {0x24, "gfx702"},
    {0x25, "gfx703"},         {0x26, "gfx704"},          {0x3b, "gfx705"},
    {0x28, "gfx801"},         {0x29, "gfx802"},          {0x2a, "gfx803"},
    {0x3c, "gfx805"},         {0x2b, "gfx810"},          {0x2c, "gfx900"},
    {0x2d, "gfx902"},         {0x2e, "gfx904"},          {0x2f, "gfx906"},
    {0x30, "gfx908"},         {0x31, "gfx909"},          {0x3f, "gfx90a"},
    {0x32, "gfx90c"},         {0x40, "gfx940"},          {0x4b, "gfx941"},
    {0x4c, "gfx942"},         {0x33, "gfx1010"},         {0x34, "gfx1011"},
    {0x35, "gfx1012"},        {0x42, "gfx1013"},         {0x36, "gfx1030"},
    {0x37, "gfx1031"},        {0x38, "gfx1032"},         {0x39, "gfx1033"},
    {0x3e, "gfx1034"},        {0x3d, "gfx1035"},         {0x45, "gfx1036"},
    {0x41, "gfx1100"},        {0x46, "gfx1101"},         {0x47, "gfx1102"},
    {0x44, "gfx1103"},        {0x43, "gfx1150"},         {0x4a, "gfx1151"},
    {0x48, "gfx1200"},        {0x4e, "gfx1201"},         {0x51, "gfx9-generic"},
    {0x5f, "gfx9-4-generic"}, {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"},
    {0x54, "gfx11-generic"},  {0x59, "gfx12-generic"},
};

static const char *const kind_names[][2] = {
#define X(name, v3, v2) {v3, v2},
    CODE_OBJECT_VALUE_KINDS(X)
#undef X
};

/* A descriptor says how large the kernel's arguments are if its compiler wanted to: 0 is nothing.
 */
const struct code_object_fact code_object_facts[CODE_OBJECT_FACTS] = {
    {".kernarg_segment_size", "KernargSegmentSize",
     offsetof(struct code_object_kernel, kernarg_size), false},
    {".group_segment_fixed_size", "GroupSegmentFixedSize",
     offsetof(struct code_object_kernel, group_size), false},
    {".private_segment_fixed_size", "PrivateSegmentFixedSize",
     offsetof(struct code_object_kernel, private_size), false},
    {".wavefront_size", "WavefrontSize", offsetof(struct code_object_kernel, wavefront_size),
     false},
    {".sgpr_count", "NumSGPRs", offsetof(struct code_object_kernel, registers.sgprs), true},
    {".vgpr_count", "NumVGPRs", offsetof(struct code_object_kernel, registers.vgprs), true},
};

/* Hidden arguments are filled by the runtime, the others by the program. */
static bool code_object_value_is_hidden(enum code_object_value_kind kind)
{
    return kind >= CODE_OBJECT_VALUE_HIDDEN_NONE && kind < CODE_OBJECT_VALUE_UNKNOWN;
}

enum code_object_value_kind code_object_value_kind_of(const char *text, size_t length, bool v3)
{
    for (unsigned kind = 0; kind < CODE_OBJECT_VALUE_UNKNOWN; kind++) {
        const char *name = kind_names[kind][v3 ? 0 : 1];
        if (strlen(name) == length && length > 0 && memcmp(name, text, length) == 0)
            return kind;
    }
    /* A hidden argument that this reader does not know is left zero, as the guide asks of older
     * runtimes. */
    const char *prefix = v3 ? "hidden_" : "Hidden";
    if (length > strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0)
        return CODE_OBJECT_VALUE_HIDDEN_NONE;
    return CODE_OBJECT_VALUE_UNKNOWN;
}

bool code_object_read_target(struct code_object *object, uint32_t flags)
{
    struct code_object_target *target = &object->target;
    uint32_t machine = flags & 0xff;
    for (size_t i = 0; i < ARRAY_COUNT(machines); i++)
        if (machines[i].machine == machine)
            snprintf(target->gfx, sizeof target->gfx, "%s", machines[i].gfx);
    if (object->version >= 4) {
        target->xnack = (enum code_object_feature)(flags >> 8 & 3);
        target->sramecc = (enum code_object_feature)(flags >> 10 & 3);
    } else if (object->version == 3 && target->gfx[3] == '9') {
        target->xnack = flags & 0x100 ? CODE_OBJECT_FEATURE_ON : CODE_OBJECT_FEATURE_OFF;
        target->sramecc = flags & 0x200 ? CODE_OBJECT_FEATURE_ON : CODE_OBJECT_FEATURE_ANY;
    }
    if (target->gfx[0] == '\0' && object->version > 2) {
        return code_object_fail(object, "code object is for an unknown architecture (number 0x%x)",
                                machine);
    }
    return true;
}

void code_object_target_name(const struct code_object_target *target, char *text, size_t size)
{
    static const char *const signs[] = {"", "", "-", "+"};
    const char *sramecc = signs[target->sramecc], *xnack = signs[target->xnack];
    snprintf(text, size, "%s%s%s%s%s", target->gfx, *sramecc ? ":sramecc" : "", sramecc,
             *xnack ? ":xnack" : "", xnack);
}

static int compare_arguments(const void *left, const void *right)
{
    uint32_t a = ((const struct code_object_argument *)left)->offset;
    uint32_t b = ((const struct code_object_argument *)right)->offset;
    return (a > b) - (a < b);
}

/* Checks arguments of a kernel against its size, sorts them, counts the explicit ones. */
static bool code_object_check_arguments(struct code_object *object,
                                        struct code_object_kernel *kernel)
{
    if (kernel->kernarg_size > CODE_OBJECT_KERNARG_MAX) {
        return code_object_fail(object, "kernel '%.120s' asks for %u bytes of arguments",
                                kernel->name, kernel->kernarg_size);
    }
    if (kernel->argument_count > 1) {
        qsort(kernel->arguments, kernel->argument_count, sizeof *kernel->arguments,
              compare_arguments);
    }
    uint64_t end = 0;
    bool hidden = false;
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct code_object_argument *argument = &kernel->arguments[i];
        if (argument->offset < end
            || (uint64_t)argument->offset + argument->size > kernel->kernarg_size) {
            return code_object_fail(object,
                                    "argument %u of kernel '%.120s' (offset %u, %u bytes) overlaps "
                                    "another or the end at %u",
                                    i, kernel->name, argument->offset, argument->size,
                                    kernel->kernarg_size);
        }
        end = (uint64_t)argument->offset + argument->size;
        hidden = hidden || code_object_value_is_hidden(argument->kind);
        if (!hidden) {
            kernel->explicit_argument_count++;
        } else if (!code_object_value_is_hidden(argument->kind)) {
            return code_object_fail(object, "kernel '%.120s' has an argument behind a hidden one",
                                    kernel->name);
        }
    }
    return true;
}

static unsigned field(uint32_t word, unsigned low, unsigned bits)
{
    return word >> low & ((1u << bits) - 1);
}

static unsigned major_version(const struct code_object *object)
{
    /* gfx803 -> 8, gfx90a -> 9, gfx1030 -> 10: the last two characters are minor and stepping.
     * gfx9-generic -> 9. */
    size_t length = strlen(object->target.gfx);
    if (strchr(object->target.gfx, '-'))
        return (unsigned)strtoul(object->target.gfx + 3, NULL, 10);
    return length < 6 ? 0 : length > 6 ? 10 : (unsigned)(object->target.gfx[3] - '0');
}

/* The traits of a target that can run; for others what their major version says, so that their
 * kernels can be listed. */
static enum kernel_generation generation_of(const struct code_object *object,
                                            const struct code_object_kernel *kernel)
{
    unsigned major = major_version(object);
    enum isa_target target;
    if (isa_target_by_name(object->target.gfx, &target) == 0)
        return isa_traits[target].registers;
    if (major >= 10)
        return kernel->wavefront_size == 32 ? KERNEL_GFX10_WAVE32 : KERNEL_GFX10_WAVE64;
    return major == 9 ? KERNEL_GFX9 : KERNEL_GFX8;
}

static void read_registers(const struct code_object *object, struct code_object_kernel *kernel,
                           struct kernel_words words)
{
    enum { GRID_WORK_GROUPS = 7 << 7 }; /* reserved since version 3 */
    if (object->version > 2)
        words.properties &= (uint16_t)~GRID_WORK_GROUPS;
    kernel->words = words;
    kernel_registers_decode(&kernel->registers, generation_of(object, kernel), &words);
}

/* `described`: the size of the arguments by the descriptor. */
static bool choose_kernarg_size(struct code_object *object, struct code_object_kernel *kernel,
                                uint64_t described)
{
    if (described > CODE_OBJECT_KERNARG_MAX) {
        return code_object_fail(object, "kernel '%.120s' asks for %" PRIu64 " bytes of arguments",
                                kernel->name, described);
    }
    if (described
        && (kernel->stated[0] != CODE_OBJECT_UNSTATED || described > kernel->kernarg_size))
        kernel->kernarg_size = (uint32_t)described;
    return true;
}

static bool read_descriptor_v3(struct code_object *object, struct code_object_kernel *kernel,
                               const uint8_t *at)
{
    const struct kernel_words words = kernel_words_read(at);
    kernel->group_size = code_object_u32(at + 0);
    kernel->private_size = code_object_u32(at + 4);
    kernel->entry_address = kernel->descriptor_address + code_object_u64(at + 16);
    kernel->wavefront_size = field(words.properties, 10, 1) ? 32 : 64;
    kernel->has_dynamic_stack = kernel->has_dynamic_stack || field(words.properties, 11, 1);
    kernel->stack_size = object->version >= 5 && kernel->has_dynamic_stack ? CODE_OBJECT_STACK : 0;
    read_registers(object, kernel, words);
    return choose_kernarg_size(object, kernel, code_object_u32(at + 8));
}

static bool read_descriptor_v2(struct code_object *object, struct code_object_kernel *kernel,
                               const uint8_t *at)
{
    uint32_t properties = code_object_u32(at + 56);
    kernel->entry_address = kernel->descriptor_address + code_object_u64(at + 16);
    kernel->private_size = code_object_u32(at + 60);
    kernel->group_size = code_object_u32(at + 64);
    kernel->wavefront_size = at[103] == 5 ? 32 : 64; /* a power of two */
    kernel->has_dynamic_stack = field(properties, 20, 1);
    read_registers(object, kernel,
                   (struct kernel_words){.rsrc1 = code_object_u32(at + 48),
                                         .rsrc2 = code_object_u32(at + 52),
                                         .properties = (uint16_t)properties});
    return choose_kernarg_size(object, kernel, code_object_u64(at + 72));
}

static bool check_facts(struct code_object *object, const struct code_object_kernel *kernel)
{
    for (size_t i = 0; i < CODE_OBJECT_FACTS; i++) {
        const struct code_object_fact *fact = &code_object_facts[i];
        uint32_t stated = kernel->stated[i], described;
        memcpy(&described, (const char *)kernel + fact->member, sizeof described);
        if (stated == CODE_OBJECT_UNSTATED || stated == described
            || (fact->may_be_more && stated < described))
            continue;
        return code_object_fail(object,
                                "kernel '%.120s': its metadata contradicts its descriptor: %s is "
                                "%u, and the descriptor says %u",
                                kernel->name, object->version == 2 ? fact->key_v2 : fact->key,
                                stated, described);
    }
    return true;
}

static bool check_entry(struct code_object *object, const struct code_object_kernel *kernel)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct code_object_segment *segment = &object->segments[i];
        uint64_t offset = kernel->entry_address - segment->address;
        if (kernel->entry_address >= segment->address && segment->is_executable
            && segment->file_size >= 4 && offset <= segment->file_size - 4) {
            return kernel->entry_address % 4 == 0
                   || code_object_fail(object, "kernel '%.120s' starts at an odd address",
                                       kernel->name);
        }
    }
    return code_object_fail(object, "kernel '%.120s' starts at 0x%" PRIx64 ", outside of the code",
                            kernel->name, kernel->entry_address);
}

static bool check_user_registers(struct code_object *object,
                                 const struct code_object_kernel *kernel)
{
    const struct kernel_registers *k = &kernel->registers;
    unsigned pairs = k->dispatch_ptr + k->queue_ptr + k->kernarg_ptr + k->dispatch_id
                     + (unsigned)k->flat_scratch_init;
    unsigned count = k->private_segment_buffer * 4u + 2 * pairs + k->private_segment_size
                     + k->grid_work_groups[0] + k->grid_work_groups[1] + k->grid_work_groups[2]
                     + k->preload;
    if (count > k->user_sgprs || k->work_item_dimensions > 3) {
        return code_object_fail(object,
                                "kernel '%.120s' has a damaged descriptor: %u initial scalar "
                                "registers are enabled, %u are counted",
                                kernel->name, count, k->user_sgprs);
    }
    return true;
}

bool code_object_read_descriptors(struct code_object *object)
{
    bool v2 = object->version == 2;
    for (size_t i = 0; i < object->kernel_count; i++) {
        struct code_object_kernel *kernel = &object->kernels[i];
        const uint8_t *at = code_object_bytes_at(object, kernel->descriptor_address,
                                                 v2 ? KERNEL_CODE_SIZE : DESCRIPTOR_SIZE);
        if (!at) {
            return code_object_fail(
                object, "descriptor of kernel '%.120s' lies outside of the file", kernel->name);
        }
        bool (*read)(struct code_object *, struct code_object_kernel *, const uint8_t *) =
            v2 ? read_descriptor_v2 : read_descriptor_v3;
        if (!read(object, kernel, at) || !check_entry(object, kernel)
            || !check_user_registers(object, kernel) || !check_facts(object, kernel)
            || !code_object_check_arguments(object, kernel))
            return false;
    }
    return true;
}
