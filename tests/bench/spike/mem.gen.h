/* Protocol mem(line): written by hand in the form that the generator emits. */
#ifndef SPIKE_MEM_GEN_H
#define SPIKE_MEM_GEN_H

#include "runtime/ring.h"

enum mem_request_kind { MEM_READ, MEM_WRITE };
enum mem_reply_kind { MEM_DATA, MEM_DONE };

struct mem_request {
    uint8_t state, kind;
    uint8_t ready[6];
    union {
        struct __attribute__((packed)) {
            uint64_t address;
            uint32_t size;
            uint32_t pid;
        } read;
        struct __attribute__((packed)) {
            uint64_t address;
            uint32_t pid;
        } write;
        uint8_t fields[RING_FIELD_BYTES];
    };
    uint16_t tag;
};
_Static_assert(sizeof(struct mem_request) == sizeof(struct message), "overlays struct message");

struct mem_reply {
    uint8_t state, kind;
    uint8_t ready[6];
    uint8_t fields[RING_FIELD_BYTES];
    uint16_t tag;
};
_Static_assert(sizeof(struct mem_reply) == sizeof(struct message), "overlays struct message");

/* payload of write: mask: bits[line], data: bytes[line] */
static inline uint64_t *mem_write_mask(void *payload, uint64_t line)
{
    (void)line;
    return (uint64_t *)payload;
}

static inline uint8_t *mem_write_data(void *payload, uint64_t line)
{
    return (uint8_t *)payload + (((line + 63) / 64 * 8 + 15) & ~(uint64_t)15);
}

/* payload of data: data: bytes[line] */
static inline uint8_t *mem_data_data(void *payload, uint64_t line)
{
    (void)line;
    return (uint8_t *)payload;
}

/* bytes on a link: header 16 bytes of fields, and payload */
#define MEM_WIRE_READ        16
#define MEM_WIRE_WRITE(line) (16 + (line) / 8 + (line))
#define MEM_WIRE_DATA(line)  (16 + (line))
#define MEM_WIRE_DONE        16

#endif
