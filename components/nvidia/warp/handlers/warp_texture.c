/* Textures and surfaces (9.7.10, 9.7.11), at one x86-64 level.
 *
 * Coordinates, filters and modes are those of the CUDA C++ Programming Guide, "Texture Fetching":
 * weights have 8 bits after the point. An access is observed at its nearest texel; its other texels
 * are neighbours of that one. */
#include "warp_texture.h"

#include <math.h>

#include "base/number.h"
#include "components/protocols/texture/texture_object.h"

#include "warp_addresses.h"
#include "warp_formats.h"
#include "warp_lanes.h"
#include "warp_variant.h"

struct texel {
    union {
        f64 f[4];
        s64 n[4];
    };
};

/* Finds the object of a lane, and its texels in the host. False: the lane has faulted. */
static bool open_object(struct warp_machine *m, const struct warp_op *op, unsigned lane,
                        struct texture_object *t, char **texels)
{
    const u64 *handles = warp_source(m, op, 1);
    struct warp_region r = warp_region_of(m, op, handles[lane]);
    u64 offset = handles[lane] - r.start;
    if (r.host && offset < r.size && r.size - offset >= sizeof *t)
        memcpy(t, r.host + offset, sizeof *t);
    if (!r.host || offset >= r.size || r.size - offset < sizeof *t || t->magic != TEXTURE_MAGIC) {
        warp_fault_at(m, WARP_FAULT_ADDRESS, lane, handles[lane], "no texture or surface object");
        return false;
    }
    u64 bytes = (u64)t->pitch * t->size[1] * t->size[2];
    r = warp_region_of(m, op, t->base);
    offset = t->base - r.start;
    if (!r.host || offset >= r.size || r.size - offset < bytes) {
        warp_fault_at(m, WARP_FAULT_ADDRESS, lane, t->base, "a texture whose memory is not there");
        return false;
    }
    *texels = r.host + offset;
    return true;
}

static f64 channel_value(const struct texture_object *t, u32 bits, s64 n)
{
    if (t->kind == TEXTURE_FLOAT)
        return t->channel_bytes == 2 ? (f64)half_value(bits) : (f64)float32(bits);
    f64 most = t->kind == TEXTURE_SIGNED ? ldexp(1, 8 * t->channel_bytes - 1) - 1
                                         : ldexp(1, 8 * t->channel_bytes) - 1;
    f64 v = (f64)n / most;
    return v < -1 ? -1 : v;
}

static bool gives_floats(const struct texture_object *t)
{
    return t->kind == TEXTURE_FLOAT || t->normalised_read;
}

/* Missing channels are 0, 0, 1. */
static struct texel read_texel(const struct texture_object *t, const char *texels, const s64 at[3],
                               bool is_inside)
{
    bool floats = gives_floats(t);
    struct texel x;
    const char *from = texels + ((u64)at[2] * t->size[1] + (u64)at[1]) * t->pitch
                       + (u64)at[0] * t->channel_bytes * t->channels;
    for (unsigned k = 0; k < 4; k++) {
        u32 bits = 0;
        if (is_inside && k < t->channels)
            memcpy(&bits, from + k * t->channel_bytes, t->channel_bytes);
        unsigned up = 32 - 8 * t->channel_bytes;
        s64 n = t->kind == TEXTURE_SIGNED ? (s32)(bits << up) >> up : (s64)bits;
        if (!is_inside && floats)
            x.f[k] = (f64)t->border[k];
        else if (floats)
            x.f[k] = k < t->channels ? channel_value(t, bits, n) : k == 3;
        else
            x.n[k] = !is_inside ? 0 : k < t->channels ? n : k == 3;
    }
    return x;
}

