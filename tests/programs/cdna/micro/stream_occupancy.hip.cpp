// stream_occupancy THREADS: streams over memory with one element a thread in work-groups of THREADS, of which the LDS they ask for
// lets a compute unit have `groups`, so that THREADS says how many wavefronts ask for lines: operation=read, write, scale
// (b = s a) or triad (a = b + s c).
#include "micro.hpp"

template <int operation> __global__ void stream(double *a, double *b, double *c, double *sink, size_t count)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    if (operation == 0) {
        if (a[i] < 0) { // never
            *sink = a[i];
        }
    } else if (operation == 1) {
        a[i] = 2.0;
    } else if (operation == 2) {
        b[i] = 2.0 * a[i];
    } else {
        a[i] = b[i] + 2.0 * c[i];
    }
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "stream_occupancy", 1024,
                              {{"operation", "read"}, {"groups", "2"}, {"size_mb", "256"}});
    constexpr size_t lds = 65536;
    size_t operation = m.one_of("operation", {"read", "write", "scale", "triad"});
    unsigned threads = unsigned(m.size), each = unsigned(lds / m.number("groups", 64));
    size_t count = (m.number("size_mb", 65536) << 20) / sizeof(double);
    std::vector<double> one(count, 1.0);
    double *a = to_device(one), *b = to_device(one), *c = to_device(one);
    double *sink = device_zeros<double>(1);
    auto kernel = operation == 0   ? stream<0>
                  : operation == 1 ? stream<1>
                  : operation == 2 ? stream<2>
                                   : stream<3>;
    dim3 blocks(unsigned((count + threads - 1) / threads));
    label_run(m, [&] { kernel<<<blocks, dim3(threads), each>>>(a, b, c, sink, count); });
    if (!m.check) {
        return 0;
    }
    const double want[] = {1.0, 2.0, 2.0, 3.0};
    from_device(one, operation == 2 ? b : a);
    return m.verdict(std::count(one.begin(), one.end(), want[operation]) == long(count));
}
