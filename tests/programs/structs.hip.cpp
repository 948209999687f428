// Arguments of every size and alignment by value: small ones, nested structures with arrays and pointers, and a large
// one that the kernel indexes. Arguments: none.
#include "check.hpp"

struct inner {
    char tag;
    double weight;
    short steps[3];
};

struct outer {
    inner first;
    int *target;
    inner second;
    uint8_t flags[5];
};

struct large {
    int values[200];
};

__global__ void take(char c, outer o, short s, float f, large l, long long w, bool b, char last)
{
    int i = threadIdx.x;
    o.target[i] = c + static_cast<int>(o.first.weight * 2) + o.first.steps[i % 3] + o.second.tag +
                  static_cast<int>(o.second.weight) + o.second.steps[2] + o.flags[i % 5] + s + static_cast<int>(f * 4) +
                  l.values[(i * 7) % 200] + static_cast<int>(w >> 33) + (b ? 1000000 : 0) + last;
}

int main()
{
    std::vector<int> out(64), want(64);
    int *dout = device_zeros<int>(64);
    outer o = {{'x', 12.25, {1, -2, 3}}, dout, {'y', -7.5, {4, 5, -600}}, {10, 20, 30, 40, 250}};
    large l;
    for (int i = 0; i < 200; i++) {
        l.values[i] = i * i - 300;
    }
    for (int i = 0; i < 64; i++) {
        want[i] = 'c' + 24 + o.first.steps[i % 3] + 'y' - 7 - 600 + o.flags[i % 5] - 321 + 10 + l.values[i * 7 % 200] +
                  77 + 1000000 - 9;
    }
    take<<<1, 64>>>('c', o, -321, 2.5f, l, 77ll << 33, true, -9);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    return same_or_report("structs", out, want) ? pass("structs") : 1;
}