/* Finds the texel's number in a direction, by the mode. False: it is of the border. */
static bool wrap_coordinate(const struct texture_object *t, unsigned direction, bool by_number,
                            s64 *at)
{
    s64 size = t->size[direction];
    unsigned mode = t->address[direction];
    if (t->is_cube)
        mode = TEXTURE_CLAMP; /* to its face */
    else if (by_number)
        mode = TEXTURE_BORDER;
    else if (mode != TEXTURE_BORDER && !t->normalised_coordinates)
        mode = TEXTURE_CLAMP;
    bool is_inside = *at >= 0 && *at < size;
    if (mode == TEXTURE_WRAP)
        *at = (*at % size + size) % size;
    else
        *at = *at < 0 ? 0 : *at >= size ? size - 1 : *at;
    return is_inside || mode != TEXTURE_BORDER;
}

/* A coordinate in texels. */
static f64 in_texels(const struct texture_object *t, unsigned direction, f32 x)
{
    if (!t->normalised_coordinates)
        return (f64)x;
    f64 v = (f64)x, whole = floor(v);
    if (t->address[direction] == TEXTURE_WRAP)
        v -= whole;
    else if (t->address[direction] == TEXTURE_MIRROR)
        v = fmod(whole, 2) == 0 ? v - whole : 1 - (v - whole);
    return v * t->size[direction];
}

static s64 whole_of(f64 x)
{
    return x >= -0x1p40 && x <= 0x1p40 ? (s64)floor(x) : x > 0 ? (s64)1 << 40 : -((s64)1 << 40);
}

/* The face of a cube that a direction from its middle meets (+x, -x, +y, -y, +z, -z), and where on
 * it, from 0 to 1. Of equal sides z goes before y, y before x. */
static unsigned find_face(const f32 v[3], f32 at[2])
{
    f32 x = fabsf(v[0]), y = fabsf(v[1]), z = fabsf(v[2]);
    unsigned axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
    bool back = v[axis] < 0;
    f32 most = fabsf(v[axis]), s = v[0], t = -v[1];
    if (axis == 0)
        s = back ? v[2] : -v[2];
    else if (axis == 1)
        t = back ? -v[2] : v[2];
    else if (back)
        s = -v[0];
    at[0] = (s / most + 1) / 2;
    at[1] = (t / most + 1) / 2;
    return 2 * axis + back;
}

/* A lane's coordinates as numbers of texels, and the weights of their right neighbours. */
struct spot {
    s64 at[3];
    f64 weight[3];
};

static struct spot find_spot(const struct warp_machine *m, const struct warp_op *op,
                             const struct texture_object *t, unsigned lane, bool interpolates)
{
    const struct warp_place *place = m->code->places + op->list + op->written;
    unsigned dimensions = op->target & WARP_TEXTURE_DIMENSIONS;
    struct spot s = {.at = {0, 0, 0}};
    u32 coordinates[3] = {0, 0, 0}, layer = 0;
    bool layered = op->target & WARP_TEXTURE_LAYERED, cube = op->target & WARP_TEXTURE_CUBE;
    if (layered)
        layer = (u32)lanes_get(m, place++, lane);
    for (unsigned d = 0; d < (cube ? 3 : dimensions); d++)
        coordinates[d] = (u32)lanes_get(m, &place[d], lane);
    if (cube) {
        const f32 direction[3] = {float32(coordinates[0]), float32(coordinates[1]),
                                  float32(coordinates[2])};
        f32 at[2];
        u32 face = find_face(direction, at), most = t->size[2] / 6 ? t->size[2] / 6 - 1 : 0;
        layer = 6 * min(layer, most) + face;
        coordinates[0] = bits32(at[0]);
        coordinates[1] = bits32(at[1]);
    }
    if (layered || cube)
        s.at[2] = layer < t->size[2] ? layer : t->size[2] - 1;
    for (unsigned d = 0; d < dimensions; d++) {
        u32 bits = coordinates[d];
        if (op->target & WARP_TEXTURE_BY_NUMBER) {
            s.at[d] = (s32)bits;
            continue;
        }
        f64 x = in_texels(t, d, float32(bits));
        if (!interpolates) {
            s.at[d] = whole_of(x);
            continue;
        }
        s.at[d] = whole_of(x - 0.5);
        s.weight[d] = floor((x - 0.5 - (f64)s.at[d]) * 256 + 0.5) / 256;
        if (!(s.weight[d] >= 0 && s.weight[d] <= 1))
            s.weight[d] = 0;
    }
    return s;
}

