// Breadth-first searches on a scale-free graph (R-MAT: Chakrabarti, Zhan, Faloutsos, 2004) from
// several sources. A wavefront goes over the edges of a vertex. The host reads the size of the
// frontier after each level, so launches differ in size by orders of magnitude. Levels of the last
// source are compared with the host's. Arguments: [log2 of the vertices] [sources] [seed].
#include "check.hpp"

#include <algorithm>
#include <utility>

constexpr int block = 256, edges_per_vertex = 8;

__global__ void expand(const int *starts, const int *edges, int *levels, const int *frontier,
                       int count, int *next, int *next_count, int level)
{
    int i = (blockIdx.x * block + threadIdx.x) / wave, lane = threadIdx.x % wave;
    if (i >= count) {
        return;
    }
    int vertex = frontier[i], end = starts[vertex + 1];
    for (int e = starts[vertex] + lane; e < end; e += wave) {
        int neighbour = edges[e];
        if (levels[neighbour] < 0 && atomicCAS(&levels[neighbour], -1, level) == -1) {
            next[atomicAdd(next_count, 1)] = neighbour;
        }
    }
}

__global__ void clear(int *levels, int n, int *frontier, int source)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) {
        levels[i] = i == source ? 0 : -1;
    }
    if (i == 0) {
        frontier[0] = source;
    }
}

struct graph {
    std::vector<int> starts, edges;
};

// Each edge falls into a quarter of the matrix with probabilities 0.57, 0.19, 0.19, 0.05, and into
// a quarter of that again, and is there in both directions.
static graph scale_free_graph(int scale, random_source &random)
{
    int n = 1 << scale;
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < n * edges_per_vertex; i++) {
        int from = 0, to = 0;
        for (int bit = 0; bit < scale; bit++) {
            unsigned quarter = random.next() % 100u;
            from = 2 * from + (quarter >= 76);
            to = 2 * to + ((quarter >= 57 && quarter < 76) || quarter >= 95);
        }
        pairs.emplace_back(from, to);
        pairs.emplace_back(to, from);
    }
    std::sort(pairs.begin(), pairs.end());
    graph g;
    for (const auto &pair : pairs) {
        g.starts.resize(pair.first + 1, g.edges.size());
        g.edges.push_back(pair.second);
    }
    g.starts.resize(n + 1, g.edges.size());
    return g;
}

static std::vector<int> host_levels(const graph &g, int source)
{
    std::vector<int> levels(g.starts.size() - 1, -1), queue(1, source);
    levels[source] = 0;
    for (size_t at = 0; at < queue.size(); at++) {
        for (int e = g.starts[queue[at]]; e < g.starts[queue[at] + 1]; e++) {
            if (levels[g.edges[e]] < 0) {
                levels[g.edges[e]] = levels[queue[at]] + 1;
                queue.push_back(g.edges[e]);
            }
        }
    }
    return levels;
}

int main(int argc, char **argv)
{
    int scale = size_argument(argc, argv, 1, 8), sources = size_argument(argc, argv, 2, 3);
    random_source random;
    random.state += 7919u * size_argument(argc, argv, 3, 1);
    graph g = scale_free_graph(scale, random);
    int n = 1 << scale, source = 0;
    int *starts = to_device(g.starts), *edges = to_device(g.edges), *levels = device_zeros<int>(n);
    int *frontier = device_zeros<int>(n), *next = device_zeros<int>(n);
    int *next_count = device_zeros<int>(1);
    for (int i = 0; i < sources; i++) {
        do {
            source = random.next() % n;
        } while (g.starts[source] == g.starts[source + 1]);
        clear<<<blocks_for(n, block), block>>>(levels, n, frontier, source);
        for (int level = 1, count = 1; count > 0; level++) {
            HIP_MUST(hipMemset(next_count, 0, sizeof count));
            expand<<<blocks_for(count * size_t(wave), block), block>>>(
                starts, edges, levels, frontier, count, next, next_count, level);
            HIP_MUST(hipMemcpy(&count, next_count, sizeof count, hipMemcpyDeviceToHost));
            std::swap(frontier, next);
        }
    }
    std::vector<int> got(n);
    from_device(got, levels);
    return same_or_report("scale_free", got, host_levels(g, source)) ? pass("scale_free") : 1;
}
