/* `heddle disasm`: GPU machine code as text.
 *
 * Takes code objects, also relocatable ones, offload bundles, anything that contains bundles (HIP
 * programs), and raw machine code, also as hexadecimal text; with --lines each line of such text
 * makes one line of output. Code objects name their target; raw code needs --mcpu. A word that is
 * no instruction is printed as data, so that addresses stay right. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "codegen/emit/input.h"
#include "components/amd/isa/isa.h"
#include "components/amd/isa/object/bundle.h"
#include "components/amd/isa/object/code_object.h"
#include "components/amd/isa/object/code_sections.h"

#include "command.h"
#include "command_say.h"
#include "disasm_ptx.h"

struct input {
    uint8_t *bytes;
    size_t size;
};

static bool read_input(struct command *c, const char *path, struct input *input)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : input_open("disasm", path, INPUT_BYTES);
    if (!file)
        return false;
    input->bytes = (uint8_t *)region_read(c->region, file, SIZE_MAX, &input->size);
    bool failed = ferror(file) != 0;
    if (failed)
        command_say("cannot read '%s': %s", path, strerror(errno));
    if (!is_stdin)
        fclose(file);
    return !failed;
}

/* Text such as "7e000280 0xbf810000" (words) or "0x80,0x02,0x00,0x7e" (bytes) to bytes, which may
 * be the same memory. False: it is not that. */
static bool parse_hex(const uint8_t *text, size_t size, uint8_t *bytes, size_t *count)
{
    size_t out = 0;
    for (size_t i = 0; i < size; i++)
        if (!isxdigit(text[i]) && !strchr("xX,[] \t\r\n", text[i]))
            return false;
    for (size_t i = 0; i < size;) {
        if (!isxdigit(text[i])) {
            i++;
            continue;
        }
        if (text[i] == '0' && i + 1 < size && tolower(text[i + 1]) == 'x')
            i += 2;
        char digits[17] = "";
        size_t length = 0;
        while (i < size && isxdigit(text[i]) && length < 16)
            digits[length++] = (char)text[i++];
        uint64_t value = strtoull(digits, NULL, 16);
        /* Two digits are a byte, eight a word; little-endian. Never more bytes than digits were
         * read. */
        for (size_t b = 0; b < divide_up(length, 2); b++)
            bytes[out++] = (uint8_t)(value >> (8 * b));
    }
    *count = out;
    return out > 0;
}

static const char *label_at(const struct code_object *object, uint64_t address)
{
    for (size_t i = 0; object && i < object->kernel_count; i++)
        if (object->kernels[i].entry_address == address)
            return object->kernels[i].name;
    for (size_t i = 0; object && i < object->symbol_count; i++)
        if (object->symbols[i].address == address && !object->symbols[i].is_variable)
            return object->symbols[i].name;
    return NULL;
}

static void print_words(FILE *out, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < 12; i += 4) {
        uint32_t word;
        if (i + 4 <= size) {
            memcpy(&word, bytes + i, 4);
            fprintf(out, " %08" PRIx32, word);
        } else if (i == 0 || i < 8) {
            fprintf(out, "         ");
        }
    }
}

static void print_code(FILE *out, enum isa_target target, const struct code_object *object,
                       uint64_t address, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        struct isa_inst inst;
        char text[ISA_TEXT_MAX];
        const char *label = label_at(object, address + at), *note = "";
        int length = isa_decode(target, bytes + at, size - at, &inst);
        if (label)
            fprintf(out, "\n%s:\n", label);
        size_t used = min(size - at, 4);
        if (length > 0 || length == ISA_ERROR_UNIMPLEMENTED) {
            used = inst.size;
            isa_format(&inst, address + at, text, sizeof text);
            note = length > 0 ? "" : "  ; not simulated yet";
        } else {
            uint32_t word = 0;
            memcpy(&word, bytes + at, used);
            snprintf(text, sizeof text, ".long 0x%08" PRIx32, word);
        }
        fprintf(out, "%8" PRIx64 ":", address + at);
        print_words(out, bytes + at, used);
        fprintf(out, "  %s%s\n", text, note);
        at += used;
    }
}

