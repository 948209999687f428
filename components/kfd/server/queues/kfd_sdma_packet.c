/* Decodes the words of a packet for an SDMA engine.
 *
 * The first word has the operation in bits 0..7, a part of it in bits 8..15, and options above. A
 * row of the table below is a packet that is known. Bits that the table does not name must be zero:
 * set, they would change the meaning of the packet.
 *
 * Formats: Linux, amdgpu, tonga_sdma_pkt_open.h (gfx8) and vega10_sdma_pkt_open.h (gfx9), and
 * sdma_registers.h of ROCr; operations of atomics: enum TC_OP of vega10_enum.h. */
#include "kfd_sdma_packet.h"

#include <stddef.h>

#include "base/number.h"

enum {
    COUNT_BITS_GFX8 = 22,
    COUNT_BITS = 30, /* those of newer gfx9; older ones leave the upper bits zero */
    PITCH_FIRST_GFX8 = 16,
    PITCH_FIRST = 13,
    FILL_DWORD = 2 /* log2 of the bytes of a pattern; there is none of 8 */
};

struct format {
    uint8_t operation, part;
    uint8_t kind; /* enum sdma_kind */
    uint8_t words;
    uint32_t options; /* bits of the first word that it may have */
    const char *(*decode)(bool gfx9, const uint32_t *word, struct sdma_packet *p);
};

static uint64_t address_at(const uint32_t *word)
{
    return (uint64_t)word[1] << 32 | word[0];
}

static uint32_t bits(uint32_t word, unsigned first, unsigned count)
{
    return word >> first & (uint32_t)((UINT64_C(1) << count) - 1);
}

static const char *decode_nop(bool gfx9, const uint32_t *word, struct sdma_packet *p)
{
    (void)gfx9;
    p->words = 1 + bits(word[0], 16, 14);
    return NULL;
}

static const char *decode_copy(bool gfx9, const uint32_t *word, struct sdma_packet *p)
{
    p->bytes =
        gfx9 ? (uint64_t)bits(word[1], 0, COUNT_BITS) + 1 : bits(word[1], 0, COUNT_BITS_GFX8);
    p->from = address_at(word + 3);
    p->to = address_at(word + 5);
    p->rows = p->slices = 1;
    return word[2] ? "a copy that swaps bytes" : NULL;
}

/* One side of a sub-window: its address, where the window begins, and the pitches, less 1. */
static uint64_t decode_window(bool gfx9, const uint32_t *word, unsigned element,
                              struct sdma_pitch *pitch)
{
    unsigned first = gfx9 ? PITCH_FIRST : PITCH_FIRST_GFX8;
    uint64_t x = bits(word[2], 0, 14), y = bits(word[2], 16, 14), z = bits(word[3], 0, 11);
    pitch->row = (uint64_t)(bits(word[3], first, 32 - first) + 1) << element;
    pitch->slice = (uint64_t)(bits(word[4], 0, 28) + 1) << element;
    return address_at(word) + (x << element) + y * pitch->row + z * pitch->slice;
}

static const char *decode_window_copy(bool gfx9, const uint32_t *word, struct sdma_packet *p)
{
    unsigned element = bits(word[0], 29, 3);
    if (element > 4 || word[1] % 4 || word[6] % 4)
        return "a sub-window copy of elements of more than 16 bytes, or not at a dword";
    p->from = decode_window(gfx9, word + 1, element, &p->from_pitch);
    p->to = decode_window(gfx9, word + 6, element, &p->to_pitch);
    p->bytes = (uint64_t)(bits(word[11], 0, 14) + 1) << element;
    p->rows = bits(word[11], 16, 14) + 1;
    p->slices = bits(word[12], 0, 11) + 1;
    return word[12] >> 16 ? "a copy that swaps bytes" : NULL;
}

static const char *decode_fill(bool gfx9, const uint32_t *word, struct sdma_packet *p)
{
    unsigned size = bits(word[0], 30, 2);
    uint64_t count = bits(word[4], 0, gfx9 ? COUNT_BITS : COUNT_BITS_GFX8);
    p->to = address_at(word + 1);
    p->data = word[3];
    p->data_bytes = 1u << size;
    p->bytes = (count >> size << size) + (gfx9 ? p->data_bytes : 0);
    if (size > FILL_DWORD)
        return "a fill by a pattern of 8 bytes";
    return p->to % p->data_bytes ? "a fill that is not aligned to its pattern" : NULL;
}

