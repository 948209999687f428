// Breadth-first search, level by level; the host reads after each level whether something changed. The frontier is a
// queue filled through an atomic counter, so its order is not defined, but levels are. Arguments: [vertices].
#include "check.hpp"

#include <queue>

__global__ void expand(const int *starts, const int *edges, int *levels, const int *frontier, int count,
                       int *next, int *next_count, int level)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    int vertex = frontier[i];
    for (int e = starts[vertex]; e < starts[vertex + 1]; e++) {
        int neighbour = edges[e];
        if (atomicCAS(&levels[neighbour], -1, level) == -1) {
            next[atomicAdd(next_count, 1)] = neighbour;
        }
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 2000);
    random_source random;
    std::vector<int> starts(1, 0), edges, levels(n, -1), want(n, -1);
    for (int vertex = 0; vertex < n; vertex++) {
        for (int i = random.next() % 5; i > 0; i--) {
            edges.push_back(random.next() % n);
        }
        edges.push_back((vertex + 1) % n);
        starts.push_back(edges.size());
    }
    std::queue<int> queue;
    queue.push(0);
    want[0] = levels[0] = 0;
    while (!queue.empty()) {
        int vertex = queue.front();
        queue.pop();
        for (int e = starts[vertex]; e < starts[vertex + 1]; e++) {
            if (want[edges[e]] < 0) {
                want[edges[e]] = want[vertex] + 1;
                queue.push(edges[e]);
            }
        }
    }
    int *dstarts = to_device(starts), *dedges = to_device(edges), *dlevels = to_device(levels);
    int *frontier = device_zeros<int>(n), *next = device_zeros<int>(n), *dcount = device_zeros<int>(1);
    int count = 1;
    for (int level = 1; count > 0 && level <= n; level++) {
        HIP_MUST(hipMemset(dcount, 0, sizeof count));
        expand<<<blocks_for(count, 128), 128>>>(dstarts, dedges, dlevels, frontier, count, next, dcount, level);
        HIP_MUST(hipMemcpy(&count, dcount, sizeof count, hipMemcpyDeviceToHost));
        std::swap(frontier, next);
    }
    from_device(levels, dlevels);
    return same_or_report("bfs", levels, want) ? pass("bfs") : 1;
}
