/* Packets: bytes with a fixed layout, in simulated memory.
 *
 * A packet is described once, in NAME.def; NAME.h makes of it the structure, the table of its
 * fields, and NAME_encode() and NAME_decode() (packet_declare.def). The macros of a description:
 *
 *     NUMBER(type, name)     1, 2, 4 or 8 bytes: integers, addresses, floating-point numbers
 *     TRUTH(name)            one byte, 0 or 1
 *     CHOICE(name, count)    two bytes, below `count`
 *     BYTES(name, size)
 *     TEXT(name, size)       at most size - 1 bytes of text, then zeros
 *     CASES                  begins the union that the field before it, a choice, chooses from
 *     CASE(name, value)      one of it, which that value chooses; CASE_END(name) ends it
 *     CASE_EMPTY(name, value) has no fields
 *     CASES_END
 *
 * The bytes are version and length, 32 bits each, the common fields, and the fields of one case;
 * little-endian, without padding. The structure has the bytes after the length, as they are, so
 * its members are not aligned. The layout of a case has a constant size, which the length in the
 * packet must equal. A packet that decodes therefore encodes to the same bytes again: text is
 * padded with zeros, truth is 0 or 1, choices exist. A change of a layout needs another version.
 *
 * Nothing here keeps state or allocates. No sender is trusted: decoding looks at no byte after
 * `size` and leaves the structure alone unless everything is in order. */
#ifndef HEDDLE_COMPONENTS_PACKETS_PACKET_PACKET_H
#define HEDDLE_COMPONENTS_PACKETS_PACKET_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "structures have the bytes of packets");

#define PACKED __attribute__((packed))

enum packet_kind {
    PACKET_NUMBER,
    PACKET_BOOL,
    PACKET_CHOICE,
    PACKET_BYTES,
    PACKET_STRING,
    PACKET_CASE /* no field: the fields of a case follow */
};

struct packet_field {
    const char *name;
    enum packet_kind kind;
    uint32_t bytes;
    uint32_t limit; /* a choice is below it; for a case, the value that chooses the case */
};

struct packet_layout {
    const char *name;
    uint32_t version;
    uint32_t field_count;
    const struct packet_field *fields; /* common ones, then those of each case */
    size_t struct_bytes;
};

#define PACKET_HEADER_BYTES 8

enum packet_error {
    PACKET_FINE,
    PACKET_TRUNCATED,     /* fewer bytes than the field needs */
    PACKET_WRONG_VERSION, /* `found` is not `expected` */
    PACKET_WRONG_LENGTH,  /* `found` is not the `expected` size of this case */
    PACKET_UNKNOWN_CASE,  /* no case has the value `found` */
    PACKET_WRONG_VALUE,   /* a truth value or choice that does not exist, or text after its end */
    PACKET_ROOM_TOO_SMALL /* encoding: the packet has `expected` bytes, there are `found` */
};

struct packet_fault {
    enum packet_error error;
    const char *packet; /* name of the layout */
    const char *field;  /* static; "version" and "length" for the header */
    uint32_t offset;    /* where the field begins in the packet */
    uint64_t found, expected;
};

/* Bytes of the packet, 0 when `value` has no case. Without a union `value` does not matter. */
uint32_t packet_bytes(const struct packet_layout *layout, uint32_t value);

/* Writes `packet` to `bytes`. Returns the size of the packet, or 0 with `fault` filled and nothing
 * written. */
size_t packet_encode(const struct packet_layout *layout, const void *packet, void *bytes,
                     size_t size, struct packet_fault *fault);

/* Reads a packet from the first of `size` bytes. Returns its size, or 0 with `fault` filled and
 * `packet` as it was. The bytes after the case that was read are zero then. */
size_t packet_decode(const struct packet_layout *layout, void *packet, const void *bytes,
                     size_t size, struct packet_fault *fault);

/* The fault in words, at most `size` bytes with the final zero. Returns `text`. */
const char *packet_fault_text(const struct packet_fault *fault, char *text, size_t size);

#endif
