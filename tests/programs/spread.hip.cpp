// Ten kernels over data that is spread over all devices of the platform in equal slices. Each device works on the part of the
// result that is its own, and reads, writes or counts in the memory of the others where the algorithm says so; so with one
// device everything is local. Arguments: [kernel, or all] [elements].
#include "check.hpp"

#include <string>

enum { MOST = 16, SWEEPS = 8, BINS = 64, SIDE_BITS = 5 };

// An array in slices, one a device.
struct slices {
    int *part[MOST];
    int each;
};

__device__ static int &at(const slices &s, int i)
{
    return s.part[i / s.each][i % s.each];
}

// What kernels work on: a and b are read, c is the result; `first` is where the slice of the device begins.
struct job {
    slices a, b, c;
    int n, first;
};

__device__ static int index_of(const job &j)
{
    return j.first + blockIdx.x * blockDim.x + threadIdx.x;
}

// c = a + b, all of it local.
__global__ void vectoradd(job j)
{
    int i = index_of(j);
    at(j.c, i) = at(j.a, i) + at(j.b, i);
}

// The result is written again and again, as by a loop whose running value is kept in memory.
__global__ void accumulate(job j)
{
    int i = index_of(j);
    volatile int *c = &at(j.c, i);
    *c = at(j.a, i);
    for (int k = 1; k < SWEEPS; k++) {
        *c = *c + at(j.b, i) * k;
    }
}

// Three points, the outer ones of a slice from a neighbour.
__global__ void stencil(job j)
{
    int i = index_of(j);
    at(j.c, i) = at(j.a, i) * 2 - at(j.a, (i + 1) % j.n) - at(j.a, (i + j.n - 1) % j.n);
}

// Bit reversal in lines: nearly everything is written to other devices.
__global__ void transpose(job j)
{
    int i = index_of(j), side = 1 << SIDE_BITS, block = side * side;
    int k = i % block;
    at(j.c, (i - k + k % side * side + k / side + j.n / 2) % j.n) = at(j.a, i);
}

// Single words all over the memory of all.
__global__ void scatter(job j)
{
    int i = index_of(j);
    at(j.c, static_cast<int>((static_cast<unsigned>(i) * 40503u + 7u) % static_cast<unsigned>(j.n))) = at(j.a, i) + i;
}

__global__ void gather(job j)
{
    int i = index_of(j);
    at(j.c, i) = at(j.a, static_cast<int>((static_cast<unsigned>(i) * 40503u + 7u) % static_cast<unsigned>(j.n))) - i;
}

// One histogram for all, in the memory of the first device.
__global__ void histogram(job j)
{
    atomicAdd(&at(j.c, at(j.a, index_of(j)) & (BINS - 1)), 1);
}

// A sum for each group of 64 elements of all slices, counted together.
__global__ void reduction(job j)
{
    int i = index_of(j);
    atomicAdd(&at(j.c, i % (j.n / 64)), at(j.a, i));
}

// Rows of a by columns of b, which lie in all memories; partial sums are kept in c.
__global__ void matmul(job j)
{
    int i = index_of(j), side = 1 << SIDE_BITS, row = i & ~(side - 1), column = i & (side - 1);
    int sum = 0;
    for (int k = 0; k < side; k++) {
        sum += at(j.a, row + k) * at(j.b, k * side + column);
        if (k % 8 == 7) {
            at(j.c, i) = sum;
            __threadfence();
        }
    }
}

// Every device changes every eighth word of its right neighbour's slice: lines are written in part.
__global__ void strided(job j)
{
    int i = index_of(j);
    if (i % 8 == 0) {
        at(j.c, (i + j.c.each) % j.n) = at(j.a, i) ^ 0x55;
    }
}

struct kernel {
    const char *name;
    void (*run)(job);
    void (*host)(const std::vector<int> &a, const std::vector<int> &b, std::vector<int> &c);
    int launches;
};

typedef std::vector<int> ints;

static int devices()
{
    int count = 0;
    HIP_MUST(hipGetDeviceCount(&count));
    return count < MOST ? count : MOST;
}

static int mixed(size_t i, size_t n)
{
    return static_cast<int>((static_cast<unsigned>(i) * 40503u + 7u) % static_cast<unsigned>(n));
}

