/* Parses the lists and warm-ups, and looks launches up in them. The list is searched at each
 * launch: it is short, and launches are rare. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#include "stratified_sampler.h"

/* Shares of all cycles. */
#define DEFAULT_AIM 0.01
#define AIM_MIN     0.0001
#define AIM_MAX     0.5

/* One element of a list; `size` is its length. */
struct item {
    const char *text;
    size_t size;
    uint64_t first, last; /* 0: a name */
};

static bool read_number(const char **text, const char *end, uint64_t *number)
{
    uint64_t n = 0;
    const char *p = *text;
    while (p < end && *p >= '0' && *p <= '9' && n < UINT32_MAX)
        n = n * 10 + (uint64_t)(*p++ - '0');
    bool any = p > *text;
    *text = p;
    *number = n;
    return any && n > 0 && n <= UINT32_MAX;
}

/* The element at `text`; what begins with a digit is a number or a range. False: it is neither. */
static bool read_item(const char *text, struct item *item)
{
    const char *cursor = text;
    *item = (struct item){.text = text};
    item->size = strcspn(text, ",");
    const char *end = text + item->size;
    if (!item->size)
        return false;
    if (*text < '0' || *text > '9')
        return true;
    if (!read_number(&cursor, end, &item->first))
        return false;
    item->last = item->first;
    if (cursor < end && *cursor == '-') {
        cursor++;
        if (cursor == end)
            item->last = UINT64_MAX;
        else if (!read_number(&cursor, end, &item->last))
            return false;
    }
    return cursor == end && item->last >= item->first;
}

static const char *next_item(const struct item *item)
{
    return item->text[item->size] ? item->text + item->size + 1 : NULL;
}

static bool parse_warmup(const char *text, struct sampling *out)
{
    static const struct {
        const char *name;
        enum sampling_warmup warmup;
        uint64_t depth;
        bool counts; /* a number follows */
    } forms[] = {{"none", SAMPLING_NONE, 0, false},
                 {"perfect", SAMPLING_PERFECT, SAMPLING_ALL, false},
                 {"full-memory", SAMPLING_MEMORY, SAMPLING_ALL, false},
                 {"functional", SAMPLING_FUNCTIONAL, SAMPLING_ALL, false},
                 {"memory:", SAMPLING_MEMORY, 0, true},
                 {"functional:", SAMPLING_FUNCTIONAL, 0, true}};
    for (size_t i = 0; i < ARRAY_COUNT(forms); i++) {
        size_t size = strlen(forms[i].name);
        if (strncmp(text, forms[i].name, size) != 0)
            continue;
        const char *rest = text + size;
        out->warmup = forms[i].warmup;
        out->depth = forms[i].depth;
        if (forms[i].counts ? read_number(&rest, rest + strlen(rest), &out->depth) && !*rest
                            : !*rest)
            return true;
    }
    return false;
}

static bool parse_automatic(const char *warmup, struct sampling *out, char *mistake, size_t size)
{
    out->depth = SAMPLER_DEPTH;
    if (!warmup || (parse_warmup(warmup, out) && out->warmup == SAMPLING_FUNCTIONAL))
        return true;
    snprintf(mistake, size,
             "'--warmup %s': launches that are chosen while the program runs have functional or "
             "functional:N before them, with N from 1",
             warmup);
    return false;
}

bool sampling_parse(const char *kernels, const char *warmup, struct sampling *out, char *mistake,
                    size_t size)
{
    bool names = false;
    *out =
        (struct sampling){.kernels = kernels, .warmup = SAMPLING_FUNCTIONAL, .depth = SAMPLING_ALL};
    out->automatic =
        kernels && strcmp(kernels, "auto") == 0; /* a word of C++, so no kernel's name */
    if (out->automatic)
        return parse_automatic(warmup, out, mistake, size);
    for (const char *text = kernels; text;) {
        struct item item;
        if (!read_item(text, &item)) {
            snprintf(mistake, size,
                     "'--kernels %s': '%.*s' is no launch: they are numbered from 1, as in "
                     "3,7-9,20-, or named by their kernel",
                     kernels, (int)item.size, item.text);
            return false;
        }
        names |= !item.first;
        text = next_item(&item);
    }
    if (!warmup)
        return true;
    if (!parse_warmup(warmup, out)) {
        snprintf(mistake, size,
                 "'--warmup %s': it is none, perfect, full-memory, memory:N, functional or "
                 "functional:N, with N from 1",
                 warmup);
        return false;
    }
    if (!kernels) {
        snprintf(mistake, size,
                 "'--warmup %s' says what happens before chosen kernels; choose "
                 "them with '--kernels LIST'",
                 warmup);
        return false;
    }
    if (names && out->depth != SAMPLING_ALL && out->depth) {
        snprintf(mistake, size,
                 "'--warmup %s' counts back from kernels that are known beforehand; give numbers "
                 "to '--kernels', not names",
                 warmup);
        return false;
    }
    return true;
}

