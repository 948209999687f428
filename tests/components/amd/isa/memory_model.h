/* What loads, stores and atomics do with the bytes and registers of one lane, by the words of their
 * mnemonics. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_MEMORY_MODEL_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_MEMORY_MODEL_H

#include "exact.h"

/* One element: bytes in memory, and which part of a register it is. */
struct memory_element {
    unsigned bytes;
    bool is_signed;
    enum { MEMORY_WHOLE, MEMORY_LOW, MEMORY_HIGH } part; /* LOW and HIGH keep the other half */
};

/* "ubyte_d16_hi", "dwordx3", "b64", "u16_d16" and the like. False: none of them. */
bool memory_element_of(const char *word, struct memory_element *out);

/* Registers of a lane (64 words apart) from and to bytes. */
void memory_load(const struct memory_element *element, const uint8_t *bytes, uint32_t *registers);
void memory_store(const struct memory_element *element, const uint32_t *registers, uint8_t *bytes);

/* "add", "cmpswap", "mskor" ... of `type` (u, i, f, b for the operation's operands) and 32 or 64
 * bits. `second`: the compared value of a cmpswap, or the second operand. False: none of them. */
bool memory_atomic(const char *operation, char type, unsigned bits, uint64_t old, uint64_t data,
                   uint64_t second, uint64_t *out);

#endif
