/* Lowers accesses to textures and surfaces by their objects. Mipmaps, samples, gradients and
 * offsets are not there, nor are references and samplers, nor layers and cubes of surfaces. */
#include "components/nvidia/warp/handlers/warp_texture.h"

#include "warp_build.h"

static unsigned dimensions_of(struct warp_build *b)
{
    static const struct warp_choice numbers[] = {
        {PTX_MOD_N1D, 1}, {PTX_MOD_N2D, 2}, {PTX_MOD_N3D, 3}, {PTX_MODIFIER_NONE, 0}};
    unsigned dimensions = warp_choose(b, numbers);
    if (dimensions == 0)
        b->missing = true;
    return dimensions;
}

/* Those of textures, which may have layers and be cubes; a face of a cube has two directions. */
static unsigned texture_dimensions_of(struct warp_build *b, unsigned *more)
{
    bool cube = warp_has(b, PTX_MOD_CUBE) || warp_has(b, PTX_MOD_ACUBE);
    bool layered =
        warp_has(b, PTX_MOD_A1D) || warp_has(b, PTX_MOD_A2D) || warp_has(b, PTX_MOD_ACUBE);
    *more = (cube ? WARP_TEXTURE_CUBE : 0u) | (layered ? WARP_TEXTURE_LAYERED : 0u);
    return warp_has(b, PTX_MOD_A1D) ? 1 : *more ? 2 : dimensions_of(b);
}

/* The handle of "[object, coordinates]". */
static struct warp_value handle_of(struct warp_build *b, const struct ptx_operand *o)
{
    const struct ptx_operand *object =
        o->kind == PTX_OPERAND_INDEXED && o->element_count == 2 ? &o->elements[0] : o;
    if (object->kind == PTX_OPERAND_REGISTER)
        return warp_input(b, object, PTX_B64);
    if (object->kind == PTX_OPERAND_ADDRESS && object->base == PTX_BASE_REGISTER
        && object->offset == 0) {
        struct ptx_operand r = {.kind = PTX_OPERAND_REGISTER, .index = object->index};
        return warp_input(b, &r, PTX_B64);
    }
    b->missing = true;
    return warp_constant(b, 0, true);
}

/* Adds `most` places, of which elements of `o` fill the first. */
static void add_places(struct warp_build *b, const struct ptx_operand *o, unsigned most,
                       enum ptx_type type, bool written)
{
    bool is_vector = o->kind == PTX_OPERAND_VECTOR;
    unsigned count = is_vector ? o->element_count : 1;
    for (unsigned i = 0; i < most; i++) {
        const struct ptx_operand *e = is_vector ? &o->elements[i < count ? i : 0] : o;
        if (i >= count || e->kind == PTX_OPERAND_SINK)
            warp_place(b, WARP_VALUE_NONE);
        else
            warp_place(b, written ? warp_output(b, e, ptx_type_bits(type) == 64)
                                  : warp_input(b, e, type));
    }
}

static struct warp_op *emit(struct warp_build *b, enum warp_run run, struct warp_value handle)
{
    struct warp_op *op = warp_emit(b, run);
    warp_use(op, 1, handle);
    op->combine = PTX_SPACE_GLOBAL;
    op->kind = WARP_MEMORY;
    return op;
}

static void lower_fetch(struct warp_build *b)
{
    static const struct warp_choice components[] = {
        {PTX_MOD_G, 1}, {PTX_MOD_B, 2}, {PTX_MOD_A, 3}, {PTX_MODIFIER_NONE, 0}};
    const struct ptx_instruction *in = b->instruction;
    const struct ptx_operand *to = &in->operands[0], *at = &in->operands[1];
    bool gathers = in->opcode == PTX_OP_TLD4;
    enum ptx_type result = (enum ptx_type)in->types[0], coordinate = (enum ptx_type)in->types[1];
    unsigned more, dimensions = texture_dimensions_of(b, &more);
    unsigned operands = warp_has(b, PTX_MOD_LEVEL) ? 3 : 2;
    if (to->kind != PTX_OPERAND_VECTOR || to->element_count != 4 || at->kind != PTX_OPERAND_INDEXED
        || at->element_count != 2 || in->operand_count != operands || warp_has(b, PTX_MOD_GRAD)
        || warp_has(b, PTX_MOD_BASE) || ptx_type_bits(result) != 32 || result == PTX_F16X2
        || (gathers && dimensions != 2)) {
        b->missing = true;
        return;
    }
    struct warp_value handle = handle_of(b, at);
    uint32_t list = b->code->place_count;
    add_places(b, to, 4, result, true);
    add_places(b, &at->elements[1], 4, coordinate, false);
    struct warp_op *op = emit(b, WARP_RUN_TEXTURE, handle);
    unsigned component = warp_choose(b, components);
    op->list = list;
    op->count = 8;
    op->written = 4;
    op->target = dimensions | more | (ptx_type_is_float(coordinate) ? 0u : WARP_TEXTURE_BY_NUMBER)
                 | (gathers ? WARP_TEXTURE_GATHERS | component << WARP_TEXTURE_COMPONENT : 0u);
}

