// Kernels that reuse each other's data: ping-pong buffers, a buffer that the host rewrites between kernels, copies
// within the device in between, and kernels that overwrite what another one just read. Arguments: [elements] [rounds].
#include "check.hpp"

__global__ void smooth(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[(i + n - 1) % n] + 2 * in[i] + in[(i + 1) % n];
    }
}

// Every work-group reads what other work-groups wrote in the kernel before.
__global__ void reverse(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[n - 1 - i] = in[i] ^ i;
    }
}

__global__ void add(int *to, const int *from, const int *parameters, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] += from[i] * parameters[0] + parameters[1];
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 3000), rounds = size_argument(argc, argv, 2, 4);
    random_source random;
    std::vector<int> a(n), b(n), c(n), parameters(2), got(n);
    for (int &value : a) {
        value = random.next() % 1000;
    }
    int *da = to_device(a), *db = device_zeros<int>(n), *dc = device_zeros<int>(n), *dp = device_zeros<int>(2);
    unsigned blocks = blocks_for(n, 256);
    for (int round = 0; round < rounds; round++) {
        parameters = {round + 2, -round};
        HIP_MUST(hipMemcpy(dp, parameters.data(), 2 * sizeof(int), hipMemcpyHostToDevice));
        smooth<<<blocks, 256>>>(da, db, n);
        reverse<<<blocks, 256>>>(db, dc, n);
        add<<<blocks, 256>>>(da, dc, dp, n);
        HIP_MUST(hipMemcpy(dc, da, n * sizeof(int), hipMemcpyDeviceToDevice));
        reverse<<<blocks, 256>>>(dc, da, n);
        for (int i = 0; i < n; i++) {
            b[i] = a[(i + n - 1) % n] + 2 * a[i] + a[(i + 1) % n];
        }
        for (int i = 0; i < n; i++) {
            c[n - 1 - i] = b[i] ^ i;
        }
        for (int i = 0; i < n; i++) {
            a[i] = static_cast<int>(static_cast<unsigned>(a[i]) +
                                    static_cast<unsigned>(c[i]) * parameters[0] + parameters[1]);
        }
        c = a;
        for (int i = 0; i < n; i++) {
            a[n - 1 - i] = c[i] ^ i;
        }
        if (round == 1) { // the host's own copy must see what the kernels left, and reach the next kernel
            from_device(got, da);
            if (!same_or_report("pipeline: in between", got, a)) {
                return 1;
            }
            a[5] = 77;
            HIP_MUST(hipMemcpy(da + 5, &a[5], sizeof(int), hipMemcpyHostToDevice));
        }
    }
    from_device(got, da);
    return same_or_report("pipeline", got, a) ? pass("pipeline") : 1;
}
