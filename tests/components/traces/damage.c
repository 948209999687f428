/* See damage.h. */
#include "damage.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/splitmix64.h"

static uint64_t state;

static size_t choose(size_t count)
{
    uint64_t random = splitmix64(&state);
    return count ? (size_t)(random % count) : 0;
}

unsigned damage_seeds(void)
{
    const char *text = getenv("DAMAGE_SEEDS");
    return text ? (unsigned)strtoul(text, NULL, 10) : 12;
}

struct piece {
    size_t from, size;
};

/* A line with its end. */
static struct piece line_of(const char *text, size_t at)
{
    size_t from = at;
    while (from && text[from - 1] != '\n')
        from--;
    size_t size = strcspn(text + from, "\n");
    return (struct piece){from, size + (text[from + size] == '\n')};
}

/* `text` with the piece replaced. */
static char *put(const char *text, struct piece piece, const char *instead, size_t size)
{
    size_t all = strlen(text), rest = all - piece.from - piece.size;
    char *out = malloc(all - piece.size + size + 1);
    memcpy(out, text, piece.from);
    memcpy(out + piece.from, instead, size);
    memcpy(out + piece.from + size, text + piece.from + piece.size, rest + 1);
    return out;
}

static char *swap(const char *text, struct piece a, struct piece b)
{
    if (a.from == b.from)
        return put(text, a, text + a.from, a.size);
    if (a.from > b.from) {
        struct piece other = a;
        a = b;
        b = other;
    }
    char *half = put(text, b, text + a.from, a.size);
    char *whole = put(half, a, text + b.from, b.size);
    free(half);
    return whole;
}

/* A number of the line, or nothing of it. */
static struct piece number_in(const char *text, struct piece line)
{
    size_t found = line.from, count = 0;
    for (size_t i = line.from; i < line.from + line.size; i++)
        if (isdigit((unsigned char)text[i])
            && (i == line.from || !isalnum((unsigned char)text[i - 1])) && choose(++count) == 0)
            found = i;
    size_t size = 0;
    while (count && isalnum((unsigned char)text[found + size]))
        size++;
    return (struct piece){found, size};
}

static char *damage_once(const char *text, char what[256])
{
    static const char *const numbers[] = {
        "18446744073709551615", "18446744073709551616",    "4294967296", "-1", "0", "1",
        "0xffffffffffffffff",   "99999999999999999999999", "65536",      ""};
    struct piece line = line_of(text, choose(strlen(text)));
    struct piece other = line_of(text, choose(strlen(text)));
    int first = (int)strcspn(text + line.from, "\n");
    const char *kind;
    char *out;
    switch (choose(6)) {
    case 0:
        kind = "gone";
        out = put(text, line, "", 0);
        break;
    case 1:
        kind = "twice";
        out = put(text, (struct piece){line.from, 0}, text + line.from, line.size);
        break;
    case 2:
        kind = "swapped";
        out = swap(text, line, other);
        break;
    case 3:
        kind = "cut";
        out =
            put(text,
                (struct piece){line.from + line.size / 2, strlen(text) - line.from - line.size / 2},
                "", 0);
        break;
    default: {
        kind = "number";
        const char *instead = numbers[choose(ARRAY_COUNT(numbers))];
        out = put(text, number_in(text, line), instead, strlen(instead));
    }
    }
    snprintf(what, 256, "%s at %zu: %.*s", kind, line.from, min(first, 100), text + line.from);
    return out;
}

char *damage_text(const char *text, uint64_t seed, char what[256])
{
    state = seed;
    char *out = damage_once(text, what);
    for (size_t more = choose(3); more && *out; more--) {
        char *again = damage_once(out, what);
        free(out);
        out = again;
    }
    return out;
}
