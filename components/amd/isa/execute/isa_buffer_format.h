/* Elements of typed buffers: from their bytes to components in registers and back. Private to
 * components/amd/isa.
 *
 * A data format gives the width of the components, a number format their meaning (GCN3 ISA manual,
 * "Memory buffer instructions": data format and number format; Vega's are the same). Component 0
 * lies in the lowest bits. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_BUFFER_FORMAT_H
#define HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_BUFFER_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of an element; 0 for formats that do not exist: those read as zeros. */
unsigned isa_buffer_format_bytes(unsigned data, unsigned number);

/* Floats, or integers extended, of the element at `bytes`. Components that the format does not have
 * are 0, the fourth 1. */
void isa_buffer_unpack(unsigned data, unsigned number, const void *bytes, uint32_t component[4]);

/* The reverse: floats are rounded to nearest even (scaled ones toward zero), and all is limited to
 * what the format can hold. NaN is 0 where the format has none. */
void isa_buffer_pack(unsigned data, unsigned number, const uint32_t component[4], void *bytes);

/* 1, as a component of the number format. */
uint32_t isa_buffer_one(unsigned number);
bool isa_buffer_is_integer(unsigned number);

#endif