/* The target to decode for: --mcpu, or what the code says. False: message. */
static bool choose_target(const struct command *c, const char *named, enum isa_target *target)
{
    const char *name = c->options->mcpu ? c->options->mcpu : named;
    if (!name) {
        char names[128];
        isa_target_names(names, sizeof names);
        command_say("raw machine code does not say what it is for: add --mcpu %s", names);
        return false;
    }
    if (isa_target_by_name(name, target) == 0)
        return true;
    command_say_begin("there is no instruction table for '%s'; there are", name);
    for (int i = 0; i < ISA_TARGET_COUNT; i++)
        fprintf(stderr, " %s", isa_target_name((enum isa_target)i));
    fputc('\n', stderr);
    return false;
}

/* All instructions of a line, with "; " between them. False: a word is none. */
static bool print_line(FILE *out, enum isa_target target, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        struct isa_inst inst;
        char text[ISA_TEXT_MAX];
        int length = isa_decode(target, bytes + at, size - at, &inst);
        fputs(at ? "; " : "", out);
        if (length <= 0 && length != ISA_ERROR_UNIMPLEMENTED) {
            fputs(length == ISA_ERROR_TRUNCATED
                      ? "invalid: the instruction does not end in the line"
                      : "invalid: no instruction",
                  out);
            return false;
        }
        isa_format(&inst, UINT64_MAX, text, sizeof text);
        fputs(text, out);
        at += inst.size;
    }
    return true;
}

/* --lines: a line of hexadecimal text in, a line of assembler text out, empty ones too. */
static bool print_lines(FILE *out, enum isa_target target, const char *path, struct input *input)
{
    size_t wrong = 0, first = 0, number = 0;
    for (size_t at = 0; at < input->size;) {
        uint8_t *line = input->bytes + at, *end = memchr(line, '\n', input->size - at);
        size_t length = end ? (size_t)(end - line) : input->size - at, count = 0, blank = 0;
        while (blank < length && isspace(line[blank]))
            blank++;
        bool ok = true;
        number++;
        if (blank < length) {
            bool hex = parse_hex(line, length, line, &count);
            if (!hex)
                fputs("invalid: not hexadecimal", out);
            ok = hex && print_line(out, target, line, count);
        }
        fputc('\n', out);
        first = ok || wrong ? first : number;
        wrong += !ok;
        at += length + (end != NULL);
    }
    if (wrong)
        command_say("'%s': %zu of %zu lines are not instructions of %s; the first is line %zu",
                    path, wrong, number, isa_target_name(target), first);
    return wrong == 0;
}

/* Writes what there is, the lines that are no instructions, too. */
static int lines_of(const struct command *c, const char *path, struct input *input)
{
    struct command_output out;
    enum isa_target target;
    if (!choose_target(c, NULL, &target) || !command_output_open(&out))
        return EXIT_ERRORS;
    bool ok = print_lines(out.file, target, path, input);
    int status = command_output_close(&out, NULL, true);
    return ok ? status : EXIT_ERRORS;
}

/* Code that cannot be loaded, since it is not linked or has no metadata, is shown by sections. */
static bool print_sections(const struct command *c, FILE *out, const uint8_t *bytes, size_t size,
                           const char *reason)
{
    struct code_sections sections;
    enum isa_target target;
    bool ok = code_sections_read(&sections, bytes, size);
    if (!ok)
        command_say("%s; %s", reason, sections.error);
    ok = ok && choose_target(c, sections.target.gfx, &target);
    if (ok)
        fprintf(out, "# %s, cannot be loaded: %s\n", sections.target.gfx, reason);
    for (size_t i = 0; ok && i < sections.count; i++) {
        const struct code_section *section = &sections.sections[i];
        fprintf(out, "\n# section %s\n", section->name);
        print_code(out, target, NULL, section->address, section->bytes, section->size);
    }
    code_sections_release(&sections);
    return ok;
}

