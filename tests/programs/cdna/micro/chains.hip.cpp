// chains KIB [shift=0] [launches=20] [block_size=256]: kernels one behind the other, each of which adds 1 to KIB of numbers in
// place. Each launch's work-group i works on what work-group i + shift had in the launch before: with shift=0 each die finds in
// its L2 what it left there, with shift=1 other dies hold all that it reads and writes. The time is of all launches.
#include "micro.hpp"

__global__ void add_one(float *numbers, size_t count, size_t first)
{
    size_t group = (blockIdx.x + first) % gridDim.x, i = group * blockDim.x + threadIdx.x;
    if (i < count) {
        numbers[i] += 1.0f;
    }
}

int main(int argc, char **argv)
{
    micro m = micro_arguments(argc, argv, "chains", 1 << 20,
                              {{"shift", "0"}, {"launches", "20"}, {"block_size", "256"}});
    size_t launches = m.number("launches", 1 << 20), count = (m.size << 10) / sizeof(float);
    size_t shift = m.text("shift") == "0" ? 0 : m.number("shift");
    unsigned block = unsigned(m.number("block_size", 1024));
    std::vector<float> numbers(count, 0.0f);
    float *device = to_device(numbers);
    label_run(m, [&] {
        for (size_t i = 0; i < launches; i++) {
            add_one<<<dim3(blocks_for(unsigned(count), block)), dim3(block)>>>(device, count, i * shift);
        }
    });
    if (!m.check) {
        return 0;
    }
    from_device(numbers, device);
    float made = float(2 * launches); // the first call is one to warm up
    return m.verdict(std::count(numbers.begin(), numbers.end(), made) == long(count));
}
