/* LZ4 blocks (LZ4 Block Format Description, lz4.org): sequences of literals and matches without a
 * frame or checksum. The bytes are not trusted. */
#ifndef HEDDLE_CUDA_LZ4_BLOCK_H
#define HEDDLE_CUDA_LZ4_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Unpacks a block that gives exactly `to_size` bytes. False: it does not, or is not sound. */
bool lz4_block_unpack(const uint8_t *from, size_t from_size, uint8_t *to, size_t to_size);

#endif