static const char *decode_fence(bool gfx9, const uint32_t *word, struct sdma_packet *p)
{
    (void)gfx9;
    p->to = address_at(word + 1);
    p->data = word[3];
    return p->to % 4 ? "a fence that is not at a dword" : NULL;
}

/* A poll of a register with no condition is how writes of the host are flushed (HDP): they are in
 * memory already. */
static const char *decode_poll(bool gfx9, const uint32_t *word, struct sdma_packet *p)
{
    bool in_memory = bits(word[0], 31, 1);
    (void)gfx9;
    p->operation = (uint8_t)bits(word[0], 28, 3);
    p->from = address_at(word + 1);
    p->data = word[3];
    p->mask = word[4];
    if (!in_memory && (bits(word[0], 26, 1) || p->operation == SDMA_ALWAYS)) {
        p->kind = SDMA_NOP;
        return NULL;
    }
    if (!in_memory)
        return "a poll of a register";
    if (p->operation > SDMA_GREATER)
        return "a poll with a comparison that does not exist";
    return p->from % 4 ? "a poll that is not at a dword" : NULL;
}

static const char *decode_atomic(bool gfx9, const uint32_t *word, struct sdma_packet *p)
{
    static const bool known[32] = {
        [SDMA_SWAP] = true, [SDMA_COMPARE_SWAP] = true, [SDMA_ADD] = true, [SDMA_SUBTRACT] = true,
        [SDMA_AND] = true,  [SDMA_OR] = true,           [SDMA_XOR] = true};
    (void)gfx9;
    p->operation = (uint8_t)bits(word[0], 25, 5);
    p->data_bytes = bits(word[0], 30, 1) ? 8 : 4;
    p->is_retried = bits(word[0], 16, 1);
    p->to = address_at(word + 1);
    p->operand = address_at(word + 3);
    p->compare = address_at(word + 5);
    if (!known[p->operation] || (p->is_retried && p->operation != SDMA_COMPARE_SWAP))
        return "an atomic operation that is not known";
    return p->to % p->data_bytes ? "an atomic that is not aligned" : NULL;
}

static const char *decode_timestamp(bool gfx9, const uint32_t *word, struct sdma_packet *p)
{
    (void)gfx9;
    p->to = address_at(word + 1);
    return p->to % 8 ? "a timestamp that is not at a qword" : NULL;
}

static const char *decode_trap(bool gfx9, const uint32_t *word, struct sdma_packet *p)
{
    (void)gfx9;
    p->data = bits(word[1], 0, 28);
    return NULL;
}

static const char *decode_indirect(bool gfx9, const uint32_t *word, struct sdma_packet *p)
{
    (void)gfx9;
    p->from = address_at(word + 1);
    p->bytes = (uint64_t)bits(word[3], 0, 20) * sizeof *word;
    return p->from % 32 ? "an indirect buffer that is not at 32 bytes" : NULL;
}

static const struct format formats[] = {
    {0, 0, SDMA_NOP, 1, 0x3fff0000, decode_nop},
    {1, 0, SDMA_COPY, 7, 0, decode_copy},
    {1, 4, SDMA_COPY, 13, 0xe0000000, decode_window_copy},
    {4, 0, SDMA_INDIRECT, 6, 0, decode_indirect},
    {5, 0, SDMA_FENCE, 4, 0, decode_fence},
    {6, 0, SDMA_TRAP, 2, 0, decode_trap},
    {8, 0, SDMA_POLL, 6, 0xf4000000, decode_poll},
    {10, 0, SDMA_ATOMIC, 8, 0xfe010000, decode_atomic},
    {11, 0, SDMA_FILL, 5, 0xc0000000, decode_fill},
    {13, 2, SDMA_TIMESTAMP, 3, 0, decode_timestamp},
};

const char *kfd_sdma_decode(bool gfx9, const uint32_t word[SDMA_WORDS_MAX], uint64_t words,
                            struct sdma_packet *p)
{
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        const struct format *f = &formats[i];
        if (f->operation != (word[0] & 0xff) || f->part != (word[0] >> 8 & 0xff))
            continue;
        *p = (struct sdma_packet){.kind = (enum sdma_kind)f->kind, .words = f->words};
        if (word[0] & 0xffff0000 & ~f->options)
            return "options that are not known";
        if (words < f->words)
            return "a packet whose end was not announced";
        const char *wrong = f->decode(gfx9, word, p);
        return !wrong && words < p->words ? "a packet whose end was not announced" : wrong;
    }
    return "a packet that is not known";
}
