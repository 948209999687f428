/* The program's code and constants for checks: the lines of its source, and the memory that kernels
 * may only read. Front ends report both to the driver, which passes them on. Addresses are those of
 * program_name(). */
#ifndef HEDDLE_COMPONENTS_CHECKS_CHECK_CODE_H
#define HEDDLE_COMPONENTS_CHECKS_CHECK_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ELF file of code that lies at `address`; it is not needed any more after the call. */
void check_code(uint64_t address, const void *file, uint64_t size);
/* An ELF file that the host has loaded at `address`, for the lines of its source. Again: nothing.
 */
void check_host_code(uint64_t address, const char *path);
/* A variable that only the host changes. */
void check_constant(uint64_t address, uint64_t size);
/* Code or constants that lay there are gone. */
void check_code_gone(uint64_t address);

/* The memory at the address that may only be read: "code", "constants of a program's code", "a
 * variable in constant memory"; NULL: nothing is known against writing. */
const char *check_is_constant(uint64_t address);
/* "file.cpp:12" of the instruction. False: it is not known. */
bool check_source(uint64_t pc, char *text, size_t size);
/* The code that the instruction is a part of, as it was loaded; NULL: it is not known. */
const uint8_t *check_code_bytes(uint64_t pc, uint64_t *start, uint64_t *size);

#endif
