/* Metadata of version 2: the YAML text of an NT_AMD_HSA_METADATA note (LLVM AMDGPU guide, "Code
 * Object V2 Metadata"). Compilers write one fixed shape of it: block mappings and sequences, one
 * `Key: value` a line, scalars plain or in single quotes. That shape is read line by line; a full
 * YAML parser is not needed.
 *
 * Invariant: a line belongs to the kernel, or the argument, whose `- ` came last; the two kinds of
 * `- ` differ by their column. Offsets of arguments are not written in version 2: they follow from
 * sizes and alignments in order. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#include "code_object_internal.h"

enum { COLUMN_NONE = -1 };

struct line {
    int column;   /* column of the key, after any `- ` */
    bool is_item; /* began with `- ` */
    const char *key, *value;
    size_t key_length, value_length;
};

struct yaml_reader {
    struct code_object *object;
    bool is_in_kernels;
    int kernel_column, argument_column; /* columns of the keys of a kernel, of an argument */
    struct code_object_kernel *kernel;  /* being read, or NULL */
    struct code_object_argument *argument;
    uint32_t argument_align;
    size_t lines; /* an upper bound for kernels and arguments */
};

static bool key_is(const struct line *line, const char *key)
{
    return line->key_length == strlen(key) && memcmp(line->key, key, line->key_length) == 0;
}

