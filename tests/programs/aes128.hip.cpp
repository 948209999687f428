// AES-128 (FIPS 197) in counter-free block mode, a block a work-item, with the S-box and round keys in constant memory
// and a copy of the S-box in LDS. Checked against the standard's example and the host. Arguments: [blocks].
#include "check.hpp"

constexpr int rounds = 10;
__constant__ uint8_t sbox_table[256];
__constant__ uint32_t round_keys[4 * (rounds + 1)];

static uint8_t host_sbox[256];

__host__ __device__ static inline uint8_t twice(uint8_t x)
{
    return static_cast<uint8_t>((x << 1) ^ ((x >> 7) * 0x1b));
}

// `state` holds the block's bytes in order; the key words are big-endian as in the standard.
__host__ __device__ static void encrypt(uint8_t *state, const uint8_t *sbox, const uint32_t *keys)
{
    for (int round = 0;; round++) {
        for (int i = 0; i < 16; i++) {
            state[i] ^= static_cast<uint8_t>(keys[4 * round + i / 4] >> (24 - 8 * (i % 4)));
        }
        if (round == rounds) {
            return;
        }
        uint8_t shifted[16];
        for (int i = 0; i < 16; i++) {
            shifted[i] = sbox[state[(i + 4 * (i % 4)) % 16]];
        }
        for (int column = 0; column < 4; column++) {
            const uint8_t *in = shifted + 4 * column;
            uint8_t all = in[0] ^ in[1] ^ in[2] ^ in[3];
            for (int row = 0; row < 4; row++) {
                uint8_t mixed = in[row] ^ all ^ twice(in[row] ^ in[(row + 1) % 4]);
                state[4 * column + row] = round == rounds - 1 ? in[row] : mixed;
            }
        }
    }
}

__global__ void encrypt_blocks(const uint8_t *in, uint8_t *out, int blocks)
{
    __shared__ uint8_t sbox[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        sbox[i] = sbox_table[i];
    }
    __syncthreads();
    int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block < blocks) {
        uint8_t state[16];
        for (int i = 0; i < 16; i++) {
            state[i] = in[16 * block + i];
        }
        encrypt(state, sbox, round_keys);
        for (int i = 0; i < 16; i++) {
            out[16 * block + i] = state[i];
        }
    }
}

static void make_sbox()
{
    uint8_t p = 1, q = 1; // q is the inverse of p in GF(2^8); 3 generates the field
    do {
        p = static_cast<uint8_t>(p ^ twice(p));
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        q ^= (q >> 7) * 0x09;
        uint8_t x = q;
        for (int i = 1; i <= 4; i++) {
            x ^= static_cast<uint8_t>((q << i) | (q >> (8 - i)));
        }
        host_sbox[p] = x ^ 0x63;
    } while (p != 1);
    host_sbox[0] = 0x63;
}

static void expand_key(const uint8_t *key, uint32_t *words)
{
    uint8_t constant = 1;
    for (int i = 0; i < 4 * (rounds + 1); i++) {
        if (i < 4) {
            words[i] = key[4 * i] << 24 | key[4 * i + 1] << 16 | key[4 * i + 2] << 8 | key[4 * i + 3];
            continue;
        }
        uint32_t last = words[i - 1];
        if (i % 4 == 0) {
            uint32_t turned = last << 8 | last >> 24;
            last = 0;
            for (int byte = 0; byte < 4; byte++) {
                last |= static_cast<uint32_t>(host_sbox[turned >> (8 * byte) & 255]) << (8 * byte);
            }
            last ^= static_cast<uint32_t>(constant) << 24;
            constant = twice(constant);
        }
        words[i] = words[i - 4] ^ last;
    }
}

int main(int argc, char **argv)
{
    int blocks = size_argument(argc, argv, 1, 500);
    // FIPS 197, appendix C.1.
    static const uint8_t example[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                        0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    uint8_t key[16];
    uint32_t keys[4 * (rounds + 1)];
    random_source random;
    std::vector<uint8_t> in(16 * blocks), out(16 * blocks), want;
    for (int i = 0; i < 16; i++) {
        key[i] = i;
    }
    make_sbox();
    expand_key(key, keys);
    for (size_t i = 0; i < in.size(); i++) {
        in[i] = i < 16 ? 0x11 * i : random.next();
    }
    want = in;
    for (int block = 0; block < blocks; block++) {
        encrypt(&want[16 * block], host_sbox, keys);
    }
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(sbox_table), host_sbox, sizeof host_sbox));
    HIP_MUST(hipMemcpyToSymbol(HIP_SYMBOL(round_keys), keys, sizeof keys));
    uint8_t *din = to_device(in), *dout = device_zeros<uint8_t>(in.size());
    encrypt_blocks<<<blocks_for(blocks, 64), 64>>>(din, dout, blocks);
    HIP_MUST(hipGetLastError());
    from_device(out, dout);
    if (std::memcmp(out.data(), example, 16) != 0) {
        std::printf("FAIL aes128: the standard's example is not reproduced\n");
        return 1;
    }
    return same_or_report("aes128", out, want) ? pass("aes128") : 1;
}
