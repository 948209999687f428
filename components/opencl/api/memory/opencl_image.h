/* Images: memory objects whose elements lie row after row, with the pitches that the program gave
 * for its own copy. Kernels read and write them with loads and stores, by a description in memory
 * of the device (compiler/opencl_functions.cl). */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_MEMORY_OPENCL_IMAGE_H
#define HEDDLE_COMPONENTS_OPENCL_API_MEMORY_OPENCL_IMAGE_H

#include "opencl_memory.h"

enum {
    OPENCL_IMAGE_WIDTH_MAX = 16384,
    OPENCL_IMAGE_DEPTH_MAX = 2048, /* width, height and depth of 3-D images; images of an array */
    OPENCL_IMAGE_BUFFER_MAX = 1 << 27,
    OPENCL_ELEMENT_MAX = 16 /* bytes */
};

/* The channels of an element, and their order. */
struct opencl_channel_order {
    cl_channel_order name;
    uint8_t hsa;        /* number of the order in HSA, which the device library expects */
    uint8_t components; /* components of an element */
    uint8_t read[4];    /* the component of each channel; 4: it is 0; 5: it is 1 */
    uint8_t write[4];   /* the channel of each component; 4: none */
    bool is_opaque;     /* the fourth channel of the border is 1 */
};

struct opencl_channel_type {
    cl_channel_type name;
    uint8_t hsa, bytes; /* code and size of a component, or of a packed element */
    bool is_packed;
    bool is_integer;
};

struct opencl_image {
    cl_mem_object_type type;
    cl_image_format format;
    const struct opencl_channel_order *order;
    const struct opencl_channel_type *channel;
    size_t bytes;                 /* size of an element */
    size_t extent[3];             /* elements, with the images of an array in its last dimension */
    size_t row, slice;            /* bytes from one to the next */
    struct opencl_memory *buffer; /* held: the buffer that it shows; NULL: memory of its own */
    uint64_t *descriptions;       /* one a device of the context; 0: none yet */
};

/* The image of the handle, or NULL. */
struct opencl_memory *opencl_image_find(cl_mem handle);
/* The dimensions of an origin: 1 to 3. */
int opencl_image_dimensions(const struct opencl_image *image);
/* The box of the elements. False: they do not lie in the image. */
bool opencl_image_box(const struct opencl_image *image, const size_t *origin, const size_t *region,
                      struct opencl_box *box);
/* The address of its description on the device at `place` of the context. */
cl_int opencl_image_description(struct opencl_memory *memory, int place, uint64_t *address);
/* Frees what the object has as an image. */
void opencl_image_end(struct opencl_memory *memory);

/* ---- formats: opencl_image_format.c ---- */

/* CL_SUCCESS and the image's format, or what is wrong with it. */
cl_int opencl_image_set_format(struct opencl_image *image, const cl_image_format *format);
/* An element of the colour: four floats, or integers as the format has them. */
void opencl_image_encode(const struct opencl_image *image, const void *colour,
                         uint8_t element[OPENCL_ELEMENT_MAX]);

#endif
