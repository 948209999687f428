/* The ELF side of the code-object reader: headers, segments, symbols, relocations and the metadata
 * note.
 *
 * libelf reads the structures. They are checked again against the image, because the file may lie:
 * segments are inside the file and do not overlap, symbols and relocations are inside segments.
 * Invariant: when code_object_read() returned true, code_object_load() (code_object_load.c) cannot
 * fail. */
#include "code_object.h"

#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#include "code_object_internal.h"

/* LLVM AMDGPU guide, "ELF header" and "Relocation Records". */
enum {
    ELF_OSABI_AMDGPU_HSA = 64,
    ELF_MACHINE_AMDGPU = 224,
    SYMBOL_TYPE_HSA_KERNEL = 10,
    NOTE_HSA_CODE_OBJECT_VERSION = 1,
    NOTE_HSA_ISA_VERSION = 3,
    NOTE_HSA_METADATA = 10,
    NOTE_AMDGPU_METADATA = 32,
    NOTE_SIZE_MAX = 64 << 20,
    RELOCATION_RELATIVE64 = 13
};

bool code_object_fail(struct code_object *object, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(object->error, sizeof object->error, format, arguments);
    va_end(arguments);
    return false;
}

const uint8_t *code_object_bytes_at(const struct code_object *object, uint64_t address,
                                    uint64_t size)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct code_object_segment *segment = &object->segments[i];
        if (address >= segment->address && address - segment->address <= segment->file_size
            && size <= segment->file_size - (address - segment->address))
            return segment->bytes + (address - segment->address);
    }
    return NULL;
}

/* True if [address, address + size) lies in the memory of one segment. */
static bool in_memory(const struct code_object *object, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct code_object_segment *segment = &object->segments[i];
        if (address >= segment->address && address - segment->address <= segment->memory_size
            && size <= segment->memory_size - (address - segment->address))
            return true;
    }
    return false;
}

static bool read_header(struct code_object *object, Elf *elf)
{
    GElf_Ehdr header;
    if (gelf_getclass(elf) != ELFCLASS64 || !gelf_getehdr(elf, &header))
        return code_object_fail(object, "not a 64-bit ELF file");
    if (header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != ELF_MACHINE_AMDGPU) {
        return code_object_fail(object, "ELF file is for machine %u, not for an AMD GPU (224)",
                                header.e_machine);
    }
    if (header.e_ident[EI_OSABI] != ELF_OSABI_AMDGPU_HSA) {
        return code_object_fail(object, "ELF file has OS ABI %u, not that of amdhsa (64)",
                                header.e_ident[EI_OSABI]);
    }
    if (header.e_type != ET_DYN) {
        return code_object_fail(object,
                                "ELF file is of type %u, not a linked code object (3); "
                                "link it with ld.lld -shared",
                                header.e_type);
    }
    object->version = header.e_ident[EI_ABIVERSION] + 2u;
    if (object->version > 6) {
        return code_object_fail(object, "code object is of version %u; versions 2 to 6 are known",
                                object->version);
    }
    return code_object_read_target(object, header.e_flags);
}

static int compare_segments(const void *left, const void *right)
{
    uint64_t a = ((const struct code_object_segment *)left)->address;
    uint64_t b = ((const struct code_object_segment *)right)->address;
    return (a > b) - (a < b);
}

static bool add_segment(struct code_object *object, const GElf_Phdr *header)
{
    if (header->p_offset > object->image_size
        || header->p_filesz > object->image_size - header->p_offset) {
        return code_object_fail(object, "segment at 0x%" PRIx64 " lies outside of the file",
                                header->p_vaddr);
    }
    if (header->p_filesz > header->p_memsz || header->p_vaddr > CODE_OBJECT_SPAN_MAX
        || header->p_memsz > CODE_OBJECT_SPAN_MAX - header->p_vaddr) {
        return code_object_fail(object, "segment at 0x%" PRIx64 " has an impossible size",
                                header->p_vaddr);
    }
    object->segments[object->segment_count++] = (struct code_object_segment){
        .address = header->p_vaddr,
        .memory_size = header->p_memsz,
        .file_size = header->p_filesz,
        .bytes = object->image + header->p_offset,
        .is_executable = (header->p_flags & PF_X) != 0,
        .is_writable = (header->p_flags & PF_W) != 0,
    };
    return true;
}

