/* Include scanner and content digest; see depend.h. Called by objects.c to key objects. */
#include "depend.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codegen/emit/input.h"
#include "codegen/emit/names.h"

struct depend_file {
    const char *path;
    const char *folder;
    char digest[65];
    bool readable;
    uint32_t visit; /* number of the last depend_add() that saw it */
    VECTOR(const char *) includes;
    bool computed; /* has an #include of a macro */
};

void depend_init(struct depend *depend, struct region *region)
{
    *depend = (struct depend){.region = region};
    intern_init(&depend->paths, region);
    intern_init(&depend->folders, region);
}

/* The include directives of a text. */
static void scan(struct depend *depend, struct depend_file *file, const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *at = line + strspn(line, " \t");
        if (*at++ != '#')
            continue;
        at += strspn(at, " \t");
        if (strncmp(at, "include", 7) != 0)
            continue;
        at += 7 + strspn(at + 7, " \t");
        if (*at == '"') {
            size_t size = strcspn(at + 1, "\"\n");
            const char *name = region_strndup(depend->region, at + 1, size);
            vector_push(depend->region, &file->includes, name);
        } else if (*at != '<') {
            file->computed = true;
        }
    }
}

static struct depend_file *load_record(struct depend *depend, const char *path)
{
    const struct intern_entry *known = intern_find(&depend->paths, path);
    if (known)
        return depend->files.items[known->value];
    struct depend_file *file = region_take(depend->region, sizeof *file);
    file->path = region_strdup(depend->region, path);
    file->folder = name_folder(depend->region, path);
    size_t size = 0;
    const char *text = input_read(depend->region, path, &size);
    file->readable = text != NULL;
    if (text) {
        struct sha256 hash;
        sha256_init(&hash);
        sha256_add(&hash, text, size);
        sha256_finish(&hash, file->digest);
        scan(depend, file, text);
    }
    intern_add(&depend->paths, file->path, depend->files.count);
    vector_push(depend->region, &depend->files, file);
    return file;
}

/* Most folders lack what most names begin with ("runtime/..."), so one look at that stands for all
 * files of the name. A missing folder counts as a missing file that was looked for. */
static bool has_first_folder(struct depend *depend, const char *folder, const char *name)
{
    struct stat status;
    size_t size = strcspn(name, "/");
    if (!name[size] || !*folder)
        return true;
    const char *path = region_printf(depend->region, "%s/%.*s", folder, (int)size, name);
    const struct intern_entry *known = intern_find(&depend->folders, path);
    if (known)
        return known->value;
    bool is_there = stat(path, &status) == 0;
    intern_add(&depend->folders, path, is_there);
    if (!is_there)
        load_record(depend, path);
    return is_there;
}

static struct depend_file *resolve(struct depend *depend, const struct depend_file *from,
                                   const char *name, const char *const *folders,
                                   uint32_t folder_count)
{
    if (name[0] == '/')
        return load_record(depend, name);
    for (uint32_t i = 0; i <= folder_count; i++) {
        const char *folder = i == 0 ? from->folder : folders[i - 1];
        if (!has_first_folder(depend, folder, name))
            continue;
        struct depend_file *file = load_record(
            depend, *folder ? region_printf(depend->region, "%s/%s", folder, name) : name);
        if (file->readable)
            return file;
    }
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_folder(struct depend *depend, struct sha256 *hash, const char *folder)
{
    load_record(depend, *folder ? folder : "."); /* for depend_path() */
    VECTOR(const char *) names = {0};
    DIR *dir = opendir(*folder ? folder : ".");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        const char *name = region_strdup(depend->region, entry->d_name);
        vector_push(depend->region, &names, name);
    }
    if (dir)
        closedir(dir);
    if (names.count > 0)
        qsort(names.items, names.count, sizeof *names.items, by_name);
    for (uint32_t i = 0; i < names.count; i++) {
        struct depend_file *file = load_record(
            depend, region_printf(depend->region, "%s/%s", *folder ? folder : ".", names.items[i]));
        if (file->readable)
            sha256_add_string(hash, file->digest);
    }
}

static void visit(struct depend *depend, struct sha256 *hash, struct depend_file *file,
                  const char *const *folders, uint32_t folder_count)
{
    if (file->visit == depend->visit)
        return;
    file->visit = depend->visit;
    sha256_add_string(hash, file->digest);
    if (file->computed)
        add_folder(depend, hash, file->folder);
    for (uint32_t i = 0; i < file->includes.count; i++) {
        struct depend_file *included =
            resolve(depend, file, file->includes.items[i], folders, folder_count);
        sha256_add_string(hash, file->includes.items[i]);
        if (included)
            visit(depend, hash, included, folders, folder_count);
    }
}

bool depend_add(struct depend *depend, struct sha256 *hash, const char *path,
                const char *const *folders, uint32_t folder_count)
{
    struct depend_file *file = load_record(depend, path);
    if (!file->readable) {
        fprintf(stderr, "heddle: cannot read '%s': %s\n", path, strerror(errno));
        return false;
    }
    depend->visit++;
    visit(depend, hash, file, folders, folder_count);
    return true;
}

uint32_t depend_count(const struct depend *depend)
{
    return depend->files.count;
}

const char *depend_path(const struct depend *depend, uint32_t index)
{
    return depend->files.items[index]->path;
}
