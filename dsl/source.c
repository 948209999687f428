/* Files are kept in the order of their bases, so the file of an offset is found by bisection; line
 * starts are collected the first time a position in the file is asked for. */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void source_set_init(struct source_set *set, struct region *region)
{
    *set = (struct source_set){.region = region, .next_base = 1};
}

const char *source_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *source_folder_of(struct region *region, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return "";
    if (slash == path)
        return "/";
    return region_strndup(region, path, (size_t)(slash - path));
}

const char *source_join(struct region *region, const char *folder, const char *name)
{
    if (folder[0] == '\0' || name[0] == '/')
        return name;
    size_t length = strlen(folder);
    return region_printf(region, folder[length - 1] == '/' ? "%s%s" : "%s/%s", folder, name);
}

/* A byte-order mark goes, and each kind of line end becomes '\n', so that nothing behind this
 * knows of them. */
static char *plain_text(struct region *region, const char *text, size_t size, uint32_t *plain_size)
{
    size_t from = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    char *plain = region_take(region, size + 1);
    uint32_t n = 0;
    for (size_t i = from; i < size; i++)
        if (text[i] != '\r')
            plain[n++] = text[i];
        else if (i + 1 == size || text[i + 1] != '\n')
            plain[n++] = '\n';
    *plain_size = n;
    return plain;
}

struct source_file *source_add(struct source_set *set, const char *name, const char *text,
                               size_t size)
{
    if (size > SOURCE_BYTES_MAX || (size_t)set->next_base + size + 1 > UINT32_MAX)
        return NULL;
    struct source_file *file = region_take(set->region, sizeof *file);
    file->name = region_strdup(set->region, name);
    file->folder = source_folder_of(set->region, name);
    file->text = plain_text(set->region, text, size, &file->size);
    file->is_plain = file->size == size && memcmp(file->text, text, size) == 0;
    file->base = set->next_base;
    set->next_base += file->size + 1; /* one more: the end of the file is a place of its own */
    vector_push(set->region, &set->files, file);
    return file;
}

bool source_is_readable(const char *name)
{
    struct stat status;
    return stat(name, &status) == 0 && S_ISREG(status.st_mode);
}

bool source_is_no_file(const char *name)
{
    struct stat status;
    return stat(name, &status) == 0 && !S_ISREG(status.st_mode);
}

static const char *text_in_editor(const struct source_set *set, const char *name, size_t *size)
{
    return set->open_text ? set->open_text(set->open_context, name, size) : NULL;
}

bool source_exists(const struct source_set *set, const char *name)
{
    size_t size;
    return text_in_editor(set, name, &size) || source_is_readable(name);
}

/* Opens a file that may be read whole; NULL with a reason. A FIFO would wait for its writer, and a
 * device may have no end. */
static FILE *open_bounded(const char *name, const char **reason)
{
    struct stat status;
    const char *why = NULL;
    if (stat(name, &status) != 0)
        why = strerror(errno);
    else if (S_ISDIR(status.st_mode))
        why = "it is a directory";
    else if (!S_ISREG(status.st_mode))
        why = "it is not a regular file";
    else if ((uint64_t)status.st_size > SOURCE_BYTES_MAX)
        why = SOURCE_TOO_LARGE;
    FILE *stream = !why ? fopen(name, "rb") : NULL;
    if (!stream)
        *reason = why ? why : strerror(errno);
    return stream;
}

struct source_file *source_read(struct source_set *set, const char *name, const char **reason)
{
    size_t open_size;
    const char *open_text = text_in_editor(set, name, &open_size);
    if (open_text) {
        struct source_file *opened = source_add(set, name, open_text, open_size);
        if (!opened)
            *reason = SOURCE_TOO_LARGE;
        return opened;
    }
    FILE *stream = open_bounded(name, reason);
    if (!stream)
        return NULL;
    /* Files of /proc say that they are empty, and one may grow meanwhile. */
    size_t size;
    const char *text = region_read(set->region, stream, SOURCE_BYTES_MAX, &size);
    bool failed = ferror(stream) != 0;
    fclose(stream);
    if (failed) {
        *reason = "it cannot be read";
        return NULL;
    }
    struct source_file *file = source_add(set, name, text, size);
    if (!file)
        *reason = SOURCE_TOO_LARGE;
    return file;
}

struct source_file *source_find(const struct source_set *set, const char *name)
{
    for (uint32_t i = 0; i < set->files.count; i++)
        if (!set->files.items[i]->is_virtual && strcmp(set->files.items[i]->name, name) == 0)
            return set->files.items[i];
    return NULL;
}

struct source_file *source_of(const struct source_set *set, uint32_t offset)
{
    if (offset == 0 || set->files.count == 0)
        return NULL;
    uint32_t low = 0, high = set->files.count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (set->files.items[middle]->base <= offset)
            low = middle;
        else
            high = middle;
    }
    return set->files.items[low];
}

static void find_lines(const struct source_set *set, struct source_file *file)
{
    if (file->lines)
        return;
    uint32_t count = 1;
    for (uint32_t i = 0; i < file->size; i++)
        count += file->text[i] == '\n';
    file->lines = region_take(set->region, count * sizeof *file->lines);
    file->line_count = 1;
    for (uint32_t i = 0; i < file->size; i++)
        if (file->text[i] == '\n')
            file->lines[file->line_count++] = i + 1;
}

struct source_position source_locate(const struct source_set *set, uint32_t offset)
{
    struct source_file *file = source_of(set, offset);
    if (!file)
        return (struct source_position){0};
    find_lines(set, file);
    uint32_t at = offset - file->base;
    uint32_t low = 0, high = file->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (file->lines[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    uint32_t column = 1;
    for (uint32_t i = file->lines[low]; i < at; i++)
        column += ((unsigned char)file->text[i] & 0xC0) != 0x80;
    return (struct source_position){.file = file, .line = low + 1, .column = column};
}

const char *source_line(const struct source_set *set, const struct source_file *file, uint32_t line,
                        uint32_t *size)
{
    find_lines(set, source_of(set, file->base));
    uint32_t begin = file->lines[line - 1];
    uint32_t end = line < file->line_count ? file->lines[line] - 1 : file->size;
    *size = end - begin;
    return file->text + begin;
}

const char *source_slice(const struct source_set *set, struct span span)
{
    struct source_file *file = source_of(set, span.begin);
    if (!file || span.end <= span.begin)
        return "";
    const char *from = file->text + (span.begin - file->base);
    char *copy = region_take(set->region, span.end - span.begin + 1);
    size_t n = 0;
    for (uint32_t i = 0; i < span.end - span.begin; i++) {
        char ch = from[i];
        if (ch == '\n' || ch == '\t')
            ch = ' ';
        if (ch == ' ' && n > 0 && copy[n - 1] == ' ')
            continue;
        copy[n++] = ch;
    }
    return copy;
}
