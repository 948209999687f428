/* Reads code objects (ELF) for their source lines and constant segments, and finds both by address.
 */
#include "check_code.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

#include "finding.h"
#include "source_lines.h"

struct range {
    uint64_t start, end;
    const char *content;
    uint64_t code; /* address of the code that it came with */
};

struct code {
    uint64_t address;
    struct source_lines lines;
    uint8_t *file;        /* NULL: the host's, which stays mapped */
    const uint8_t *bytes; /* what is executed of it, from `start` on */
    uint64_t start, size;
};

static struct range *ranges;
static size_t range_count, range_capacity;
static struct code *codes;
static size_t code_count, code_capacity;

static void add_range(uint64_t start, uint64_t end, const char *content, uint64_t code)
{
    grow_slots(ranges, range_count, range_capacity, "checks");
    ranges[range_count++] = (struct range){start, end, content, code};
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

static bool read_head(const uint8_t *file, uint64_t size, Elf64_Ehdr *head)
{
    if (size < sizeof *head)
        return false;
    memcpy(head, file, sizeof *head);
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64;
}

static struct code *add_code(uint64_t address, void *file, uint64_t size)
{
    grow_slots(codes, code_count, code_capacity, "checks");
    struct code *code = &codes[code_count++];
    *code = (struct code){.address = address};
    source_lines_open(&code->lines, file, size);
    return code;
}

static void find_bytes(struct code *code, uint64_t size, const Elf64_Ehdr *head)
{
    Elf64_Phdr segment;
    const uint8_t *file = code->file;
    for (unsigned i = 0; i < head->e_phnum && read_segment(file, size, head, i, &segment); i++) {
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) || code->bytes
            || !is_inside(size, segment.p_offset, segment.p_filesz))
            continue;
        code->start = code->address + segment.p_vaddr;
        code->size = segment.p_filesz;
        code->bytes = file + segment.p_offset;
    }
}

void check_code(uint64_t address, const void *bytes, uint64_t size)
{
    Elf64_Ehdr head;
    if (!finding_any_is_wanted() || !read_head(bytes, size, &head))
        return;
    uint8_t *copy = grow_memory(NULL, size, "checks");
    memcpy(copy, bytes, size);
    add_segments(address, copy, size, &head);
    struct code *code = add_code(address, copy, size);
    code->file = copy;
    find_bytes(code, size, &head);
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
    if (bytes != MAP_FAILED && read_head(bytes, size, &head))
        add_code(head.e_type == ET_DYN ? address : 0, bytes, size);
    else if (bytes != MAP_FAILED)
        munmap(bytes, size);
}

void check_constant(uint64_t address, uint64_t size)
{
    if (finding_any_is_wanted())
        add_range(address, address + size, "a variable in constant memory", address);
}

void check_code_gone(uint64_t address)
{
    size_t kept = 0;
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].code != address)
            ranges[kept++] = ranges[i];
    range_count = kept;
    for (size_t i = 0; i < code_count; i++) {
        if (codes[i].address != address)
            continue;
        source_lines_close(&codes[i].lines);
        free(codes[i].file);
        codes[i--] = codes[--code_count];
    }
}

const char *check_is_constant(uint64_t address)
{
    for (size_t i = 0; i < range_count; i++)
        if (address >= ranges[i].start && address < ranges[i].end)
            return ranges[i].content;
    return NULL;
}

static const struct code *code_of(uint64_t pc)
{
    const struct code *nearest = NULL;
    for (size_t i = 0; i < code_count; i++)
        if (codes[i].address <= pc && (!nearest || codes[i].address > nearest->address))
            nearest = &codes[i];
    return nearest;
}

bool check_source(uint64_t pc, char *text, size_t size)
{
    const struct code *code = code_of(pc);
    return code && source_lines_find(&code->lines, pc - code->address, text, size);
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
