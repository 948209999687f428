// Shortest paths between all pairs: a kernel per intermediate vertex, each using what the last one wrote. Arguments:
// [vertices].
#include "check.hpp"

constexpr int far = 1 << 28;

__global__ void relax(int *distance, int n, int via)
{
    int to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * blockDim.y + threadIdx.y;
    if (to < n && from < n) {
        int through = distance[from * n + via] + distance[via * n + to];
        if (through < distance[from * n + to]) {
            distance[from * n + to] = through;
        }
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 45);
    random_source random;
    std::vector<int> distance(n * n), want;
    for (int i = 0; i < n * n; i++) {
        distance[i] = i % (n + 1) == 0 ? 0 : random.next() % 6 == 0 ? 1 + random.next() % 1000 : far;
    }
    want = distance;
    for (int via = 0; via < n; via++) {
        for (int from = 0; from < n; from++) {
            for (int to = 0; to < n; to++) {
                want[from * n + to] =
                    std::min(want[from * n + to], want[from * n + via] + want[via * n + to]);
            }
        }
    }
    int *device = to_device(distance);
    for (int via = 0; via < n; via++) {
        relax<<<dim3(blocks_for(n, 16), blocks_for(n, 4)), dim3(16, 4)>>>(device, n, via);
    }
    HIP_MUST(hipGetLastError());
    from_device(distance, device);
    return same_or_report("floyd_warshall", distance, want) ? pass("floyd_warshall") : 1;
}
