// What the GPUs of a machine do together, as many as there are, in streams that only events order. Sums of vectors: `ring` (peer
// copies to the neighbour), `tree` (kernels read the memory of children, copies carry the sum down), `halving` (partners at half
// the distance of before exchange halves, by kernels that read the other's, then they double them). `exchange`: everybody has a
// block for everybody (all to all); copies to one half of them, kernels that read for the other. Arguments: KIND [elements].
#include "gpus.hpp"

#include <cstring>

__global__ void add(int *to, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] += from[i];
    }
}

__global__ void take(int *to, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = from[i];
    }
}

struct vectors {
    gpu_group g;
    int n;
    std::vector<int *> data, inbox;
};

static void run(vectors &v, int d, void (*kernel)(int *, const int *, int), int *to, const int *from, int n)
{
    if (n > 0) {
        HIP_MUST(hipSetDevice(d));
        kernel<<<blocks_for(n, 64), 64, 0, v.g.stream[d]>>>(to, from, n);
        HIP_MUST(hipGetLastError());
    }
}

// Elements [first, first + size) of the vector, for part `part` of `parts`.
static int first_of(const vectors &v, int part, int parts)
{
    return static_cast<int>(static_cast<int64_t>(v.n) * part / parts);
}

static int size_of(const vectors &v, int part, int parts)
{
    return first_of(v, part + 1, parts) - first_of(v, part, parts);
}

// Each GPU sends a part to the next one and gets one from that before; a part goes around twice, adding up and as the sum.
static void ring(vectors &v)
{
    int count = v.g.count;
    for (int d = 0; d < count; d++) {
        v.g.join(d, (d + 1) % count);
    }
    for (int step = 0; step < 2 * (count - 1); step++) {
        bool adds = step < count - 1;
        for (int d = 0; d < count; d++) {
            int next = (d + 1) % count, part = (d - step + 2 * count) % count, first = first_of(v, part, count);
            v.g.copy((adds ? v.inbox : v.data)[next] + first, next, v.data[d] + first, d, size_of(v, part, count));
        }
        std::vector<hipEvent_t> sent = v.g.mark_all();
        for (int d = 0; d < count; d++) {
            int before = (d - 1 + count) % count, part = (before - step + 2 * count) % count, first = first_of(v, part, count);
            v.g.follow(d, sent[before]);
            if (adds) {
                run(v, d, add, v.data[d] + first, v.inbox[d] + first, size_of(v, part, count));
            }
        }
    }
}

static void tree(vectors &v)
{
    int top = 1;
    for (; top < v.g.count; top *= 2) {
        for (int d = 0; d + top < v.g.count; d += 2 * top) {
            v.g.join(d, d + top);
            v.g.follow(d, d + top);
            run(v, d, add, v.data[d], v.data[d + top], v.n);
        }
    }
    for (; top >= 1; top /= 2) {
        for (int d = 0; d + top < v.g.count; d += 2 * top) {
            v.g.copy(v.data[d + top], d + top, v.data[d], d, v.n);
            v.g.follow(d + top, d);
        }
    }
}

// One step of halving (`adds`) or doubling: d works on the part of its half, which its partner at `distance` has, too.
static void exchange_halves(vectors &v, int around, int distance, bool adds)
{
    std::vector<hipEvent_t> ready = v.g.mark_all();
    int parts = around / distance; // of which GPUs that differ in no bit from `distance` on have the same
    for (int d = 0; d < around; d++) {
        int partner = d ^ distance, part = 0;
        for (int bit = around / 2, of = adds ? d : partner; bit >= distance; bit /= 2) {
            part = 2 * part + ((of & bit) != 0);
        }
        int first = first_of(v, part, parts);
        v.g.join(d, partner);
        v.g.follow(d, ready[partner]);
        run(v, d, adds ? add : take, v.data[d] + first, v.data[partner] + first, size_of(v, part, parts));
    }
}

// GPUs beyond the last power of two give what they have to a partner first, and get the sum from it.
static void halving(vectors &v)
{
    int around = 1;
    while (2 * around <= v.g.count) {
        around *= 2;
    }
    for (int d = around; d < v.g.count; d++) {
        v.g.join(d - around, d);
        v.g.follow(d - around, d);
        run(v, d - around, add, v.data[d - around], v.data[d], v.n);
    }
    for (int distance = around / 2; distance >= 1; distance /= 2) {
        exchange_halves(v, around, distance, true);
    }
    for (int distance = 1; distance < around; distance *= 2) {
        exchange_halves(v, around, distance, false);
    }
    for (int d = around; d < v.g.count; d++) {
        v.g.copy(v.data[d], d, v.data[d - around], d - around, v.n);
    }
}

// Block j of GPU d goes to place d of GPU j's inbox.
static void exchange(vectors &v)
{
    int count = v.g.count, block = v.n / count;
    for (int step = 0; step < count; step++) { // each sends to another, and each receives from another
        for (int d = 0; d < count; d++) {
            int to = (d + step) % count, from = (d - step + count) % count;
            v.g.join(d, step % 2 ? from : to);
            if (step % 2) {
                run(v, d, take, v.inbox[d] + from * block, v.data[from] + d * block, block);
            } else {
                v.g.copy(v.inbox[to] + d * block, to, v.data[d] + to * block, d, block);
            }
        }
    }
}

static int value_of(int d, int i)
{
    return i * (d + 1) + 7 * d;
}

static int check(vectors &v, bool sums, const char *kind)
{
    std::vector<int> got(v.n), want(v.n);
    int count = v.g.count, block = v.n / count;
    for (int d = 0; sums && d < count; d++) {
        for (int i = 0; i < v.n; i++) {
            want[i] += value_of(d, i);
        }
    }
    for (int d = 0; d < count; d++) {
        for (int i = 0; !sums && i < v.n; i++) {
            want[i] = value_of(i / block, d * block + i % block);
        }
        HIP_MUST(hipSetDevice(d));
        from_device(got, (sums ? v.data : v.inbox)[d]);
        if (!same_or_report(kind, got, want)) {
            return 1;
        }
    }
    return pass(kind);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(vectors &v);
    } kinds[] = {{"ring", ring}, {"tree", tree}, {"halving", halving}, {"exchange", exchange}};
    for (const auto &kind : kinds) {
        if (argc < 2 || std::strcmp(argv[1], kind.name) != 0) {
            continue;
        }
        vectors v;
        bool sums = kind.run != exchange;
        v.n = size_argument(argc, argv, 2, 1024);
        v.n = sums ? v.n : blocks_for(v.n, v.g.count) * v.g.count;
        v.data = v.g.allocate<int>(v.n);
        v.inbox = v.g.allocate<int>(v.n);
        for (int d = 0; d < v.g.count; d++) {
            std::vector<int> mine(v.n);
            for (int i = 0; i < v.n; i++) {
                mine[i] = value_of(d, i);
            }
            v.g.fill(d, v.data[d], mine);
        }
        kind.run(v);
        v.g.wait();
        return check(v, sums, kind.name);
    }
    std::printf("FAIL collectives: name one of ring, tree, halving, exchange\n");
    return 2;
}
