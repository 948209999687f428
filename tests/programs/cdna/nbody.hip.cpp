// nbody N: one step of N bodies that attract each other, all pairs. A work-group reads the bodies in tiles of 256 through a
// buffer, which is in global memory, and all work-groups use the same 4 KiB of it: with more than one work-group what
// a thread reads there may be of another tile. --check makes a second step with bodies that repeat every 256, for which
// every tile is the same, and compares that with the host's; of the measured step it checks that the results are finite.
#include "label.hpp"

constexpr int group = 256;
constexpr float softening = 50.0f, time_step = 0.005f;

__global__ void nbody_kernel(const float4 *position, const float4 *velocity, int bodies, float dt,
                             float epsilon, float4 *shared_position, float4 *new_position,
                             float4 *new_velocity)
{
    int thread = threadIdx.x, size = blockDim.x, body = blockIdx.x * size + thread;
    float4 mine = position[body];
    float ax = 0, ay = 0, az = 0;
    for (int tile = 0; tile < bodies / size; tile++) {
        shared_position[thread] = position[tile * size + thread];
        __syncthreads();
        for (int j = 0; j < size; j++) {
            float4 other = shared_position[j];
            float rx = other.x - mine.x, ry = other.y - mine.y, rz = other.z - mine.z;
            float inverse = 1.0f / sqrtf(rx * rx + ry * ry + rz * rz + epsilon);
            float s = other.w * (inverse * inverse * inverse);
            ax += s * rx;
            ay += s * ry;
            az += s * rz;
        }
        __syncthreads();
    }
    float4 v = velocity[body];
    float half_square = 0.5f * dt * dt;
    new_position[body] =
        make_float4(mine.x + v.x * dt + ax * half_square, mine.y + v.y * dt + ay * half_square,
                    mine.z + v.z * dt + az * half_square, mine.w);
    new_velocity[body] = make_float4(v.x + ax * dt, v.y + ay * dt, v.z + az * dt, v.w);
}

struct nbody {
    size_t bodies;
    float4 *position, *velocity, *shared_position, *new_position, *new_velocity;
};

static void nbody_step(const nbody &n)
{
    nbody_kernel<<<dim3(n.bodies / group), dim3(group)>>>(n.position, n.velocity, int(n.bodies),
                                                          time_step, softening, n.shared_position,
                                                          n.new_position, n.new_velocity);
}

// Positions whose coordinates are in [0, 100) and that repeat every `period` bodies, of mass 1.
static std::vector<float> nbody_positions(size_t bodies, size_t period)
{
    glibc_random random(42);
    std::vector<float> position(4 * bodies);
    for (size_t i = 0; i < bodies; i++) {
        for (size_t k = 0; k < 4; k++) {
            size_t from = 4 * (i % period) + k;
            position[4 * i + k] = i >= period ? position[from]
                                  : k == 3    ? 1.0f
                                              : float(random.next()) / float(RAND_MAX) * 100.0f;
        }
    }
    return position;
}

// Velocities after a step, in double precision. The bodies repeat every `group`.
static std::vector<float> nbody_host(const std::vector<float> &position)
{
    size_t bodies = position.size() / 4, tiles = bodies / group;
    std::vector<float> velocity(position.size());
    for (size_t i = 0; i < bodies; i++) {
        for (size_t j = 0; j < size_t(group); j++) {
            double r[3], square = softening;
            for (int k = 0; k < 3; k++) {
                r[k] = double(position[4 * j + k]) - position[4 * i + k];
                square += r[k] * r[k];
            }
            for (int k = 0; k < 3; k++) {
                velocity[4 * i + k] +=
                    float(double(tiles) * r[k] / (square * std::sqrt(square)) * time_step);
            }
        }
    }
    return velocity;
}

static bool nbody_check(const nbody &n)
{
    std::vector<float> moved(4 * n.bodies), velocity(4 * n.bodies);
    HIP_MUST(hipMemcpy(velocity.data(), n.new_velocity, n.bodies * 16, hipMemcpyDeviceToHost));
    for (float one : velocity) {
        if (!std::isfinite(one)) {
            std::printf("FAIL nbody: a velocity is not finite\n");
            return false;
        }
    }
    std::vector<float> position = nbody_positions(n.bodies, group), want(nbody_host(position));
    HIP_MUST(hipMemcpy(n.position, position.data(), n.bodies * 16, hipMemcpyHostToDevice));
    nbody_step(n);
    HIP_MUST(hipMemcpy(velocity.data(), n.new_velocity, n.bodies * 16, hipMemcpyDeviceToHost));
    HIP_MUST(hipMemcpy(moved.data(), n.new_position, n.bodies * 16, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < moved.size(); i++) {
        position[i] += want[i] * 0.5f * time_step;
    }
    return near_or_report("nbody", velocity, want, 1e-5)
           && near_or_report("nbody", moved, position, 1e-6);
}

int main(int argc, char **argv)
{
    label l = label_arguments(argc, argv, "nbody", group, size_t(1) << 24);
    std::vector<float> position = nbody_positions(l.size, l.size), still(4 * l.size);
    nbody n = {l.size,
               reinterpret_cast<float4 *>(to_device(position)),
               reinterpret_cast<float4 *>(to_device(still)),
               device_array<float4>(l.size),
               device_array<float4>(l.size),
               device_array<float4>(l.size)};
    label_run(l, [&] { nbody_step(n); });
    return !l.check                                             ? 0
           : label_random_is_that_of_glibc(l) && nbody_check(n) ? pass("nbody")
                                                                : 1;
}
