/* Imports and the tables of names. A file is found in the importing file's folder, then on the -I
 * paths, then, for "std/NAME", as ROOM/NAME/NAME.heddle under the library root; reading it twice is
 * harmless, and so are cycles. */
#include "imports.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/suggest.h"
#include "dsl/syntax/token.h"

#include "declare.h"

#define FIND(field, member)                                                                        \
    for (uint32_t i = 0; i < program->field.count; i++)                                            \
        if (strcmp(program->field.items[i]->member, name) == 0)                                    \
            return program->field.items[i];                                                        \
    return NULL

struct type_info *program_type(const struct program *program, const char *name)
{
    FIND(types, model.name);
}

struct protocol_info *program_protocol(const struct program *program, const char *name)
{
    FIND(protocols, decl->name.text);
}

struct link_info *program_link(const struct program *program, const char *name)
{
    FIND(links, decl->name.text);
}

struct model_interface *program_interface(const struct program *program, const char *name)
{
    FIND(interfaces, name);
}

struct model_enum *program_enum(const struct program *program, const char *name)
{
    FIND(enums, name);
}

struct model_place program_place(const struct program *program, struct span span)
{
    struct source_position at = source_locate(program->sources, span.begin);
    if (!at.file)
        return (struct model_place){"", 0, 0};
    return (struct model_place){at.file->name, at.line, at.column};
}

