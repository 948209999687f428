// Records of four numbers, written number by number, on every GPU that there is: each store of a
// wavefront covers a quarter of 16 lines.
#include <cstdio>
#include <vector>

#include <hip/hip_runtime.h>

// Which number comes first is not known before, so the stores stay four.
__global__ void fill(int *to, int n, int flip)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int k = 0; k < 4; k++) {
            to[4 * i + (k ^ flip)] = 5 * i + (k ^ flip);
        }
    }
}

int main()
{
    int n = 8192, gpus = 0, wrong = 0;
    if (hipGetDeviceCount(&gpus) != hipSuccess) {
        return 1;
    }
    for (int gpu = 0; gpu < gpus; gpu++) {
        hipDeviceProp_t about;
        int *records;
        std::vector<int> got(4 * n);
        bool fine = hipGetDeviceProperties(&about, gpu) == hipSuccess
                    && hipSetDevice(gpu) == hipSuccess
                    && hipMalloc(&records, got.size() * sizeof(int)) == hipSuccess;
        if (!fine) {
            return 1;
        }
        fill<<<n / 256, 256>>>(records, n, 2);
        wrong += hipMemcpy(got.data(), records, got.size() * sizeof(int), hipMemcpyDeviceToHost)
                 != hipSuccess;
        for (int i = 0; i < 4 * n; i++) {
            wrong += got[i] != 5 * (i / 4) + i % 4;
        }
        wrong += hipFree(records) != hipSuccess;
        printf("GPU %d is a %s\n", gpu, about.gcnArchName);
    }
    printf(wrong ? "%d numbers are wrong\n" : "all records are right\n", wrong);
    return wrong != 0;
}
