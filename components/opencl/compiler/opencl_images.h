/* Functions for images, in OpenCL C, that stand in for those of AMD's device library. */
#ifndef HEDDLE_OPENCL_IMAGES_H
#define HEDDLE_OPENCL_IMAGES_H

extern const char opencl_images[]; /* the text of opencl_images.cl */

#endif
