/* The file that declares an unknown name, for the help of a diagnostic. The files are parsed once,
 * when the first unknown name is met. Called where names are looked up. */
#include <dirent.h>
#include <string.h>

#include "imports.h"

/* Enters all declarations of one file, which is not imported and may be damaged. */
static void enter(struct program *program, const char *path, const char *import)
{
    struct source_set set;
    struct diagnostics ignored;
    const char *reason;
    source_set_init(&set, program->region);
    diagnostics_init(&ignored, program->region, &set);
    ignored.muted = 1;
    const struct source_file *source = source_read(&set, path, &reason);
    if (!source)
        return;
    const struct ast_file *file = ast_parse(program->region, &ignored, source);
    for (uint32_t i = 0; i < file->items->v.count; i++) {
        const struct ast_item *item = file->items->v.items[i];
        struct elsewhere one = {item->kind, item->name.text, import};
        if (item->kind != AST_IMPORT && item->name.text)
            vector_push(program->region, &program->elsewhere, one);
    }
}

static void enter_library(struct program *program)
{
    uint32_t count;
    const struct library_entry *entries = program_library(program, &count);
    for (uint32_t i = 0; i < count; i++) {
        const char *path = library_path(program, &entries[i]);
        if (source_is_readable(path))
            enter(program, path, region_printf(program->region, "std/%s", entries[i].name));
    }
}

/* NAME.heddle of a folder. */
static void enter_folder(struct program *program, const char *folder)
{
    DIR *open_folder = opendir(folder[0] != '\0' ? folder : ".");
    if (!open_folder)
        return;
    for (const struct dirent *entry; (entry = readdir(open_folder));) {
        size_t length = strlen(entry->d_name);
        if (length <= 7 || strcmp(entry->d_name + length - 7, ".heddle") != 0)
            continue;
        const char *path = source_join(program->region, folder, entry->d_name);
        if (!source_find(program->sources, path) && source_is_readable(path))
            enter(program, path, region_strndup(program->region, entry->d_name, length - 7));
    }
    closedir(open_folder);
}

bool program_suggest_import(struct program *program, struct diagnostic *d, enum ast_kind kind,
                            const char *name)
{
    if (!program->knows_elsewhere) {
        program->knows_elsewhere = true;
        enter_library(program);
        enter_folder(program, program->files.items[0]->source->folder);
        for (size_t i = 0; i < program->options->include_count; i++)
            enter_folder(program, program->options->include_paths[i]);
    }
    /* Folders have no order: the first in the alphabet. */
    const char *best = NULL;
    for (uint32_t i = 0; i < program->elsewhere.count; i++) {
        const struct elsewhere *found = &program->elsewhere.items[i];
        if (found->kind == kind && strcmp(found->name, name) == 0
            && (!best || strcmp(found->import, best) < 0))
            best = found->import;
    }
    if (best)
        diagnostic_help(program->diagnostics, d, "it is declared elsewhere: import \"%s\";", best);
    return best != NULL;
}
