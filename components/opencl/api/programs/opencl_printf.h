/* printf of kernels: each launch that may print has a buffer, which is read when the kernel is done
 * and printed when the host finds that out. */
#ifndef HEDDLE_COMPONENTS_OPENCL_API_PROGRAMS_OPENCL_PRINTF_H
#define HEDDLE_COMPONENTS_OPENCL_API_PROGRAMS_OPENCL_PRINTF_H

#include "components/opencl/api/opencl_internal.h"

struct opencl_facts;
struct opencl_object;

/* Before a launch on `lane` of a kernel of device `number`: makes a buffer. */
cl_int opencl_printf_prepare(int number, uint32_t lane, uint64_t *buffer);
/* Reads the buffer after the kernel, which was enqueued. `owner` has the formats, and is held. */
cl_int opencl_printf_queued(uint64_t buffer, uint32_t lane, const struct opencl_facts *formats,
                            struct opencl_object *owner, uint64_t *ticket);
/* Prints what is there. */
void opencl_printf_flush(void);

#endif
