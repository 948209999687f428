/* Reads the kernels of a code object: metadata as the OpenCL library asks for it. */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/isa/object/code_object.h"

#include "opencl_compiler.h"

static enum opencl_argument_kind kind_of(enum code_object_value_kind kind)
{
    static const struct {
        enum code_object_value_kind from;
        enum opencl_argument_kind to;
    } kinds[] = {
        {CODE_OBJECT_VALUE_GLOBAL_BUFFER, OPENCL_ARGUMENT_BUFFER},
        {CODE_OBJECT_VALUE_DYNAMIC_SHARED_POINTER, OPENCL_ARGUMENT_LOCAL},
        {CODE_OBJECT_VALUE_IMAGE, OPENCL_ARGUMENT_IMAGE},
        {CODE_OBJECT_VALUE_SAMPLER, OPENCL_ARGUMENT_SAMPLER},
        {CODE_OBJECT_VALUE_PIPE, OPENCL_ARGUMENT_PIPE},
        {CODE_OBJECT_VALUE_QUEUE, OPENCL_ARGUMENT_QUEUE},
    };
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (kinds[i].from == kind)
            return kinds[i].to;
    return OPENCL_ARGUMENT_VALUE;
}

static int index_of(const char *text, const char *const *names, int count)
{
    for (int i = 1; i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return 0;
}

static void read_argument(const struct code_object_argument *from, struct opencl_argument *to)
{
    static const char *const spaces[] = {"", "global", "constant", "local"};
    static const char *const accesses[] = {"", "read_only", "write_only", "read_write"};
    *to = (struct opencl_argument){
        .kind = kind_of(from->kind),
        .address_space = (enum opencl_address_space)index_of(from->address_space, spaces, 4),
        .access = (enum opencl_access)index_of(from->access, accesses, 4),
        .is_const = from->is_const,
        .is_restrict = from->is_restrict,
        .is_volatile = from->is_volatile,
        .is_pipe = from->is_pipe,
        .type_name = from->type_name,
        .name = from->name,
        .offset = from->offset,
        .size = from->size,
        .pointee_align = from->pointee_align,
    };
    if (to->kind == OPENCL_ARGUMENT_IMAGE && to->access == OPENCL_ACCESS_NONE)
        to->access = OPENCL_ACCESS_READ_ONLY;
    if (to->kind == OPENCL_ARGUMENT_IMAGE)
        to->address_space = OPENCL_ADDRESS_GLOBAL; /* as the specification says of images */
}

/* The attributes of the source, separated by spaces. */
static const char *describe_kernel(struct region *memory, const struct code_object_kernel *kernel)
{
    char text[256];
    size_t used = 0;
    const uint32_t *groups[] = {kernel->required_group, kernel->group_hint};
    static const char *const names[] = {"reqd_work_group_size", "work_group_size_hint"};
    text[0] = '\0';
    for (int i = 0; i < 2; i++)
        if (groups[i][0] > 0)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s(%u,%u,%u)", used ? " " : "",
                                 names[i], groups[i][0], groups[i][1], groups[i][2]);
    if (*kernel->vector_hint && strlen(kernel->vector_hint) < 64)
        used += (size_t)snprintf(text + used, sizeof text - used, "%svec_type_hint(%s)",
                                 used ? " " : "", kernel->vector_hint);
    return region_strndup(memory, text, used);
}

static void read_kernel(struct region *memory, const struct code_object_kernel *from,
                        struct opencl_kernel *to)
{
    uint32_t count = 0;
    to->name = from->name;
    to->attributes = describe_kernel(memory, from);
    memcpy(to->required_group, from->required_group, sizeof to->required_group);
    memcpy(to->group_hint, from->group_hint, sizeof to->group_hint);
    to->arguments = region_take_array(memory, from->explicit_argument_count, sizeof *to->arguments);
    for (; count < from->explicit_argument_count; count++)
        read_argument(&from->arguments[count], &to->arguments[count]);
    to->argument_count = count;
}

/* ---- formats of printf ---- */

static bool read_number(const char **text, uint32_t *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    unsigned long value = strtoul(*text, &end, 10);
    if (*end != ':' || value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    *text = end + 1;
    return true;
}

/* Undoes what the compiler (LLVM, AMDGPUPrintfRuntimeBinding) writes for characters that would
 * disturb the list. */
static const char *unescape(struct region *memory, const char *text)
{
    static const char letters[] = "abfnrtv\\", meant[] = "\a\b\f\n\r\t\v\\";
    char *plain = region_take(memory, strlen(text) + 1), *end = plain;
    while (*text) {
        const char *letter = text[0] == '\\' && text[1] ? strchr(letters, text[1]) : NULL;
        if (letter) {
            *end++ = meant[letter - letters];
            text += 2;
        } else if (strncmp(text, "\\72", 3) == 0) {
            *end++ = ':';
            text += 3;
        } else {
            *end++ = *text++;
        }
    }
    return plain;
}

static bool read_format(struct region *memory, const char *text, struct opencl_format *format)
{
    uint32_t count;
    if (!read_number(&text, &format->number) || !read_number(&text, &count) || count > strlen(text))
        return false;
    uint32_t *bytes = region_take_array(memory, count, sizeof *bytes);
    for (uint32_t i = 0; i < count; i++)
        if (!read_number(&text, &bytes[i]))
            return false;
    format->argument_count = count;
    format->argument_bytes = bytes;
    format->text = unescape(memory, text);
    return true;
}

/* ---- variables ---- */

static uint64_t variable_bytes(const struct code_object *object)
{
    size_t names;
    uint64_t bytes = 0;
    Elf *elf = elf_memory((char *)object->image, object->image_size);
    Elf_Scn *section = NULL;
    while (elf && elf_getshdrstrndx(elf, &names) == 0 && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        /* The linker's padding is no variable. */
        if (name && (header.sh_type == SHT_PROGBITS || header.sh_type == SHT_NOBITS)
            && (header.sh_flags & SHF_WRITE) && strcmp(name, ".relro_padding") != 0)
            bytes += header.sh_size;
    }
    elf_end(elf);
    return bytes;
}

/* ---- all ---- */

static bool read_all(struct opencl_facts *facts, struct code_object *object)
{
    facts->kernels =
        region_take_array(&object->memory, object->kernel_count, sizeof *facts->kernels);
    for (; facts->kernel_count < object->kernel_count; facts->kernel_count++)
        read_kernel(&object->memory, &object->kernels[facts->kernel_count],
                    &facts->kernels[facts->kernel_count]);
    facts->formats =
        region_take_array(&object->memory, object->format_count, sizeof *facts->formats);
    for (; facts->format_count < object->format_count; facts->format_count++)
        if (!read_format(&object->memory, object->formats[facts->format_count],
                         &facts->formats[facts->format_count]))
            return false;
    facts->variable_bytes = variable_bytes(object);
    return true;
}

bool opencl_facts_read(struct opencl_facts *facts, const void *bytes, size_t size, char error[320])
{
    struct code_object *object = calloc(1, sizeof *object);
    *facts = (struct opencl_facts){.memory = object};
    if (!object)
        snprintf(error, 320, "out of memory");
    else if (!code_object_read(object, bytes, size))
        snprintf(error, 320, "%s", object->error);
    else if (!read_all(facts, object))
        snprintf(error, 320, "a format of printf is damaged");
    else
        return true;
    opencl_facts_release(facts);
    return false;
}

void opencl_facts_release(struct opencl_facts *facts)
{
    if (facts->memory)
        code_object_release(facts->memory);
    free(facts->memory);
    *facts = (struct opencl_facts){0};
}
