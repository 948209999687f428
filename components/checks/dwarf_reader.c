/* See dwarf_reader.h. */
#include "dwarf_reader.h"

#include <stddef.h>
#include <string.h>

struct dwarf_reader dwarf_open(const struct dwarf_bytes *section, uint64_t offset)
{
    bool bad = offset > section->size;
    const uint8_t *end = section->at + section->size;
    return (struct dwarf_reader){bad ? end : section->at + offset, end, bad};
}

uint64_t dwarf_take(struct dwarf_reader *r, unsigned bytes)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < bytes) {
        r->bad = true;
        r->at = r->end;
        return 0;
    }
    memcpy(&value, r->at, bytes);
    r->at += bytes;
    return value;
}

uint64_t dwarf_take_leb(struct dwarf_reader *r, bool is_signed)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    while (byte & 0x80 && !r->bad) {
        byte = dwarf_take(r, 1);
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        shift += 7;
    }
    if (is_signed && shift < 64 && byte & 0x40)
        value |= ~UINT64_C(0) << shift;
    return value;
}

const char *dwarf_take_text(struct dwarf_reader *r)
{
    const uint8_t *end = r->at < r->end ? memchr(r->at, 0, (size_t)(r->end - r->at)) : NULL;
    const char *text = (const char *)r->at;
    r->bad |= !end;
    r->at = end ? end + 1 : r->end;
    return end ? text : "";
}

void dwarf_skip(struct dwarf_reader *r, uint64_t bytes)
{
    uint64_t left = (uint64_t)(r->end - r->at);
    r->bad |= bytes > left;
    r->at += bytes < left ? bytes : left;
}

struct dwarf_reader dwarf_take_unit(struct dwarf_reader *all, unsigned *offset_bytes)
{
    uint64_t size = dwarf_take(all, 4);
    *offset_bytes = size == UINT32_MAX ? 8 : 4;
    size = size == UINT32_MAX ? dwarf_take(all, 8) : size;
    struct dwarf_reader unit = {all->at, all->at, all->bad};
    dwarf_skip(all, size);
    unit.bad |= all->bad;
    unit.end = all->bad ? unit.at : all->at;
    return unit;
}
