/* See check_code.h. Line tables are .debug_line of DWARF 4 and 5 ("DWARF Debugging Information
 * Format", 6.2); what is malformed ends the table where it is. */
#include "check_code.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "finding.h"
#include "grown.h"
#include "line_table.h"
#include "runtime/engine/bug.h"

struct range {
    uint64_t start, end;
    const char *what;
    uint64_t code; /* address of the code that it came with */
};

struct code {
    uint64_t address;
    struct line_table lines;
    uint8_t *bytes; /* what is executed of it, from `start` on */
    uint64_t start, size;
};

static struct range *ranges;
static uint64_t range_count, range_room;
static struct code *codes;
static uint64_t code_count, code_room;

static void add_range(uint64_t start, uint64_t end, const char *what, uint64_t code)
{
    ranges = grown(ranges, &range_room, range_count, sizeof *ranges);
    ranges[range_count++] = (struct range){start, end, what, code};
}

static bool is_inside(uint64_t size, uint64_t offset, uint64_t bytes)
{
    return offset <= size && bytes <= size - offset;
}

/* The program header of that number. False: the file ends before it. */
static bool read_segment(const uint8_t *file, uint64_t size, const Elf64_Ehdr *head, unsigned i,
                         Elf64_Phdr *segment)
{
    uint64_t at = head->e_phoff + i * sizeof *segment;
    if (!is_inside(size, at, sizeof *segment))
        return false;
    memcpy(segment, file + at, sizeof *segment);
    return true;
}

static void add_segments(uint64_t address, const uint8_t *file, uint64_t size,
                         const Elf64_Ehdr *head)
{
    Elf64_Phdr segment;
    for (unsigned i = 0; i < head->e_phnum && read_segment(file, size, head, i, &segment); i++) {
        if (segment.p_type != PT_LOAD || segment.p_flags & PF_W)
            continue;
        add_range(address + segment.p_vaddr, address + segment.p_vaddr + segment.p_memsz,
                  segment.p_flags & PF_X ? "code" : "constants of the program's code", address);
    }
}

/* An empty part where there is no such section. */
static struct dwarf_bytes section(const uint8_t *file, uint64_t size, const Elf64_Ehdr *head,
                                  const char *name)
{
    Elf64_Shdr names, found;
    uint64_t at = head->e_shoff + head->e_shstrndx * sizeof names;
    if (head->e_shentsize != sizeof names || !is_inside(size, at, sizeof names))
        return (struct dwarf_bytes){0};
    memcpy(&names, file + at, sizeof names);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        at = head->e_shoff + i * sizeof found;
        if (!is_inside(size, at, sizeof found))
            break;
        memcpy(&found, file + at, sizeof found);
        uint64_t text = names.sh_offset + found.sh_name;
        if (is_inside(size, text, strlen(name) + 1)
            && memcmp(file + text, name, strlen(name) + 1) == 0
            && is_inside(size, found.sh_offset, found.sh_size))
            return (struct dwarf_bytes){file + found.sh_offset, found.sh_size};
    }
    return (struct dwarf_bytes){0};
}

static bool read_head(const uint8_t *file, uint64_t size, Elf64_Ehdr *head)
{
    if (size < sizeof *head)
        return false;
    memcpy(head, file, sizeof *head);
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64;
}

static struct code *add_lines(uint64_t address, const uint8_t *file, uint64_t size,
                              const Elf64_Ehdr *head)
{
    codes = grown(codes, &code_room, code_count, sizeof *codes);
    const struct inlined_sections inlined = {.info = section(file, size, head, ".debug_info"),
                                             .abbrev = section(file, size, head, ".debug_abbrev"),
                                             .addr = section(file, size, head, ".debug_addr"),
                                             .ranges = section(file, size, head, ".debug_ranges"),
                                             .rnglists =
                                                 section(file, size, head, ".debug_rnglists")};
    struct line_sections sections = {.line = section(file, size, head, ".debug_line"),
                                     .line_str = section(file, size, head, ".debug_line_str"),
                                     .str = section(file, size, head, ".debug_str")};
    inlined_calls_read(&sections.calls, &inlined);
    codes[code_count] = (struct code){.address = address};
    line_table_read(&codes[code_count].lines, &sections);
    inlined_calls_free(&sections.calls);
    return &codes[code_count++];
}

static void keep_bytes(struct code *code, const uint8_t *file, uint64_t size,
                       const Elf64_Ehdr *head)
{
    Elf64_Phdr segment;
    for (unsigned i = 0; i < head->e_phnum && read_segment(file, size, head, i, &segment); i++) {
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) || code->bytes
            || !is_inside(size, segment.p_offset, segment.p_filesz))
            continue;
        code->start = code->address + segment.p_vaddr;
        code->size = segment.p_filesz;
        code->bytes = malloc(code->size + 1);
        if (!code->bytes)
            die("out of memory for checks");
        memcpy(code->bytes, file + segment.p_offset, code->size);
    }
}

void check_code(uint64_t address, const void *bytes, uint64_t size)
{
    Elf64_Ehdr head;
    if (!finding_wanted_any() || !read_head(bytes, size, &head))
        return;
    add_segments(address, bytes, size, &head);
    keep_bytes(add_lines(address, bytes, size, &head), bytes, size, &head);
}

void check_host_code(uint64_t address, const char *path)
{
    struct stat facts;
    Elf64_Ehdr head;
    for (size_t i = 0; i < code_count; i++)
        if (codes[i].address == address || codes[i].address == 0)
            return; /* at 0: a program that is not moved */
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    size_t size = fstat(file, &facts) == 0 ? (size_t)facts.st_size : 0;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (bytes == MAP_FAILED)
        return;
    if (read_head(bytes, size, &head))
        add_lines(head.e_type == ET_DYN ? address : 0, bytes, size, &head);
    munmap(bytes, size);
}

void check_constant(uint64_t address, uint64_t size)
{
    if (finding_wanted_any())
        add_range(address, address + size, "a variable in constant memory", address);
}

void check_code_gone(uint64_t address)
{
    size_t kept = 0;
    for (size_t i = 0; i < range_count; i++) {
        if (ranges[i].code != address)
            ranges[kept++] = ranges[i];
    }
    range_count = kept;
    for (size_t i = 0; i < code_count; i++) {
        if (codes[i].address != address)
            continue;
        line_table_free(&codes[i].lines);
        free(codes[i].bytes);
        codes[i--] = codes[--code_count];
    }
}

const char *check_is_constant(uint64_t address)
{
    for (size_t i = 0; i < range_count; i++) {
        if (address >= ranges[i].start && address < ranges[i].end)
            return ranges[i].what;
    }
    return NULL;
}

static const struct code *code_of(uint64_t pc)
{
    const struct code *nearest = NULL;
    for (size_t i = 0; i < code_count; i++) {
        if (codes[i].address <= pc && (!nearest || codes[i].address > nearest->address))
            nearest = &codes[i];
    }
    return nearest;
}

bool check_source(uint64_t pc, char *text, size_t size)
{
    const struct code *code = code_of(pc);
    return code && line_table_find(&code->lines, pc - code->address, text, size);
}

const uint8_t *check_code_bytes(uint64_t pc, uint64_t *start, uint64_t *size)
{
    const struct code *code = code_of(pc);
    if (!code || !code->bytes || pc - code->start >= code->size)
        return NULL;
    *start = code->start;
    *size = code->size;
    return code->bytes;
}
