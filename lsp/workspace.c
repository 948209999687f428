/* A symbol in all descriptions below the folders of the workspace. Files whose text does not have
 * its name are not looked at further. Called by references and rename. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/source.h"

#include "server.h"

/* A workspace may be a home directory: more than these are not looked at. */
#define FILES_MAX 4000
#define DEPTH_MAX 24

struct paths {
    struct region *region;
    VECTOR(const char *) v;
};

static bool has_suffix(const char *name)
{
    size_t length = strlen(name);
    return length > 7 && strcmp(name + length - 7, ".heddle") == 0;
}

static void add_folder(struct paths *paths, const char *folder, unsigned depth)
{
    DIR *open_folder = depth < DEPTH_MAX ? opendir(folder) : NULL;
    if (!open_folder)
        return;
    for (const struct dirent *entry; (entry = readdir(open_folder));) {
        if (entry->d_name[0] == '.' || paths->v.count >= FILES_MAX)
            continue;
        const char *path = region_printf(paths->region, "%s/%s", folder, entry->d_name);
        if (entry->d_type == DT_DIR)
            add_folder(paths, path, depth + 1);
        else if (entry->d_type == DT_REG && has_suffix(entry->d_name))
            vector_push(paths->region, &paths->v, path);
    }
    closedir(open_folder);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool workspace_has(const struct server *s, const char *path)
{
    if (documents_at(&s->documents, path))
        return true;
    for (uint32_t i = 0; i < s->roots.count; i++) {
        size_t length = strlen(s->roots.items[i]);
        if (strncmp(path, s->roots.items[i], length) == 0 && path[length] == '/')
            return true;
    }
    return false;
}

/* Collects the paths of open and of found files, each once. */
static void list_files(struct server *s, struct paths *paths)
{
    for (const struct document *d = s->documents.first; d; d = d->next)
        vector_push(paths->region, &paths->v, region_strdup(paths->region, d->path));
    for (uint32_t i = 0; i < s->roots.count; i++)
        add_folder(paths, s->roots.items[i], 0);
    if (paths->v.count == 0)
        return;
    qsort(paths->v.items, paths->v.count, sizeof *paths->v.items, by_name);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < paths->v.count; i++)
        if (strcmp(paths->v.items[i], paths->v.items[kept - 1]) != 0)
            paths->v.items[kept++] = paths->v.items[i];
    paths->v.count = kept;
}

static bool text_has(const char *text, size_t size, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; size - (size_t)(at - text) >= length; at++) {
        at = memchr(at, name[0], size - (size_t)(at - text) - length + 1);
        if (!at)
            return false;
        if (memcmp(at, name, length) == 0)
            return true;
    }
    return false;
}

static bool file_has(struct server *s, const char *path, const char *name)
{
    const struct document *document = documents_at(&s->documents, path);
    if (document)
        return text_has(document->text, document->size, name);
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(SOURCE_BYTES_MAX) : NULL; /* no description is larger */
    size_t size = text ? fread(text, 1, SOURCE_BYTES_MAX, file) : 0;
    bool has_name = size > 0 && text_has(text, size, name);
    free(text);
    if (file)
        fclose(file);
    return has_name;
}

static int by_place(const void *a, const void *b)
{
    const struct found_place *place = a, *other = b;
    int order = strcmp(place->path, other->path);
    return order != 0 ? order : place->begin < other->begin ? -1 : place->begin > other->begin;
}

/* Texts and paths are copied: the service goes. */
static void enter(struct server *s, struct service *service, const struct service_symbol *symbol,
                  struct found_places *found)
{
    size_t count;
    const struct service_occurrence *list = service_occurrences(service, symbol, &count);
    const char *text = NULL, *copy = NULL, *path = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct service_place *place = &list[i].place;
        if (place->text != text) {
            char *real = documents_real_path(place->file);
            text = place->text;
            copy = region_strndup(&s->scratch, place->text, place->size);
            path = region_strdup(&s->scratch, real);
            free(real);
        }
        struct found_place one = {path,         copy,       place->size,
                                  place->begin, place->end, list[i].is_declaration};
        vector_push(&s->scratch, &found->v, one);
    }
}

void workspace_find(struct server *s, struct service *service, const struct service_symbol *symbol,
                    struct found_places *found)
{
    struct paths paths = {.region = &s->scratch};
    enter(s, service, symbol, found);
    list_files(s, &paths);
    for (uint32_t i = 0; i < paths.v.count; i++) {
        struct service *other = file_has(s, paths.v.items[i], symbol->name)
                                    ? service_open(&s->documents.options, paths.v.items[i])
                                    : NULL;
        const struct service_symbol *same =
            other ? service_symbol_declared(other, symbol->place.file, symbol->place.begin) : NULL;
        if (same && strcmp(same->name, symbol->name) == 0)
            enter(s, other, same, found);
        service_close(other);
    }
    if (found->v.count == 0)
        return;
    qsort(found->v.items, found->v.count, sizeof *found->v.items, by_place);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < found->v.count; i++) {
        const struct found_place *before = &found->v.items[kept - 1], *one = &found->v.items[i];
        if (one->begin != before->begin || strcmp(one->path, before->path) != 0)
            found->v.items[kept++] = *one;
    }
    found->v.count = kept;
}
