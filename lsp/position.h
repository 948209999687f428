/* Places in a text: bytes here, lines and UTF-16 code units in the protocol. Both kinds count from
 * zero. Lines end with "\n", "\r\n" or "\r", as the protocol says. A byte that is not UTF-8 counts
 * as one unit; a place after the end of a line or text is that end. */
#ifndef HEDDLE_LSP_POSITION_H
#define HEDDLE_LSP_POSITION_H

#include <stddef.h>
#include <stdint.h>

struct position {
    uint32_t line, unit;
};

/* The starts of the lines of a text, which must outlive it. */
struct position_lines {
    const char *text;
    size_t size;
    size_t *starts;
    uint32_t count;
    uint32_t lead;      /* units in front of the first line: 1 for a byte-order mark taken away */
    size_t last_offset; /* the place that was asked for last: lists go forward */
    uint32_t last_unit, last_line;
};

void position_lines_make(struct position_lines *lines, const char *text, size_t size);
void position_lines_release(struct position_lines *lines);
struct position position_of(struct position_lines *lines, size_t offset);
size_t position_offset(const struct position_lines *lines, struct position position);
/* Units of the first `characters` characters of a piece of a line. */
uint32_t position_units_of(const char *text, size_t size, uint32_t characters);

#endif
