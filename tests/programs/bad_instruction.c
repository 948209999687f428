/* Loads a module of which one kernel reaches an instruction that is not implemented. Expected: a
 * warning at load, the launch of that kernel is refused and changes nothing, the module's other
 * kernel works; `heddle run` ends with status 3 although the program ends well. Arguments: [code
 * object file]. */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { LANES = 64 };

#define HIP_MUST(call)                                                                             \
    do {                                                                                           \
        hipError_t must_error = (call);                                                            \
        if (must_error != hipSuccess) {                                                            \
            printf("FAIL bad_instruction: line %d: %s\n", __LINE__, hipGetErrorName(must_error));  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static hipError_t launch(hipModule_t module, const char *name, hipDeviceptr_t memory, int *result)
{
    hipFunction_t function;
    void *arguments[] = {&memory};
    HIP_MUST(hipModuleGetFunction(&function, module, name));
    hipError_t error =
        hipModuleLaunchKernel(function, 1, 1, 1, LANES, 1, 1, 0, NULL, arguments, NULL);
    HIP_MUST(hipMemcpyDtoH(result, memory, LANES * sizeof *result));
    return error;
}

static int all_are(const int *result, int wanted, const char *what)
{
    for (int i = 0; i < LANES; i++) {
        if (result[i] != wanted) {
            printf("FAIL bad_instruction: %s: lane %d is %d, expected %d\n", what, i, result[i],
                   wanted);
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    hipModule_t module;
    hipDeviceptr_t memory;
    int result[LANES];
    HIP_MUST(hipModuleLoad(&module, argc > 1 ? argv[1] : "bad_instruction_kernels.hsaco"));
    HIP_MUST(hipMalloc(&memory, sizeof result));
    HIP_MUST(hipMemset(memory, 0, sizeof result));
    hipError_t refused = launch(module, "lacks", memory, result);
    if (refused != hipErrorLaunchFailure) {
        printf("FAIL bad_instruction: the launch gave %s\n", hipGetErrorName(refused));
        return 1;
    }
    if (!all_are(result, 0, "refused kernel"))
        return 1;
    HIP_MUST(launch(module, "works", memory, result));
    if (!all_are(result, 7, "kernel beside it"))
        return 1;
    HIP_MUST(hipFree(memory));
    HIP_MUST(hipModuleUnload(module));
    printf("PASS bad_instruction\n");
    return 0;
}
