/* Text, registers and constants: what the printers of all formats are made of. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#include "isa_text.h"

void isa_text_put(struct isa_text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t room = t->length < t->size ? t->size - t->length : 0;
    int n = vsnprintf(room ? t->buf + t->length : NULL, room, format, list);
    va_end(list);
    t->length += n > 0 ? (size_t)n : 0;
}

void isa_text_separate(struct isa_text *t)
{
    isa_text_put(t, t->operands++ ? ", " : " ");
}

static void put_range(struct isa_text *t, const char *bank, unsigned first, unsigned dwords)
{
    if (dwords <= 1)
        isa_text_put(t, "%s%u", bank, first);
    else
        isa_text_put(t, "%s[%u:%u]", bank, first, first + dwords - 1);
}

static bool put_special_register(struct isa_text *t, unsigned code, unsigned dwords)
{
    static const struct {
        uint8_t code;
        const char *pair;
    } pairs[] = {{102, "flat_scratch"}, {104, "xnack_mask"}, {106, "vcc"},
                 {126, "exec"},         {108, "tba"},        {110, "tma"}};
    for (size_t i = 0; i < ARRAY_COUNT(pairs); i++) {
        if ((code & ~1u) != pairs[i].code
            || (pairs[i].code >= 108 && pairs[i].code < 112
                && isa_traits[t->inst->target].first_ttmp == 108))
            continue;
        if (dwords == 2)
            isa_text_put(t, "%s", pairs[i].pair);
        else
            isa_text_put(t, "%s_%s", pairs[i].pair, code & 1 ? "hi" : "lo");
        return true;
    }
    return false;
}

void isa_text_register(struct isa_text *t, unsigned code, unsigned dwords)
{
    unsigned ttmp = isa_traits[t->inst->target].first_ttmp;
    if (code >= ISA_VGPR)
        put_range(t, code < ISA_AGPR ? "v" : "a", code & 255, dwords);
    else if (code <= 101)
        put_range(t, "s", code, dwords);
    else if (code == ISA_M0)
        isa_text_put(t, "m0");
    else if (code >= ttmp && code <= 123)
        put_range(t, "ttmp", code - ttmp, dwords);
    else if (!put_special_register(t, code, dwords))
        isa_text_put(t, "invalid%u", code);
}

static void put_inline_float(struct isa_text *t, unsigned code, unsigned type)
{
    static const char *const values[] = {"0.5", "-0.5", "1.0", "-1.0",
                                         "2.0", "-2.0", "4.0", "-4.0"};
    if (code < 248)
        isa_text_put(t, "%s", values[code - 240]);
    else
        isa_text_put(t, isa_type_dwords(type) == 2 && type != TYPE_PF32 && type != TYPE_P32
                            ? "0.15915494309189532"
                            : "0.15915494");
}

/* The inline floats as bits: of singles, of the upper halves of doubles (1/(2 pi) has bits in the
 * lower), of halves. */
static const uint32_t literal_singles[9] = {0x3f000000, 0xbf000000, 0x3f800000,
                                            0xbf800000, 0x40000000, 0xc0000000,
                                            0x40800000, 0xc0800000, 0x3e22f983};
static const uint32_t literal_doubles[8] = {0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000,
                                            0x40000000, 0xc0000000, 0x40100000, 0xc0100000};
static const uint32_t literal_halves[9] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                           0xc000, 0x4400, 0xc400, 0x3118};

/* Prints a literal that equals an inline constant. */
struct literal_shape {
    uint32_t mask; /* bits of it that the operand has */
    bool sign;     /* negative integers are constants */
    unsigned most; /* the largest integer that is one */
    const uint32_t *floats;
    unsigned float_count;
};

static struct literal_shape literal_shape_of(unsigned type)
{
    switch (type) {
    case TYPE_B32: /* asks for the bits */
        return (struct literal_shape){UINT32_MAX, false, 0, NULL, 0};
    case TYPE_F64:
    case TYPE_M64: /* the literal is the upper half */
        return (struct literal_shape){UINT32_MAX, false, 0, literal_doubles, 8};
    case TYPE_F16:
    case TYPE_M16:
        return (struct literal_shape){0xffff, true, 64, literal_halves, 9};
    case TYPE_WF16:
    case TYPE_PF16:
        return (struct literal_shape){UINT32_MAX, true, 64, literal_halves, 9};
    default:
        break;
    }
    if (isa_type_dwords(type) == 2)
        return (struct literal_shape){UINT32_MAX, false, 64, NULL, 0};
    return (struct literal_shape){UINT32_MAX, true, 64, literal_singles, 9};
}

/* A literal that equals an inline constant prints as that constant. */
static void put_literal(struct isa_text *t, unsigned type)
{
    struct literal_shape shape = literal_shape_of(type);
    uint32_t value = t->inst->literal & shape.mask;
    uint32_t negative = -value & shape.mask;
    bool is_small = value <= shape.most && type != TYPE_B32;
    if (is_small || (shape.sign && negative <= 16)) {
        isa_text_put(t, "%s%" PRIu32, is_small ? "" : "-", is_small ? value : negative);
        return;
    }
    for (unsigned i = 0; i < shape.float_count; i++) {
        if (value == shape.floats[i]) {
            put_inline_float(t, 240 + i, type);
            return;
        }
    }
    isa_text_put(t, "0x%" PRIx32, type == TYPE_U16 || type == TYPE_I16 ? value & 0xffff : value);
}

void isa_text_source(struct isa_text *t, unsigned code, unsigned type)
{
    static const char *const states[] = {"src_vccz", "src_execz", "src_scc", "src_lds_direct"};
    static const char *const apertures[] = {"src_shared_base", "src_shared_limit",
                                            "src_private_base", "src_private_limit",
                                            "src_pops_exiting_wave_id"};
    if (code < 128 || code >= ISA_VGPR)
        isa_text_register(t, code, isa_type_dwords(type));
    else if (code <= 192)
        isa_text_put(t, "%u", code - 128);
    else if (code <= 208)
        isa_text_put(t, "-%u", code - 192);
    else if (code >= 235 && code <= 239)
        isa_text_put(t, "%s", apertures[code - 235]);
    else if (code >= 240 && code <= 248 && (type == TYPE_U16 || type == TYPE_I16))
        isa_text_put(t, "0x%" PRIx32, literal_halves[code - 240]); /* as their bits */
    else if (code >= 240 && code <= 248)
        put_inline_float(t, code, type);
    else if (code >= ISA_VCCZ && code <= ISA_LDS_DIRECT)
        isa_text_put(t, "%s", states[code - ISA_VCCZ]);
    else
        put_literal(t, type);
}

bool isa_text_is_constant(unsigned code)
{
    return (code >= 128 && code < 251 && !(code >= 235 && code <= 239)) || code == ISA_LITERAL;
}

void isa_text_operand(struct isa_text *t, unsigned code, unsigned type)
{
    isa_text_separate(t);
    isa_text_source(t, code, type);
}
