// fastwalshtransform N: the Walsh-Hadamard transform of N floats, a launch for each power of two below N. The array is
// copied to the device before and the device synchronised after, both within the time.
#include "label.hpp"

__global__ void butterfly_kernel(float *a, unsigned step, unsigned pairs)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < pairs) {
        unsigned group = thread % step, p = 2 * step * (thread / step) + group, q = p + step;
        float one = a[p], two = a[q];
        a[p] = one + two;
        a[q] = one - two;
    }
}

int main(int argc, char **argv)
{
    label l = label_arguments(argc, argv, "fastwalshtransform", 2, size_t(1) << 30);
    if ((l.size & (l.size - 1)) != 0) {
        label_refuse(l.name, "the size is not a power of two");
    }
    glibc_random random(123);
    std::vector<float> a(l.size), got(l.size);
    for (float &value : a) {
        value = float(random.next() % 256);
        value += float(random.next()) / float(RAND_MAX);
    }
    float *device = device_array<float>(l.size);
    unsigned pairs = unsigned(l.size / 2);
    label_run(l, [&] {
        HIP_MUST(hipMemcpy(device, a.data(), l.size * sizeof(float), hipMemcpyHostToDevice));
        for (unsigned step = 1; step < l.size; step *= 2) {
            butterfly_kernel<<<dim3(blocks_for(pairs, 256)), dim3(256)>>>(device, step, pairs);
        }
        HIP_MUST(hipDeviceSynchronize());
    });
    if (!l.check) {
        return 0;
    }
    from_device(got, device);
    for (size_t step = 1; step < l.size; step *= 2) {
        for (size_t thread = 0; thread < pairs; thread++) {
            size_t p = 2 * step * (thread / step) + thread % step, q = p + step;
            float one = a[p], two = a[q];
            a[p] = one + two;
            a[q] = one - two;
        }
    }
    return label_random_is_that_of_glibc(l) && same_or_report("fastwalshtransform", got, a)
               ? pass("fastwalshtransform")
               : 1;
}