/* The name after "void ", which those of templates begin with, and its length without parameters.
 */
static const char *plain_name(const char *name, size_t *size)
{
    const char *from = strncmp(name, "void ", 5) ? name : name + 5;
    *size = strcspn(from, "(");
    return from;
}

void sampling_plain_name(const char *name, char *text, size_t size)
{
    size_t plain;
    const char *from = plain_name(name, &plain);
    snprintf(text, size, "%.*s", (int)plain, from);
}

static bool is_named(const struct item *item, const char *name, const char *symbol)
{
    size_t plain;
    const char *from = plain_name(name, &plain);
    return (plain == item->size && !strncmp(from, item->text, plain))
           || (strlen(symbol) == item->size && !strncmp(symbol, item->text, item->size));
}

bool sampling_parse_error(const char *error, struct sampling *s, char *mistake, size_t size)
{
    char *end;
    s->aim = DEFAULT_AIM;
    if (!error)
        return true;
    if (!s->automatic) {
        snprintf(mistake, size,
                 "'--error %s' is for launches that are chosen while they run: '--kernels auto', "
                 "or '--mode sampled'",
                 error);
        return false;
    }
    s->aim = strtod(error, &end) / 100;
    bool good = *error >= '0' && *error <= '9' && !*(end + (*end == '%'));
    if (good && s->aim >= AIM_MIN && s->aim <= AIM_MAX)
        return true;
    snprintf(mistake, size,
             "'--error %s': it is how far off the sum may be, in per cent, from 0.01 to 50, as in "
             "0.5",
             error);
    return false;
}

static bool item_chooses(const struct item *item, uint64_t number, const char *name,
                         const char *symbol)
{
    return item->first ? number >= item->first && number <= item->last
                       : is_named(item, name, symbol);
}

static bool find_item(const struct sampling *s, uint32_t index, struct item *item)
{
    const char *text = s->kernels;
    while (text && read_item(text, item) && index-- > 0)
        text = next_item(item);
    return text != NULL;
}

int sampling_element(const struct sampling *s, uint32_t index, uint64_t number, const char *name,
                     const char *symbol)
{
    struct item item;
    return find_item(s, index, &item) ? item_chooses(&item, number, name, symbol) : -1;
}

bool sampling_element_text(const struct sampling *s, uint32_t index, char *text, size_t size)
{
    struct item item;
    bool found = find_item(s, index, &item);
    if (found)
        snprintf(text, size, "%.*s", (int)item.size, item.text);
    return found;
}

bool sampling_chosen(const struct sampling *s, uint64_t number, const char *name,
                     const char *symbol)
{
    struct item item;
    for (const char *text = s->kernels; text && read_item(text, &item); text = next_item(&item))
        if (item_chooses(&item, number, name, symbol))
            return true;
    return !s->kernels;
}

/* Launches from `number` to the next chosen one; SAMPLING_ALL: none follows. Names may come any
 * time. */
static uint64_t distance(const struct sampling *s, uint64_t number)
{
    uint64_t best = SAMPLING_ALL;
    struct item item;
    for (const char *text = s->kernels; text && read_item(text, &item); text = next_item(&item)) {
        uint64_t next = item.first > number ? item.first - number : 0;
        if ((!item.first || item.last >= number) && next < best)
            best = next;
    }
    return best;
}

enum sampling_way sampling_way(const struct sampling *s, uint64_t number, const char *name,
                               const char *symbol)
{
    if (!s->kernels || sampling_chosen(s, number, name, symbol))
        return SAMPLING_DETAILED;
    if (s->warmup == SAMPLING_NONE)
        return SAMPLING_SKIPPED;
    uint64_t next = distance(s, number);
    if (next == SAMPLING_ALL || next > s->depth)
        return SAMPLING_SKIPPED;
    if (s->warmup == SAMPLING_PERFECT)
        return SAMPLING_DETAILED;
    return s->warmup == SAMPLING_MEMORY ? SAMPLING_MEMORY_ONLY : SAMPLING_TOUCHING;
}

const char *sampling_way_name(enum sampling_way way)
{
    static const char *const names[] = {"detailed", "memory", "functional", "skipped"};
    return names[way];
}
