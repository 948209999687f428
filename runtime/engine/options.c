/* Options of a run. The pairs point into one copy of the text, which is decoded in place. */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct pair {
    const char *key, *value;
    char *path; /* as option_file() and option_folder() return it, or NULL */
    char sign;
    bool is_used, is_invalid;
};

static struct {
    char *text;
    char *shared; /* text that options_shared() returns, or NULL */
    struct pair *pairs;
    size_t count, capacity;
} options;

/* ---- decoding ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place; false for a broken escape. */
static bool unescape(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (*text != '%') {
            *to++ = *text;
            continue;
        }
        int high = hex_digit(text[1]), low = high < 0 ? -1 : hex_digit(text[2]);
        if (low < 0)
            return false;
        *to++ = (char)(high << 4 | low);
        text += 2;
    }
    *to = '\0';
    return true;
}

static bool decode(char *item)
{
    char *sign = item + strcspn(item, "=>:");
    if (!*sign || sign == item)
        return false;
    grow_list(options.pairs, options.count + 1, options.capacity, "the options of a run");
    struct pair *pair = &options.pairs[options.count++];
    *pair = (struct pair){.key = item, .value = sign + 1, .sign = *sign};
    *sign = '\0';
    return unescape(sign + 1);
}

static void forget_options(void)
{
    for (size_t i = 0; i < options.count; i++)
        free(options.pairs[i].path);
    free(options.text);
    free(options.shared);
    options.text = options.shared = NULL;
    options.count = 0;
}

bool options_open(const char *text)
{
    forget_options();
    if (!text || !*text)
        return true;
    options.text = grow_text(text, "the options of a run");
    for (char *item = options.text, *next; item; item = next) {
        next = strchr(item, ';');
        if (next)
            *next++ = '\0';
        if (decode(item))
            continue;
        fprintf(stderr,
                "heddle: " OPTIONS_ENV_OPTIONS " has a mistake at '%s'; it is written by "
                "`heddle run`\n",
                item);
        return false;
    }
    return true;
}

/* ---- asking ---- */

bool option_is_set_early(const char *key, const char *value)
{
    size_t size = strlen(key), length = strlen(value);
    for (const char *item = getenv(OPTIONS_ENV_OPTIONS); item; item = strchr(item, ';')) {
        item += *item == ';';
        if (strncmp(item, key, size) == 0 && item[size] && strchr("=:", item[size])
            && strncmp(item + size + 1, value, length) == 0 && strchr(";", item[size + 1 + length]))
            return true;
    }
    return false;
}

static struct pair *find_key(const char *key)
{
    for (size_t i = 0; i < options.count; i++)
        if (strcmp(options.pairs[i].key, key) == 0) {
            options.pairs[i].is_used = true;
            return &options.pairs[i];
        }
    return NULL;
}

const char *option_text(const char *key)
{
    const struct pair *pair = find_key(key);
    return pair ? pair->value : NULL;
}

bool option_line(const char *key, unsigned number, char *text, size_t size)
{
    const char *line = option_text(key);
    while (line && number--) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (line)
        snprintf(text, size, "%.*s", (int)strcspn(line, "\n"), line);
    return line != NULL;
}

static const char *path_of_process(const char *key, bool is_folder)
{
    unsigned number = (unsigned)option_number("process");
    struct pair *pair = find_key(key);
    if (!pair || number <= 1)
        return pair ? pair->value : NULL;
    size_t size = options_number_path(pair->value, number, is_folder, NULL, 0) + 1;
    if (pair->path)
        return pair->path;
    pair->path = grow_memory(NULL, size, "a path");
    options_number_path(pair->value, number, is_folder, pair->path, size);
    return pair->path;
}

const char *option_file(const char *key)
{
    return path_of_process(key, false);
}

const char *option_folder(const char *key)
{
    return path_of_process(key, true);
}

bool option_flag(const char *key)
{
    return option_number(key) != 0;
}

uint64_t option_number(const char *key)
{
    struct pair *pair = find_key(key);
    char *end = NULL;
    if (!pair)
        return 0;
    errno = 0;
    uint64_t number = strtoull(pair->value, &end, 10);
    pair->is_invalid = errno || end == pair->value || *end || *pair->value == '-';
    return pair->is_invalid ? 0 : number;
}