int32_t item_list_find(const struct item_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->v.count; i++) {
        const char *other = list->v.items[i]->name.text;
        if (other[0] == name[0] && strcmp(other, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

int32_t model_enum_find(const struct model_enum *choice, const char *name)
{
    for (uint32_t i = 0; i < choice->count; i++)
        if (strcmp(choice->names[i], name) == 0)
            return (int32_t)i;
    return -1;
}

struct model_enum *program_make_enum(struct program *program, const char *name, const char *doc,
                                     const struct ast_names *literals, struct span span)
{
    struct model_enum *made = region_take(program->region, sizeof *made);
    made->name = name;
    made->doc = doc;
    made->place = program_place(program, span);
    made->names = region_take(program->region, literals->v.count * sizeof *made->names);
    for (uint32_t i = 0; i < literals->v.count; i++) {
        const struct ast_name *literal = &literals->v.items[i];
        if (model_enum_find(made, literal->text) >= 0)
            diagnostic_add(program->diagnostics, E0201, literal->span,
                           "'%s' stands twice in the enumeration", literal->text);
        made->names[made->count++] = literal->text;
    }
    return made;
}

static bool is_under(const char *path, const char *root)
{
    size_t length = root ? strlen(root) : 0;
    while (length > 1 && root[length - 1] == '/')
        length--;
    return length > 0 && strncmp(path, root, length) == 0 && path[length] == '/';
}

/* "a/./b" and "a/x/../b" are "a/b", so that a file reached in two ways is one file. */
static const char *normalise(struct region *region, const char *path)
{
    char *out = region_strdup(region, path);
    size_t n = 0, length = strlen(path);
    size_t starts[256];
    size_t depth = 0, i = 0;
    if (path[0] == '/')
        out[n++] = '/', i = 1;
    while (i < length) {
        size_t end = i;
        while (end < length && path[end] != '/')
            end++;
        size_t size = end - i;
        bool is_up = size == 2 && path[i] == '.' && path[i + 1] == '.';
        if (is_up && depth > 0) {
            n = starts[--depth];
        } else if (size > 0 && !(size == 1 && path[i] == '.') && depth < 255) {
            if (!is_up)
                starts[depth++] = n;
            memmove(out + n, path + i, size);
            n += size;
            if (end < length)
                out[n++] = '/';
        }
        i = end + 1;
    }
    if (n > 1 && out[n - 1] == '/')
        n--;
    out[n] = '\0';
    return out;
}

static int by_name(const void *a, const void *b)
{
    const struct library_entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->room, y->room);
}

static void list_room(const struct program *program, const char *root, const char *name)
{
    DIR *folder = opendir(region_printf(program->region, "%s/%s", root, name));
    if (!folder)
        return;
    const char *room = region_strdup(program->region, name);
    for (const struct dirent *one = readdir(folder); one; one = readdir(folder)) {
        if (one->d_name[0] == '.')
            continue;
        struct library_entry entry = {room, region_strdup(program->region, one->d_name)};
        vector_push(program->region, &program->library->entries, entry);
    }
    closedir(folder);
}

const struct library_entry *program_library(const struct program *program, uint32_t *count)
{
    struct library *library = program->library;
    const char *root = program->options->library_root;
    DIR *rooms = root && !library->is_listed ? opendir(root) : NULL;
    if (rooms) {
        for (const struct dirent *room = readdir(rooms); room; room = readdir(rooms))
            if (room->d_name[0] != '.')
                list_room(program, root, room->d_name);
        closedir(rooms);
        if (library->entries.count > 0)
            qsort(library->entries.items, library->entries.count, sizeof *library->entries.items,
                  by_name);
    }
    library->is_listed = true;
    *count = library->entries.count;
    return library->entries.items;
}

const char *library_path(const struct program *program, const struct library_entry *entry)
{
    return region_printf(program->region, "%s/%s/%s/%s.heddle", program->options->library_root,
                         entry->room, entry->name, entry->name);
}

/* The file of std/NAME, in whichever room it is, or NULL. */
static const char *library_file(struct program *program, const char *name)
{
    uint32_t count;
    const struct library_entry *entries = program_library(program, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(entries[i].name, name) != 0)
            continue;
        const char *path = library_path(program, &entries[i]);
        if (source_is_readable(path))
            return normalise(program->region, path);
    }
    return NULL;
}

/* The path of an import, or NULL. */
static const char *find_import(struct program *program, const struct source_file *from,
                               const char *wanted)
{
    struct region *region = program->region;
    const struct compile_options *options = program->options;
    size_t length = strlen(wanted);
    bool has_suffix = length > 7 && strcmp(wanted + length - 7, ".heddle") == 0;
    const char *file = has_suffix ? wanted : region_printf(region, "%s.heddle", wanted);
    const char *path = normalise(region, source_join(region, from->folder, file));
    if (source_exists(program->sources, path))
        return path;
    uint32_t missed = program->missed.count;
    vector_push(region, &program->missed, path);
    for (size_t i = 0; i < options->include_count; i++) {
        path = normalise(region, source_join(region, options->include_paths[i], file));
        if (source_exists(program->sources, path))
            return path;
        vector_push(region, &program->missed, path);
    }
    program->missed.count = missed; /* the library's are asked for by name */
    if (!options->library_root || strncmp(wanted, "std/", 4) != 0)
        return NULL;
    return library_file(program, wanted + 4);
}

/* The entry nearest to what was wanted; on a tie the first in the alphabet. */
static void suggest_import(struct program *program, struct diagnostic *d, const char *wanted)
{
    const char *name = strncmp(wanted, "std/", 4) == 0 ? wanted + 4 : wanted;
    struct suggestion best = suggestion_for(name);
    uint32_t count;
    const struct library_entry *entries = program_library(program, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct suggestion one = best;
        suggestion_try(&one, entries[i].name);
        if (strcmp(entries[i].name, name) == 0) /* without "std/" */
            one = (struct suggestion){name, entries[i].name, 0};
        if (one.distance < best.distance && source_is_readable(library_path(program, &entries[i])))
            best = one;
    }
    if (best.best)
        diagnostic_help(program->diagnostics, d, "did you mean \"std/%s\"?", best.best);
}

static void load_file(struct program *program, struct source_file *source);

static void load_import(struct program *program, const struct source_file *from,
                        const struct ast_item *item)
{
    const char *path = find_import(program, from, item->name.text);
    if (!path) {
        struct diagnostic *d = diagnostic_add(program->diagnostics, E0101, item->name.span,
                                              "cannot find the import \"%s\"", item->name.text);
        suggest_import(program, d, item->name.text);
        diagnostic_help(program->diagnostics, d,
                        "imports are searched in the folder of this file, on each -I, and "
                        "for \"std/NAME\" in the library");
        program->is_damaged = true;
        return;
    }
    vector_push(program->region, &program->imports, ((struct import_info){item, path}));
    if (source_find(program->sources, path))
        return;
    const char *reason = "";
    struct source_file *source = source_read(program->sources, path, &reason);
    if (!source) {
        diagnostic_add(program->diagnostics, E0102, item->name.span, "cannot read '%s': %s", path,
                       reason);
        program->is_damaged = true;
        return;
    }
    source->is_library = is_under(path, program->options->library_root);
    load_file(program, source);
}

/* Imports recurse; files are few, but a chain of a million generated ones must not end in a crash.
 */
#define FILES_MAX 1000

static void load_file(struct program *program, struct source_file *source)
{
    struct ast_file *file = ast_parse(program->region, program->diagnostics, source);
    vector_push(program->region, &program->files, file);
    program->is_damaged |= file->is_damaged;
    for (uint32_t i = 0; i < file->items->v.count; i++) {
        const struct ast_item *item = file->items->v.items[i];
        if (item->kind != AST_IMPORT || item->name.text == token_unclosed)
            continue;
        if (program->files.count >= FILES_MAX) {
            diagnostic_add(program->diagnostics, E0311, item->span, "more than %d files",
                           FILES_MAX);
            return;
        }
        load_import(program, source, item);
    }
    for (uint32_t i = 0; i < file->items->v.count; i++)
        declare_item(program, file, file->items->v.items[i]);
}

void program_load(struct program *program, struct source_file *main)
{
    main->is_library = is_under(main->name, program->options->library_root);
    program->library = region_take(program->region, sizeof *program->library);
    program->diagnostics->library_is_quiet = !main->is_library;
    load_file(program, main);
    declare_finish(program);
}
