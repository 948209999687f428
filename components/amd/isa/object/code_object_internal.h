/* Shared by the files of the code-object reader; no other file includes it. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_OBJECT_CODE_OBJECT_INTERNAL_H
#define HEDDLE_COMPONENTS_AMD_ISA_OBJECT_CODE_OBJECT_INTERNAL_H

#include "code_object.h"

/* Sets object->error and returns false. */
__attribute__((format(printf, 2, 3))) bool code_object_fail(struct code_object *object,
                                                            const char *format, ...);

/* The file's bytes of [address, address + size) as linked, or NULL when no segment has them all. */
const uint8_t *code_object_bytes_at(const struct code_object *object, uint64_t address,
                                    uint64_t size);

/* A number of a kernel that both its metadata and its descriptor state. */
struct code_object_fact {
    const char *key, *key_v2; /* names in metadata of version 3 and later, and of version 2 */
    size_t member;            /* offset of the descriptor's number in struct code_object_kernel */
    bool may_be_more;         /* there: registers are allocated in granules */
};
extern const struct code_object_fact code_object_facts[CODE_OBJECT_FACTS];

#define CODE_OBJECT_UNSTATED UINT32_MAX /* metadata does not have the number */

/* Fills kernels and arguments from the text of a version-2 note. */
bool code_object_read_metadata_yaml(struct code_object *object, const char *text, size_t size);

/* Fills kernels and arguments from the msgpack of a version-3 to -5 note. */
bool code_object_read_metadata_msgpack(struct code_object *object, const uint8_t *bytes,
                                       size_t size);

/* Finds each kernel's descriptor through `symbols` and fills in the kernel's fields from it. */
bool code_object_read_descriptors(struct code_object *object);

/* Sets target from the ELF header's flags, whose meaning depends on object->version. */
bool code_object_read_target(struct code_object *object, uint32_t flags);

/* Bytes that a relocation of that type writes, 0 for a type that code_object_load() does not know.
 */
uint64_t code_object_relocation_width(uint32_t type);

/* The kind of that spelling (version 3 when `v3`, else version 2), CODE_OBJECT_VALUE_UNKNOWN for
 * others. */
enum code_object_value_kind code_object_value_kind_of(const char *text, size_t length, bool v3);

static inline uint16_t code_object_u16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t code_object_u32(const uint8_t *bytes)
{
    return code_object_u16(bytes) | (uint32_t)code_object_u16(bytes + 2) << 16;
}

static inline uint64_t code_object_u64(const uint8_t *bytes)
{
    return code_object_u32(bytes) | (uint64_t)code_object_u32(bytes + 4) << 32;
}

#endif