unsigned option_word(const char *key, const char *const *words, unsigned count)
{
    struct pair *pair = find_key(key);
    if (!pair)
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(pair->value, words[i]) == 0)
            return i;
    pair->is_invalid = true;
    return 0;
}

bool options_end(void)
{
    for (size_t i = 0; i < options.count; i++) {
        const struct pair *pair = &options.pairs[i];
        if (pair->is_invalid)
            fprintf(stderr, "heddle: '--%s' has no value '%s'\n", pair->key, pair->value);
        else if (!pair->is_used && pair->sign != ':')
            fprintf(stderr,
                    "heddle: '--%s': this platform has nothing that acts on it; leave it out\n",
                    pair->key);
        else
            continue;
        return false;
    }
    return true;
}

bool options_have_output(void)
{
    for (size_t i = 0; i < options.count; i++)
        if (options.pairs[i].sign == '>')
            return true;
    return false;
}

static size_t put_shared(char *text, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < options.count; i++) {
        const struct pair *pair = &options.pairs[i];
        if (pair->sign != ':')
            length = options_put(text, size, length, pair->key, pair->sign,
                                 pair->sign == '>' ? "" : pair->value);
    }
    return length;
}

const char *options_shared(void)
{
    if (!options.shared) {
        size_t size = put_shared(NULL, 0) + 1;
        options.shared = grow_zeroed(size, "the options of a run");
        put_shared(options.shared, size);
    }
    return options.shared;
}

/* True if the item of `length` bytes is one of those in `text`. */
static bool has_item(const char *text, const char *item, size_t length)
{
    for (; *text; text += strcspn(text, ";"), text += *text == ';')
        if (strcspn(text, ";") == length && strncmp(text, item, length) == 0)
            return true;
    return false;
}

/* Appends the item as "--KEY VALUE"; the values of a list are one after another. */
static void put_typed(char *text, size_t size, const char *item, size_t length)
{
    size_t begin = strlen(text), key = strcspn(item, "=>:");
    snprintf(text + begin, size - begin, "%s--%.*s %.*s", begin ? " " : "", (int)key, item,
             (int)(length - key - 1), item + key + 1);
    unescape(text + begin);
    for (char *c = text + begin; *c; c++)
        if (*c == '\n' || (*c == ' ' && !c[1]))
            *c = c[1] ? ' ' : '\0';
}

char *options_difference(const char *shared, const char *other)
{
    size_t size = 3 * strlen(shared) + 1; /* "a>" becomes " --a " */
    char *text = grow_zeroed(size, "the options of a run");
    for (size_t length; *shared; shared += length + (shared[length] == ';')) {
        length = strcspn(shared, ";");
        if (!has_item(other, shared, length))
            put_typed(text, size, shared, length);
    }
    return text;
}

/* ---- writing ---- */

static size_t put_character(char *text, size_t size, size_t length, char c)
{
    if (length + 1 < size) {
        text[length] = c;
        text[length + 1] = '\0';
    }
    return length + 1;
}

size_t options_put(char *text, size_t size, size_t length, const char *key, char sign,
                   const char *value)
{
    static const char hex[] = "0123456789abcdef";
    if (length > 0)
        length = put_character(text, size, length, ';');
    for (; *key; key++)
        length = put_character(text, size, length, *key);
    length = put_character(text, size, length, sign);
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        bool must_escape = c == '%' || c == ';' || c < ' ';
        length = put_character(text, size, length, must_escape ? '%' : *value);
        if (must_escape)
            length = put_character(text, size, put_character(text, size, length, hex[c >> 4]),
                                   hex[c & 15]);
    }
    return length;
}

size_t options_number_path(const char *path, unsigned number, bool is_folder, char *text,
                           size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = is_folder ? NULL : strrchr(name, '.');
    size_t front = dot && dot > name ? (size_t)(dot - path) : strlen(path);
    int length = number > 1 ? snprintf(text, size, "%.*s.process%u%s", (int)front, path, number,
                                       path + front)
                            : snprintf(text, size, "%s", path);
    return (size_t)length;
}
