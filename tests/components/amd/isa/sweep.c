/* See sweep.h. It starts at words in which all fields name registers that are far enough
 * apart for tuples, and which LLVM takes. */
#include "sweep.h"

enum {
    CODE_LITERAL = 255,
    SAMPLED_CODES = 61,
    SAMPLED_LITERALS = 13,
    SAMPLED_FLAGS = 7,
    FLOATS = 9
};

static uint64_t bit(unsigned number)
{
    return UINT64_C(1) << number;
}

static unsigned attempt(const struct sweep *sweep, uint64_t pair, uint32_t third)
{
    uint32_t word[3] = {(uint32_t)pair, (uint32_t)(pair >> 32), third};
    return sweep->attempt(sweep->context, word);
}

static unsigned field_count(const struct oracle_format *format)
{
    unsigned count = 0;
    while (count < ORACLE_FIELDS && format->fields[count].bits)
        count++;
    return count;
}

static uint64_t with_field(uint64_t pair, const struct oracle_field *field, unsigned value)
{
    uint64_t mask = (bit(field->bits) - 1) << field->shift;
    return (pair & ~mask) | (uint64_t)value << field->shift;
}

/* What a field can start with: a register (a vector one where there is a choice), a scalar one, 0
 * where the instruction does not have the field. */
static unsigned start_value(const struct oracle_field *field, unsigned index, unsigned choice)
{
    unsigned scalar = (index + 1) << (field->bits >= 7 ? 4 : field->bits - 3);
    unsigned values[] = {field->bits == 9 ? 256 + 32 * (index + 1) : scalar, scalar, 0};
    return values[choice];
}

/* Tries all choices for all fields, those of the last field first. */
static bool find_start(const struct sweep *sweep, const struct oracle_format *format,
                       unsigned opcode, uint64_t *start, unsigned *size)
{
    enum { CHOICES = 3 };
    unsigned fields = field_count(format), all = 1;
    for (unsigned i = 0; i < fields; i++)
        all *= CHOICES;
    for (unsigned choice = 0; choice < all; choice++) {
        uint64_t pair =
            format->fixed | (uint64_t)opcode << format->shift | (uint64_t)format->second << 32;
        for (unsigned i = fields, rest = choice; i-- > 0; rest /= CHOICES)
            pair = with_field(pair, &format->fields[i],
                              start_value(&format->fields[i], i, rest % CHOICES));
        *size = attempt(sweep, pair, 0);
        *start = pair;
        if (*size)
            return true;
    }
    return false;
}

/* The inline constants as bits: integers, floats of each size, pairs of halves. */
static uint32_t literal_value(unsigned index)
{
    static const uint32_t halves[FLOATS] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                            0xc000, 0x4400, 0xc400, 0x3118};
    static const uint32_t singles[FLOATS] = {0x3f000000, 0xbf000000, 0x3f800000,
                                             0xbf800000, 0x40000000, 0xc0000000,
                                             0x40800000, 0xc0800000, 0x3e22f983};
    static const uint32_t doubles[FLOATS] = {0x3fe00000, 0xbfe00000, 0x3ff00000,
                                             0xbff00000, 0x40000000, 0xc0000000,
                                             0x40100000, 0xc0100000, 0x3fc45f30};
    unsigned kind = index / FLOATS, place = index % FLOATS;
    uint32_t integer = index - 6 * FLOATS;
    switch (kind) {
    case 0:
        return halves[place];
    case 1:
        return singles[place];
    case 2:
        return doubles[place];
    case 3:
        return halves[place] << 16;
    case 4:
        return halves[place] | halves[place] << 16;
    case 5:
        return halves[place] | 0xffff0000;
    default:
        return integer < 81 ? integer - 16 : (integer - 81 - 16) & 0xffff;
    }
}

enum { LITERALS = 6 * FLOATS + 2 * 81 };

static void sweep_literals(const struct sweep *sweep, uint64_t pair, unsigned opcode)
{
    for (unsigned i = 0; i < LITERALS; i++)
        if (sweep->full || (i + opcode) % SAMPLED_LITERALS == 0)
            attempt(sweep, (uint32_t)pair | (uint64_t)literal_value(i) << 32, 0);
}

/* Integers at the ends of their range, floats, the literal. */
static bool is_special(const struct oracle_field *field, unsigned code)
{
    if (field->operand == ORACLE_REGISTER)
        return false;
    return code == 128 || code == 129 || code == 192 || code == 193 || code == 208
           || (code >= 240 && code <= 248) || code == CODE_LITERAL;
}

static void sweep_value(const struct sweep *sweep, uint64_t pair, const struct oracle_field *field,
                        unsigned turn)
{
    unsigned count = 0;
    while (count < ORACLE_MODIFIERS && field->modifiers[count])
        count++;
    for (unsigned set = 0; set < 1u << count; set++) {
        uint64_t modified = pair;
        for (unsigned i = 0; i < count; i++)
            modified |= set >> i & 1 ? bit(field->modifiers[i]) : 0;
        if (sweep->full || set == turn % (1u << count))
            attempt(sweep, modified, 0);
    }
}

static void sweep_field(const struct sweep *sweep, uint64_t start, const struct oracle_field *field,
                        unsigned opcode)
{
    /* A source that could only be 0 is not one of the instruction. */
    bool is_used = start >> field->shift & (bit(field->bits) - 1);
    if (!sweep->full && field->operand == ORACLE_CONSTANT && !is_used)
        return;
    for (unsigned value = 0; value < 1u << field->bits; value++) {
        uint64_t pair = with_field(start, field, value);
        if (!sweep->full && !is_special(field, value) && (value + opcode) % SAMPLED_CODES)
            continue;
        if (field->operand == ORACLE_LITERAL && value == CODE_LITERAL) {
            sweep_literals(sweep, pair, opcode);
            continue;
        }
        sweep_value(sweep, pair, field, value + opcode);
        if (field->scalar)
            sweep_value(sweep, pair | bit(field->scalar), field, value + opcode);
    }
}

/* Flags alone; then with the last vector registers, which tuples run past. */
static void sweep_flags(const struct sweep *sweep, const struct oracle_format *format,
                        uint64_t start, unsigned opcode)
{
    unsigned count = 0, fields = field_count(format);
    while (count < ORACLE_FLAGS && format->flags[count])
        count++;
    unsigned step = sweep->full || format->bits < 10 ? 1 : SAMPLED_FLAGS;
    for (unsigned set = opcode % step; count && set < 1u << count; set += step) {
        uint64_t pair = start;
        for (unsigned i = 0; i < count; i++)
            pair ^= set >> i & 1 ? bit(format->flags[i]) : 0;
        attempt(sweep, pair, 0);
        for (unsigned last = 252; sweep->full && last < 256; last++) {
            for (unsigned i = 0; i < fields; i++)
                if (format->fields[i].bits == 8)
                    attempt(sweep, with_field(pair, &format->fields[i], last), 0);
        }
    }
}

bool sweep_opcode(const struct sweep *sweep, const struct oracle_format *format, unsigned opcode)
{
    unsigned size, fields = field_count(format);
    uint64_t start;
    if (!find_start(sweep, format, opcode, &start, &size))
        return false;
    /* A second word that no field lies in is a literal, or an offset. */
    if (size == 8 && !format->second && format->fields[0].shift < 32)
        sweep_literals(sweep, start, opcode);
    for (unsigned i = 0; i < fields; i++)
        sweep_field(sweep, start, &format->fields[i], opcode);
    sweep_flags(sweep, format, start, opcode);
    return true;
}
