/* Sections of relocatable objects. See code_sections.h.
 *
 * libelf finds the sections; where they lie is checked against the input again. */
#include "code_sections.h"

#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "code_object_internal.h"

static bool fail(struct code_sections *sections, const char *reason)
{
    snprintf(sections->error, sizeof sections->error, "%s", reason);
    return false;
}

static Elf *open_elf(const uint8_t *bytes, size_t size)
{
    /* libelf takes a plain pointer and does not write through it with ELF_C_READ. */
    union {
        const uint8_t *in;
        char *out;
    } image = {.in = bytes};
    return elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_memory(image.out, size);
}

static bool add_section(struct code_sections *sections, const GElf_Shdr *header, const char *name,
                        const uint8_t *bytes, size_t size)
{
    if (header->sh_offset > size || header->sh_size > size - header->sh_offset)
        return fail(sections, "a section of the ELF file lies outside of it");
    struct code_section *section = &sections->sections[sections->count++];
    section->name = region_strndup(&sections->memory, name, strlen(name));
    section->bytes = bytes + header->sh_offset;
    section->size = header->sh_size;
    section->address = header->sh_addr;
    return true;
}

static bool read_sections(struct code_sections *sections, Elf *elf, const uint8_t *bytes,
                          size_t size)
{
    size_t names = 0, count = 0;
    if (elf_getshdrnum(elf, &count) != 0 || elf_getshdrstrndx(elf, &names) != 0
        || count > size / 64)
        return fail(sections, "the ELF file has a damaged section table");
    sections->sections = region_take_array(&sections->memory, count, sizeof *sections->sections);
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header))
            return fail(sections, "the ELF file has a damaged section table");
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_EXECINSTR)
            && header.sh_size > 0
            && !add_section(sections, &header, name ? name : "?", bytes, size))
            return false;
    }
    return sections->count > 0 || fail(sections, "the ELF file has no code");
}

static bool read_target(struct code_sections *sections, Elf *elf)
{
    GElf_Ehdr header;
    if (gelf_getclass(elf) != ELFCLASS64 || !gelf_getehdr(elf, &header))
        return fail(sections, "not a 64-bit ELF file");
    struct code_object object = {.version = header.e_ident[EI_ABIVERSION] + 2u};
    if (!code_object_read_target(&object, header.e_flags))
        return fail(sections, object.error);
    sections->target = object.target;
    return true;
}

bool code_sections_read(struct code_sections *sections, const uint8_t *bytes, size_t size)
{
    *sections = (struct code_sections){.memory = {.contents = "a code object"}};
    Elf *elf = open_elf(bytes, size);
    if (!elf)
        return fail(sections, "the ELF file cannot be read");
    bool ok = read_target(sections, elf) && read_sections(sections, elf, bytes, size);
    elf_end(elf);
    return ok;
}

void code_sections_release(struct code_sections *sections)
{
    region_release(&sections->memory);
}