static bool read_segments(struct code_object *object, Elf *elf)
{
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0 || count > object->image_size / 56)
        return code_object_fail(object, "ELF file has a damaged program header table");
    object->segments = region_take_array(&object->memory, count, sizeof *object->segments);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header))
            return code_object_fail(object, "ELF file has a damaged program header table");
        if (header.p_type == PT_LOAD && header.p_memsz > 0 && !add_segment(object, &header))
            return false;
    }
    if (object->segment_count == 0)
        return code_object_fail(object, "code object has nothing to load");
    qsort(object->segments, object->segment_count, sizeof *object->segments, compare_segments);
    uint64_t end = 0;
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct code_object_segment *segment = &object->segments[i];
        if (segment->address < end) {
            return code_object_fail(object, "segment at 0x%" PRIx64 " overlaps the one before",
                                    segment->address);
        }
        end = segment->address + segment->memory_size;
    }
    object->span = round_up(end, CODE_OBJECT_PAGE);
    return true;
}

/* Kernels of version 2 may be local; everything else is found by its global symbol. */
static bool is_wanted(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
        return false;
    return type == SYMBOL_TYPE_HSA_KERNEL
           || (GELF_ST_BIND(symbol->st_info) != STB_LOCAL
               && (type == STT_OBJECT || type == STT_FUNC));
}

static bool read_symbol_section(struct code_object *object, Elf *elf, Elf_Scn *section,
                                const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || header->sh_entsize != 24)
        return code_object_fail(object, "ELF file has a damaged symbol table");
    size_t count = data->d_size / 24;
    struct code_object_symbol *list =
        region_take_array(&object->memory, object->symbol_count + count, sizeof *list);
    if (object->symbol_count > 0)
        memcpy(list, object->symbols, object->symbol_count * sizeof *list);
    object->symbols = list;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || !is_wanted(&symbol))
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!name || !in_memory(object, symbol.st_value, symbol.st_size)) {
            return code_object_fail(object, "symbol %zu ('%.80s') lies outside of the segments", i,
                                    name ? name : "?");
        }
        object->symbols[object->symbol_count++] = (struct code_object_symbol){
            .name = region_strndup(&object->memory, name, strlen(name)),
            .address = symbol.st_value,
            .size = symbol.st_size,
            .is_variable = GELF_ST_TYPE(symbol.st_info) == STT_OBJECT,
        };
    }
    return true;
}

/* Two symbols of one name come from .dynsym and .symtab: the first, from .dynsym, is kept. Sorted
 * by name, so that looking up is a binary search. */
static int compare_symbols(const void *left, const void *right)
{
    return strcmp(((const struct code_object_symbol *)left)->name,
                  ((const struct code_object_symbol *)right)->name);
}

static bool read_symbols(struct code_object *object, Elf *elf)
{
    static const GElf_Word types[] = {SHT_DYNSYM, SHT_SYMTAB};
    for (size_t t = 0; t < 2; t++) {
        for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) && header.sh_type == types[t]
                && !read_symbol_section(object, elf, section, &header))
                return false;
        }
    }
    if (object->symbol_count > 1)
        qsort(object->symbols, object->symbol_count, sizeof *object->symbols, compare_symbols);
    size_t kept = 0;
    for (size_t i = 0; i < object->symbol_count; i++)
        if (kept == 0 || compare_symbols(&object->symbols[kept - 1], &object->symbols[i]) != 0)
            object->symbols[kept++] = object->symbols[i];
    object->symbol_count = kept;
    return true;
}

