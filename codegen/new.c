/* `heddle new`: files to start from, which compile and pass as they are, in any folder. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "codegen/docs_text.h"
#include "codegen/new_templates.h"
#include "codegen/view.h"

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

#define COUNT(table)    (sizeof(table) / sizeof((table)[0]))
#define NAME_MAX_LENGTH 64

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
        || length > NAME_MAX_LENGTH) {
        snprintf(error->text, sizeof error->text,
                 "'%.80s' cannot be a name: take lower-case letters, digits and '_', a letter "
                 "first, at most %d characters",
                 name, NAME_MAX_LENGTH);
        return false;
    }
    for (size_t i = 0; i < COUNT(taken_names); i++)
        if (strcmp(name, taken_names[i]) == 0) {
            snprintf(error->text, sizeof error->text,
                     "'%s' cannot be the name: it is a word of C or of the library; try 'my_%s'",
                     name, name);
            return false;
        }
    return true;
}

/* Nothing is overwritten, so all files are looked for before one is written. */
static bool check_free(const char *dir, const char *name, const struct new_file *files,
                       size_t count, struct view_error *error)
{
    for (size_t i = 0; i < count; i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s%s", dir, name, files[i].suffix);
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

static void write_template(FILE *out, const char *template, const char *name)
{
    static const char mark[] = "@NAME@";
    for (const char *at; (at = strstr(template, mark)) != NULL; template = at + sizeof mark - 1)
        fprintf(out, "%.*s%s", (int)(at - template), template, name);
    fputs(template, out);
}

static bool write_files(const char *dir, const char *name, const struct new_file *files,
                        size_t count, FILE *out, struct view_error *error)
{
    if (!docs_make_directory(dir, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        char file[NAME_MAX_LENGTH + 32];
        snprintf(file, sizeof file, "%s%s", name, files[i].suffix);
        FILE *f = docs_open(dir, file, error);
        if (!f)
            return false;
        write_template(f, files[i].template, name);
        if (!docs_close(f, dir, file, error))
            return false;
        bool here = strcmp(dir, ".") == 0;
        fprintf(out, "wrote %s%s%s\n", here ? "" : dir, here ? "" : "/", file);
    }
    return true;
}

static bool new_files(const char *name, const char *dir, const struct new_file *files, size_t count,
                      FILE *out, struct view_error *error)
{
    return check_name(name, error) && check_free(dir, name, files, count, error)
           && write_files(dir, name, files, count, out, error);
}

bool view_new_component(const char *name, const char *dir, FILE *out, struct view_error *error)
{
    const char *folder = dir ? dir : ".";
    if (!new_files(name, folder, component_files, COUNT(component_files), out, error))
        return false;
    fprintf(out, "try: heddle run %s%s%s_test.heddle\n", dir ? dir : "", dir ? "/" : "", name);
    return true;
}

bool view_new_platform(const char *name, const char *dir, FILE *out, struct view_error *error)
{
    const char *folder = dir ? dir : ".";
    if (!new_files(name, folder, platform_files, COUNT(platform_files), out, error))
        return false;
    const char *slash = dir ? "/" : "";
    fprintf(out,
            "try: heddle check %1$s%2$s%3$s.heddle\n     heddle dot %1$s%2$s%3$s.heddle --svg -o "
            "%3$s.svg\n",
            dir ? dir : "", slash, name);
    return true;
}