/* The texel that lies `steps` (a bit for each direction) right of the spot. */
static struct texel texel_at(const struct warp_op *op, const struct texture_object *t,
                             const char *texels, const struct spot *s, unsigned steps, u64 *address)
{
    s64 at[3];
    bool is_inside = true;
    for (unsigned d = 0; d < 3; d++) {
        at[d] = s->at[d] + (steps >> d & 1);
        is_inside &= wrap_coordinate(t, d, op->target & WARP_TEXTURE_BY_NUMBER, &at[d]);
    }
    *address = t->base + ((u64)at[2] * t->size[1] + (u64)at[1]) * t->pitch
               + (u64)at[0] * t->channel_bytes * t->channels;
    return read_texel(t, texels, at, is_inside);
}

static struct texel fetch(const struct warp_op *op, const struct texture_object *t,
                          const char *texels, const struct spot *s, bool interpolates, u64 *address)
{
    unsigned dimensions = op->target & WARP_TEXTURE_DIMENSIONS;
    if (!interpolates)
        return texel_at(op, t, texels, s, 0, address);
    struct texel sum = {.f = {0, 0, 0, 0}};
    for (unsigned steps = (1u << dimensions); steps-- > 0;) {
        struct texel x = texel_at(op, t, texels, s, steps, address);
        f64 weight = 1;
        for (unsigned d = 0; d < dimensions; d++)
            weight *= steps >> d & 1 ? s->weight[d] : 1 - s->weight[d];
        for (unsigned k = 0; k < 4; k++)
            sum.f[k] += weight != 0 ? weight * x.f[k] : 0;
    }
    return sum;
}

/* One component of the four texels around, from below left against the hands of a clock. */
static struct texel gather(const struct warp_op *op, const struct texture_object *t,
                           const char *texels, const struct spot *s, u64 *address)
{
    static const unsigned order[4] = {2, 3, 1, 0};
    unsigned component = op->target >> WARP_TEXTURE_COMPONENT & 3;
    struct texel all;
    for (unsigned k = 0; k < 4; k++) {
        struct texel x = texel_at(op, t, texels, s, order[k], address);
        all.n[k] = x.n[component];
    }
    return all;
}

RUN(TEXTURE)
{
    const struct warp_place *place = m->code->places + op->list;
    struct texture_object t = {.magic = 0};
    char *texels = NULL;
    const u64 *handles = warp_source(m, op, 1);
    u64 opened = 0;
    EACH
    {
        if (!texels || handles[i] != opened)
            if (!open_object(m, op, i, &t, &texels))
                return;
        opened = handles[i];
        bool gathers = op->target & WARP_TEXTURE_GATHERS, floats = gives_floats(&t);
        bool interpolates =
            t.interpolates && floats && !t.is_linear && !(op->target & WARP_TEXTURE_BY_NUMBER);
        struct spot s = find_spot(m, op, &t, i, interpolates || gathers);
        struct texel x = gathers ? gather(op, &t, texels, &s, &m->address[i])
                                 : fetch(op, &t, texels, &s, interpolates, &m->address[i]);
        for (unsigned k = 0; k < 4; k++)
            lanes_put(m, &place[k], i, floats ? bits32((f32)x.f[k]) : (u32)x.n[k]);
    }
    m->bytes = (u32)t.channel_bytes * t.channels;
    m->space = PTX_SPACE_GLOBAL;
}