static bool add_relocation(struct code_object *object, Elf *elf, Elf_Scn *symbols,
                           const GElf_Shdr *symbols_header, const GElf_Rela *entry)
{
    uint32_t type = (uint32_t)GELF_R_TYPE(entry->r_info);
    uint64_t width = code_object_relocation_width(type);
    if (type == 0)
        return true;
    if (width == 0) {
        return code_object_fail(object, "relocation of type %u at 0x%" PRIx64 " is not known", type,
                                entry->r_offset);
    }
    if (!in_memory(object, entry->r_offset, width)) {
        return code_object_fail(object, "relocation at 0x%" PRIx64 " lies outside of the segments",
                                entry->r_offset);
    }
    uint64_t value = (uint64_t)entry->r_addend;
    if (type != RELOCATION_RELATIVE64) {
        GElf_Sym symbol;
        Elf_Data *data = symbols ? elf_getdata(symbols, NULL) : NULL;
        if (!data || !gelf_getsym(data, (int)GELF_R_SYM(entry->r_info), &symbol)) {
            return code_object_fail(object, "relocation at 0x%" PRIx64 " has no symbol",
                                    entry->r_offset);
        }
        if (symbol.st_shndx == SHN_UNDEF && GELF_ST_BIND(symbol.st_info) != STB_WEAK) {
            const char *name = elf_strptr(elf, symbols_header->sh_link, symbol.st_name);
            return code_object_fail(object, "symbol '%.120s' is used but not defined",
                                    name ? name : "?");
        }
        value += symbol.st_value;
    }
    object->relocations[object->relocation_count++] =
        (struct code_object_relocation){.address = entry->r_offset, .type = type, .value = value};
    return true;
}

static bool read_relocation_section(struct code_object *object, Elf *elf, Elf_Scn *section,
                                    const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || header->sh_entsize != 24)
        return code_object_fail(object, "ELF file has a damaged relocation table");
    GElf_Shdr symbols_header = {0};
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    if (symbols
        && (!gelf_getshdr(symbols, &symbols_header) || symbols_header.sh_type != SHT_DYNSYM))
        symbols = NULL;
    size_t count = data->d_size / 24;
    struct code_object_relocation *list =
        region_take_array(&object->memory, object->relocation_count + count, sizeof *list);
    if (object->relocation_count > 0)
        memcpy(list, object->relocations, object->relocation_count * sizeof *list);
    object->relocations = list;
    for (size_t i = 0; i < count; i++) {
        GElf_Rela entry;
        if (gelf_getrela(data, (int)i, &entry)
            && !add_relocation(object, elf, symbols, &symbols_header, &entry))
            return false;
    }
    return true;
}

static bool read_relocations(struct code_object *object, Elf *elf)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        /* Only tables that are themselves loaded are for the loader; others are the linker's
         * leftovers. */
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA
            && (header.sh_flags & SHF_ALLOC) != 0
            && !read_relocation_section(object, elf, section, &header))
            return false;
    }
    return true;
}

/* Version 2 says the architecture in a note; the flags of its header are often 0. Layout: u16 size
 * of the vendor, u16 size of the architecture, u32 major, minor, stepping. */
static void read_isa_note(struct code_object *object, const uint8_t *bytes, size_t size)
{
    if (size >= 16 && object->version == 2) {
        unsigned major = code_object_u32(bytes + 4), minor = code_object_u32(bytes + 8);
        unsigned stepping = code_object_u32(bytes + 12);
        if (major <= 99 && minor <= 9 && stepping <= 15) {
            snprintf(object->target.gfx, sizeof object->target.gfx, "gfx%u%u%x", major, minor,
                     stepping);
        }
    }
}

struct metadata {
    const uint8_t *bytes;
    size_t size;
    bool is_yaml;
};

/* Walks the notes of one segment: u32 name size, u32 size, u32 type, name and description padded
 * to 4. */
