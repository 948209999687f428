/* Reads DWARF, front to back. Pure; what is read is not trusted: behind the end of a part come
 * zeros, and `bad` is set. */
#ifndef HEDDLE_CHECKS_DWARF_READER_H
#define HEDDLE_CHECKS_DWARF_READER_H

#include <stdbool.h>
#include <stdint.h>

/* A section, or a part of one; size 0: there is none. */
struct dwarf_bytes {
    const uint8_t *at;
    uint64_t size;
};

struct dwarf_reader {
    const uint8_t *at, *end;
    bool bad;
};

/* From `offset` of the section on. */
struct dwarf_reader dwarf_open(const struct dwarf_bytes *section, uint64_t offset);
uint64_t dwarf_take(struct dwarf_reader *r, unsigned bytes); /* at most 8 */
uint64_t dwarf_take_leb(struct dwarf_reader *r, bool is_signed);
/* Text up to its NUL; "" when there is none. */
const char *dwarf_take_text(struct dwarf_reader *r);
void dwarf_skip(struct dwarf_reader *r, uint64_t bytes);
/* The unit that begins here, behind its length; `all` goes on behind it. Lengths of 4 bytes, or of
 * 8 in files of more than 4 GiB: `offset_bytes` says which. */
struct dwarf_reader dwarf_take_unit(struct dwarf_reader *all, unsigned *offset_bytes);

#endif