static bool print_code_object(const struct command *c, FILE *out, const uint8_t *bytes, size_t size)
{
    struct code_object object;
    enum isa_target target;
    char name[64];
    bool ok = code_object_read(&object, bytes, size);
    if (!ok) {
        ok = print_sections(c, out, bytes, size, object.error);
        code_object_release(&object);
        return ok;
    }
    ok = ok && choose_target(c, object.target.gfx, &target);
    if (ok) {
        code_object_target_name(&object.target, name, sizeof name);
        fprintf(out, "# %s, code object version %u, %zu kernels\n", name, object.version,
                object.kernel_count);
        for (size_t i = 0; i < object.segment_count; i++)
            if (object.segments[i].is_executable)
                print_code(out, target, &object, object.segments[i].address,
                           object.segments[i].bytes, object.segments[i].file_size);
    }
    code_object_release(&object);
    return ok;
}

static bool print_bundle(const struct command *c, FILE *out, const uint8_t *bytes, size_t size,
                         bool *any)
{
    struct bundle bundle;
    bool ok = bundle_read(&bundle, bytes, size);
    if (!ok)
        command_say("%s", bundle.error);
    for (size_t i = 0; ok && i < bundle.entry_count; i++) {
        const struct bundle_entry *entry = &bundle.entries[i];
        enum isa_target entry_target, wanted;
        if (!entry->is_device || entry->size == 0)
            continue;
        bool known = isa_target_by_name(entry->target, &entry_target) == 0;
        if (c->options->mcpu && isa_target_by_name(c->options->mcpu, &wanted) == 0
            && (!known || wanted != entry_target))
            continue;
        if (!known) {
            fprintf(out, "# %s: no instruction table for it\n", entry->id);
            continue;
        }
        *any = true;
        ok = print_code_object(c, out, entry->code, entry->size);
    }
    bundle_release(&bundle);
    return ok;
}

/* Bundles wherever they are in the file, as hipcc embeds them. */
static bool print_embedded(const struct command *c, FILE *out, const struct input *input, bool *any)
{
    bool ok = true;
    for (size_t at = 0; ok && at + BUNDLE_MAGIC_SIZE <= input->size; at++) {
        const uint8_t *next = memchr(input->bytes + at, '_', input->size - at);
        if (!next)
            break;
        at = (size_t)(next - input->bytes);
        if (bundle_recognise(next, input->size - at))
            ok = print_bundle(c, out, next, input->size - at, any);
    }
    return ok;
}

static bool is_gpu_elf(const struct input *input)
{
    /* e_machine of the ELF header: 224 is EM_AMDGPU. */
    return code_object_recognise(input->bytes, input->size) && input->size > 19
           && input->bytes[18] == 224 && input->bytes[19] == 0;
}

int command_disasm(struct command *c)
{
    const struct options *o = c->options;
    const char *path = o->arguments.count ? o->arguments.items[0] : "-";
    struct input input;
    struct command_output out;
    enum isa_target target;
    bool any = false;
    if (!read_input(c, path, &input))
        return EXIT_ERRORS;
    if (o->lines)
        return lines_of(c, path, &input);
    if (!command_output_open(&out))
        return EXIT_ERRORS;
    bool ok = true;
    if (input.size == 0) {
        command_say("'%s' is empty", path);
        ok = false;
    } else if (is_gpu_elf(&input)) {
        ok = print_code_object(c, out.file, input.bytes, input.size);
    } else if (code_object_recognise(input.bytes, input.size)
               || bundle_recognise(input.bytes, input.size)) {
        ok = print_embedded(c, out.file, &input, &any)
             && disasm_ptx(out.file, input.bytes, input.size, o->mcpu, &any);
        if (ok && !any) {
            command_say("'%s' holds no GPU code%s%s", path, o->mcpu ? " for " : "",
                        o->mcpu ? o->mcpu : "");
            ok = false;
        }
    } else if ((ok = choose_target(c, NULL, &target))) {
        size_t count;
        if (parse_hex(input.bytes, input.size, input.bytes, &count))
            input.size = count;
        print_code(out.file, target, NULL, 0, input.bytes, input.size);
    }
    return command_output_close(&out, NULL, ok);
}
