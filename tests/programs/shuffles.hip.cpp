// Exchange between the lanes of a wavefront: shuffles of 32 and 64 bits with widths, ballot, any, all, lane numbers.
// Arguments: none.
#include "check.hpp"

enum { kinds = 14, lanes = 64 };

__global__ void exchange(const int *in, long long *out)
{
    int lane = threadIdx.x;
    int value = in[lane];
    long long wide = (static_cast<long long>(value) << 33) ^ value;
    long long *to = out + lane * kinds;
    to[0] = __shfl(value, 5);
    to[1] = __shfl(value, (lane * 7 + 3) % 64);
    to[2] = __shfl_up(value, 3);
    to[3] = __shfl_down(value, 9);
    to[4] = __shfl_xor(value, 21);
    to[5] = __shfl(value, 2, 16);
    to[6] = __shfl_down(value, 1, 8);
    to[7] = __shfl_xor(wide, 32);
    to[8] = __shfl(static_cast<double>(value), lane ^ 1) * 2;
    to[9] = __ballot(value % 3 == 0);
    to[10] = __any(value == in[17]) * 2 + __all(value > -100000);
    to[11] = __lane_id();
    to[12] = __popcll(__ballot(value & 1)) + __popc(value);
    to[13] = -1;
    if (lane % 2) { // only some lanes take part
        unsigned long long active = __ballot(1);
        to[13] = __shfl(value, __ffsll(active) - 1) + static_cast<long long>(active);
    }
}

static long long expect(const std::vector<int> &in, int lane, int kind)
{
    auto wide = [&](int l) { return static_cast<long long>(static_cast<unsigned long long>(in[l]) << 33) ^ in[l]; };
    long long threes = 0, odds = 0;
    for (int l = 0; l < lanes; l++) {
        threes |= static_cast<long long>(in[l] % 3 == 0) << l;
        odds += in[l] & 1;
    }
    switch (kind) {
    case 0: return in[5];
    case 1: return in[(lane * 7 + 3) % 64];
    case 2: return in[lane < 3 ? lane : lane - 3];
    case 3: return in[lane + 9 < 64 ? lane + 9 : lane];
    case 4: return in[lane ^ 21];
    case 5: return in[lane / 16 * 16 + 2];
    case 6: return in[lane % 8 == 7 ? lane : lane + 1];
    case 7: return wide(lane ^ 32);
    case 8: return 2LL * in[lane ^ 1];
    case 9: return threes;
    case 10: return 3;
    case 11: return lane;
    case 12: return odds + __builtin_popcount(in[lane]);
    default: return lane % 2 ? in[1] + static_cast<long long>(0xaaaaaaaaaaaaaaaaull) : -1;
    }
}

int main()
{
    random_source random;
    std::vector<int> in(lanes);
    std::vector<long long> out(lanes * kinds), want(lanes * kinds);
    for (int &value : in) {
        value = static_cast<int>(random.next() % 60000) - 30000;
    }
    for (int i = 0; i < lanes * kinds; i++) {
        want[i] = expect(in, i / kinds, i % kinds);
    }
    int *din = to_device(in);
    long long *dout = device_zeros<long long>(out.size());
    exchange<<<1, lanes>>>(din, dout);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    return same_or_report("shuffles", out, want) ? pass("shuffles") : 1;
}
