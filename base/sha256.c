/* SHA-256, straight from FIPS 180-4, sections 4.1.2, 5 and 6.2. */
#include "sha256.h"

#include <stdio.h>
#include <string.h>

#include "number.h"

/* Fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* One round. Instead of moving a to b, b to c and so on, the next one is called with other names.
 */
static inline void round_of(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                            uint32_t g, uint32_t *h, uint32_t word)
{
    uint32_t t1 = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + word;
    *d += t1;
    *h = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
}

static void compress(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 16; i++)
        w[i] = big_endian(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t early = w[i - 15], late = w[i - 2];
        w[i] = w[i - 16] + (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) + w[i - 7]
               + (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
    }
    for (int i = 0; i < 64; i += 8) {
        round_of(a, b, c, &d, e, f, g, &h, constants[i] + w[i]);
        round_of(h, a, b, &c, d, e, f, &g, constants[i + 1] + w[i + 1]);
        round_of(g, h, a, &b, c, d, e, &f, constants[i + 2] + w[i + 2]);
        round_of(f, g, h, &a, b, c, d, &e, constants[i + 3] + w[i + 3]);
        round_of(e, f, g, &h, a, b, c, &d, constants[i + 4] + w[i + 4]);
        round_of(d, e, f, &g, h, a, b, &c, constants[i + 5] + w[i + 5]);
        round_of(c, d, e, &f, g, h, a, &b, constants[i + 6] + w[i + 6]);
        round_of(b, c, d, &e, f, g, h, &a, constants[i + 7] + w[i + 7]);
    }
    const uint32_t after[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        state[i] += after[i];
}

void sha256_init(struct sha256 *s)
{
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    *s = (struct sha256){0};
    memcpy(s->state, initial, sizeof initial);
}

/* Whole blocks are compressed where they are, without a copy. */
void sha256_add(struct sha256 *s, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    while (size > 0) {
        size_t at = s->bytes % 64, part = min(64 - at, size);
        const uint8_t *block = part == 64 ? from : s->block;
        if (part < 64)
            memcpy(s->block + at, from, part);
        s->bytes += part;
        from += part;
        size -= part;
        if (s->bytes % 64 == 0)
            compress(s->state, block);
    }
}

void sha256_add_string(struct sha256 *s, const char *text)
{
    sha256_add(s, text, strlen(text) + 1);
}

bool sha256_add_file(struct sha256 *s, const char *path)
{
    char buffer[65536];
    size_t count;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return false;
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
        sha256_add(s, buffer, count);
    bool is_complete = !ferror(file);
    fclose(file);
    return is_complete;
}

void sha256_finish(struct sha256 *s, char hex[65])
{
    uint64_t bits = s->bytes * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(s, "\x80", 1);
    while (s->bytes % 64 != 56)
        sha256_add(s, "", 1);
    sha256_add(s, length, sizeof length);
    for (int i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08x", s->state[i]);
}