static void lower_size(struct warp_build *b)
{
    enum { UNKNOWN_QUERY = 4 };
    static const struct warp_choice queries[] = {{PTX_MOD_WIDTH, 0},
                                                 {PTX_MOD_HEIGHT, 1},
                                                 {PTX_MOD_DEPTH, 2},
                                                 {PTX_MOD_NORMALIZED_COORDS, 3},
                                                 {PTX_MODIFIER_NONE, UNKNOWN_QUERY}};
    const struct ptx_instruction *in = b->instruction;
    unsigned query = warp_choose(b, queries);
    if (query == UNKNOWN_QUERY || in->operand_count != 2) {
        b->missing = true;
        return;
    }
    struct warp_value handle = handle_of(b, &in->operands[1]);
    struct warp_op *op = emit(b, WARP_RUN_TEXTURE_SIZE, handle);
    warp_use(op, 0, warp_output(b, &in->operands[0], false));
    op->target = query;
}

static unsigned reduction_of(const struct warp_build *b)
{
    static const struct warp_choice reductions[] = {{PTX_MOD_ADD, WARP_SURFACE_ADD},
                                                    {PTX_MOD_MIN, WARP_SURFACE_MIN},
                                                    {PTX_MOD_MAX, WARP_SURFACE_MAX},
                                                    {PTX_MOD_AND, WARP_SURFACE_AND},
                                                    {PTX_MODIFIER_NONE, WARP_SURFACE_OR}};
    return warp_choose(b, reductions);
}

static void lower_surface(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    bool stores = in->opcode != PTX_OP_SULD;
    const struct ptx_operand *at = &in->operands[stores ? 0 : 1], *data = &in->operands[stores];
    enum ptx_type type = (enum ptx_type)in->types[0];
    unsigned dimensions = dimensions_of(b), elements = ptx_vector_width(in);
    if (at->kind != PTX_OPERAND_INDEXED || at->element_count != 2 || warp_has(b, PTX_MOD_P)) {
        b->missing = true;
        return;
    }
    struct warp_value handle = handle_of(b, at);
    uint32_t list = b->code->place_count;
    add_places(b, data, elements, type, !stores);
    add_places(b, &at->elements[1], 3, PTX_S32, false);
    struct warp_op *op = emit(b, WARP_RUN_SURFACE, handle);
    op->list = list;
    op->count = (uint8_t)(elements + 3);
    op->written = stores ? 0 : (uint8_t)elements;
    op->target = dimensions | (stores ? WARP_SURFACE_STORES : 0u)
                 | (warp_has(b, PTX_MOD_CLAMP) ? WARP_SURFACE_CLAMPS : 0u)
                 | (warp_has(b, PTX_MOD_ZERO) ? WARP_SURFACE_ZEROES : 0u)
                 | (in->opcode == PTX_OP_SURED ? reduction_of(b) << WARP_SURFACE_REDUCTION : 0u)
                 | (ptx_type_is_signed(type) ? WARP_SURFACE_SIGNED : 0u)
                 | ptx_type_bits(type) / 8 << WARP_SURFACE_BYTES;
}

void warp_lower_texture(struct warp_build *b)
{
    switch (b->instruction->opcode) {
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
        lower_fetch(b);
        return;
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
        lower_size(b);
        return;
    default:
        lower_surface(b);
    }
}
