/* A code object's bytes: the length of the file when its size is not given, and the contents of
 * memory once it is loaded.
 *
 * Loading copies segments and applies relocations (LLVM AMDGPU guide, "Relocation Records");
 * code_object_read() has checked that everything lies inside. */
#include <libelf.h>
#include <string.h>

#include "code_object_internal.h"

enum {
    RELOCATION_ABS32_LO = 1,
    RELOCATION_ABS32_HI = 2,
    RELOCATION_ABS64 = 3,
    RELOCATION_REL32 = 4,
    RELOCATION_REL64 = 5,
    RELOCATION_ABS32 = 6,
    RELOCATION_REL32_LO = 10,
    RELOCATION_REL32_HI = 11,
    RELOCATION_RELATIVE64 = 13
};

uint64_t code_object_relocation_width(uint32_t type)
{
    switch (type) {
    case RELOCATION_ABS64:
    case RELOCATION_REL64:
    case RELOCATION_RELATIVE64:
        return 8;
    case RELOCATION_ABS32_LO:
    case RELOCATION_ABS32_HI:
    case RELOCATION_ABS32:
    case RELOCATION_REL32:
    case RELOCATION_REL32_LO:
    case RELOCATION_REL32_HI:
        return 4;
    default:
        return 0;
    }
}

static void extend(uint64_t *end, uint64_t offset, uint64_t size, size_t limit)
{
    uint64_t last = offset <= limit && size <= limit - offset ? offset + size : limit;
    if (last > *end)
        *end = last;
}

size_t code_object_image_size(const void *bytes, size_t limit)
{
    const uint8_t *at = bytes;
    if (limit < 64 || !code_object_recognise(bytes, limit) || at[EI_CLASS] != ELFCLASS64)
        return 0;
    /* Elf64_Ehdr: e_phoff at 32, e_shoff at 40, e_phnum at 56, e_shnum at 60. */
    uint64_t programs = code_object_u64(at + 32), sections = code_object_u64(at + 40);
    uint64_t program_count = code_object_u16(at + 56), section_count = code_object_u16(at + 60);
    uint64_t end = 64;
    extend(&end, programs, program_count * 56, limit);
    extend(&end, sections, section_count * 64, limit);
    for (uint64_t i = 0; i < program_count; i++) {
        if (programs <= limit && (i + 1) * 56 <= limit - programs) {
            const uint8_t *header = at + programs + i * 56; /* p_offset at 8, p_filesz at 32 */
            extend(&end, code_object_u64(header + 8), code_object_u64(header + 32), limit);
        }
    }
    for (uint64_t i = 0; i < section_count; i++) {
        if (sections <= limit && (i + 1) * 64 <= limit - sections) {
            const uint8_t *header =
                at + sections + i * 64; /* sh_type 4, sh_offset 24, sh_size 32 */
            if (code_object_u32(header + 4) != SHT_NOBITS)
                extend(&end, code_object_u64(header + 24), code_object_u64(header + 32), limit);
        }
    }
    return end;
}

static uint64_t relocated_value(const struct code_object_relocation *relocation, uint64_t base)
{
    uint64_t absolute = base + relocation->value;
    uint64_t relative = relocation->value - relocation->address;
    switch (relocation->type) {
    case RELOCATION_ABS32_HI:
        return absolute >> 32;
    case RELOCATION_REL32:
    case RELOCATION_REL64:
    case RELOCATION_REL32_LO:
        return relative;
    case RELOCATION_REL32_HI:
        return relative >> 32;
    default:
        return absolute;
    }
}

void code_object_load(const struct code_object *object, uint64_t base, uint8_t *memory)
{
    memset(memory, 0, object->span);
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct code_object_segment *segment = &object->segments[i];
        memcpy(memory + segment->address, segment->bytes, segment->file_size);
    }
    for (size_t i = 0; i < object->relocation_count; i++) {
        const struct code_object_relocation *relocation = &object->relocations[i];
        uint64_t value = relocated_value(relocation, base);
        for (uint64_t byte = 0; byte < code_object_relocation_width(relocation->type); byte++)
            memory[relocation->address + byte] = (uint8_t)(value >> (8 * byte));
    }
}
