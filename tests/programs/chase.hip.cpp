// One lane follows a chain through memory, each load waiting for the one before; several launches with the same chain, so
// that all but the first find it where the first left it. Arguments: [links] [launches].
#include "check.hpp"

__global__ void follow(const int *next, int links, int *end)
{
    int at = 0;
    for (int i = 0; i < links; i++) {
        at = next[at];
    }
    *end = at;
}

int main(int argc, char **argv)
{
    int links = size_argument(argc, argv, 1, 60), launches = size_argument(argc, argv, 2, 3);
    // Each link in a line of its own, in no order of addresses.
    const int stride = 64 / sizeof(int);
    std::vector<int> next(static_cast<size_t>(links) * stride), order(links), got(1), want(1);
    random_source random;
    for (int i = 0; i < links; i++) {
        order[i] = i;
    }
    for (int i = links - 1; i > 1; i--) {
        std::swap(order[i], order[1 + random.next() % i]);
    }
    for (int i = 0; i < links; i++) {
        next[static_cast<size_t>(order[i]) * stride] = order[(i + 1) % links] * stride;
    }
    int *dnext = to_device(next), *dend = to_device(got);
    for (int i = 0; i < launches; i++) {
        follow<<<1, 1>>>(dnext, links, dend);
    }
    HIP_MUST(hipMemcpy(got.data(), dend, sizeof(int), hipMemcpyDeviceToHost));
    return same_or_report("chase", got, want) ? pass("chase") : 1;
}
