/* See source_lines.h. Code objects with debug information are found in the program as `heddle
 * disasm` finds them. For each kernel that somebody asks about, the symbolizer is run once, over
 * all of its words, and what it says is kept: "FILE:LINE:COLUMN" and an empty line for each. */
#include "codegen/command/source_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "components/amd/isa/object/bundle.h"
#include "components/amd/isa/object/code_object.h"

#define SYMBOLIZER "llvm-symbolizer-19"
#define WORDS_MOST 4096 /* of a kernel: what one command line can ask about */

struct kernel_lines {
    const char *symbol;
    const char **lines; /* by word from the first instruction */
    uint32_t count;
};

struct source_lines {
    struct profile_source source;
    struct command *command;
    struct arena *arena;
    const uint8_t *bytes; /* of the program */
    size_t size;
    VECTOR(struct kernel_lines) kernels;
};

static bool has_lines(const uint8_t *code, size_t size)
{
    static const char name[] = ".debug_line";
    for (size_t at = 0; at + sizeof name <= size; at++) {
        const uint8_t *dot = memchr(code + at, '.', size - at - sizeof name + 1);
        if (!dot)
            return false;
        at = (size_t)(dot - code);
        if (memcmp(dot, name, sizeof name - 1) == 0)
            return true;
    }
    return false;
}

/* "FILE:LINE" of "FILE:LINE:COLUMN"; "" when it is not known. */
static const char *without_column(struct arena *arena, char *line)
{
    char *column = strrchr(line, ':');
    if (line[0] == '?' || !column)
        return "";
    *column = '\0';
    return arena_strdup(arena, line);
}

/* Asks about words from `entry` on. */
static void ask(struct source_lines *s, struct kernel_lines *k, const char *object, uint64_t entry)
{
    char *command = NULL, line[4096];
    size_t size = 0;
    FILE *text = open_memstream(&command, &size);
    if (!text)
        return;
    fprintf(text, SYMBOLIZER " --obj='%s' --no-inlines --functions=none --basenames", object);
    for (uint32_t word = 0; word < k->count; word++)
        fprintf(text, " 0x%" PRIx64, entry + 4 * word);
    fputs(" 2>/dev/null", text);
    fclose(text);
    FILE *answers = popen(command, "r");
    uint32_t i = 0;
    while (answers && i < k->count && fgets(line, sizeof line, answers)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0]) /* an empty line is behind each answer */
            k->lines[i++] = without_column(s->arena, line);
    }
    if (answers)
        pclose(answers);
    if (i == 0)
        fprintf(stderr, "heddle run: no lines of the source: '" SYMBOLIZER "', of Debian's package "
                        "llvm-19, says nothing\n");
    free(command);
}

static void ask_about_copy(struct source_lines *s, struct kernel_lines *k, const uint8_t *code,
                           size_t size, uint64_t entry)
{
    const char *path = command_temporary(s->command);
    FILE *file = path ? fopen(path, "wb") : NULL;
    bool good = file && fwrite(code, 1, size, file) == size;
    if (file && fclose(file) == 0 && good)
        ask(s, k, path, entry);
    if (path)
        unlink(path);
}

static bool add_kernel(struct source_lines *s, struct kernel_lines *k, const uint8_t *code,
                       size_t size)
{
    struct code_object object;
    bool found = false;
    if (!has_lines(code, size))
        return false;
    if (code_object_read(&object, code, size))
        for (size_t i = 0; i < object.kernel_count && !found; i++) {
            found = strcmp(object.kernels[i].name, k->symbol) == 0;
            if (found)
                ask_about_copy(s, k, code, size, object.kernels[i].entry_address);
        }
    code_object_release(&object);
    return found;
}

/* Bundles wherever they stand in the program. */
static void read_bundles(struct source_lines *s, struct kernel_lines *k)
{
    bool found = false;
    for (size_t at = 0; !found && at + BUNDLE_MAGIC_SIZE <= s->size; at++) {
        const uint8_t *next = memchr(s->bytes + at, '_', s->size - at);
        struct bundle bundle;
        if (!next)
            return;
        at = (size_t)(next - s->bytes);
        if (!bundle_recognise(next, s->size - at))
            continue;
        bool good = bundle_read(&bundle, next, s->size - at);
        for (size_t i = 0; good && !found && i < bundle.entry_count; i++)
            if (bundle.entries[i].is_device && bundle.entries[i].size)
                found = add_kernel(s, k, bundle.entries[i].code, bundle.entries[i].size);
        bundle_release(&bundle);
    }
}

static const char *line_of(const struct profile_source *source, const char *symbol, int64_t offset)
{
    struct source_lines *s = (struct source_lines *)(uintptr_t)source;
    uint32_t i = 0;
    while (i < s->kernels.count && strcmp(s->kernels.items[i].symbol, symbol) != 0)
        i++;
    if (i == s->kernels.count) {
        struct kernel_lines k = {arena_strdup(s->arena, symbol),
                                 arena_alloc(s->arena, WORDS_MOST * sizeof(char *)), WORDS_MOST};
        read_bundles(s, &k);
        vector_push(s->arena, &s->kernels, k);
    }
    const struct kernel_lines *k = &s->kernels.items[i];
    uint64_t word = (uint64_t)offset / 4;
    return offset >= 0 && word < k->count && k->lines[word] ? k->lines[word] : "";
}

const struct profile_source *source_lines_open(struct command *c, const char *path)
{
    struct source_lines *s = arena_alloc(c->arena, sizeof *s);
    *s = (struct source_lines){.source = {line_of}, .command = c, .arena = c->arena};
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size > 0 && fseek(file, 0, SEEK_SET) == 0) {
        uint8_t *bytes = arena_alloc(c->arena, (size_t)size);
        s->size = fread(bytes, 1, (size_t)size, file);
        s->bytes = bytes;
    }
    fclose(file);
    return s->size && has_lines(s->bytes, s->size) ? &s->source : NULL;
}
