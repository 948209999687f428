// LDS whose size the launch chooses, beside LDS of fixed size; several sizes, up to nearly all of it. Arguments: none.
#include "check.hpp"

__global__ void rotate(const int *in, int *out, int n, int by)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed[64];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        dynamic[i] = in[blockIdx.x * n + i];
    }
    if (threadIdx.x < 64) {
        fixed[threadIdx.x] = 3 * threadIdx.x;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[blockIdx.x * n + i] = dynamic[(i + by) % n] + fixed[(i + by) % 64];
    }
}

int main()
{
    for (int n : {1, 65, 500, 2048, 12000}) {
        int groups = n > 2000 ? 2 : 5, by = n / 3 + 1;
        std::vector<int> in(n * groups), out(n * groups), want(n * groups);
        random_source random;
        for (int &value : in) {
            value = random.next();
        }
        for (int i = 0; i < n * groups; i++) {
            int from = (i % n + by) % n;
            want[i] = in[i / n * n + from] + 3 * ((i % n + by) % 64);
        }
        int *din = to_device(in), *dout = device_zeros<int>(in.size());
        rotate<<<groups, 128, n * sizeof(int)>>>(din, dout, n, by);
        HIP_MUST(hipGetLastError());
        from_device(out, dout);
        if (!same_or_report("dynamic_lds", out, want)) {
            return 1;
        }
    }
    return pass("dynamic_lds");
}
