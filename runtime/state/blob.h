/* Blobs: bytes of any length that travel with a message, by their number.
 *
 * A message carries at most a few hundred bytes; a code object, or a block of a copy between two
 * devices, is longer. The sender of a message with a blob's number gives the blob away: from then
 * on the receiver reads, writes and frees it, until it sends the number back. So at any time one
 * component owns a blob, and what it finds there does not depend on the order of ticks. How long
 * the bytes are on their way is up to the components.
 *
 * `status` is a word that goes with the bytes, in which the component that fills a blob says how
 * that went.
 *
 * For components of the main partition. A platform whose state is written has no blobs: only
 * components that work with a driver make them. */
#ifndef HEDDLE_RUNTIME_STATE_BLOB_H
#define HEDDLE_RUNTIME_STATE_BLOB_H

#include <stddef.h>
#include <stdint.h>

#define BLOB_NONE 0

struct blob {
    size_t size; /* bytes */
    uint32_t status;
    uint32_t number;
    _Alignas(16) unsigned char bytes[];
};

/* `size` zeroed bytes; ends the program when the host has no memory. */
struct blob *blob_new(size_t size);
/* NULL: there is none with this number. */
struct blob *blob_at(uint32_t number);
void blob_free(uint32_t number);

#endif
