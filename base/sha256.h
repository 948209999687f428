/* SHA-256 (FIPS 180-4): the digest that names objects in the build cache, stamps models and tells
 * programs apart. */
#ifndef HEDDLE_BASE_SHA256_H
#define HEDDLE_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t bytes;
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t size);
/* The string and its NUL, so that neighbours do not run together. */
void sha256_add_string(struct sha256 *s, const char *text);
/* The hash of a file's contents. False: it cannot be opened or read to its end. */
bool sha256_add_file(struct sha256 *s, const char *path);
/* 64 hexadecimal digits and a NUL. */
void sha256_finish(struct sha256 *s, char hex[65]);

#endif
