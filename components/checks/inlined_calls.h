/* The calls that a compiler has inlined, from .debug_info (DWARF 4 and 5). Pure; the input is not
 * trusted. */
#ifndef HEDDLE_CHECKS_INLINED_CALLS_H
#define HEDDLE_CHECKS_INLINED_CALLS_H

#include <stddef.h>

#include "dwarf_reader.h"

struct inlined_sections {
    struct dwarf_bytes info, abbrev, addr, ranges, rnglists;
};

/* A piece of code that was inlined, and the line that calls it. */
struct inlined_call {
    uint64_t lines; /* offset of its unit's program in .debug_line */
    uint64_t start, end;
    uint64_t line, file; /* as that program numbers files */
    size_t within;       /* 1 + the call that it is a part of; 0: none */
};

struct inlined_calls {
    struct inlined_call *call; /* by program and start; one that holds others before these */
    uint64_t count, room;
};

/* Empty where there is nothing to read. */
void inlined_calls_read(struct inlined_calls *calls, const struct inlined_sections *sections);
/* The innermost call that holds the address, whose program is that; NULL: none. */
const struct inlined_call *inlined_call_at(const struct inlined_calls *calls, uint64_t lines,
                                           uint64_t address);
const struct inlined_call *inlined_call_around(const struct inlined_calls *calls,
                                               const struct inlined_call *call);
void inlined_calls_free(struct inlined_calls *calls);

#endif
