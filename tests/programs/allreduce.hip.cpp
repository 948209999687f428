// The sum of vectors of all GPUs, on all GPUs, twice: by a ring (each GPU gets a chunk from its neighbour by a peer copy and adds
// its own, then the sums go round), and by a tree (kernels read the other GPU's memory themselves). Arguments: [elements].
#include "check.hpp"

__global__ void add(int *to, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] += from[i];
    }
}

struct gpus {
    int count, n, chunk;
    std::vector<int *> data, inbox;
};

static void wait_all(const gpus &g)
{
    for (int d = 0; d < g.count; d++) {
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipDeviceSynchronize());
    }
}

static int chunk_size(const gpus &g, int c)
{
    return c < g.count - 1 ? g.chunk : g.n - g.chunk * (g.count - 1);
}

// One step of the ring: GPU d sends chunk d - step to the next one, which adds it or takes it.
static void ring_step(gpus &g, int step, bool adds)
{
    for (int d = 0; d < g.count; d++) {
        int next = (d + 1) % g.count, c = (d - step + 2 * g.count) % g.count;
        HIP_MUST(hipSetDevice(d));
        int *to = adds ? g.inbox[next] : g.data[next] + c * g.chunk;
        HIP_MUST(hipMemcpyPeerAsync(to, next, g.data[d] + c * g.chunk, d, chunk_size(g, c) * sizeof(int), nullptr));
    }
    wait_all(g);
    for (int d = 0; adds && d < g.count; d++) {
        int c = (d - 1 - step + 2 * g.count) % g.count, size = chunk_size(g, c);
        HIP_MUST(hipSetDevice(d));
        add<<<blocks_for(size, 64), 64>>>(g.data[d] + c * g.chunk, g.inbox[d], size);
        HIP_MUST(hipGetLastError());
    }
    wait_all(g);
}

static void ring(gpus &g)
{
    for (int step = 0; step < g.count - 1; step++) {
        ring_step(g, step, true);
    }
    for (int step = 0; step < g.count - 1; step++) {
        ring_step(g, step - 1, false);
    }
}

static void tree(gpus &g)
{
    for (int distance = 1; distance < g.count; distance *= 2) {
        for (int d = 0; d + distance < g.count; d += 2 * distance) {
            HIP_MUST(hipSetDevice(d));
            add<<<blocks_for(g.n, 64), 64>>>(g.data[d], g.data[d + distance], g.n);
            HIP_MUST(hipGetLastError());
        }
        wait_all(g);
    }
    for (int d = 1; d < g.count; d++) {
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipMemcpyPeer(g.data[d], d, g.data[0], 0, g.n * sizeof(int)));
    }
}

int main(int argc, char **argv)
{
    gpus g = {};
    g.n = size_argument(argc, argv, 1, 1000);
    HIP_MUST(hipGetDeviceCount(&g.count));
    g.chunk = g.n / g.count;
    g.data.resize(g.count);
    g.inbox.resize(g.count);
    for (int d = 0; d < g.count; d++) {
        HIP_MUST(hipSetDevice(d));
        allocate(&g.data[d], g.n * sizeof(int));
        allocate(&g.inbox[d], g.n * sizeof(int));
        for (int other = 0; other < g.count; other++) {
            if (other != d) {
                HIP_MUST(hipDeviceEnablePeerAccess(other, 0));
            }
        }
    }
    for (bool by_ring : {true, false}) {
        std::vector<int> want(g.n), mine(g.n), got(g.n);
        for (int d = 0; d < g.count; d++) {
            for (int i = 0; i < g.n; i++) {
                mine[i] = i * (d + 1) + d * by_ring;
                want[i] += mine[i];
            }
            HIP_MUST(hipSetDevice(d));
            HIP_MUST(hipMemcpy(g.data[d], mine.data(), g.n * sizeof(int), hipMemcpyHostToDevice));
        }
        by_ring ? ring(g) : tree(g);
        for (int d = 0; d < g.count; d++) {
            HIP_MUST(hipSetDevice(d));
            from_device(got, g.data[d]);
            if (!same_or_report(by_ring ? "allreduce: ring" : "allreduce: tree", got, want)) {
                return 1;
            }
        }
    }
    return pass("allreduce");
}
