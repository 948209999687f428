/* See options_env.h. One table of keys serves both directions. Called by `heddle run` and by the
 * program's runtime library. */
#include "options_env.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_STRING, KIND_BOOL, KIND_INT, KIND_U64 };

static const struct key {
    const char *name;
    enum kind kind;
    size_t offset;
} keys[] = {
    {"stats", KIND_STRING, offsetof(struct heddle_options, stats_path)},
    {"stats_no_host", KIND_BOOL, offsetof(struct heddle_options, stats_no_host)},
    {"trace", KIND_STRING, offsetof(struct heddle_options, trace_path)},
    {"trace_from", KIND_U64, offsetof(struct heddle_options, trace_from_ps)},
    {"trace_to", KIND_U64, offsetof(struct heddle_options, trace_to_ps)},
    {"trace_instances", KIND_STRING, offsetof(struct heddle_options, trace_instances)},
    {"trace_launches", KIND_STRING, offsetof(struct heddle_options, trace_launches)},
    {"series", KIND_STRING, offsetof(struct heddle_options, series_path)},
    {"series_ps", KIND_U64, offsetof(struct heddle_options, series_ps)},
    {"series_cycles", KIND_U64, offsetof(struct heddle_options, series_cycles)},
    {"series_counters", KIND_STRING, offsetof(struct heddle_options, series_counters)},
    {"view", KIND_STRING, offsetof(struct heddle_options, view_path)},
    {"view_place", KIND_U64, offsetof(struct heddle_options, view_place)},
    {"tables", KIND_STRING, offsetof(struct heddle_options, tables_path)},
    {"program_hash", KIND_STRING, offsetof(struct heddle_options, program_hash)},
    {"set", KIND_STRING, offsetof(struct heddle_options, set)},
    {"max_cycles", KIND_U64, offsetof(struct heddle_options, max_cycles)},
    {"stall_limit", KIND_U64, offsetof(struct heddle_options, stall_limit)},
    {"tick_order", KIND_INT, offsetof(struct heddle_options, tick_order)},
    {"seed", KIND_U64, offsetof(struct heddle_options, seed)},
    {"tick_all", KIND_BOOL, offsetof(struct heddle_options, tick_all)},
    {"progress", KIND_INT, offsetof(struct heddle_options, progress)},
    {"threads", KIND_INT, offsetof(struct heddle_options, threads)},
    {"unified", KIND_STRING, offsetof(struct heddle_options, unified)},
    {"page_bounds", KIND_BOOL, offsetof(struct heddle_options, page_bounds)},
    {"mode", KIND_INT, offsetof(struct heddle_options, mode)},
    {"kernel_stats", KIND_INT, offsetof(struct heddle_options, span_stats)},
    {"kernels", KIND_STRING, offsetof(struct heddle_options, kernels)},
    {"warmup", KIND_STRING, offsetof(struct heddle_options, warmup)},
    {"interval", KIND_STRING, offsetof(struct heddle_options, interval)},
    {"no_cache", KIND_BOOL, offsetof(struct heddle_options, sass_no_cache)},
    {"allow_incomplete", KIND_BOOL, offsetof(struct heddle_options, allow_incomplete)},
    {"profile", KIND_INT, offsetof(struct heddle_options, profile)},
    {"instruction_profile", KIND_STRING, offsetof(struct heddle_options, instruction_profile)},
    {"addresses", KIND_STRING, offsetof(struct heddle_options, addresses)},
    {"checkpoint", KIND_STRING, offsetof(struct heddle_options, checkpoint_path)},
    {"checkpoint_ps", KIND_U64, offsetof(struct heddle_options, checkpoint_ps)},
    {"checkpoint_cycle", KIND_U64, offsetof(struct heddle_options, checkpoint_cycle)},
    {"checkpoint_kernel", KIND_STRING, offsetof(struct heddle_options, checkpoint_kernel)},
    {"restore", KIND_STRING, offsetof(struct heddle_options, restore_path)},
    {"record_trace", KIND_STRING, offsetof(struct heddle_options, record_trace)},
};
#define KEY_COUNT (sizeof keys / sizeof keys[0])

struct writer {
    char *text;
    size_t size, length;
};

static void put(struct writer *w, char c)
{
    if (w->length + 1 < w->size) {
        w->text[w->length] = c;
        w->text[w->length + 1] = '\0';
    }
    w->length++;
}

static void put_text(struct writer *w, const char *text, bool escape)
{
    static const char hex[] = "0123456789abcdef";
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (escape && (c == '%' || c == ';' || c < ' ')) {
            put(w, '%');
            put(w, hex[c >> 4]);
            put(w, hex[c & 15]);
        } else {
            put(w, *text);
        }
    }
}

size_t options_env_encode(const struct heddle_options *options, char *text, size_t size)
{
    struct writer w = {text, size, 0};
    if (size > 0)
        text[0] = '\0';
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const char *member = (const char *)options + keys[i].offset;
        char number[32] = "";
        const char *value = number;
        if (keys[i].kind == KIND_STRING)
            memcpy(&value, member, sizeof value);
        else if (keys[i].kind == KIND_BOOL)
            snprintf(number, sizeof number, "%d", *(const bool *)member);
        else if (keys[i].kind == KIND_INT)
            snprintf(number, sizeof number, "%d", *(const int *)(const void *)member);
        else
            snprintf(number, sizeof number, "%llu",
                     (unsigned long long)*(const uint64_t *)(const void *)member);
        if (!value || (keys[i].kind != KIND_STRING && strcmp(number, "0") == 0))
            continue;
        if (w.length > 0)
            put(&w, ';');
        put_text(&w, keys[i].name, false);
        put(&w, '=');
        put_text(&w, value, true);
    }
    return w.length;
}

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

static bool set(struct heddle_options *options, const struct key *key, char *value)
{
    char *member = (char *)options + key->offset;
    if (key->kind == KIND_STRING) {
        const char *string = value;
        if (!unescape(value))
            return false;
        memcpy(member, &string, sizeof string);
        return true;
    }
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (errno != 0 || end == value || *end || *value == '-')
        return false;
    if (key->kind == KIND_BOOL && number <= 1)
        *(bool *)member = number;
    else if (key->kind == KIND_INT && number <= INT32_MAX)
        *(int *)(void *)member = (int)number;
    else if (key->kind == KIND_U64)
        *(uint64_t *)(void *)member = number;
    else
        return false;
    return true;
}

bool options_env_decode(const char *text, struct heddle_options *options, char *storage,
                        const char **mistake)
{
    *options = (struct heddle_options){.abi = PLATFORM_ABI, .threads = 1};
    if (!text || !*text)
        return true;
    memcpy(storage, text, strlen(text) + 1);
    for (char *item = storage, *next; item; item = next) {
        next = strchr(item, ';');
        if (next)
            *next++ = '\0';
        char *value = strchr(item, '=');
        *mistake = item;
        if (!value)
            return false;
        *value++ = '\0';
        size_t k = 0;
        while (k < KEY_COUNT && strcmp(keys[k].name, item) != 0)
            k++;
        if (k == KEY_COUNT || !set(options, &keys[k], value))
            return false;
    }
    return true;
}

size_t options_env_number_path(const char *path, unsigned number, bool folder, char *text,
                               size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = folder ? NULL : strrchr(name, '.');
    size_t front = dot && dot > name ? (size_t)(dot - path) : strlen(path);
    int length = number > 1 ? snprintf(text, size, "%.*s.process%u%s", (int)front, path, number,
                                       path + front)
                            : snprintf(text, size, "%s", path);
    return (size_t)length;
}