/* txq and suq: the size in the direction of `target`. */
RUN(TEXTURE_SIZE)
{
    u32 *to = warp_target(m, op);
    struct texture_object t;
    char *texels;
    EACH
    {
        if (!open_object(m, op, i, &t, &texels))
            return;
        to[i] = op->target < 3 ? t.size[op->target] : t.normalised_coordinates;
    }
}

/* Finds the byte of a surface that a lane asks for. False: nothing is accessed. */
static bool surface_byte(struct warp_machine *m, const struct warp_op *op,
                         const struct texture_object *t, unsigned lane, u64 bytes, u64 *offset)
{
    const struct warp_place *place = m->code->places + op->list + (op->count - 3u);
    unsigned dimensions = op->target & WARP_TEXTURE_DIMENSIONS;
    s64 most[3] = {(s64)t->size[0] * t->channel_bytes * t->channels - (s64)bytes,
                   (s64)t->size[1] - 1, (s64)t->size[2] - 1},
        at[3] = {0, 0, 0};
    for (unsigned d = 0; d < dimensions; d++) {
        s64 x = (s32)lanes_get(m, &place[d], lane);
        bool is_inside = x >= 0 && x <= most[d];
        if (!is_inside && op->target & WARP_SURFACE_ZEROES)
            return false;
        if (!is_inside && !(op->target & WARP_SURFACE_CLAMPS)) {
            warp_fault_at(m, WARP_FAULT_ADDRESS, lane, (u64)x, "outside of the surface");
            return false;
        }
        at[d] = x < 0 ? 0 : x > most[d] ? most[d] : x;
    }
    at[0] = at[0] / (s64)bytes * (s64)bytes;
    *offset = ((u64)at[2] * t->size[1] + (u64)at[1]) * t->pitch + (u64)at[0];
    return true;
}

static u64 reduced(u32 target, u64 old, u64 value, u64 bytes)
{
    u64 sign = target & WARP_SURFACE_SIGNED ? 1ull << (8 * bytes - 1) : 0;
    bool less = (old ^ sign) < (value ^ sign);
    switch (target >> WARP_SURFACE_REDUCTION & 7) {
    case WARP_SURFACE_ADD:
        return old + value;
    case WARP_SURFACE_MIN:
        return less ? old : value;
    case WARP_SURFACE_MAX:
        return less ? value : old;
    case WARP_SURFACE_AND:
        return old & value;
    case WARP_SURFACE_OR:
        return old | value;
    default:
        return value;
    }
}

RUN(SURFACE)
{
    const struct warp_place *place = m->code->places + op->list;
    u64 size = op->target >> WARP_SURFACE_BYTES, elements = op->count - 3u, bytes = size * elements;
    struct texture_object t = {.magic = 0};
    char *texels;
    EACH
    {
        u64 offset = 0, value;
        if (!open_object(m, op, i, &t, &texels))
            return;
        bool is_there = surface_byte(m, op, &t, i, bytes, &offset);
        if (m->fault != WARP_FAULT_NONE)
            return;
        m->address[i] = t.base + offset;
        for (unsigned k = 0; k < elements; k++) {
            if (op->target & WARP_SURFACE_STORES) {
                u64 old = 0;
                if (!is_there)
                    continue;
                memcpy(&old, texels + offset + k * size, size);
                value = reduced(op->target, old, lanes_get(m, &place[k], i), size);
                memcpy(texels + offset + k * size, &value, size);
                continue;
            }
            value = 0;
            if (is_there)
                memcpy(&value, texels + offset + k * size, size);
            lanes_put(m, &place[k], i, value);
        }
    }
    m->bytes = (u32)bytes;
    m->space = PTX_SPACE_GLOBAL;
}

#define HANDLER(id)
#include "warp_texture.def"

/* From here on, a row of the table is an entry. */
#include "warp_enter.h"

void WARP_NAMED(warp_enter_texture_)(warp_handler **table)
{
#include "warp_texture.def"
}
