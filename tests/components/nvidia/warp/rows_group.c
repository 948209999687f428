/* See rows_group.h. */
#include "rows_group.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/engine/bug.h"

static struct group_row *next, *last;

uint64_t bytes_at(const uint8_t *from, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = bytes; i-- > 0;)
        value = value << 8 | from[i];
    return value;
}

void put_bytes(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

double decode(uint64_t bits, int fraction, int exponent)
{
    int64_t top = ((int64_t)1 << exponent) - 1, bias = top / 2,
            e = (int64_t)(bits >> fraction) & top,
            f = (int64_t)(bits & (((uint64_t)1 << fraction) - 1));
    double sign = bits >> (fraction + exponent) & 1 ? -1 : 1;
    if (e == top)
        return f ? (double)NAN : sign * (double)INFINITY;
    return sign
           * ldexp((double)(e ? f + ((int64_t)1 << fraction) : f),
                   (int)((e ? e : 1) - bias - fraction));
}

uint64_t encode(double value, int fraction, int exponent)
{
    int top = (1 << exponent) - 1, bias = top / 2, e;
    uint64_t sign = (uint64_t)(signbit(value) != 0) << (fraction + exponent);
    if (isnan(value))
        return ((uint64_t)1 << (fraction + exponent)) - 1;
    if (!isinf(value) && value != 0) {
        frexp(value, &e);
        e = e - 1 < 1 - bias ? 1 - bias : e - 1;
        value = ldexp(nearbyint(ldexp(fabs(value), fraction - e)), e - fraction);
    }
    value = fabs(value);
    if (value >= ldexp(1, top - bias))
        return sign | (uint64_t)top << fraction;
    if (value == 0)
        return sign;
    frexp(value, &e);
    if (e - 1 < 1 - bias)
        return sign | (uint64_t)ldexp(value, fraction + bias - 1);
    return sign | (uint64_t)(e - 1 + bias) << fraction
           | ((uint64_t)ldexp(value, fraction - e + 1) & (((uint64_t)1 << fraction) - 1));
}

/* ---- the list ---- */

static const char *type_of(const char *name)
{
    static const char *const names[] = {"b16", "b32", "b64", "f32", "f64"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return names[i];
    return NULL;
}

/* "#" becomes the name of the space. */
static void name_space(char *to, size_t size, const char *from, enum group_place place)
{
    static const char *const spaces[PLACES] = {".global", ".shared", "", "", ".shared::cluster"};
    size_t at = 0;
    for (; *from && at < size; from++)
        at += (size_t)(*from == '#' ? snprintf(to + at, size - at, "%s", spaces[place])
                                    : snprintf(to + at, size - at, "%c", *from));
    if (at >= size)
        bug("a row's text has more than %zu bytes", size);
}

struct group_row *group_add(enum group_place place, const char *types, const char *format, ...)
{
    char text[sizeof next->text], type[4][8] = {"", "", "", ""};
    va_list list;
    if (next == last)
        bug("there are more rows than expected");
    memset(next, 0, sizeof *next);
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    name_space(next->text, sizeof next->text, text, place);
    sscanf(types, "%7s %7s %7s %7s", type[0], type[1], type[2], type[3]);
    next->d = type_of(type[0]), next->a = type_of(type[1]);
    next->b = type_of(type[2]), next->c = type_of(type[3]);
    next->place = place;
    return next++;
}

size_t group_rows(struct group_row *rows, size_t most)
{
    next = rows;
    last = rows + most;
    group_add_memory();
    group_add_lanes();
    group_add_blocks();
    group_add_matrices();
    group_add_textures();
    group_add_types();
    group_add_comparisons();
    group_add_atomics();
    group_add_fragments();
    group_add_video();
    return (size_t)(next - rows);
}
