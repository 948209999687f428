/*
 * isa_text_operand.c - text, registers and constants: what the printers of all formats are made of.
 */
#include "isa_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
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

/* Inline floats in 16-bit integer operands print as their bits. */
static const char *const inline_half_bits[] = {"0x3800", "0xb800", "0x3c00", "0xbc00", "0x4000",
                                               "0xc000", "0x4400", "0xc400", "0x3118"};

/* A literal that equals an inline constant prints as that constant. TYPE_B32 asks for the bits. */
static void put_literal(struct isa_text *t, unsigned type)
{
    static const uint32_t singles[9] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                        0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
    static const uint16_t halves[9] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                       0xc000, 0x4400, 0xc400, 0x3118};
    bool integer = type == TYPE_U16 || type == TYPE_I16;
    bool half = type == TYPE_F16 || type == TYPE_M16, wide = isa_type_dwords(type) == 2;
    uint32_t value = half ? t->inst->literal & 0xffff : t->inst->literal;
    int64_t number = wide ? (int64_t)value : half ? (int16_t)value : (int32_t)value;
    if (type != TYPE_B32 && type != TYPE_F64 && number >= -16 && number <= 64) {
        isa_text_put(t, "%d", (int)number);
        return;
    }
    for (unsigned i = 0; i < 9 && !wide && type != TYPE_B32; i++) {
        if (value == (half ? halves[i] : singles[i])) {
            put_inline_float(t, 240 + i, type);
            return;
        }
    }
    value = integer ? value & 0xffff : value;
    isa_text_put(t, "0x%" PRIx32, value);
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
        isa_text_put(t, "%s", inline_half_bits[code - 240]);
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