static uint32_t value_number(const struct line *line)
{
    uint64_t number = 0;
    for (size_t i = 0; i < line->value_length && number <= UINT32_MAX; i++) {
        if (line->value[i] < '0' || line->value[i] > '9')
            return UINT32_MAX;
        number = number * 10 + (unsigned)(line->value[i] - '0');
    }
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static void trim_value(struct line *line)
{
    while (line->value_length > 0 && (line->value[0] == ' ' || line->value[0] == '\t')) {
        line->value++;
        line->value_length--;
    }
    while (line->value_length > 0
           && (line->value[line->value_length - 1] == ' '
               || line->value[line->value_length - 1] == '\r'))
        line->value_length--;
    char quote = line->value_length >= 2 ? line->value[0] : 0;
    if ((quote == '\'' || quote == '"') && line->value[line->value_length - 1] == quote) {
        line->value++;
        line->value_length -= 2;
    }
}

/* Splits a line; false when it has no key (end markers, blank lines). */
static bool split_line(const char *text, size_t length, struct line *line)
{
    size_t at = 0;
    *line = (struct line){0};
    while (at < length && text[at] == ' ')
        at++;
    if (at + 1 < length && text[at] == '-' && text[at + 1] == ' ') {
        line->is_item = true;
        for (at++; at < length && text[at] == ' ';)
            at++;
    }
    const char *colon = at < length ? memchr(text + at, ':', length - at) : NULL;
    if (!colon || at > 1000)
        return false;
    line->column = (int)at;
    line->key = text + at;
    line->key_length = (size_t)(colon - line->key);
    line->value = colon + 1;
    line->value_length = length - at - line->key_length - 1;
    trim_value(line);
    return true;
}

static char *copy_value(struct yaml_reader *reader, const struct line *line)
{
    return region_strndup(&reader->object->memory, line->value, line->value_length);
}

/* The place of an argument is known when all of its lines are read. */
static bool finish_argument(struct yaml_reader *reader)
{
    struct code_object_argument *argument = reader->argument;
    if (!argument)
        return true;
    uint32_t align = reader->argument_align;
    if (align == 0 || align > 4096 || (align & (align - 1)) != 0
        || argument->size > CODE_OBJECT_KERNARG_MAX
        || argument->kind == CODE_OBJECT_VALUE_UNKNOWN) {
        return code_object_fail(reader->object, "argument %u of kernel '%.120s' is damaged",
                                reader->kernel->argument_count, reader->kernel->name);
    }
    uint32_t end = 0;
    if (reader->kernel->argument_count > 1)
        end = argument[-1].offset + argument[-1].size;
    argument->offset = round_up(end, align);
    reader->argument = NULL;
    return argument->offset <= CODE_OBJECT_KERNARG_MAX
           || code_object_fail(reader->object, "kernel '%.120s' has too many arguments",
                               reader->kernel->name);
}

static void begin_argument(struct yaml_reader *reader)
{
    struct code_object_kernel *kernel = reader->kernel;
    reader->argument = &kernel->arguments[kernel->argument_count++];
    *reader->argument = (struct code_object_argument){.name = "",
                                                      .type_name = "",
                                                      .address_space = "",
                                                      .access = "",
                                                      .kind = CODE_OBJECT_VALUE_UNKNOWN};
    reader->argument_align = 1;
}

static void read_argument_line(struct yaml_reader *reader, const struct line *line)
{
    struct code_object_argument *argument = reader->argument;
    if (key_is(line, "Name"))
        argument->name = copy_value(reader, line);
    else if (key_is(line, "Size"))
        argument->size = value_number(line);
    else if (key_is(line, "Align"))
        reader->argument_align = value_number(line);
    else if (key_is(line, "ValueKind"))
        argument->kind = code_object_value_kind_of(line->value, line->value_length, false);
}

/* Begins a kernel. Its arguments come from the rest of one array that has room for one argument a
 * line. */
static bool begin_kernel(struct yaml_reader *reader)
{
    struct code_object *object = reader->object;
    if (object->kernel_count == CODE_OBJECT_KERNELS_MAX)
        return code_object_fail(object, "metadata has too many kernels");
    struct code_object_argument *arguments = object->kernels[0].arguments;
    if (reader->kernel)
        arguments = reader->kernel->arguments + reader->kernel->argument_count;
    reader->kernel = &object->kernels[object->kernel_count++];
    *reader->kernel = (struct code_object_kernel){
        .name = "", .vector_hint = "", .arguments = arguments, .kernarg_align = 8};
    for (size_t i = 0; i < CODE_OBJECT_FACTS; i++)
        reader->kernel->stated[i] = CODE_OBJECT_UNSTATED;
    return true;
}

static void read_kernel_line(struct yaml_reader *reader, const struct line *line)
{
    struct code_object_kernel *kernel = reader->kernel;
    for (size_t i = 0; i < CODE_OBJECT_FACTS; i++)
        if (key_is(line, code_object_facts[i].key_v2))
            kernel->stated[i] = value_number(line);
    if (key_is(line, "Name"))
        kernel->name = copy_value(reader, line);
    else if (key_is(line, "MaxFlatWorkGroupSize"))
        kernel->max_group_threads = value_number(line);
}

static bool read_line(struct yaml_reader *reader, const struct line *line)
{
    if (line->column == 0) {
        reader->is_in_kernels = key_is(line, "Kernels");
        return finish_argument(reader);
    }
    if (!reader->is_in_kernels)
        return true;
    if (line->is_item && (!reader->kernel || line->column <= reader->kernel_column)) {
        reader->kernel_column = line->column;
        reader->argument_column = COLUMN_NONE;
        if (!finish_argument(reader) || !begin_kernel(reader))
            return false;
    } else if (!reader->kernel) {
        return true;
    } else if (line->column <= reader->kernel_column) {
        if (!finish_argument(reader))
            return false;
        reader->argument_column = key_is(line, "Args") ? INT32_MAX : COLUMN_NONE;
    } else if (line->is_item && reader->argument_column != COLUMN_NONE
               && line->column <= reader->argument_column) {
        if (!finish_argument(reader))
            return false;
        reader->argument_column = line->column;
        begin_argument(reader);
    }
    if (!reader->argument)
        read_kernel_line(reader, line);
    else if (line->column == reader->argument_column)
        read_argument_line(reader, line);
    return true;
}

/* In version 2 the kernel's own symbol is the descriptor's address. */
static bool find_descriptors(struct code_object *object)
{
    for (size_t i = 0; i < object->kernel_count; i++) {
        struct code_object_kernel *kernel = &object->kernels[i];
        const struct code_object_symbol *symbol = code_object_find_symbol(object, kernel->name);
        if (!symbol)
            return code_object_fail(object, "kernel '%.120s' has no symbol", kernel->name);
        kernel->descriptor_address = symbol->address;
        kernel->kernarg_size = kernel->stated[0] == CODE_OBJECT_UNSTATED ? 0 : kernel->stated[0];
        if (kernel->kernarg_size == 0 && kernel->argument_count > 0) {
            const struct code_object_argument *last =
                &kernel->arguments[kernel->argument_count - 1];
            kernel->kernarg_size = last->offset + last->size;
        }
    }
    return true;
}

bool code_object_read_metadata_yaml(struct code_object *object, const char *text, size_t size)
{
    struct yaml_reader reader = {.object = object, .argument_column = COLUMN_NONE};
    size_t length = strnlen(text, size); /* the note is padded with NULs */
    size_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    object->kernels = region_take_array(&object->memory, lines, sizeof *object->kernels);
    object->kernels[0].arguments =
        region_take_array(&object->memory, lines, sizeof *object->kernels[0].arguments);
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line_length = end ? (size_t)(end - (text + at)) : length - at;
        struct line line;
        if (split_line(text + at, line_length, &line) && !read_line(&reader, &line))
            return false;
        at += line_length + 1;
    }
    return finish_argument(&reader) && find_descriptors(object);
}
