/* Asks a module for a kernel, and for a device variable, that it does not have; then for a module
 * file that does not exist. Arguments: [code object file]. */
#include <hip/hip_runtime_api.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : "module_kernels.hsaco";
    hipModule_t module, none;
    hipFunction_t function;
    hipDeviceptr_t address;
    size_t size;
    hipError_t load = hipModuleLoad(&module, file);
    if (load != hipSuccess) {
        printf("FAIL bad_missing_kernel: load: %s\n", hipGetErrorName(load));
        return 1;
    }
    hipError_t kernel = hipModuleGetFunction(&function, module, "no_such_kernel");
    hipError_t global = hipModuleGetGlobal(&address, &size, module, "no_such_variable");
    hipError_t missing = hipModuleLoad(&none, "no_such_file.hsaco");
    if (kernel != hipErrorNotFound || global != hipErrorNotFound
        || missing != hipErrorFileNotFound) {
        printf("FAIL bad_missing_kernel: kernel %s, variable %s, file %s\n",
               hipGetErrorName(kernel), hipGetErrorName(global), hipGetErrorName(missing));
        return 1;
    }
    printf("PASS bad_missing_kernel\n");
    return 0;
}
