// rocRAND, an example a case: `rand_examples CASE`. Quasi-random points and the area of a circle,
// distributions by a generator of the host, generators in kernels that go on where others stopped.
#include "../check.hpp"

#include <rocrand/rocrand.h>
#include <rocrand/rocrand_kernel.h>

#define RAND_MUST(call)                                                                            \
    do {                                                                                           \
        rocrand_status status = (call);                                                            \
        if (status != ROCRAND_STATUS_SUCCESS) {                                                    \
            std::printf("FAIL rand_examples: line %d: %s gives %d\n", __LINE__, #call, status);    \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

static bool near(const char *what, double got, double want, double most)
{
    if (std::fabs(got - want) <= most) {
        return true;
    }
    std::printf("FAIL rand_examples: %s is %g, expected %g\n", what, got, want);
    return false;
}

// Points of Sobol's sequence lie evenly: the error goes down almost as 1/n.
static bool circle()
{
    const int n = 8192;
    std::vector<float> host(2 * n);
    float *points = device_zeros<float>(2 * n);
    rocrand_generator generator;
    RAND_MUST(rocrand_create_generator(&generator, ROCRAND_RNG_QUASI_SOBOL32));
    RAND_MUST(rocrand_set_quasi_random_generator_dimensions(generator, 2));
    RAND_MUST(rocrand_generate_uniform(generator, points, 2 * n));
    from_device(host, points);
    int inside = 0;
    for (int i = 0; i < n; i++) {
        inside += host[i] * host[i] + host[n + i] * host[n + i] <= 1;
    }
    RAND_MUST(rocrand_destroy_generator(generator));
    return near("the area of a circle", 4.0 * inside / n, 3.14159265, 0.005);
}

template <typename T> static void moments(const std::vector<T> &of, double &mean, double &variance)
{
    double sum = 0, squares = 0;
    for (T x : of) {
        sum += x;
        squares += double(x) * x;
    }
    mean = sum / of.size();
    variance = squares / of.size() - mean * mean;
}

// Mean and variance of n numbers, within five standard errors.
static bool distributions()
{
    const int n = 20000;
    std::vector<float> normal(n);
    std::vector<unsigned> poisson(n), again(n);
    float *numbers = device_zeros<float>(n);
    unsigned *counts = device_zeros<unsigned>(n);
    rocrand_generator generator;
    RAND_MUST(rocrand_create_generator(&generator, ROCRAND_RNG_PSEUDO_MRG32K3A));
    RAND_MUST(rocrand_set_seed(generator, 7));
    RAND_MUST(rocrand_generate_normal(generator, numbers, n, 3, 2));
    from_device(normal, numbers);
    double mean, variance;
    moments(normal, mean, variance);
    bool good = near("a normal mean", mean, 3, 5 * 2 / std::sqrt(double(n)));
    good &= near("a normal variance", variance, 4, 5 * 4 * std::sqrt(2.0 / n));
    for (std::vector<unsigned> *to : {&poisson, &again}) { // one seed, the same numbers
        RAND_MUST(rocrand_set_seed(generator, 8));
        RAND_MUST(rocrand_generate_poisson(generator, counts, n, 10));
        from_device(*to, counts);
    }
    moments(poisson, mean, variance);
    good &= near("a Poisson mean", mean, 10, 5 * std::sqrt(10.0 / n));
    good &= near("a Poisson variance", variance, 10, 5 * 10 * std::sqrt(2.1 / n));
    RAND_MUST(rocrand_destroy_generator(generator));
    return good && same_or_report("rand_examples", again, poisson);
}

__global__ void draw(unsigned *out, int each, int skipped)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    rocrand_state_xorwow state;
    rocrand_init(42, i, skipped, &state);
    for (int k = 0; k < each; k++) {
        out[i * each + k] = rocrand(&state);
    }
}

static bool kernels()
{
    const int threads = 256, each = 16;
    std::vector<unsigned> all(threads * each), rest(threads * each / 2), want(threads * each / 2);
    unsigned *out = device_zeros<unsigned>(all.size());
    draw<<<threads / 64, 64>>>(out, each, 0);
    from_device(all, out);
    draw<<<threads / 64, 64>>>(out, each / 2, each / 2);
    from_device(rest, out);
    for (int i = 0; i < threads; i++) {
        for (int k = 0; k < each / 2; k++) {
            want[i * each / 2 + k] = all[i * each + each / 2 + k];
        }
    }
    return all[0] != all[each] && same_or_report("rand_examples", rest, want);
}

int main(int, char **words)
{
    std::string name = words[1] ? words[1] : "";
    bool good = name == "circle"          ? circle()
                : name == "distributions" ? distributions()
                : name == "kernels"       ? kernels()
                                          : false;
    return good ? pass("rand_examples") : 1;
}
