/* Runs kernels of PTX texts in tests: a module at a fixed address, one buffer of device memory, and
 * launches whose fault is returned. */
#ifndef HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_PTX_RUN_H
#define HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_PTX_RUN_H

#include "components/memory/page_table/host_view.h"
#include "components/nvidia/ptx/ptx.h"
#include "components/nvidia/warp/warp.h"

#define PTX_RUN_IMAGE  ((uint64_t)0x200000000000)
#define PTX_RUN_BUFFER ((uint64_t)0x200100000000)

struct ptx_run {
    struct ptx_module *module;
    struct warp_code *code;
    uint8_t *image, *buffer;
    struct host_view view;
    struct warp_fault fault;
    struct warp_launch launch; /* what the last launch was; hooks are taken from here */
    char text[PTX_ERROR_BYTES];
};

/* Parses and prepares; false: `text` says why not. `bytes` is the size of the buffer, at
 * PTX_RUN_BUFFER. */
bool ptx_run_open(struct ptx_run *r, const char *name, const char *text, size_t bytes);
void ptx_run_close(struct ptx_run *r);

/* One-dimensional. WARP_INTERRUPTED: the launch is refused, `text` says why. */
enum warp_end ptx_run_launch(struct ptx_run *r, const char *kernel, uint32_t blocks,
                             uint32_t threads, uint32_t shared, const void *parameters);

#endif
