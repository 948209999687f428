/* Operands of the tests of single instructions: random and directed. */
#ifndef HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_VECTORS_H
#define HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_VECTORS_H

#include <stdint.h>

/* How many each row gets: `usual`, or HEDDLE_WARP_VECTORS; a multiple of 256. */
uint64_t vectors_of_a_row(uint64_t usual);
uint64_t random_bits(void);
unsigned bits_of_type(const char *type);
/* Edges of integers and floats, numbers of few bits, and any. */
uint64_t operand(const char *type);

#endif
