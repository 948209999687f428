/* Machine words for tests and benchmarks of the instruction library, from the manual's
 * field layouts.
 *
 * Written apart from the decoder, so that a wrong field shows. Opcode numbers come from the public
 * table by mnemonic; operands are codes of the 9-bit source encoding (256 + n is VGPR n). Every
 * function writes whole words and returns how many. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_ENCODE_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_ENCODE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/amd/isa/isa.h"

enum { V0 = 256, CONST_0 = 128, CONST_1 = 129 };

/* False: the target does not have it. */
static inline bool encode_find(const char *mnemonic, enum isa_target target, struct isa_row *found)
{
    size_t count = isa_row_count();
    for (size_t i = 0; i < count; i++) {
        *found = isa_row(i);
        if (!strcmp(found->mnemonic, mnemonic) && found->opcode[target] >= 0)
            return true;
    }
    return false;
}

static inline struct isa_row encode_row(const char *mnemonic, enum isa_target target)
{
    struct isa_row row;
    if (encode_find(mnemonic, target, &row))
        return row;
    fprintf(stderr, "no instruction '%s'\n", mnemonic);
    abort();
}

/* The opcode of a row on a target in its format's encoding, or -1. */
static inline int encode_opcode(const char *mnemonic, enum isa_target target)
{
    struct isa_row row;
    return encode_find(mnemonic, target, &row) ? row.opcode[target] : -1;
}

/* The VOP3 form of any vector ALU instruction. dst: a VGPR number, or an SGPR number for compares
 * and readlane. */
static inline unsigned encode_vop3_on(uint32_t *word, enum isa_target target, const char *mnemonic,
                                      unsigned dst, unsigned src0, unsigned src1, unsigned src2)
{
    struct isa_row row = encode_row(mnemonic, target);
    unsigned opcode = (unsigned)row.opcode[target];
    opcode += row.format == ISA_VOP2 ? 0x100 : row.format == ISA_VOP1 ? 0x140 : 0;
    word[0] = 0xd0000000u | opcode << 16 | dst;
    word[1] = src0 | src1 << 9 | src2 << 18;
    return 2;
}

static inline unsigned encode_vop3(uint32_t *word, const char *mnemonic, unsigned dst,
                                   unsigned src0, unsigned src1, unsigned src2)
{
    return encode_vop3_on(word, ISA_GFX803, mnemonic, dst, src0, src1, src2);
}

/* VOP3P of gfx906, with op_sel 0 and op_sel_hi all ones. */
static inline unsigned encode_vop3p(uint32_t *word, const char *mnemonic, unsigned dst,
                                    unsigned src0, unsigned src1, unsigned src2)
{
    struct isa_row row = encode_row(mnemonic, ISA_GFX906);
    word[0] = 0xd3800000u | (unsigned)row.opcode[ISA_GFX906] << 16 | 1u << 14 | dst;
    word[1] = src0 | src1 << 9 | src2 << 18 | 3u << 27;
    return 2;
}

/* The 32-bit form of VOP1, VOP2 and VOPC. */
static inline unsigned encode_vop(uint32_t *word, const char *mnemonic, unsigned dst, unsigned src0,
                                  unsigned vsrc1)
{
    struct isa_row row = encode_row(mnemonic, ISA_GFX803);
    unsigned opcode = (unsigned)row.opcode[ISA_GFX803];
    if (row.format == ISA_VOP1)
        word[0] = 0x7e000000u | dst << 17 | opcode << 9 | src0;
    else if (row.format == ISA_VOPC)
        word[0] = 0x7c000000u | opcode << 17 | vsrc1 << 9 | src0;
    else
        word[0] = opcode << 25 | dst << 17 | vsrc1 << 9 | src0;
    return 1;
}

static inline unsigned encode_scalar(uint32_t *word, const char *mnemonic, unsigned dst,
                                     unsigned src0, unsigned src1)
{
    struct isa_row row = encode_row(mnemonic, ISA_GFX803);
    unsigned opcode = (unsigned)row.opcode[ISA_GFX803];
    switch (row.format) {
    case ISA_SOP1:
        word[0] = 0xbe800000u | dst << 16 | opcode << 8 | src0;
        break;
    case ISA_SOPC:
        word[0] = 0xbf000000u | opcode << 16 | src1 << 8 | src0;
        break;
    case ISA_SOPK:
        word[0] = 0xb0000000u | opcode << 23 | dst << 16 | (src0 & 0xffff);
        break;
    case ISA_SOPP:
        word[0] = 0xbf800000u | opcode << 16 | (src0 & 0xffff);
        break;
    default:
        word[0] = 0x80000000u | opcode << 23 | dst << 16 | src1 << 8 | src0;
        break;
    }
    return 1;
}

static inline unsigned encode_ds(uint32_t *word, const char *mnemonic, unsigned dst,
                                 unsigned address, unsigned data0, unsigned data1, unsigned offset)
{
    struct isa_row row = encode_row(mnemonic, ISA_GFX803);
    word[0] = 0xd8000000u | (unsigned)row.opcode[ISA_GFX803] << 17 | offset;
    word[1] = address | data0 << 8 | data1 << 16 | dst << 24;
    return 2;
}

static inline unsigned encode_flat(uint32_t *word, const char *mnemonic, unsigned dst,
                                   unsigned address, unsigned data, bool glc)
{
    struct isa_row row = encode_row(mnemonic, ISA_GFX803);
    word[0] = 0xdc000000u | (unsigned)row.opcode[ISA_GFX803] << 18 | (unsigned)glc << 16;
    word[1] = address | data << 8 | dst << 24;
    return 2;
}

static inline unsigned encode_mubuf(uint32_t *word, const char *mnemonic, unsigned data,
                                    unsigned address, unsigned resource, unsigned soffset,
                                    unsigned flags, unsigned offset)
{
    struct isa_row row = encode_row(mnemonic, ISA_GFX803);
    word[0] = 0xe0000000u | (unsigned)row.opcode[ISA_GFX803] << 18 | flags | offset;
    word[1] = address | data << 8 | resource / 4 << 16 | soffset << 24;
    return 2;
}

static inline unsigned encode_mtbuf(uint32_t *word, enum isa_target target, const char *mnemonic,
                                    unsigned data, unsigned address, unsigned resource,
                                    unsigned soffset, unsigned flags, unsigned dfmt, unsigned nfmt)
{
    struct isa_row row = encode_row(mnemonic, target);
    word[0] = 0xe8000000u | (unsigned)row.opcode[target] << 15 | dfmt << 19 | nfmt << 23 | flags;
    word[1] = address | data << 8 | resource / 4 << 16 | soffset << 24;
    return 2;
}

static inline unsigned encode_smem(uint32_t *word, const char *mnemonic, unsigned data,
                                   unsigned base, bool immediate, unsigned offset)
{
    struct isa_row row = encode_row(mnemonic, ISA_GFX803);
    word[0] = 0xc0000000u | (unsigned)row.opcode[ISA_GFX803] << 18 | (unsigned)immediate << 17
              | data << 6 | base / 2;
    word[1] = offset;
    return 2;
}

#endif