#define HOST(BODY) [](const ints &a, const ints &b, ints &c) { \
    size_t n = a.size(); (void)b; for (size_t i = 0; i < n; i++) { BODY } }

static int spread_over; // devices

static const kernel kernels[] = {
    {"vectoradd", vectoradd, HOST(c[i] = a[i] + b[i];), 1},
    {"accumulate", accumulate, HOST(c[i] = a[i]; for (int k = 1; k < SWEEPS; k++) { c[i] += b[i] * k; }), 1},
    {"stencil", stencil, HOST(c[i] = a[i] * 2 - a[(i + 1) % n] - a[(i + n - 1) % n];), 4},
    {"transpose", transpose, HOST(size_t side = 1 << SIDE_BITS; size_t k = i % (side * side);
                                  c[(i - k + k % side * side + k / side + n / 2) % n] = a[i];), 1},
    {"scatter", scatter, HOST(c[mixed(i, n)] = a[i] + static_cast<int>(i);), 1},
    {"gather", gather, HOST(c[i] = a[mixed(i, n)] - static_cast<int>(i);), 1},
    {"histogram", histogram, HOST(c[a[i] & (BINS - 1)]++;), 1},
    {"reduction", reduction, HOST(c[i % (n / 64)] += a[i];), 1},
    {"matmul", matmul, HOST(size_t side = 1 << SIDE_BITS; int sum = 0;
                            for (size_t k = 0; k < side; k++) { sum += a[i / side * side + k] * b[k * side + i % side]; }
                            c[i] = sum;), 1},
    {"strided", strided, HOST(if (i % 8 == 0) { c[(i + n / spread_over) % n] = a[i] ^ 0x55; }), 1},
};

static slices spread(const ints &data, int count)
{
    slices s = {};
    s.each = static_cast<int>(data.size()) / count;
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipSetDevice(d));
        allocate(&s.part[d], s.each * sizeof(int));
        HIP_MUST(hipMemcpy(s.part[d], &data[static_cast<size_t>(d) * s.each], s.each * sizeof(int), hipMemcpyHostToDevice));
    }
    return s;
}

static bool run(const kernel &k, int n, int count)
{
    ints a(n), b(n), c(n, 0), got(n);
    random_source random;
    for (int i = 0; i < n; i++) {
        a[i] = static_cast<int>(random.next() >> 20);
        b[i] = static_cast<int>(random.next() >> 22);
    }
    job j = {spread(a, count), spread(b, count), spread(c, count), n, 0};
    for (int repeat = 0; repeat < k.launches; repeat++) {
        for (int d = 0; d < count; d++) {
            HIP_MUST(hipSetDevice(d));
            j.first = d * j.a.each;
            k.run<<<j.a.each / 64, 64>>>(j);
            HIP_MUST(hipGetLastError());
        }
        for (int d = 0; d < count; d++) {
            HIP_MUST(hipSetDevice(d));
            HIP_MUST(hipDeviceSynchronize());
        }
    }
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipMemcpy(&got[static_cast<size_t>(d) * j.c.each], j.c.part[d], j.c.each * sizeof(int),
                           hipMemcpyDeviceToHost));
    }
    k.host(a, b, c);
    return same_or_report(k.name, got, c);
}

int main(int argc, char **argv)
{
    std::string which = argc > 1 ? argv[1] : "all";
    int count = 1, n, found = 0;
    while (count * 2 <= devices()) { // powers of two, so that numbers modulo n come out once each
        count *= 2;
    }
    n = count << (2 * SIDE_BITS);
    for (int wanted = size_argument(argc, argv, 2, 4096); n * 2 <= wanted;) {
        n *= 2;
    }
    for (int d = 0; d < count; d++) {
        HIP_MUST(hipSetDevice(d));
        for (int other = 0; other < count; other++) {
            if (other != d) {
                HIP_MUST(hipDeviceEnablePeerAccess(other, 0));
            }
        }
    }
    spread_over = count;
    for (const kernel &k : kernels) {
        if (which != "all" && which != k.name) {
            continue;
        }
        found++;
        if (!run(k, n, count)) {
            return 1;
        }
    }
    if (!found) {
        std::printf("FAIL spread: there is no kernel '%s'\n", which.c_str());
        return 2;
    }
    return pass("spread");
}
