/* Reads the line tables of the program's DWARF. Code of the toolchain's headers belongs to the line
 * of the program's own source that calls it, or to the line before. Code that the compiler has made
 * of several lines, or of none, is near the line before. */
#include "source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void source_lines_open(struct source_lines *lines, void *file, size_t size)
{
    elf_version(EV_CURRENT);
    lines->elf = elf_memory(file, size);
    lines->dwarf = lines->elf ? dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL) : NULL;
}

void source_lines_close(struct source_lines *lines)
{
    dwarf_end(lines->dwarf);
    elf_end(lines->elf);
    *lines = (struct source_lines){0};
}

/* A line of the program's own source, with `file` as the compiler names it. */
struct line {
    const char *file;
    int number; /* 0: the compiler names none */
};

static bool is_own(const char *file)
{
    return file && strncmp(file, "/usr/", 5) != 0 && strncmp(file, "/opt/", 5) != 0;
}

/* The number that an attribute has; 0: there is none. */
static Dwarf_Word number_of(Dwarf_Die *entry, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_attr(entry, name, &attribute))
        dwarf_formudata(&attribute, &number);
    return number;
}

/* The innermost call from the program's own source that was inlined at the address. */
static bool find_call(Dwarf_Die *unit, Dwarf_Addr address, struct line *found)
{
    Dwarf_Die *inside = NULL, *around = NULL;
    Dwarf_Files *files;
    size_t file_count;
    int count = 0;
    bool own = false;
    if (dwarf_getsrcfiles(unit, &files, &file_count) == 0
        && dwarf_getscopes(unit, address, &inside) > 0)
        count = dwarf_getscopes_die(inside, &around);
    for (int i = 0; i < count && !own; i++) {
        if (dwarf_tag(&around[i]) != DW_TAG_inlined_subroutine)
            continue;
        found->file = dwarf_filesrc(files, number_of(&around[i], DW_AT_call_file), NULL, NULL);
        found->number = (int)number_of(&around[i], DW_AT_call_line);
        own = is_own(found->file);
    }
    free(inside);
    free(around);
    return own;
}

/* The number of rows that begin at the address or before it. */
static size_t count_rows(Dwarf_Lines *rows, size_t count, Dwarf_Addr address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        Dwarf_Addr begin = 0;
        dwarf_lineaddr(dwarf_onesrcline(rows, middle), &begin);
        if (begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool find_in_unit(Dwarf_Die *unit, Dwarf_Addr address, char *text, size_t size)
{
    Dwarf_Lines *rows;
    size_t count;
    bool near = false, ends = false;
    if (dwarf_getsrclines(unit, &rows, &count) != 0)
        return false;
    for (size_t i = count_rows(rows, count, address); i > 0 && !ends; i--) {
        Dwarf_Line *row = dwarf_onesrcline(rows, i - 1);
        struct line line = {dwarf_linesrc(row, NULL, NULL), 0};
        Dwarf_Addr begin = 0;
        dwarf_lineaddr(row, &begin);
        dwarf_lineno(row, &line.number);
        if (dwarf_lineendsequence(row, &ends) != 0 || ends
            || (!is_own(line.file) && !find_call(unit, begin, &line)))
            continue;
        if (line.number) {
            const char *slash = strrchr(line.file, '/');
            snprintf(text, size, "%s%s:%d", near ? "near " : "", slash ? slash + 1 : line.file,
                     line.number);
            return true;
        }
        near = true;
    }
    return false;
}

bool source_lines_find(const struct source_lines *lines, uint64_t address, char *text, size_t size)
{
    Dwarf_Off next;
    size_t head;
    bool found = false;
    for (Dwarf_Off at = 0; lines->dwarf && !found
                           && dwarf_nextcu(lines->dwarf, at, &next, &head, NULL, NULL, NULL) == 0;
         at = next) {
        Dwarf_Die unit;
        found = dwarf_offdie(lines->dwarf, at + head, &unit)
                && find_in_unit(&unit, address, text, size);
    }
    return found;
}
