/* The lines of a program's source, from the DWARF of its code (libdw). The input is not trusted. */
#ifndef HEDDLE_COMPONENTS_CHECKS_SOURCE_LINES_H
#define HEDDLE_COMPONENTS_CHECKS_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_lines {
    struct Elf *elf;     /* NULL: it is no ELF file */
    struct Dwarf *dwarf; /* NULL: there are no lines in it */
};

/* The file stays where it is until the lines are closed. */
void source_lines_open(struct source_lines *lines, void *file, size_t size);
/* "file.cpp:12" without folders, or "near file.cpp:12". False: not known. */
bool source_lines_find(const struct source_lines *lines, uint64_t address, char *text, size_t size);
void source_lines_close(struct source_lines *lines);

#endif
