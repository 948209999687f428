/* The PTX that CUDA programs carry, for `heddle disasm`: what there is of it is in fat binaries
 * (components/cuda/fatbin), anywhere in the program. */
#ifndef HEDDLE_COMMAND_DISASM_PTX_H
#define HEDDLE_COMMAND_DISASM_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints it, for the architecture `mcpu` ("sm_80") or all of them; machine code is named only.
 * *any: there is some. False: an entry is damaged, which was said. */
bool disasm_ptx(FILE *out, const uint8_t *bytes, size_t size, const char *mcpu, bool *any);

#endif
