/* Numbers on which the folder of topology files and the server agree: GPU i of the platform is
 * node i + 1 (node 0 is the processor), its gpu_id is kfd_gpu_id(i), its render node is
 * /dev/dri/renderD(128 + i), and its doorbells have kfd_doorbell_bytes(target) bytes each. */
#ifndef HEDDLE_COMPONENTS_KFD_CHANNEL_KFD_IDS_H
#define HEDDLE_COMPONENTS_KFD_CHANNEL_KFD_IDS_H

#include <stdint.h>

enum {
    KFD_RENDER_MINOR = 128,  /* the first GPU's */
    KFD_FIRST_GPU_ID = 4096, /* not 0, which means a processor */
    KFD_MAJOR_VERSION = 1,
    KFD_MINOR_VERSION = 14 /* where --kfd-version names none */
};

static inline uint32_t kfd_gpu_id(uint32_t gpu)
{
    return KFD_FIRST_GPU_ID + gpu;
}

#endif
