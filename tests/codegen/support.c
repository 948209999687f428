/* See support.h. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *format_text(const char *format, va_list args)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    cr_assert(stream != NULL);
    vfprintf(stream, format, args);
    fclose(stream);
    return text;
}

char *support_text(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    return text;
}

char *support_folder(void)
{
    char *folder = strdup("/tmp/heddle-test-XXXXXX");
    cr_assert(folder && mkdtemp(folder));
    return folder;
}

void support_remove(char *folder)
{
    char *command = support_text("rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
    free(command);
    free(folder);
}

char *support_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = NULL, buffer[65536];
    size_t total = 0, got;
    FILE *stream = open_memstream(&text, &total);
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0)
        fwrite(buffer, 1, got, stream);
    fclose(stream);
    fclose(file);
    if (size)
        *size = total;
    return text;
}

void support_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file != NULL, "cannot write %s", path);
    fputs(text, file);
    fclose(file);
}

const char *support_env(const char *name)
{
    const char *value = getenv(name);
    cr_assert(value != NULL, "%s is not set: run the test through meson", name);
    return value;
}

struct support_result support_run(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *command = format_text(format, args), *folder = support_folder();
    va_end(args);
    char *line = support_text("( %s\n) >'%s/out' 2>'%s/err' </dev/null", command, folder, folder);
    char *out = support_text("%s/out", folder), *err = support_text("%s/err", folder);
    int status = system(line);
    struct support_result result = {.status = WIFEXITED(status) ? WEXITSTATUS(status)
                                                                : 128 + WTERMSIG(status),
                                    .output = support_read(out, NULL),
                                    .errors = support_read(err, NULL)};
    free(line);
    free(out);
    free(err);
    free(command);
    support_remove(folder);
    return result;
}

void support_release(struct support_result *result)
{
    free(result->output);
    free(result->errors);
    *result = (struct support_result){0};
}
