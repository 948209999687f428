/* Bank conflicts of the LDS: 32 banks of 4 bytes, 128 bytes a cycle; lanes are served in groups of
 * as many as 128 bytes hold, and a group takes as many cycles as its fullest bank has different
 * dwords (GCN3 ISA manual, section 10.1). Pure functions, for the compute unit and its tests. */
#ifndef HEDDLE_COMPONENTS_AMD_EXECUTE_LDS_BANKS_H
#define HEDDLE_COMPONENTS_AMD_EXECUTE_LDS_BANKS_H

#include <stdbool.h>
#include <stdint.h>

enum { LDS_BANKS = 32, LDS_LANES = 64 };

/* Cycles that the LDS is busy with lanes of `dwords` dwords each at `address`; *conflicts of them
 * for bank conflicts. */
unsigned lds_cycles(const uint32_t *address, uint64_t active, unsigned dwords, unsigned *conflicts);

#endif
