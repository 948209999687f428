// SHA-256 of one 55-byte message or shorter a work-item; rotations and logic. Checked against the standard's "abc" and
// the host. Arguments: [messages].
#include "check.hpp"

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4).
__constant__ uint32_t device_constants[64];
static uint32_t host_constants[64];

#define BOTH __host__ __device__ static inline

BOTH uint32_t rotate(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

BOTH void hash(const uint8_t *message, int length, const uint32_t *constants, uint32_t *state)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
        w[i] = 0;
        for (int byte = 4 * i; byte < 4 * i + 4; byte++) {
            w[i] = w[i] << 8 | (byte < length ? message[byte] : byte == length ? 0x80 : 0);
        }
    }
    w[15] = 8 * length;
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    uint32_t s[8];
    for (int i = 0; i < 8; i++) {
        s[i] = state[i];
    }
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t t1 = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + constants[i] + w[i];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        for (int k = 7; k > 0; k--) {
            s[k] = s[k - 1];
        }
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) {
        state[i] += s[i];
    }
}

__global__ void hash_all(const uint8_t *messages, const int *lengths, const uint32_t *initial, uint32_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint32_t state[8];
        for (int k = 0; k < 8; k++) {
            state[k] = initial[k];
        }
        hash(messages + 64 * i, lengths[i], device_constants, state);
        for (int k = 0; k < 8; k++) {
            out[8 * i + k] = state[k];
        }
    }
}

static void make_constants(uint32_t *initial)
{
    int found = 0;
    for (int p = 2; found < 64; p++) {
        bool prime = true;
        for (int d = 2; d * d <= p; d++) {
            prime &= p % d != 0;
        }
        if (prime) {
            long double cube = cbrtl(p), square = sqrtl(p);
            host_constants[found] = static_cast<uint32_t>((cube - floorl(cube)) * 4294967296.0L);
            if (found < 8) {
                initial[found] = static_cast<uint32_t>((square - floorl(square)) * 4294967296.0L);
            }
            found++;
        }
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 300);
    static const uint32_t abc[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                    0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    random_source random;
    std::vector<uint32_t> initial(8), out(8 * n), want;
    std::vector<uint8_t> messages(64 * n);
    std::vector<int> lengths(n);
    make_constants(initial.data());
    for (int i = 0; i < n; i++) {
        lengths[i] = i == 0 ? 3 : random.next() % 56;
        for (int k = 0; k < 64; k++) {
            messages[64 * i + k] = i == 0 ? 'a' + k : random.next();
        }
        std::vector<uint32_t> state = initial;
        hash(&messages[64 * i], lengths[i], host_constants, state.data());
        want.insert(want.end(), state.begin(), state.end());
    }
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(device_constants), host_constants, sizeof host_constants));
    uint8_t *dmessages = to_device(messages);
    int *dlengths = to_device(lengths);
    uint32_t *dinitial = to_device(initial), *dout = device_zeros<uint32_t>(out.size());
    hash_all<<<blocks_for(n, 64), 64>>>(dmessages, dlengths, dinitial, dout, n);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    if (std::memcmp(out.data(), abc, sizeof abc) != 0) {
        std::printf("FAIL sha256: the standard's example is not reproduced\n");
        return 1;
    }
    return same_or_report("sha256", out, want) ? pass("sha256") : 1;
}
