/* A launch that prints more than there is room for: what fits arrives whole. */
#include "opencl_check.h"

static const char source[] = "__kernel void tell(void)\n"
                             "{ int i = get_global_id(0); printf(\"%v16d\\n\", (int16)(i)); }\n";

int main(void)
{
    const size_t items = 16384; /* 68 bytes each, of which 1 MiB holds 15,420 */
    begin();
    cl_command_queue queue = make_queue(0);
    cl_program program = make_program(source, "");
    cl_kernel kernel = make_kernel(program, "tell");
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
    OK(clReleaseCommandQueue(queue));
    return end();
}
