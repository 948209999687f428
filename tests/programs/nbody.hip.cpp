// Gravitation among all bodies, tiles of them in LDS, some steps. Arguments: [bodies] [steps].
#include "check.hpp"

constexpr int tile = 64;
constexpr float softening = 0.05f, time_step = 0.01f;

__global__ void step(const float4 *from, float4 *to, float4 *speeds, int n)
{
    __shared__ float4 shared[tile];
    int i = blockIdx.x * tile + threadIdx.x;
    float4 self = i < n ? from[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += tile) {
        int j = start + threadIdx.x;
        shared[threadIdx.x] = j < n ? from[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < tile; k++) {
            float4 other = shared[k];
            float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float pull = other.w * inverse * inverse * inverse;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }
    if (i < n) {
        float4 v = speeds[i];
        v.x += ax * time_step;
        v.y += ay * time_step;
        v.z += az * time_step;
        speeds[i] = v;
        to[i] = make_float4(self.x + v.x * time_step, self.y + v.y * time_step, self.z + v.z * time_step, self.w);
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 150), steps = size_argument(argc, argv, 2, 2);
    random_source random;
    std::vector<float> bodies(4 * n);
    for (int i = 0; i < 4 * n; i++) {
        bodies[i] = i % 4 == 3 ? 0.01f + random.next() % 100 / 1000.0f : random.small();
    }
    std::vector<double> place(bodies.begin(), bodies.end()), speed(4 * n);
    for (int s = 0; s < steps; s++) {
        std::vector<double> old = place;
        for (int i = 0; i < n; i++) {
            double a[3] = {0, 0, 0};
            for (int j = 0; j < n; j++) {
                double d[3], square = softening;
                for (int k = 0; k < 3; k++) {
                    d[k] = old[4 * j + k] - old[4 * i + k];
                    square += d[k] * d[k];
                }
                for (int k = 0; k < 3; k++) {
                    a[k] += d[k] * old[4 * j + 3] / (square * std::sqrt(square));
                }
            }
            for (int k = 0; k < 3; k++) {
                speed[4 * i + k] += a[k] * time_step;
                place[4 * i + k] += speed[4 * i + k] * time_step;
            }
        }
    }
    std::vector<float> want(place.begin(), place.end()), got(4 * n);
    float *from = to_device(bodies), *to = device_zeros<float>(4 * n), *speeds = device_zeros<float>(4 * n);
    for (int s = 0; s < steps; s++) {
        step<<<blocks_for(n, tile), tile>>>(reinterpret_cast<float4 *>(from), reinterpret_cast<float4 *>(to),
                                            reinterpret_cast<float4 *>(speeds), n);
        std::swap(from, to);
    }
    HIP_MUST(hipGetLastError());
    from_device(got, from);
    return near_or_report("nbody", got, want, 2e-5) ? pass("nbody") : 1;
}
