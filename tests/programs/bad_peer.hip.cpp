// Memory of another GPU: copies need no leave, kernels do. With the argument `enabled` access is enabled, and everything is
// fine; without it, a kernel reads what it may not, and must be told how to get leave.
#include "check.hpp"

__global__ void double_all(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 2 * in[i];
    }
}

static bool check_calls(int peer)
{
    int can = -1, self = -1;
    HIP_MUST(hipDeviceCanAccessPeer(&can, 0, peer));
    HIP_MUST(hipDeviceCanAccessPeer(&self, 0, 0));
    bool good = can == 1 && self == 0 && hipDeviceDisablePeerAccess(peer) == hipErrorPeerAccessNotEnabled &&
                hipDeviceEnablePeerAccess(peer, 1) == hipErrorInvalidValue &&
                hipDeviceEnablePeerAccess(0, 0) == hipErrorInvalidDevice &&
                hipDeviceEnablePeerAccess(99, 0) == hipErrorInvalidDevice &&
                hipDeviceEnablePeerAccess(peer, 0) == hipSuccess &&
                hipDeviceEnablePeerAccess(peer, 0) == hipErrorPeerAccessAlreadyEnabled &&
                hipDeviceDisablePeerAccess(peer) == hipSuccess;
    hipGetLastError();
    return good;
}

int main(int argc, char **argv)
{
    const int n = 500, peer = 1;
    std::vector<int> in(n), want(n), got(n);
    int *there = nullptr, *here = nullptr;
    for (int i = 0; i < n; i++) {
        in[i] = i * i;
        want[i] = 2 * in[i];
    }
    if (!check_calls(peer)) {
        std::printf("FAIL bad_peer: the calls for peer access answer wrongly\n");
        return 1;
    }
    HIP_MUST(hipSetDevice(peer));
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&there), n * sizeof(int)));
    HIP_MUST(hipSetDevice(0));
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&here), n * sizeof(int)));
    HIP_MUST(hipMemcpy(here, in.data(), n * sizeof(int), hipMemcpyHostToDevice));
    HIP_MUST(hipMemcpyPeerAsync(there, peer, here, 0, n * sizeof(int), nullptr));
    if (argc > 1) {
        HIP_MUST(hipDeviceEnablePeerAccess(peer, 0));
    }
    double_all<<<blocks_for(n, 64), 64>>>(there, here, n);
    HIP_MUST(hipGetLastError());
    hipError_t error = hipDeviceSynchronize();
    if (argc <= 1) {
        return error == hipErrorIllegalAddress ? pass("bad_peer") : 1;
    }
    HIP_MUST(error);
    from_device(got, here);
    return same_or_report("bad_peer", got, want) ? pass("bad_peer") : 1;
}
