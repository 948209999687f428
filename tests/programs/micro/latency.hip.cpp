// Load-to-use latency: a chain of loads, each of which gives the address of the next. One wavefront
// with one lane. The chain is as long as a straight piece of code that is run several times; what
// counts is the last run, less a run of the same code without loads. Argument: what to measure, or
// `footprints`: random chains through more and more memory (second argument: how much at most).
#include "micro.hpp"

constexpr int steps = 256; // loads in the code
constexpr int page = 4096, line = 64;

__global__ void chain_vector(uint64_t pointer, uint64_t *times, int runs)
{
    uint64_t begin = 0, end = 0, middle = 0;
    for (int i = 0; i < runs; i++) {
        begin = micro_now();
        asm volatile(
            ".rept 256\n\tflat_load_dwordx2 %0, %0\n\ts_waitcnt vmcnt(0) lgkmcnt(0)\n\t.endr"
            : "+v"(pointer)::"memory");
        middle = micro_now();
        end = micro_now();
    }
    times[0] = middle - begin;
    times[1] = end - middle;
    times[2] = pointer;
}

__global__ void chain_scalar(uint64_t pointer, uint64_t *times, int runs)
{
    uint64_t begin = 0, end = 0, middle = 0;
    for (int i = 0; i < runs; i++) {
        begin = micro_now();
        asm volatile(".rept 256\n\ts_load_dwordx2 %0, %0, 0x0\n\ts_waitcnt lgkmcnt(0)\n\t.endr"
                     : "+s"(pointer)::"memory");
        middle = micro_now();
        end = micro_now();
    }
    times[0] = middle - begin;
    times[1] = end - middle;
    times[2] = pointer;
}

__global__ void chain_lds(uint64_t start, uint64_t *times, int runs)
{
    __shared__ uint32_t next[64];
    for (int i = 0; i < 64; i++) {
        next[i] = static_cast<uint32_t>((i + 1) % 64 * 4);
    }
    uint32_t pointer = static_cast<uint32_t>(start);
    asm volatile("s_mov_b32 m0, -1"); // gfx8: the limit of LDS addresses
    uint64_t begin = 0, end = 0, middle = 0;
    for (int i = 0; i < runs; i++) {
        begin = micro_now();
        asm volatile(".rept 256\n\tds_read_b32 %0, %0\n\ts_waitcnt lgkmcnt(0)\n\t.endr"
                     : "+v"(pointer)
                     : "v"(next)
                     : "memory");
        middle = micro_now();
        end = micro_now();
    }
    times[0] = middle - begin;
    times[1] = end - middle;
    times[2] = pointer;
}

// Chains are lists of places in an allocation, one more than loads; each place holds the address of
// the next.
using places = std::vector<size_t>;

static places cycle(size_t footprint, size_t stride, size_t length)
{
    places list;
    for (size_t i = 0; i <= length; i++) {
        list.push_back(i * stride % footprint);
    }
    return list;
}

// First one line of each page in a row, so that all pages are known; then lines of them that nobody
// has touched, in random order.
static places cold(int pages)
{
    places list, rest;
    random_source random;
    for (int i = 0; i < steps; i++) {
        list.push_back(static_cast<size_t>(i % pages) * page + (i / pages) * line);
    }
    for (int i = 0; i < pages; i++) {
        for (int j = steps / pages + 1; j < page / line; j++) {
            rest.push_back(static_cast<size_t>(i) * page + static_cast<size_t>(j) * line);
        }
    }
    for (int i = 0; i < steps; i++) {
        std::swap(rest[i], rest[i + random.next() % (rest.size() - i)]);
        list.push_back(rest[i]);
    }
    list.push_back(rest[steps]);
    return list;
}

// All lines of the footprint in random order, once; then as many as are measured once more.
static places shuffled(size_t footprint)
{
    places list;
    random_source random;
    for (size_t i = 0; i < footprint / line; i++) {
        list.push_back(i * line);
    }
    for (size_t i = 0; i < list.size(); i++) {
        std::swap(list[i], list[i + random.next() % (list.size() - i)]);
    }
    while (list.size() % steps != 0 || list.size() < footprint / line + steps) {
        list.push_back(list[list.size() - footprint / line]);
    }
    list.push_back(list[list.size() - footprint / line]);
    return list;
}

using chain = void (*)(uint64_t, uint64_t *, int);

static void measure(const char *name, chain kernel, const places &list, size_t footprint)
{
    int runs = static_cast<int>(list.size() / steps);
    char *memory = nullptr;
    uint64_t *times = device_zeros<uint64_t>(3);
    std::vector<uint64_t> got(3), image(footprint / 8);
    HIP_MUST(hipMalloc(reinterpret_cast<void **>(&memory), footprint));
    for (size_t i = 0; i + 1 < list.size(); i++) {
        image[list[i] / 8] = reinterpret_cast<uint64_t>(memory) + list[i + 1];
    }
    HIP_MUST(hipMemcpy(memory, image.data(), footprint, hipMemcpyHostToDevice));
    uint64_t start = reinterpret_cast<uint64_t>(memory) + list[0];
    kernel<<<1, 1>>>(kernel == chain_lds ? 0 : start, times, runs);
    from_device(got, times);
    if (kernel != chain_lds && got[2] != reinterpret_cast<uint64_t>(memory) + list.back()) {
        std::printf("FAIL latency: the chain of %s ended elsewhere\n", name);
        std::exit(1);
    }
    micro_result(name, static_cast<double>(got[0] - got[1]) / steps);
    HIP_MUST(hipFree(memory));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        chain kernel;
        places list;
        size_t footprint;
    } all[] = {
        {"vector_l1", chain_vector, cycle(8192, line, 2 * steps), 8192},
        {"vector_l2", chain_vector, cycle(128 << 10, line, 16 * steps), 128 << 10},
        {"vector_dram", chain_vector, cold(128), 128 * page},
        // A line of each of more pages than the L1 TLB knows, all in the L2. Strides of a page and
        // a line use all sets.
        {"vector_tlb", chain_vector, cycle(900 * (page + line), page + line, 8 * steps),
         900 * (page + line)},
        {"scalar_l1", chain_scalar, cycle(8192, line, 2 * steps), 8192},
        {"scalar_l2", chain_scalar, cycle(128 << 10, line, 16 * steps), 128 << 10},
        {"lds", chain_lds, cycle(8192, line, 2 * steps), 8192},
    };
    for (const auto &one : all) {
        if (argc < 2 || std::strcmp(argv[1], one.name) == 0) {
            measure(one.name, one.kernel, one.list, one.footprint);
        }
    }
    if (argc > 1 && std::strcmp(argv[1], "footprints") == 0) {
        size_t largest = static_cast<size_t>(size_argument(argc, argv, 2, 8 << 20));
        for (size_t footprint = 4096; footprint <= largest; footprint *= 2) {
            char name[64];
            std::snprintf(name, sizeof name, "footprint_%zu", footprint);
            measure(name, chain_vector, shuffled(footprint), footprint);
        }
    }
    return pass("micro_latency");
}
