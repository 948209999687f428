/* LLVM 19's disassembler in this process, and the words that it is asked about.
 *
 * The library is opened at run time through its C interface (llvm-c/Disassembler.h), so that
 * building needs no LLVM. It comes with the package llvm-19. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_ORACLE_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/amd/isa/isa.h"

enum { ORACLE_TEXT = 512 };

/* NULL where there is no library. It stays open. */
struct oracle;
struct oracle *oracle_open(enum isa_target target);

/* Size of the instruction, 0 for none; text as LLVM's, with single spaces and without comments. */
unsigned oracle_decode(struct oracle *oracle, const uint32_t word[3], char text[ORACLE_TEXT]);

/* True for words on which LLVM's printer runs into code that it thinks unreachable. */
bool oracle_is_unsafe(const uint32_t word[3]);

enum { ORACLE_FIELDS = 5, ORACLE_FLAGS = 8, ORACLE_MODIFIERS = 3 };

/* What a field can name: registers; inline constants, too; the literal as well. */
enum oracle_operand { ORACLE_REGISTER, ORACLE_CONSTANT, ORACLE_LITERAL };

/* A field that names an operand. Bits are counted from the first word's lowest, those of the second
 * word from 32; bit 0 is none. */
struct oracle_field {
    uint8_t shift, bits;
    uint8_t operand;                     /* enum oracle_operand */
    uint8_t scalar;                      /* the bit that makes a vector register a scalar operand */
    uint8_t modifiers[ORACLE_MODIFIERS]; /* neg, abs, sext */
};

/* The formats as the top bits of a word, with the field that holds the opcode. */
struct oracle_format {
    const char *name;
    uint32_t fixed, free; /* bits of the first word outside the opcode */
    unsigned shift, bits;
    bool has_opcodes; /* LLVM takes a word of each that there is, even with bits at random */
    uint32_t second;  /* a second word that exists */
    uint8_t flags[ORACLE_FLAGS]; /* bits that change operands or text */
    struct oracle_field fields[ORACLE_FIELDS];
};

size_t oracle_format_count(void);
const struct oracle_format *oracle_format(size_t index);

/* Words of a format and an opcode: `round` chooses how random the other fields are. */
void oracle_words(const struct oracle_format *format, unsigned opcode, unsigned round,
                  uint64_t *state, uint32_t word[3]);

#endif
