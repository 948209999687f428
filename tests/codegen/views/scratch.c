/* See scratch.h. */
#include "scratch.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

const char *scratch_make(void)
{
    strcpy(folder, "/tmp/heddle-views-XXXXXX");
    return mkdtemp(folder);
}

void scratch_remove(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (const struct dirent *entry; (entry = readdir(d));) {
        char path[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (unlink(path) != 0)
            scratch_remove(path);
    }
    closedir(d);
    rmdir(dir);
}

char *scratch_read(const char *dir, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    for (int c; (c = getc(file)) != EOF;)
        putc(c, copy);
    fclose(file);
    fclose(copy);
    return text;
}

bool scratch_is_golden(const char *name, const char *text)
{
    const char *dir = getenv("VIEWS_GOLDEN"), *update = getenv("UPDATE_GOLDEN");
    if (!dir)
        return false;
    if (update && strcmp(update, "1") == 0) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", dir, name);
        FILE *file = fopen(path, "w");
        return file && fputs(text, file) >= 0 && fclose(file) == 0;
    }
    char *wanted = scratch_read(dir, name);
    bool same = wanted && strcmp(wanted, text) == 0;
    free(wanted);
    return same;
}

unsigned scratch_count(const char *text, const char *what)
{
    unsigned n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}