static void read_notes(struct code_object *object, const uint8_t *bytes, size_t size,
                       struct metadata *metadata)
{
    size_t at = 0;
    while (size - at >= 12) {
        uint64_t name_size = code_object_u32(bytes + at),
                 note_size = code_object_u32(bytes + at + 4);
        uint32_t type = code_object_u32(bytes + at + 8);
        const uint8_t *name = bytes + at + 12;
        uint64_t name_room = round_up(name_size, 4), note_room = round_up(note_size, 4);
        if (name_room > size - at - 12 || note_size > size - at - 12 - name_room)
            return;
        const uint8_t *note = name + name_room;
        if (name_size == 4 && memcmp(name, "AMD", 4) == 0) {
            if (type == NOTE_HSA_METADATA)
                *metadata = (struct metadata){note, note_size, true};
            else if (type == NOTE_HSA_ISA_VERSION)
                read_isa_note(object, note, note_size);
        } else if (name_size == 7 && memcmp(name, "AMDGPU", 7) == 0
                   && type == NOTE_AMDGPU_METADATA) {
            *metadata = (struct metadata){note, note_size, false};
        }
        if (note_room > size - at - 12 - name_room)
            return;
        at += 12 + name_room + note_room;
    }
}

static bool read_metadata(struct code_object *object, Elf *elf)
{
    struct metadata metadata = {NULL, 0, false};
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_NOTE
            && header.p_offset <= object->image_size
            && header.p_filesz <= object->image_size - header.p_offset)
            read_notes(object, object->image + header.p_offset, header.p_filesz, &metadata);
    }
    if (!metadata.bytes || metadata.size > NOTE_SIZE_MAX) {
        return code_object_fail(object,
                                "code object has no metadata note, so its kernels are unknown");
    }
    if (metadata.is_yaml != (object->version == 2)) {
        return code_object_fail(object, "code object of version %u has metadata of another version",
                                object->version);
    }
    return metadata.is_yaml
               ? code_object_read_metadata_yaml(object, (const char *)metadata.bytes, metadata.size)
               : code_object_read_metadata_msgpack(object, metadata.bytes, metadata.size);
}

static bool read_elf(struct code_object *object, Elf *elf)
{
    if (elf_kind(elf) != ELF_K_ELF)
        return code_object_fail(object, "not an ELF file");
    if (!read_header(object, elf) || !read_segments(object, elf) || !read_symbols(object, elf)
        || !read_relocations(object, elf) || !read_metadata(object, elf))
        return false;
    if (object->target.gfx[0] == '\0')
        return code_object_fail(object, "code object does not say its architecture");
    return code_object_read_descriptors(object);
}

bool code_object_recognise(const void *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "\177ELF", 4) == 0;
}

bool code_object_read(struct code_object *object, const void *bytes, size_t size)
{
    *object = (struct code_object){.memory = {.contents = "a code object"}};
    if (!code_object_recognise(bytes, size))
        return code_object_fail(object, "not an ELF file");
    object->image = region_take(&object->memory, size);
    object->image_size = size;
    memcpy(object->image, bytes, size);
    if (elf_version(EV_CURRENT) == EV_NONE)
        return code_object_fail(object, "libelf is too old");
    Elf *elf = elf_memory((char *)object->image, size);
    if (!elf)
        return code_object_fail(object, "damaged ELF file: %s", elf_errmsg(-1));
    bool sound = read_elf(object, elf);
    elf_end(elf);
    return sound;
}

const struct code_object_kernel *code_object_find_kernel(const struct code_object *object,
                                                         const char *name)
{
    for (size_t i = 0; i < object->kernel_count; i++)
        if (strcmp(object->kernels[i].name, name) == 0)
            return &object->kernels[i];
    return NULL;
}

uint32_t code_object_private_bytes(const struct code_object_kernel *kernel)
{
    uint32_t more = kernel->stack_size;
    return kernel->private_size > UINT32_MAX - more ? UINT32_MAX : kernel->private_size + more;
}

const struct code_object_symbol *code_object_find_symbol(const struct code_object *object,
                                                         const char *name)
{
    struct code_object_symbol key = {.name = name};
    return object->symbol_count == 0
               ? NULL
               : bsearch(&key, object->symbols, object->symbol_count, sizeof key, compare_symbols);
}

void code_object_release(struct code_object *object)
{
    region_release(&object->memory);
    memset(object, 0, sizeof *object);
}
