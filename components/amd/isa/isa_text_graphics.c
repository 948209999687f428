/*
 * isa_text_graphics.c - interpolation, images and export as text. Called by isa_format.
 */
#include "isa_text.h"

static void put_attribute(struct isa_text *t)
{
    unsigned imm = (unsigned)t->inst->simm;
    isa_text_put(t, ", attr%u.%c", imm & 63, "xyzw"[imm >> 6 & 3]);
}

static void put_parameter(struct isa_text *t)
{
    static const char *const names[3] = {"p10", "p20", "p0"};
    unsigned number = t->inst->src[0];
    if (number < 3)
        isa_text_put(t, ", %s", names[number]);
    else
        isa_text_put(t, ", invalid_param_%u", number);
}

/* The modifiers of the first source stand where those of others' second do. */
static void put_source(struct isa_text *t, unsigned index)
{
    const struct isa_inst *inst = t->inst;
    unsigned bit = index ? index : 1;
    bool neg = inst->neg >> bit & 1, abs = inst->abs >> bit & 1;
    isa_text_separate(t);
    bool brackets = neg && !abs && isa_text_is_constant(inst->src[index]);
    isa_text_put(t, "%s%s", !neg ? "" : brackets ? "neg(" : "-", abs ? "|" : "");
    isa_text_source(t, inst->src[index], TYPE_F32);
    isa_text_put(t, "%s%s", abs ? "|" : "", brackets ? ")" : "");
}

void isa_text_interpolation(struct isa_text *t)
{
    static const char *const omods[] = {"", " mul:2", " mul:4", " div:2"};
    const struct isa_inst *inst = t->inst;
    bool half = t->kind == KIND_INTERP16 || t->kind == KIND_INTERP16C;
    if (!half)
        isa_text_put(t, inst->format == ISA_VINTRP ? "_e32" : "_e64");
    isa_text_separate(t);
    isa_text_register(t, inst->dst, 1);
    if (t->kind == KIND_INTERPMOV)
        put_parameter(t);
    else
        put_source(t, 0);
    put_attribute(t);
    if (t->kind == KIND_INTERP16C)
        put_source(t, 2);
    if (half && inst->simm >> 8)
        isa_text_put(t, " high");
    isa_text_put(t, "%s%s", inst->clamp ? " clamp" : "", omods[inst->omod & 3]);
}

void isa_text_image(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    isa_text_separate(t);
    isa_text_register(t, inst->dst, inst->dwords);
    isa_text_separate(t);
    isa_text_register(t, inst->src[0], t->row->operation);
    isa_text_separate(t);
    isa_text_register(t, inst->sdst, 8);
    if (inst->soffset != ISA_NO_OPERAND) {
        isa_text_separate(t);
        isa_text_register(t, inst->soffset, 4);
    }
    if (inst->format_bits)
        isa_text_put(t, " dmask:0x%x", inst->format_bits);
    isa_text_put(t, "%s", inst->opsel & ISA_IMAGE_UNORM ? " unorm" : "");
    isa_text_cache_policy(t);
    isa_text_put(t, "%s%s%s%s%s",
                 !(inst->opsel & ISA_IMAGE_R128) ? ""
                 : isa_is_gfx9(t->inst->target)  ? " a16"
                                                 : " r128",
                 inst->memory & ISA_MEM_TFE ? " tfe" : "",
                 inst->opsel & ISA_IMAGE_LWE ? " lwe" : "", inst->opsel & ISA_IMAGE_DA ? " da" : "",
                 inst->opsel & ISA_IMAGE_D16 ? " d16" : "");
}

static void put_export_target(struct isa_text *t)
{
    unsigned target = (unsigned)t->inst->simm;
    if (target < 8)
        isa_text_put(t, " mrt%u", target);
    else if (target == 8)
        isa_text_put(t, " mrtz");
    else if (target == 9)
        isa_text_put(t, " null");
    else if (target >= 12 && target < 16)
        isa_text_put(t, " pos%u", target - 12);
    else if (target >= 32)
        isa_text_put(t, " param%u", target - 32);
    else
        isa_text_put(t, " invalid_target_%u", target);
}

void isa_text_export(struct isa_text *t)
{
    const struct isa_inst *inst = t->inst;
    const uint16_t sources[4] = {inst->src[0], inst->src[1], inst->src[2], inst->soffset};
    bool compressed = inst->opsel & ISA_EXPORT_COMPRESSED;
    put_export_target(t);
    for (unsigned i = 0; i < 4; i++) {
        isa_text_put(t, i ? ", " : " ");
        if (inst->format_bits >> i & 1)
            isa_text_register(t, sources[compressed ? i / 2 : i], 1);
        else
            isa_text_put(t, "off");
    }
    isa_text_put(t, "%s%s%s", inst->opsel & ISA_EXPORT_DONE ? " done" : "",
                 compressed ? " compr" : "", inst->opsel & ISA_EXPORT_VALID_MASK ? " vm" : "");
}
