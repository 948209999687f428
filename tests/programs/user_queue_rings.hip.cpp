// User queues: rings that the program copies packets into, what is refused, and how far the fences of packets reach. Arguments:
// the parts to run; all of them by default. Needs a platform with `--set queues=true`.
#include "user_queue.hpp"

// Packets that the program copies into the ring itself, before and after it rings, twice around.
static void part_copied()
{
    user_queue queue(4);
    uint32_t *data = device_zeros<uint32_t>(64);
    uint64_t signal = make_signal(10);
    for (uint64_t i = 0; i < 10; i++) {
        dispatch_packet packet = launch_of(add, data, 1u << i, 1, signal, system_fences | AQL_BARRIER);
        void *place = reinterpret_cast<void *>(queue.info.ring + i % 4 * AQL_PACKET_BYTES);
        if (i % 2) {
            MUST(api->ring(queue.page, queue.info.offset, i), DRIVER_OK); // it is waited for
        }
        HIP_MUST(hipMemcpy(place, &packet, sizeof packet, hipMemcpyHostToDevice));
        if (i % 2 == 0) {
            MUST(api->ring(queue.page, queue.info.offset, i), DRIVER_OK);
        }
        wait_for(signal, static_cast<int64_t>(9 - i));
        while (queue.read() <= i) { // its place is free when the index has gone on
            MUST(api->signal_wait(0, signal, -1, 500), DRIVER_NOT_READY);
        }
    }
    // What is behind the ring belongs to the queue, which HIP does not free; a copy must not leave it.
    std::vector<char> beyond(8192);
    void *ring = reinterpret_cast<void *>(queue.info.ring);
    CHECK(hipMemcpy(ring, beyond.data(), beyond.size(), hipMemcpyHostToDevice) == hipErrorInvalidValue);
    CHECK(hipFree(ring) == hipErrorInvalidValue);
    expect(data, 64, (1u << 10) - 1);
    CHECK(queue.error() == QUEUE_GOOD);
    queue.destroy();
}

// Offsets, numbers and packets that nobody should pass: each is refused or stops its queue alone.
static void part_hostile()
{
    int gpus = 0;
    HIP_MUST(hipGetDeviceCount(&gpus));
    user_queue good, other(16, gpus > 1 ? 1 : 0);
    uint32_t *data = device_zeros<uint32_t>(64);
    uint64_t done = make_signal(4), offset = good.info.offset, number = 0;
    queue_state state;
    for (uint64_t wrong : {offset ^ (uint64_t)1 << QUEUE_OFFSET_GPU_SHIFT, offset | (uint64_t)1 << 61, offset ^ (uint64_t)1 << 63,
                           offset + QUEUE_PAGE_BYTES, offset + 1, offset + 7, offset % QUEUE_PAGE_BYTES, UINT64_MAX}) {
        MUST(api->ring(good.page, wrong, 0), DRIVER_INVALID_ADDRESS);
    }
    if (gpus > 1) { // the same doorbell of another GPU, through either page
        MUST(api->ring(good.page, other.info.offset, 0), DRIVER_INVALID_ADDRESS);
        MUST(api->ring(other.page, offset, 0), DRIVER_INVALID_ADDRESS);
    }
    for (uint32_t page : {1023u, 1024u, UINT32_MAX}) {
        MUST(api->ring(page, offset, 0), DRIVER_INVALID_ADDRESS);
        MUST(api->unmap(page), DRIVER_INVALID_ADDRESS);
    }
    dispatch_packet packet = launch_of(add, data, 1, 1, done, system_fences | AQL_BARRIER);
    for (uint32_t id : {77u, 4095u, 4096u, UINT32_MAX}) {
        MUST(api->write(id, &packet, &number), DRIVER_INVALID_VALUE);
        MUST(api->state(id, &state), DRIVER_INVALID_VALUE);
        MUST(api->destroy(id), DRIVER_INVALID_VALUE);
    }
    // A doorbell that is rung again for what is over, or was announced.
    good.submit(packet);
    good.submit(packet);
    wait_for(done, 2);
    for (uint64_t old : {0, 1, 0}) {
        MUST(api->ring(good.page, offset, old), DRIVER_OK);
    }
    MUST(api->signal_wait(0, done, 1, 20000), DRIVER_NOT_READY);
    good.submit(packet);
    wait_for(done, 1);
    // Each wrong packet has a queue of its own.
    std::vector<user_queue> wrong;
    std::vector<uint32_t> errors;
    auto refuse = [&](const void *bad, uint32_t error) {
        dispatch_packet copy;
        std::memcpy(&copy, bad, sizeof copy);
        wrong.emplace_back(4);
        errors.push_back(error);
        wrong.back().submit(copy);
    };
    for (int type : {0, 4, 6, 255}) {
        dispatch_packet bad = packet;
        bad.header = static_cast<uint16_t>(type | system_fences);
        refuse(&bad, QUEUE_PACKET);
    }
    dispatch_packet unaligned = packet, signal = packet, scopes = packet;
    unaligned.kernel_object += 8;
    refuse(&unaligned, QUEUE_PACKET);
    signal.completion += 4;
    refuse(&signal, QUEUE_ADDRESS);
    scopes.header |= 3 << AQL_ACQUIRE_SHIFT;
    refuse(&scopes, QUEUE_PACKET);
    aql_barrier_packet odd = barrier_of(AQL_BARRIER_AND, {done + 1}, 0), nowhere = barrier_of(AQL_BARRIER_OR, {0x1000}, 0);
    refuse(&odd, QUEUE_ADDRESS);
    refuse(&nowhere, QUEUE_ADDRESS);
    user_queue far; // announces more than there can be
    MUST(api->ring(far.page, far.info.offset, UINT64_MAX), DRIVER_OK);
    MUST(api->signal_wait(0, done, -1, 30000), DRIVER_NOT_READY);
    CHECK(far.error() == QUEUE_OVERFLOW);
    far.destroy();
    for (size_t i = 0; i < wrong.size(); i++) {
        if (wrong[i].error() != errors[i]) {
            std::printf("FAIL user_queues: hostile packet %zu: error %u, not %u\n", i, wrong[i].error(), errors[i]);
            std::exit(1);
        }
        wrong[i].destroy();
    }
    int64_t left = signal_value(done);
    CHECK(left <= 1);
    good.submit(packet);
    wait_for(done, left - 1);
    CHECK(good.error() == QUEUE_GOOD);
    good.destroy();
    other.destroy();
}

