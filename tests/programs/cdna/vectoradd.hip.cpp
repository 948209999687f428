// vectoradd N: a[i] = b[i] + c[i] over a grid of two dimensions of which the second has one row.
#include "label.hpp"

__global__ void vectoradd_kernel(float *a, const float *b, const float *c,
                                                        int width, int height)
{
    int x = blockDim.x * blockIdx.x + threadIdx.x;
    int y = blockDim.y * blockIdx.y + threadIdx.y;
    int i = y * width + x;
    if (i < width * height) {
        a[i] = b[i] + c[i];
    }
}

int main(int argc, char **argv)
{
    label l = label_arguments(argc, argv, "vectoradd", 1, size_t(1) << 30);
    std::vector<float> b(l.size), c(l.size);
    for (size_t i = 0; i < l.size; i++) {
        b[i] = float(i);
        c[i] = float(i) * 100.0f;
    }
    float *da = device_array<float>(l.size), *db = to_device(b), *dc = to_device(c);
    label_run(l, [&] {
        vectoradd_kernel<<<dim3(blocks_for(l.size, 256), 1), dim3(256)>>>(da, db, dc, int(l.size),
                                                                          1);
    });
    if (!l.check) {
        return 0;
    }
    std::vector<float> a(l.size), want(l.size);
    from_device(a, da);
    for (size_t i = 0; i < l.size; i++) {
        want[i] = b[i] + c[i];
    }
    return same_or_report("vectoradd", a, want) ? pass("vectoradd") : 1;
}
