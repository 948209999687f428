/* Reads the sections of instructions of an ELF file that code_object.h cannot load: a relocatable
 * object, where addresses of other functions and of data are still missing, or a linked object
 * without metadata. Used by `heddle disasm`. Life cycle: code_sections_read() then
 * code_sections_release(), also when reading failed. The bytes are those of the caller. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_OBJECT_CODE_SECTIONS_H
#define HEDDLE_COMPONENTS_AMD_ISA_OBJECT_CODE_SECTIONS_H

#include "code_object.h"

struct code_section {
    const char *name; /* ".text" */
    const uint8_t *bytes;
    size_t size;
    uint64_t address; /* 0 if it is not linked */
};

struct code_sections {
    struct code_section *sections; /* in the order of the file */
    size_t count;
    struct code_object_target target;
    struct region memory;
    char error[320]; /* if reading failed */
};

/* False: error says why. Nothing of the input is trusted. */
bool code_sections_read(struct code_sections *sections, const uint8_t *bytes, size_t size);
void code_sections_release(struct code_sections *sections);

#endif