__global__ void peek(uint32_t *data, uint32_t words)
{
    data[words + blockIdx.x * 64 + threadIdx.x] = data[threadIdx.x];
}

__global__ void poke(uint32_t *data, uint32_t value)
{
    data[threadIdx.x] = value;
}

static uint16_t scopes(unsigned acquire, unsigned release)
{
    return static_cast<uint16_t>(AQL_BARRIER | acquire << AQL_ACQUIRE_SHIFT | release << AQL_RELEASE_SHIFT);
}

// How far a packet's fences reach. Work-groups on all compute units read words whose first-level lines are old, then those
// whose line in the L2 is. What a packet has written is in memory behind a release of system scope.
static void part_scopes()
{
    constexpr uint32_t groups = 16, words = 64 * (groups + 1), rounds = 8;
    user_queue queue(64);
    uint32_t *data = device_zeros<uint32_t>(64 + words * rounds);
    uint64_t done = make_signal(0);
    int64_t sent = 0;
    auto submit = [&](void (*kernel)(uint32_t *, uint32_t), uint32_t number, uint32_t blocks, unsigned acquire) {
        queue.submit(launch_of(kernel, data, number, blocks, done, scopes(acquire, AQL_SCOPE_NONE)));
        wait_for(done, --sent);
    };
    auto look = [&](uint32_t round, unsigned acquire) { submit(peek, 64 + words * round, groups, acquire); };
    auto barrier = [&](unsigned acquire, unsigned release) {
        aql_barrier_packet p = barrier_of(static_cast<uint16_t>(AQL_BARRIER_AND | scopes(acquire, release)), {}, done);
        queue.submit(p);
        wait_for(done, --sent);
    };
    auto from_host = [&](uint32_t value) {
        std::vector<uint32_t> all(64, value);
        HIP_MUST(hipMemcpy(data, all.data(), 64 * sizeof(uint32_t), hipMemcpyHostToDevice));
    };
    from_host(1);
    look(0, AQL_SCOPE_SYSTEM);
    from_host(2); // past the caches
    look(1, AQL_SCOPE_NONE);
    look(2, AQL_SCOPE_AGENT); // the L2 has the line
    look(3, AQL_SCOPE_SYSTEM);
    submit(poke, 3, 1, AQL_SCOPE_NONE); // through one first level into the L2
    look(4, AQL_SCOPE_NONE);
    barrier(AQL_SCOPE_AGENT, AQL_SCOPE_NONE);
    look(5, AQL_SCOPE_NONE);
    std::vector<uint32_t> first(64);
    from_device(first, data);
    CHECK(first[0] == 2); // dirty in the L2
    barrier(AQL_SCOPE_NONE, AQL_SCOPE_SYSTEM);
    from_device(first, data);
    CHECK(first[0] == 3);
    std::vector<uint32_t> seen(64 + words * rounds);
    from_device(seen, data);
    static const uint32_t least[] = {1, 1, 1, 2, 2, 3}, most[] = {1, 1, 1, 2, 3, 3};
    for (uint32_t round = 0; round < 6; round++) {
        uint32_t low = UINT32_MAX, high = 0;
        for (uint32_t i = 0; i < 64 * groups; i++) {
            low = std::min(low, seen[64 + words * round + i]);
            high = std::max(high, seen[64 + words * round + i]);
        }
        if (low != least[round] || high != most[round]) {
            std::printf("FAIL user_queues: round %u saw %u to %u, not %u to %u\n", round, low, high, least[round], most[round]);
            std::exit(1);
        }
    }
    queue.destroy();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } parts[] = {{"copied", part_copied}, {"hostile", part_hostile}, {"scopes", part_scopes}};
    uint32_t number = 0;
    CHECK(heddleUserQueues && heddleKernelObject);
    MUST(heddleUserQueues(&api, &number), 0);
    for (int i = 1; i < argc; i++) {
        bool known = false;
        for (const auto &part : parts) {
            known |= !std::strcmp(argv[i], part.name);
        }
        CHECK(known);
    }
    for (const auto &part : parts) {
        bool wanted = argc == 1;
        for (int i = 1; i < argc; i++) {
            wanted |= !std::strcmp(argv[i], part.name);
        }
        if (wanted) {
            part.run();
        }
    }
    return pass("user_queue_rings");
}
