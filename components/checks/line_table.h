/* The lines of a program's source, from .debug_line (DWARF 4 and 5). Pure; the input is not
 * trusted. */
#ifndef HEDDLE_CHECKS_LINE_TABLE_H
#define HEDDLE_CHECKS_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlined_calls.h"

/* Parts of an ELF file. */
struct line_sections {
    struct dwarf_bytes line, line_str, str;
    struct inlined_calls calls;
};

struct line_row {
    uint64_t address;
    uint32_t line; /* 0: no code from here on */
    uint32_t file; /* offset of its name in `names` */
    bool near;     /* the compiler names no line; this is that of the code before */
};

struct line_table {
    struct line_row *rows; /* by address */
    uint64_t count, room;
    char *names;
    size_t name_bytes;
};

/* Empty where there is nothing to read. */
void line_table_read(struct line_table *table, const struct line_sections *sections);
/* "file.cpp:12" without folders, or "near file.cpp:12"; false: not known. */
bool line_table_find(const struct line_table *table, uint64_t address, char *text, size_t size);
void line_table_free(struct line_table *table);

#endif
