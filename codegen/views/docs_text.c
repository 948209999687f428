/* See docs_text.h. */
#include "codegen/views/docs_text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_html_char(FILE *out, char c)
{
    switch (c) {
    case '&':
        fputs("&amp;", out);
        break;
    case '<':
        fputs("&lt;", out);
        break;
    case '>':
        fputs("&gt;", out);
        break;
    case '"':
        fputs("&quot;", out);
        break;
    default:
        putc(c, out);
    }
}

void docs_write_html(FILE *out, const char *text)
{
    for (; *text; text++)
        write_html_char(out, *text);
}

void docs_write_csv(FILE *out, const char *text, const char *after)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    fprintf(out, "\"%s", after);
}

/* From `text` to `end`; a backquote without its partner stays as it is. */
static void write_inline(FILE *out, const char *text, const char *end)
{
    bool inside = false;
    for (; text < end; text++) {
        if (*text != '`' || (!inside && !memchr(text + 1, '`', (size_t)(end - text - 1)))) {
            write_html_char(out, *text);
            continue;
        }
        fputs(inside ? "</code>" : "<code>", out);
        inside = !inside;
    }
}

void docs_write_html_inline(FILE *out, const char *text)
{
    write_inline(out, text, text + strlen(text));
}

void docs_write_html_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        end = end ? end : text + strlen(text);
        fputs("<p>", out);
        write_inline(out, text, end);
        fputs("</p>\n", out);
        for (text = end; *text == '\n'; text++)
            continue;
    }
}

void docs_write_markdown_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            putc('\\', out);
        putc(*text == '\n' ? ' ' : *text, out);
    }
}

const char *docs_first_sentence(struct arena *arena, const char *text)
{
    const char *end = text;
    while (*end && !(*end == '\n' && end[1] == '\n')
           && !((*end == '.' || *end == ':') && (end[1] == ' ' || end[1] == '\n' || !end[1])))
        end++;
    return arena_strndup(arena, text, (size_t)(end - text));
}

static bool failed(struct view_error *error, const char *what, const char *path)
{
    snprintf(error->text, sizeof error->text, "cannot %s '%.800s': %s", what, path,
             strerror(errno));
    return false;
}

bool docs_make_directory(const char *dir, struct view_error *error)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s", dir) >= sizeof path) {
        errno = ENAMETOOLONG;
        return failed(error, "create directory", dir);
    }
    for (char *slash = path + 1; *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return failed(error, "create directory", path);
        *slash = '/';
    }
    struct stat st;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return true;
    return failed(error, "create directory", path);
}

static bool join(char *path, const char *dir, const char *name, const char *suffix)
{
    return (size_t)snprintf(path, PATH_MAX, "%s/%s%s", dir, name, suffix) < PATH_MAX;
}

FILE *docs_open(const char *dir, const char *name, struct view_error *error)
{
    char path[PATH_MAX];
    errno = ENAMETOOLONG;
    FILE *file = join(path, dir, name, ".new") ? fopen(path, "w") : NULL;
    if (!file)
        failed(error, "write", name);
    return file;
}

bool docs_close(FILE *file, const char *dir, const char *name, struct view_error *error)
{
    char from[PATH_MAX], to[PATH_MAX];
    join(from, dir, name, ".new");
    join(to, dir, name, "");
    bool written = !ferror(file);
    written = fclose(file) == 0 && written;
    if (written && rename(from, to) == 0)
        return true;
    failed(error, "write", to);
    unlink(from);
    return false;
}

void docs_discard(FILE *file, const char *dir, const char *name)
{
    char path[PATH_MAX];
    fclose(file);
    if (join(path, dir, name, ".new"))
        unlink(path);
}
