// shoc_triad ELEMENTS: a = b + s * c, of f32. The measured times do not depend on `precision`, so the program takes
// it and makes nothing of it, too.
#include "micro.hpp"

__global__ void triad(float *a, const float *b, const float *c, float s, size_t count)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        a[i] = b[i] + s * c[i];
    }
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "shoc_triad", size_t(1) << 31,
                              {{"block_size", "256"}, {"precision", "float"}});
    m.one_of("precision", {"float", "double", "half"});
    unsigned block = unsigned(m.number("block_size", 1024));
    std::vector<float> b(m.size), c(m.size);
    for (size_t i = 0; i < m.size; i++) {
        b[i] = float(i % 1024);
        c[i] = float(i % 512);
    }
    float *da = device_array<float>(m.size), *db = to_device(b), *dc = to_device(c);
    label_run(m, [&] {
        triad<<<dim3(blocks_for(m.size, block)), dim3(block)>>>(da, db, dc, 1.75f, m.size);
    });
    if (!m.check) {
        return 0;
    }
    std::vector<float> a(m.size);
    from_device(a, da);
    for (size_t i = 0; i < m.size; i++) {
        b[i] += 1.75f * c[i];
    }
    return same_or_report(m.name.c_str(), a, b) ? pass(m.name.c_str()) : 1;
}
