/* Reading and comparing of fixtures; see the header. */
#include "fixtures.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fixture_root(void)
{
    const char *root = getenv("FIXTURES");
    return root ? root : "tests/dsl";
}

const char *fixture_library(void)
{
    const char *library = getenv("LIBRARY");
    return library ? library : "components";
}

static void read_text(const char *path, char *text, size_t most)
{
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "cannot open %s", path);
    size_t size = fread(text, 1, most - 1, file);
    text[size] = '\0';
    fclose(file);
}

/* The word behind `// KEY: `, up to the end of the line; false when there is none from `*at` on. */
static bool next_value(const char **at, const char *key, char *value, size_t most)
{
    const char *found = strstr(*at, key);
    if (!found)
        return false;
    found += strlen(key);
    size_t length = strcspn(found, "\n");
    const char *comment = strstr(found, "  //");
    if (comment && (size_t)(comment - found) < length)
        length = (size_t)(comment - found);
    cr_assert(length < most, "too long: %s", found);
    memcpy(value, found, length);
    value[length] = '\0';
    *at = found + length;
    return true;
}

void fixture_read(struct fixture *fixture, const char *path)
{
    memset(fixture, 0, sizeof *fixture);
    snprintf(fixture->path, sizeof fixture->path, "%s", path);
    snprintf(fixture->target, sizeof fixture->target, "%s", path);
    read_text(path, fixture->text, sizeof fixture->text);
    const char *at = fixture->text;
    while (next_value(&at, "// set: ", fixture->sets[fixture->set_count], sizeof fixture->sets[0]))
        fixture->set_count++;
    at = fixture->text;
    next_value(&at, "// platform: ", fixture->platform, sizeof fixture->platform);
    at = fixture->text;
    next_value(&at, "// reads: ", fixture->target, sizeof fixture->target);
    for (at = strstr(fixture->text, "expect: "); at; at = strstr(at + 1, "expect: ")) {
        struct fixture_expectation *e = &fixture->expected[fixture->expected_count++];
        cr_assert(sscanf(at, "expect: %7s at %u:%u", e->code, &e->line, &e->column) == 3,
                  "%s: %.40s", path, at);
    }
}

struct compilation *fixture_compile(const struct fixture *fixture)
{
    const char *sets[FIXTURE_MAX];
    for (size_t i = 0; i < fixture->set_count; i++)
        sets[i] = fixture->sets[i];
    struct compile_options options = {.library_root = fixture_library(),
                                      .overrides = sets,
                                      .override_count = fixture->set_count,
                                      .allow_incoherent =
                                          strstr(fixture->text, "// allow: incoherent") != NULL};
    struct compilation *c = compile_open(&options);
    compile_check(c, fixture->target, fixture->platform[0] != '\0' ? fixture->platform : NULL);
    return c;
}

static bool is_same(const struct fixture_expectation *e, const struct compile_diagnostic *d)
{
    return strcmp(e->code, d->code) == 0 && e->line == d->place.line
           && e->column == d->place.column;
}

bool fixture_matches(const struct fixture *fixture, const struct compilation *c)
{
    bool used[FIXTURE_MAX] = {false};
    bool matches = true;
    for (size_t i = 0; i < compile_diagnostic_count(c); i++) {
        const struct compile_diagnostic *d = compile_diagnostic_at(c, i);
        bool found = false;
        for (size_t k = 0; k < fixture->expected_count && !found; k++)
            if (!used[k] && is_same(&fixture->expected[k], d))
                found = used[k] = true;
        if (!found)
            fprintf(stderr, "%s: unexpected %s at %u:%u: %s\n", fixture->path, d->code,
                    d->place.line, d->place.column, d->message);
        matches &= found;
    }
    for (size_t k = 0; k < fixture->expected_count; k++) {
        if (!used[k])
            fprintf(stderr, "%s: missing %s at %u:%u\n", fixture->path, fixture->expected[k].code,
                    fixture->expected[k].line, fixture->expected[k].column);
        matches &= used[k];
    }
    return matches;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t fixture_list(const char *folder, const char *(**names))
{
    static char storage[512][512];
    static const char *pointers[512];
    char path[400];
    snprintf(path, sizeof path, "%s/%s", fixture_root(), folder);
    DIR *directory = opendir(path);
    cr_assert_not_null(directory, "no folder %s", path);
    size_t count = 0;
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".heddle") != 0 || count == 512)
            continue;
        snprintf(storage[count], sizeof storage[0], "%s/%.100s", path, entry->d_name);
        pointers[count] = storage[count];
        count++;
    }
    closedir(directory);
    qsort(pointers, count, sizeof pointers[0], by_name);
    *names = pointers;
    return count;
}
