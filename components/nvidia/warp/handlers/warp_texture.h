/* `target` of operations on textures and surfaces. Their places are the four results of a texture
 * or the data of a surface, then the coordinates; the handle is at[1]. Private to
 * components/nvidia/warp. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_TEXTURE_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_TEXTURE_H

enum {
    WARP_TEXTURE_DIMENSIONS = 3,     /* the bits of 1 to 3 */
    WARP_TEXTURE_BY_NUMBER = 1 << 4, /* coordinates are integers: neither modes nor filters */
    WARP_TEXTURE_GATHERS = 1 << 5,   /* tld4 */
    WARP_TEXTURE_COMPONENT = 6,      /* first of two bits: the component that tld4 gathers */
    WARP_TEXTURE_LAYERED = 1 << 8,   /* the number of the layer comes first */
    WARP_TEXTURE_CUBE = 1 << 9,      /* coordinates are a direction from the middle of a cube */
    WARP_SURFACE_STORES = 1 << 8,
    WARP_SURFACE_CLAMPS = 1 << 9, /* outside; neither: a fault */
    WARP_SURFACE_ZEROES = 1 << 10,
    WARP_SURFACE_REDUCTION = 11, /* at this bit, of three: enum warp_surface_reduction */
    WARP_SURFACE_SIGNED = 1 << 14,
    WARP_SURFACE_BYTES = 16 /* at this bit: of an element */
};

enum warp_surface_reduction {
    WARP_SURFACE_WRITES,
    WARP_SURFACE_ADD,
    WARP_SURFACE_MIN,
    WARP_SURFACE_MAX,
    WARP_SURFACE_AND,
    WARP_SURFACE_OR
};

#endif
