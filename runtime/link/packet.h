/* Packets: bytes with a fixed layout, exchanged with another program or another machine.
 *
 * A layout is a table that `heddle gen` makes from a `packet` declaration, together with the C
 * structure it fills (NAME.gen.h: struct NAME, NAME_encode(), NAME_decode()). The bytes are version
 * and length, 32 bits each, the common fields, and the fields of one case; little-endian, without
 * padding, so they mean the same to hosts and compilers of every kind. The structure is the host's
 * and never leaves it.
 *
 * The layout of a case has a constant size, which the length in the packet must equal. What decodes
 * therefore encodes to the same bytes again: text is padded with zeros, truth is 0 or 1, choices
 * exist.
 *
 * Nothing here keeps state or allocates. Nobody is trusted: decoding looks at no byte behind `size`
 * and leaves the structure alone unless everything is in order. */
#ifndef HEDDLE_RUNTIME_PACKET_H
#define HEDDLE_RUNTIME_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum packet_kind {
    PACKET_NUMBER, /* 1, 2, 4 or 8 bytes: integers, addresses, bits of floating-point numbers */
    PACKET_BOOL,   /* one byte, 0 or 1 */
    PACKET_CHOICE, /* two bytes, below `limit` */
    PACKET_BYTES,
    PACKET_STRING /* text, zeros up to `bytes`; the structure has one byte more, which is zero */
};

struct packet_field {
    const char *name;
    enum packet_kind kind;
    uint32_t offset; /* in the packet */
    uint32_t bytes;  /* there */
    size_t member;   /* offset in the structure */
    uint32_t limit;  /* choices */
};

struct packet_case {
    const char *name; /* NULL: a value that has no case */
    const struct packet_field *fields;
    uint32_t field_count;
    uint32_t bytes; /* of the whole packet */
};

struct packet_layout {
    const char *name;
    uint32_t version;
    uint32_t bytes; /* of header and common fields */
    size_t struct_bytes;
    const struct packet_field *fields; /* common ones; with cases, the last of them chooses */
    uint32_t field_count;
    const struct packet_case *cases; /* by the chooser's value */
    uint32_t case_count;             /* 0: no union */
};

#define PACKET_HEADER_BYTES 8

enum packet_error {
    PACKET_FINE,
    PACKET_TRUNCATED,     /* fewer bytes than the field needs */
    PACKET_WRONG_VERSION, /* `found` is not `expected` */
    PACKET_WRONG_LENGTH,  /* `found` is not the `expected` size of this case */
    PACKET_UNKNOWN_CASE,  /* no case has the value `found` */
    PACKET_WRONG_VALUE,   /* a truth value or choice that does not exist, or text behind its end */
    PACKET_NO_ROOM        /* encoding: the packet has `expected` bytes, there are `found` */
};

struct packet_fault {
    enum packet_error error;
    const char *packet; /* name of the layout */
    const char *field;  /* static; "version" and "length" for the header */
    uint32_t offset;    /* of the field */
    uint64_t found, expected;
};

/* Bytes of the packet, 0 when `value` has no case. Without a union `value` does not matter. */
uint32_t packet_bytes(const struct packet_layout *layout, uint32_t value);

/* Writes `packet` to `bytes`. Returns the size of the packet, or 0 with `fault` filled and nothing
 * written. */
size_t packet_encode(const struct packet_layout *layout, const void *packet, void *bytes,
                     size_t size, struct packet_fault *fault);

/* Reads a packet from the first of `size` bytes. Returns its size, or 0 with `fault` filled and
 * `packet` as it was. Members of other cases and padding are zero afterwards. */
size_t packet_decode(const struct packet_layout *layout, void *packet, const void *bytes,
                     size_t size, struct packet_fault *fault);

/* The fault in words, at most `size` bytes with the final zero. Returns `text`. */
const char *packet_fault_text(const struct packet_fault *fault, char *text, size_t size);

#endif
