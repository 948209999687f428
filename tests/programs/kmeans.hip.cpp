// k-means: assignment, then sums by float atomics in LDS and memory, and new centres, for some rounds. Coordinates are
// small multiples of 1/16, so sums are exact in any order. Arguments: [points] [rounds].
#include "check.hpp"

constexpr int clusters = 5, dimensions = 4;

__global__ void assign(const float *points, const float *centres, int *owner, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int best = 0;
    float best_distance = INFINITY;
    for (int c = 0; c < clusters; c++) {
        float distance = 0;
        for (int d = 0; d < dimensions; d++) {
            float delta = points[d * n + i] - centres[c * dimensions + d];
            distance = fmaf(delta, delta, distance);
        }
        if (distance < best_distance) {
            best_distance = distance;
            best = c;
        }
    }
    owner[i] = best;
}

__global__ void accumulate(const float *points, const int *owner, float *sums, int *counts, int n)
{
    __shared__ float local_sums[clusters * dimensions];
    __shared__ int local_counts[clusters];
    if (threadIdx.x < clusters * dimensions) {
        local_sums[threadIdx.x] = 0;
    }
    if (threadIdx.x < clusters) {
        local_counts[threadIdx.x] = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int d = 0; d < dimensions; d++) {
            atomicAdd(&local_sums[owner[i] * dimensions + d], points[d * n + i]);
        }
        atomicAdd(&local_counts[owner[i]], 1);
    }
    __syncthreads();
    if (threadIdx.x < clusters * dimensions) {
        atomicAdd(&sums[threadIdx.x], local_sums[threadIdx.x]);
    }
    if (threadIdx.x < clusters) {
        atomicAdd(&counts[threadIdx.x], local_counts[threadIdx.x]);
    }
}

__global__ void move(float *centres, float *sums, int *counts)
{
    int c = threadIdx.x / dimensions;
    if (counts[c] > 0) {
        centres[threadIdx.x] = sums[threadIdx.x] / counts[c];
    }
    sums[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < clusters) {
        counts[threadIdx.x] = 0;
    }
}

static void host_round(const std::vector<float> &points, std::vector<float> &centres, std::vector<int> &owner)
{
    int n = owner.size();
    std::vector<float> sums(clusters * dimensions);
    std::vector<int> counts(clusters);
    for (int i = 0; i < n; i++) {
        float best_distance = INFINITY;
        for (int c = 0; c < clusters; c++) {
            float distance = 0;
            for (int d = 0; d < dimensions; d++) {
                float delta = points[d * n + i] - centres[c * dimensions + d];
                distance = std::fmaf(delta, delta, distance);
            }
            if (distance < best_distance) {
                best_distance = distance;
                owner[i] = c;
            }
        }
        for (int d = 0; d < dimensions; d++) {
            sums[owner[i] * dimensions + d] += points[d * n + i];
        }
        counts[owner[i]]++;
    }
    for (int j = 0; j < clusters * dimensions; j++) {
        if (counts[j / dimensions] > 0) {
            centres[j] = sums[j] / counts[j / dimensions];
        }
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 1500), rounds = size_argument(argc, argv, 2, 3);
    random_source random;
    std::vector<float> points(n * dimensions), centres(clusters * dimensions), want_centres;
    std::vector<int> owner(n), want_owner(n);
    for (float &value : points) {
        value = random.small();
    }
    for (float &value : centres) {
        value = random.small();
    }
    want_centres = centres;
    float *dpoints = to_device(points), *dcentres = to_device(centres);
    float *dsums = device_zeros<float>(centres.size());
    int *downer = device_zeros<int>(n), *dcounts = device_zeros<int>(clusters);
    for (int round = 0; round < rounds; round++) {
        host_round(points, want_centres, want_owner);
        assign<<<blocks_for(n, 256), 256>>>(dpoints, dcentres, downer, n);
        accumulate<<<blocks_for(n, 256), 256>>>(dpoints, downer, dsums, dcounts, n);
        move<<<1, clusters * dimensions>>>(dcentres, dsums, dcounts);
    }
    HIP_MUST(hipGetLastError());
    from_device(centres, dcentres);
    from_device(owner, downer);
    return same_or_report("kmeans owners", owner, want_owner) &&
                   near_or_report("kmeans centres", centres, want_centres, 1e-6)
               ? pass("kmeans")
               : 1;
}
