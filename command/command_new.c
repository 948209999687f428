/* `heddle new`: files to start from, which compile and pass as they are, in any folder. */
#include "command_new.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "codegen/emit/emit.h"
#include "codegen/views/view.h"
#include "dsl/compile.h"

#include "command.h"
#include "command_say.h"
#include "new_templates.h"

struct new_file {
    const char *suffix; /* behind the name */
    const char *template;
};

static const struct new_file component_files[] = {
    {".heddle", new_component_heddle},
    {".c", new_component_c},
    {"_test.heddle", new_component_test},
};
static const struct new_file platform_files[] = {{".heddle", new_platform_heddle}};
static const struct new_file part_files[] = {
    {".heddle", new_part_heddle},
    {".c", new_part_c},
    {"_test.heddle", new_part_test},
};

#define NAME_LENGTH_MAX 64

static const struct new_kind {
    const char *name;
    const struct new_file *files;
    size_t count;
    const char *next; /* commands to try: @DIR@ stands for the folder with its slash */
} kinds[] = {
    {"component", component_files, ARRAY_COUNT(component_files),
     "try: heddle run @DIR@@NAME@_test.heddle\n"},
    {"platform", platform_files, ARRAY_COUNT(platform_files),
     "try: heddle check @DIR@@NAME@.heddle\n"
     "     heddle dot @DIR@@NAME@.heddle --svg -o @NAME@.svg\n"},
    {"part", part_files, ARRAY_COUNT(part_files),
     "try: heddle run @DIR@@NAME@_test.heddle\n"
     "     heddle run @DIR@@NAME@_test.heddle --set cache.replacement=lru\n"},
};

/* Names that the files themselves use, and words of C: a component's name begins the names of its
 * functions and is that of its struct. */
static const char *const taken_names[] = {
    "auto",     "break",    "case",   "char",    "component", "const",  "continue", "core",
    "default",  "do",       "double", "dram",    "driver",    "else",   "engine",   "enum",
    "extern",   "float",    "for",    "forward", "gcn3",      "goto",   "if",       "inline",
    "int",      "long",     "mem",    "memory",  "message",   "mmu",    "pcie",     "platform",
    "register", "restrict", "return", "ring",    "short",     "signed", "sizeof",   "static",
    "struct",   "switch",   "tester", "typedef", "union",     "unit",   "unsigned", "void",
    "volatile", "while",
};

static bool check_name(const char *name, struct view_error *error)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (!*name || name[length] || !strchr("abcdefghijklmnopqrstuvwxyz", *name)
        || length > NAME_LENGTH_MAX) {
        snprintf(error->text, sizeof error->text,
                 "'%.80s' cannot be a name: take lower-case letters, digits and '_', a letter "
                 "first, at most %d characters",
                 name, NAME_LENGTH_MAX);
        return false;
    }
    for (size_t i = 0; i < ARRAY_COUNT(taken_names); i++)
        if (strcmp(name, taken_names[i]) == 0) {
            snprintf(error->text, sizeof error->text,
                     "'%s' cannot be the name: it is a word of C or of the library; try 'my_%s'",
                     name, name);
            return false;
        }
    return true;
}

/* Nothing is overwritten, so all files are looked for before one is written. */
static bool check_free(const char *dir, const char *name, const struct new_kind *kind,
                       struct view_error *error)
{
    for (size_t i = 0; i < kind->count; i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s%s", dir, name, kind->files[i].suffix);
        if (length < 0 || (size_t)length >= sizeof path) {
            snprintf(error->text, sizeof error->text, "the path of folder '%.80s...' is too long",
                     dir);
            return false;
        }
        if (access(path, F_OK) == 0) {
            snprintf(error->text, sizeof error->text,
                     "'%.900s' is there already and nothing was written; take another name or "
                     "folder (-o DIR)",
                     path);
            return false;
        }
    }
    return true;
}

/* The text with what stands between two @ replaced. */
static struct emit fill_template(struct region *region, const char *template, const char *name,
                                 const char *prefix)
{
    static const char name_mark[] = "@NAME@", dir_mark[] = "@DIR@";
    struct emit text;
    emit_init(&text, region);
    for (const char *at; (at = strchr(template, '@'));) {
        bool is_name = strncmp(at, name_mark, sizeof name_mark - 1) == 0;
        emit(&text, "%.*s%s", (int)(at - template), template, is_name ? name : prefix);
        template = at + (is_name ? sizeof name_mark : sizeof dir_mark) - 1;
    }
    emit(&text, "%s", template);
    return text;
}

/* Writes a description as `heddle fmt` would lay it out, now that its names have their lengths. */
static enum emit_result write_description(const struct emit *text, const char *path)
{
    struct compilation *c = compile_open(NULL);
    size_t size;
    const char *formatted = compile_format_text(c, path, text->text, strlen(text->text), &size);
    enum emit_result result = emit_write_bytes(path, formatted, size);
    compile_close(c);
    return result;
}

static bool write_files(struct region *region, const char *prefix, const char *name,
                        const struct new_kind *kind, FILE *out)
{
    for (size_t i = 0; i < kind->count; i++) {
        const char *path = region_printf(region, "%s%s%s", prefix, name, kind->files[i].suffix);
        struct emit text = fill_template(region, kind->files[i].template, name, prefix);
        bool is_code = strcmp(strrchr(path, '.'), ".c") == 0;
        if ((is_code ? emit_write(&text, path) : write_description(&text, path)) == EMIT_FAILED)
            return false;
        fprintf(out, "wrote %s\n", path);
    }
    fputs(fill_template(region, kind->next, name, prefix).text, out);
    return true;
}

static const struct new_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

bool command_new_write(const char *kind_name, const char *name, const char *dir, FILE *out,
                       struct view_error *error)
{
    const struct new_kind *kind = find_kind(kind_name);
    const char *folder = dir ? dir : ".";
    if (!check_name(name, error) || !check_free(folder, name, kind, error)
        || !emit_make_folder(folder))
        return false;
    struct region region;
    region_init(&region, "a description");
    const char *prefix = dir ? region_printf(&region, "%s/", dir) : "";
    bool written = write_files(&region, prefix, name, kind, out);
    region_release(&region);
    return written;
}

int command_new(struct command *c)
{
    const struct options *o = c->options;
    const char *kind = o->arguments.items[0], *name = o->arguments.items[1];
    struct view_error error = {""};
    if (!find_kind(kind)) {
        command_say("'%s' is not 'component', 'part' or 'platform'", kind);
        return EXIT_USAGE;
    }
    bool ok = command_new_write(kind, name, o->output, stdout, &error);
    if (error.text[0])
        command_say("%s", error.text);
    return ok ? EXIT_CLEAN : EXIT_ERRORS;
}
