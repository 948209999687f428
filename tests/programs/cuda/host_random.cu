// Random numbers that the host asks for (curand.h): means and variances, generators that go on,
// begin again and write to the host's memory, and what is refused. Prints PASS or FAIL.
#include <cmath>
#include <cstdio>
#include <vector>

#include <curand.h>

static bool failed;

static void expect(bool is_so, const char *what)
{
    if (!is_so)
        std::printf("%s\n", what);
    failed |= !is_so;
}

template <typename T> static std::vector<T> read(const T *from, size_t count)
{
    std::vector<T> values(count);
    cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
}

// Within five standard errors, of numbers whose fourth moment is no worse than a normal one's.
template <typename T>
static void expect_moments(const std::vector<T> &values, double mean, double variance,
                           const char *what)
{
    double sum = 0, squares = 0;
    for (T value : values)
        sum += value;
    sum /= values.size();
    for (T value : values)
        squares += (value - sum) * (value - sum);
    double error = 5 / std::sqrt((double)values.size());
    expect(std::fabs(sum - mean) < error * std::sqrt(variance), what);
    expect(std::fabs(squares / values.size() - variance) < 1.5 * error * variance, what);
}

int main()
{
    const size_t count = 20000;
    curandGenerator_t generator, host;
    float *singles;
    double *doubles;
    unsigned int *words;
    cudaMalloc(&singles, count * sizeof *singles);
    cudaMalloc(&doubles, count * sizeof *doubles);
    cudaMalloc(&words, count * sizeof *words);
    expect(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS,
           "create");
    curandSetPseudoRandomGeneratorSeed(generator, 1234ull);

    expect(curandGenerateUniform(generator, singles, count) == CURAND_STATUS_SUCCESS, "uniform");
    std::vector<float> first = read(singles, count);
    expect_moments(first, 0.5, 1.0 / 12, "moments of uniform numbers");
    curandGenerateUniform(generator, singles, count);
    std::vector<float> second = read(singles, count);
    size_t same = 0;
    for (size_t i = 0; i < count; i++)
        same += first[i] == second[i];
    expect(same < 10, "a generator goes on");
    curandSetPseudoRandomGeneratorSeed(generator, 1234ull);
    curandGenerateUniform(generator, singles, count);
    expect(read(singles, count) == first, "a seed begins again");

    curandGenerateNormal(generator, singles, count, 3.0f, 2.0f);
    expect_moments(read(singles, count), 3, 4, "moments of normal numbers");
    curandGenerateNormalDouble(generator, doubles, count, -1, 0.5);
    expect_moments(read(doubles, count), -1, 0.25, "moments of normal numbers of double precision");
    curandGenerateUniformDouble(generator, doubles, count);
    expect_moments(read(doubles, count), 0.5, 1.0 / 12, "moments of uniform doubles");
    curandGeneratePoisson(generator, words, count, 4);
    expect_moments(read(words, count), 4, 4, "moments of Poisson's numbers");
    curandGenerateLogNormal(generator, singles, count, 0, 0.25f);
    std::vector<float> logs = read(singles, count);
    for (float &value : logs)
        value = std::log(value);
    expect_moments(logs, 0, 0.0625, "moments of logarithms");
    expect(curandGenerateNormal(generator, singles, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE,
           "normal numbers come in pairs");

    expect(curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_PHILOX4_32_10)
               == CURAND_STATUS_SUCCESS,
           "create for the host");
    curandSetPseudoRandomGeneratorSeed(host, 1234ull);
    std::vector<float> third(count);
    curandGenerateUniform(host, third.data(), count);
    expect(third == first, "memory of the host");
    expect(curandCreateGenerator(&host, CURAND_RNG_QUASI_SOBOL32) == CURAND_STATUS_TYPE_ERROR,
           "quasi-random numbers are not there");

    curandDestroyGenerator(generator);
    curandDestroyGenerator(host);
    cudaFree(singles);
    cudaFree(doubles);
    cudaFree(words);
    std::puts(failed ? "FAIL" : "PASS");
    return failed;
}
