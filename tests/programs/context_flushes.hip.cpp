// Two contexts on one GPU: a copy flushes the caches only for what kernels of its own context wrote, and a page that goes from one
// context to the other takes no old lines along. How many flushes that takes is in the statistics: 4.
#include "check.hpp"
#include "components/hip/api/heddle_hip.h"

constexpr int n = 1024; // one page

__global__ void add(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

struct context {
    int device;
    int *data;
    std::vector<int> want;
};

static void enter(const context &c)
{
    HIP_MUST(hipSetDevice(c.device));
}

static void run(context &c, int value)
{
    enter(c);
    add<<<n / 64, 64>>>(c.data, value);
    HIP_MUST(hipGetLastError());
    HIP_MUST(hipDeviceSynchronize());
    for (int &each : c.want) {
        each += value;
    }
}

static bool is_right(const context &c, const char *what)
{
    std::vector<int> got(n);
    enter(c);
    from_device(got, c.data);
    return same_or_report(what, got, c.want);
}

static void write(context &c, int value)
{
    enter(c);
    c.want.assign(n, value);
    HIP_MUST(hipMemcpy(c.data, c.want.data(), n * sizeof(int), hipMemcpyHostToDevice));
}

int main()
{
    context a = {}, b = {};
    for (context *c : {&a, &b}) {
        HIP_MUST(static_cast<hipError_t>(heddleCreateContext(&c->device, 0)));
        enter(*c);
        HIP_MUST(hipMalloc(reinterpret_cast<void **>(&c->data), n * sizeof(int)));
        write(*c, 5);
    }
    run(a, 1);
    bool good = is_right(b, "context_flushes: the other context"); // nothing of it is in caches: no flush
    good = is_right(a, "context_flushes: the own context") && good;  // one
    run(a, 2);
    run(b, 3);
    good = is_right(a, "context_flushes: both have run") && good; // another, which
    good = is_right(b, "context_flushes: flushed with it") && good; // serves this one, too
    run(a, 4); // its page is dirty when it changes hands
    enter(a);
    HIP_MUST(hipFree(a.data));
    enter(b);
    int *before = b.data;
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&b.data), n * sizeof(int)));
    write(b, 9); // a third
    run(b, 1);
    good = is_right(b, "context_flushes: a page of the other") && good; // a fourth
    HIP_MUST(hipFree(before));
    HIP_MUST(hipFree(b.data));
    return good ? pass("context_flushes") : 1;
}
