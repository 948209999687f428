/* A texture or surface object: its handle is the address of this struct in device memory, where the
 * CUDA library writes it and the executor of PTX reads it. Texels lie in rows; a volume has planes
 * of `height` rows. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_TEXTURE_TEXTURE_OBJECT_H
#define HEDDLE_COMPONENTS_PROTOCOLS_TEXTURE_TEXTURE_OBJECT_H

#include <stdint.h>

#define TEXTURE_MAGIC 0x7e78f00du

/* The numbers of CUDA's enumerations. */
enum texture_kind { TEXTURE_SIGNED, TEXTURE_UNSIGNED, TEXTURE_FLOAT };
enum texture_address { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER };

struct texture_object {
    uint32_t magic;
    uint32_t size[3];      /* texels; 1 in directions that there are not */
    uint64_t base;         /* device address of the first texel */
    uint32_t pitch;        /* bytes from a row to the next one */
    uint8_t channel_bytes; /* 1, 2, 4 */
    uint8_t channels;      /* 1, 2, 4 */
    uint8_t kind;          /* enum texture_kind */
    uint8_t is_linear;     /* a run of texels, which is fetched by number only */
    uint8_t address[3];    /* enum texture_address */
    uint8_t interpolates;
    uint8_t normalised_read; /* integers are read as -1 to 1, or 0 to 1 */
    uint8_t normalised_coordinates;
    uint8_t is_cube; /* six planes are the faces of a cube, or of one of many */
    uint8_t reserved;
    float border[4];
};
_Static_assert(sizeof(struct texture_object) == 56, "it should have no gaps");

#endif
