/* A plain C program that loads a code object from a file and launches its kernel both ways: by an
 * array of pointers to arguments, and by a packed buffer (`extra`). The device variable is written
 * through hipModuleGetGlobal. Arguments: [code object file] [elements]. */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define HIP_MUST(call)                                                                             \
    do {                                                                                           \
        hipError_t must_error = (call);                                                            \
        if (must_error != hipSuccess) {                                                            \
            printf("FAIL module: line %d: %s\n", __LINE__, hipGetErrorName(must_error));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static int verify(const int *in, const int *out, int n, int factor, int offset, const char *way)
{
    for (int i = 0; i < n; i++) {
        if (out[i] != in[i] * factor + offset) {
            printf("FAIL module: %s: element %d is %d, expected %d\n", way, i, out[i],
                   in[i] * factor + offset);
            return 1;
        }
    }
    return 0;
}

/* The same launch with its arguments in one buffer. */
static int launch_packed(hipFunction_t scale, hipDeviceptr_t din, hipDeviceptr_t dout, int n,
                         unsigned blocks)
{
    struct {
        hipDeviceptr_t in, out;
        short factor;
        int n;
    } packed = {din, dout, -9, n};
    size_t packed_size = sizeof packed;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                     &packed_size, HIP_LAUNCH_PARAM_END};
    HIP_MUST(hipModuleLaunchKernel(scale, blocks, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    return 0;
}

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : "module_kernels.hsaco";
    int n = argc > 2 ? atoi(argv[2]) : 3000;
    if (n < 1) {
        printf("FAIL module: '%s' is not a size\n", argv[2]);
        return 2;
    }
    size_t bytes = (size_t)n * sizeof(int);
    int *in = malloc(bytes), *out = calloc(1, bytes);
    for (int i = 0; i < n; i++)
        in[i] = i * 7 - 5000;
    hipModule_t module;
    hipFunction_t scale;
    hipDeviceptr_t din, dout, doffset;
    size_t offset_size = 0;
    int offset = 42;
    HIP_MUST(hipInit(0));
    HIP_MUST(hipModuleLoad(&module, file));
    HIP_MUST(hipModuleGetFunction(&scale, module, "scale"));
    HIP_MUST(hipModuleGetGlobal(&doffset, &offset_size, module, "offset"));
    if (offset_size != sizeof offset) {
        printf("FAIL module: device variable has %zu bytes\n", offset_size);
        return 1;
    }
    HIP_MUST(hipMemcpyHtoD(doffset, &offset, sizeof offset));
    HIP_MUST(hipMalloc(&din, bytes));
    HIP_MUST(hipMalloc(&dout, bytes));
    HIP_MUST(hipMemcpyHtoD(din, in, bytes));

    short factor = 3;
    void *arguments[] = {&din, &dout, &factor, &n};
    unsigned blocks = (unsigned)(n + 63) / 64u;
    HIP_MUST(hipModuleLaunchKernel(scale, blocks, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
    HIP_MUST(hipMemcpyDtoH(out, dout, bytes));
    if (verify(in, out, n, 3, 42, "kernelParams"))
        return 1;

    if (launch_packed(scale, din, dout, n, blocks))
        return 1;
    HIP_MUST(hipMemcpyDtoH(out, dout, bytes));
    if (verify(in, out, n, -9, 42, "extra"))
        return 1;
    HIP_MUST(hipFree(din));
    HIP_MUST(hipFree(dout));
    HIP_MUST(hipModuleUnload(module));
    free(in);
    free(out);
    printf("PASS module\n");
    return 0;
}
