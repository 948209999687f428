/* Places in a text: bytes here, lines and UTF-16 code units in the protocol. */
#include "position.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/number.h"

void position_lines_make(struct position_lines *lines, const char *text, size_t size)
{
    *lines = (struct position_lines){.text = text, .size = size, .count = 1};
    for (size_t i = 0; i < size; i++)
        lines->count +=
            text[i] == '\n' || (text[i] == '\r' && (i + 1 == size || text[i + 1] != '\n'));
    lines->starts = grow_zeroed(lines->count * sizeof *lines->starts, "a document");
    uint32_t line = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == size || text[i + 1] != '\n')))
            lines->starts[++line] = i + 1;
}

void position_lines_release(struct position_lines *lines)
{
    free(lines->starts);
    *lines = (struct position_lines){0};
}

/* Bytes and units of the character at `text`. */
static size_t character(const char *text, size_t size, uint32_t *units)
{
    unsigned char first = (unsigned char)text[0];
    size_t length = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1;
    *units = 1;
    if (length > size)
        return 1;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return 1;
    *units = length == 4 ? 2 : 1;
    return length;
}

uint32_t position_units_of(const char *text, size_t size, uint32_t characters)
{
    uint32_t units = 0, one;
    for (size_t i = 0; i < size && characters > 0; characters--) {
        i += character(text + i, size - i, &one);
        units += one;
    }
    return units;
}

static uint32_t position_units(const char *text, size_t size)
{
    return position_units_of(text, size, UINT32_MAX);
}

struct position position_of(struct position_lines *lines, size_t offset)
{
    offset = min(offset, lines->size);
    uint32_t low = 0, high = lines->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (lines->starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    size_t from = lines->starts[low];
    while (offset > from && offset < lines->size
           && ((unsigned char)lines->text[offset] & 0xC0) == 0x80)
        offset--; /* to the begin of a character */
    uint32_t unit = low == 0 ? lines->lead : 0;
    if (lines->last_line == low && lines->last_offset > from && lines->last_offset <= offset) {
        from = lines->last_offset; /* one line may be all of a large text */
        unit = lines->last_unit;
    }
    unit += position_units(lines->text + from, offset - from);
    lines->last_line = low;
    lines->last_offset = offset;
    lines->last_unit = unit;
    return (struct position){low, unit};
}

static bool ends_line(char ch)
{
    return ch == '\n' || ch == '\r';
}

size_t position_offset(const struct position_lines *lines, struct position position)
{
    if (position.line >= lines->count)
        return lines->size;
    uint32_t lead = position.line == 0 ? lines->lead : 0;
    uint32_t wanted = position.unit > lead ? position.unit - lead : 0;
    size_t at = lines->starts[position.line];
    for (uint32_t units = 0, one; at < lines->size && !ends_line(lines->text[at]); units += one) {
        size_t length = character(lines->text + at, lines->size - at, &one);
        if (units + one > wanted)
            break;
        at += length;
    }
    return at;
}
