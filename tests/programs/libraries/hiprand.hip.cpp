// hipRAND over rocRAND: numbers by the library's kernels, whose code is Debian's, and by a generator
// in a kernel of the program. Both count the same Philox numbers: two generators with one seed agree,
// and the mean is that of a uniform distribution. Arguments: [numbers].
#include "../check.hpp"

#include <hiprand/hiprand.h>
#include <rocrand/rocrand_kernel.h>

#define RAND_MUST(call)                                                                            \
    do {                                                                                           \
        hiprandStatus_t status = (call);                                                           \
        if (status != HIPRAND_STATUS_SUCCESS) {                                                    \
            std::printf("FAIL hiprand: line %d: %s gives %d\n", __LINE__, #call, status);          \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

__global__ void draw(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    rocrand_state_philox4x32_10 state;
    rocrand_init(20, i, 0, &state);
    if (i < n)
        out[i] = rocrand_uniform(&state);
}

static void generate(std::vector<float> &out, hiprandRngType_t type)
{
    float *device = device_zeros<float>(out.size());
    hiprandGenerator_t generator;
    RAND_MUST(hiprandCreateGenerator(&generator, type));
    RAND_MUST(hiprandSetPseudoRandomGeneratorSeed(generator, 20));
    RAND_MUST(hiprandGenerateUniform(generator, device, out.size()));
    RAND_MUST(hiprandDestroyGenerator(generator));
    from_device(out, device);
}

// Uniform in (0, 1]: the mean of n numbers is off by more than 5 sigma once in two millions.
static bool is_uniform(const char *name, const std::vector<float> &numbers)
{
    double sum = 0;
    for (float x : numbers) {
        if (!(x > 0 && x <= 1)) {
            std::printf("FAIL %s: %g is not in (0, 1]\n", name, x);
            return false;
        }
        sum += x;
    }
    double mean = sum / numbers.size(), sigma = std::sqrt(1.0 / 12 / numbers.size());
    if (std::fabs(mean - 0.5) > 5 * sigma) {
        std::printf("FAIL %s: the mean is %g\n", name, mean);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 4096);
    std::vector<float> philox(n), again(n), xorwow(n), own(n);
    generate(philox, HIPRAND_RNG_PSEUDO_PHILOX4_32_10);
    generate(again, HIPRAND_RNG_PSEUDO_PHILOX4_32_10);
    generate(xorwow, HIPRAND_RNG_PSEUDO_XORWOW);
    float *device = device_zeros<float>(n);
    draw<<<blocks_for(n, 256), 256>>>(device, n);
    from_device(own, device);
    if (philox == xorwow || philox == own) {
        std::printf("FAIL hiprand: two generators draw the same\n");
        return 1;
    }
    return same_or_report("one seed", again, philox) && is_uniform("philox", philox)
                   && is_uniform("xorwow", xorwow) && is_uniform("in a kernel", own)
               ? pass("hiprand")
               : 1;
}
