// User queues: the program writes AQL packets, rings doorbells and waits for signals. Every part checks what reached memory.
// Arguments: the parts to run; all of them by default. Needs a platform with `--set queues=true`.
#include "user_queue.hpp"

// The second of two kernels in order: doubles what the first one left.
__global__ void twice(uint32_t *data, uint32_t steps)
{
    uint32_t value = data[blockIdx.x * 64 + threadIdx.x];
    for (uint32_t i = 0; i < steps; i++) {
        value *= 2;
    }
    data[blockIdx.x * 64 + threadIdx.x] = value;
}

__global__ void slow(uint32_t *data, uint32_t steps)
{
    uint32_t value = data[blockIdx.x * 64 + threadIdx.x];
    for (uint32_t i = 0; i < steps; i++) {
        value = value * 1664525u + 1013904223u;
    }
    data[blockIdx.x * 64 + threadIdx.x] = value;
}

// An array in private memory, as its index is not known.
__host__ __device__ static uint32_t reversed(uint32_t value, uint32_t rounds)
{
    uint32_t table[32];
    for (uint32_t i = 0; i < 32; i++) {
        table[i] = value + i;
    }
    for (uint32_t i = 0; i < rounds; i++) {
        table[(value + i) % 32] = table[(value ^ i) % 32] * 3 + i;
    }
    return table[rounds % 32];
}

__global__ void reverse(uint32_t *data, uint32_t rounds)
{
    data[blockIdx.x * 64 + threadIdx.x] = reversed(data[blockIdx.x * 64 + threadIdx.x], rounds);
}

// One kernel: its results are in memory when its signal is.
static void part_one()
{
    user_queue queue;
    uint32_t *data = device_zeros<uint32_t>(256);
    uint64_t signal = make_signal(1);
    queue.submit(launch_of(add, data, 7, 4, signal));
    wait_for(signal);
    expect(data, 256, 7);
    queue.destroy();
}

// More packets than the ring has room for, which go round it; each one adds, in order or not.
static void part_wrap()
{
    user_queue queue(4);
    uint32_t *data = device_zeros<uint32_t>(64);
    uint64_t signal = make_signal(11);
    for (uint64_t i = 0; i < 11; i++) {
        dispatch_packet packet = launch_of(add, data, 1u << i, 1, signal, system_fences | AQL_BARRIER);
        uint64_t number = 0;
        while (api->write(queue.info.id, &packet, &number) == DRIVER_NOT_READY) {
            MUST(api->signal_wait(0, signal, -1, 2000), DRIVER_NOT_READY); // lets time pass
        }
        CHECK(number == i);
        MUST(api->ring(queue.page, queue.info.offset, number), DRIVER_OK);
    }
    wait_for(signal);
    expect(data, 64, (1u << 11) - 1);
    CHECK(signal_value(signal) == 0);
    queue.destroy();
}

// The barrier bit orders two kernels of a queue; one ring announces both.
static void part_order()
{
    user_queue queue;
    uint32_t *data = device_zeros<uint32_t>(64);
    uint64_t signal = make_signal(3);
    queue.put(launch_of(add, data, 3, 1, signal));
    queue.put(launch_of(twice, data, 4, 1, signal, system_fences | AQL_BARRIER));
    uint64_t last = queue.put(launch_of(add, data, 1, 1, signal, system_fences | AQL_BARRIER));
    MUST(api->ring(queue.page, queue.info.offset, last), DRIVER_OK);
    wait_for(signal);
    expect(data, 64, 3 * 16 + 1);
    MUST(api->signal_wait(0, queue.info.read_index - AQL_SIGNAL_VALUE, 3, 10000), DRIVER_OK); // the index itself
    queue.destroy();
}

// AND waits for all signals, OR for one; both across queues.
static void part_barriers()
{
    user_queue first, second;
    uint32_t *data = device_zeros<uint32_t>(64);
    uint64_t a = make_signal(1), b = make_signal(1), never = make_signal(1), passed = make_signal(1), done = make_signal(1);
    second.put(barrier_of(AQL_BARRIER_AND, {a, b}, passed));
    second.submit(launch_of(twice, data, 1, 1, done, system_fences | AQL_BARRIER));
    first.submit(launch_of(add, data, 5, 1, a));
    wait_for(a);
    MUST(api->signal_wait(0, passed, 0, 20000), DRIVER_NOT_READY); // b is not there
    expect(data, 64, 5);
    first.submit(launch_of(add, data, 5, 1, b));
    wait_for(done);
    CHECK(signal_value(passed) == 0);
    expect(data, 64, 20);
    uint64_t any = make_signal(1), one = make_signal(1);
    second.submit(barrier_of(AQL_BARRIER_OR, {never, one}, any));
    MUST(api->signal_wait(0, any, 0, 20000), DRIVER_NOT_READY);
    first.submit(launch_of(add, data, 1, 1, one));
    wait_for(any);
    CHECK(signal_value(never) == 1);
    first.destroy();
    second.destroy();
}

// More queues than the hardware has slots for: the first ones wait for what the last one does, so they must give way.
static void part_oversubscribed()
{
    constexpr int queues = 20;
    std::vector<user_queue> all;
    std::vector<uint64_t> done;
    uint32_t *data = device_zeros<uint32_t>(64 * queues);
    uint64_t gate = make_signal(1);
    for (int i = 0; i < queues; i++) {
        all.emplace_back(8);
        done.push_back(make_signal(1));
        if (i + 1 < queues) {
            all[i].put(barrier_of(AQL_BARRIER_AND, {gate}, 0));
        }
        all[i].submit(launch_of(add, data + 64 * i, 100 + i, 1, done[i], system_fences));
        if (i + 2 == queues) {
            MUST(api->signal_wait(0, done[0], 0, 30000), DRIVER_NOT_READY);
        }
    }
    wait_for(done[queues - 1]);
    int64_t open = 0;
    HIP_MUST(hipMemcpy(reinterpret_cast<void *>(gate + AQL_SIGNAL_VALUE), &open, sizeof open, hipMemcpyHostToDevice));
    for (int i = 0; i < queues; i++) {
        wait_for(done[i]);
        expect(data + 64 * i, 64, 100 + i);
        all[i].destroy();
    }
}

// Eight kernels of eight queues, each with one work-group. They end together and count down one signal.
static void part_overlap()
{
    std::vector<user_queue> all;
    uint32_t *data = device_zeros<uint32_t>(64 * 8);
    uint64_t done = make_signal(8);
    for (int i = 0; i < 8; i++) {
        all.emplace_back();
        all[i].put(launch_of(slow, data + 64 * i, 1000, 1, done));
    }
    for (int i = 0; i < 8; i++) {
        MUST(api->ring(all[i].page, all[i].info.offset, 0), DRIVER_OK);
    }
    uint32_t value = 0;
    for (int n = 0; n < 1000; n++) {
        value = value * 1664525u + 1013904223u;
    }
    wait_for(done);
    for (int i = 0; i < 8; i++) {
        expect(data + 64 * i, 64, value);
        all[i].destroy();
    }
}

// Kernels with private memory, of two queues at the same time and one after the other; the driver gives them some.
static void part_scratch()
{
    constexpr uint32_t blocks = 6, rounds = 50;
    user_queue first, second;
    user_queue *queues[2] = {&first, &second};
    uint32_t *data = device_zeros<uint32_t>(64 * blocks * 2);
    uint64_t done = make_signal(4);
    heddle_kernel k;
    MUST(heddleKernelObject(reinterpret_cast<const void *>(reverse), &k), 0);
    CHECK(k.private_bytes >= 32 * sizeof(uint32_t));
    for (uint32_t q = 0; q < 2; q++) {
        uint32_t *half = data + 64 * blocks * q;
        queues[q]->put(launch_of(reverse, half, rounds, blocks, done));
        queues[q]->submit(launch_of(reverse, half, rounds + q, blocks, done, system_fences | AQL_BARRIER));
    }
    wait_for(done);
    for (uint32_t q = 0; q < 2; q++) {
        uint32_t value = reversed(reversed(0, rounds), rounds + q);
        expect(data + 64 * blocks * q, 64 * blocks, value);
    }
    first.destroy();
    second.destroy();
}

// Destruction waits for what runs, drops what does not, and leaves the neighbours alone; doorbells are used again.
static void part_destroy()
{
    user_queue kept, gone;
    uint32_t *data = device_zeros<uint32_t>(256);
    uint64_t signal = make_signal(1), never = make_signal(1), after = make_signal(1);
    gone.put(launch_of(slow, data, 3000, 1, signal));
    gone.put(barrier_of(AQL_BARRIER_AND, {never}, 0));
    gone.submit(launch_of(add, data + 64, 1, 1, after));
    wait_for(signal);
    MUST(api->destroy(gone.info.id), DRIVER_OK);
    CHECK(signal_value(after) == 1);
    expect(data + 64, 64, 0);
    MUST(api->ring(gone.page, gone.info.offset, 3), DRIVER_INVALID_ADDRESS);
    queue_state state;
    MUST(api->state(gone.info.id, &state), DRIVER_INVALID_VALUE);
    MUST(api->destroy(gone.info.id), DRIVER_INVALID_VALUE);
    user_queue again;
    CHECK(again.info.offset == gone.info.offset);
    uint64_t one = make_signal(1), two = make_signal(1);
    kept.submit(launch_of(add, data + 128, 2, 1, one));
    again.submit(launch_of(add, data + 192, 3, 1, two));
    wait_for(one);
    wait_for(two);
    expect(data + 128, 64, 2);
    expect(data + 192, 64, 3);
    kept.destroy();
    again.destroy();
}

// What a program can get wrong: error codes, and everything else goes on.
static void part_misuse()
{
    queue_info info;
    uint32_t page = 0;
    uint64_t number = 0;
    MUST(api->create(99, 16, &info), DRIVER_INVALID_DEVICE);
    MUST(api->create(0, 12, &info), DRIVER_INVALID_VALUE);
    user_queue full(2), bad_type, bad_address, too_far, unmapped, good;
    uint32_t *data = device_zeros<uint32_t>(64);
    uint64_t never = make_signal(1), done = make_signal(1);
    MUST(api->map(0, 0x1000, &page), DRIVER_INVALID_ADDRESS);
    MUST(api->map(0, good.info.offset | (uint64_t)40 << QUEUE_OFFSET_GPU_SHIFT, &page), DRIVER_INVALID_ADDRESS);
    MUST(api->ring(good.page, good.info.offset + 8 * 100, 0), DRIVER_INVALID_ADDRESS);
    MUST(api->ring(good.page, good.info.offset + 4, 0), DRIVER_INVALID_ADDRESS);
    MUST(api->unmap(unmapped.page), DRIVER_OK);
    MUST(api->ring(unmapped.page, unmapped.info.offset, 0), DRIVER_INVALID_ADDRESS);
    MUST(api->unmap(unmapped.page), DRIVER_INVALID_ADDRESS);
    // A ring that stays full.
    full.put(barrier_of(AQL_BARRIER_AND, {never}, 0));
    full.submit(barrier_of(AQL_BARRIER_AND, {never}, 0));
    aql_barrier_packet barrier = barrier_of(AQL_BARRIER_AND, {never}, 0);
    MUST(api->write(full.info.id, &barrier, &number), DRIVER_NOT_READY);
    MUST(api->ring(too_far.page, too_far.info.offset, 16), DRIVER_OK);
    bad_type.submit(barrier_of(AQL_AGENT, {}, 0));
    dispatch_packet packet = launch_of(add, data, 1, 1, 0);
    packet.kernel_object = 0x12340000;
    bad_address.submit(packet);
    good.submit(launch_of(add, data, 9, 1, done));
    wait_for(done);
    expect(data, 64, 9);
    MUST(api->signal_wait(0, never, 0, 20000), DRIVER_NOT_READY);
    CHECK(too_far.error() == QUEUE_OVERFLOW);
    CHECK(bad_type.error() == QUEUE_PACKET);
    CHECK(bad_address.error() == QUEUE_ADDRESS);
    CHECK(full.error() == QUEUE_GOOD && good.error() == QUEUE_GOOD);
    for (user_queue *q : {&full, &bad_type, &bad_address, &too_far, &good}) {
        q->destroy();
    }
    MUST(api->destroy(unmapped.info.id), DRIVER_OK);
    uint64_t again = make_signal(1);
    user_queue fresh;
    fresh.submit(launch_of(add, data, 1, 1, again));
    wait_for(again);
    expect(data, 64, 10);
    fresh.destroy();
}

// A doorbell that is rung before its packet is written: the packet is waited for.
static void part_early()
{
    user_queue queue;
    uint32_t *data = device_zeros<uint32_t>(64);
    uint64_t done = make_signal(1);
    dispatch_packet packet = launch_of(add, data, 6, 1, done);
    MUST(api->ring(queue.page, queue.info.offset, 0), DRIVER_OK);
    MUST(api->signal_wait(0, done, 0, 20000), DRIVER_NOT_READY);
    queue.put(packet);
    wait_for(done);
    expect(data, 64, 6);
    queue.destroy();
}

// The same on every GPU: doorbells have the same numbers there, and only their GPU tells them apart.
static void part_gpus()
{
    int gpus = 0;
    HIP_MUST(hipGetDeviceCount(&gpus));
    std::vector<user_queue> all;
    std::vector<uint32_t *> data;
    std::vector<uint64_t> done;
    for (int g = 0; g < gpus; g++) {
        HIP_MUST(hipSetDevice(g));
        all.emplace_back(8, static_cast<uint32_t>(g));
        data.push_back(device_zeros<uint32_t>(64));
        done.push_back(make_signal(2));
        CHECK((all[g].info.offset >> QUEUE_OFFSET_GPU_SHIFT & QUEUE_OFFSET_GPU_MASK) == static_cast<uint64_t>(g));
        CHECK(all[g].info.offset % QUEUE_PAGE_BYTES == all[0].info.offset % QUEUE_PAGE_BYTES);
        all[g].submit(launch_of(add, data[g], 10 + g, 1, done[g]));
    }
    // The last is destroyed; the others, with doorbells of the same number, still work.
    for (int g = 0; g < gpus; g++) {
        wait_for(done[g], 1, static_cast<uint32_t>(g));
    }
    all[gpus - 1].destroy();
    for (int g = 0; g + 1 < gpus; g++) {
        HIP_MUST(hipSetDevice(g));
        all[g].submit(launch_of(add, data[g], 100, 1, done[g]));
        wait_for(done[g], 0, static_cast<uint32_t>(g));
        expect(data[g], 64, 110 + g);
        queue_state state;
        MUST(api->state(all[g].info.id, &state), DRIVER_OK);
        CHECK(state.gpu == static_cast<uint32_t>(g) && state.error == QUEUE_GOOD && state.read == 2);
        all[g].destroy();
    }
    // Nothing of it is left: a new queue begins at its first packet.
    HIP_MUST(hipSetDevice(gpus - 1));
    expect(data[gpus - 1], 64, 10 + gpus - 1);
    user_queue again(8, static_cast<uint32_t>(gpus - 1));
    again.submit(launch_of(add, data[gpus - 1], 1000, 1, done[gpus - 1]));
    wait_for(done[gpus - 1], 0, static_cast<uint32_t>(gpus - 1));
    expect(data[gpus - 1], 64, 1010 + gpus - 1);
    again.destroy();
    HIP_MUST(hipSetDevice(0));
}

// Signals and results in the memory of another GPU: what a kernel writes there is in memory when its signal is, barriers wait for
// signals wherever they lie, and GPUs that count the same signal down at the same time lose nothing.
static void part_remote()
{
    constexpr int rounds = 12;
    int gpus = 0;
    HIP_MUST(hipGetDeviceCount(&gpus));
    std::vector<user_queue> all;
    std::vector<dispatch_packet> packets;
    HIP_MUST(hipSetDevice(1));
    uint32_t *data = device_zeros<uint32_t>(64 * 4 * gpus);
    uint64_t count = make_signal(gpus * rounds), gate = make_signal(1), after = make_signal(1);
    for (int g = 0; g < gpus; g++) {
        HIP_MUST(hipSetDevice(g));
        if (g != 1) {
            HIP_MUST(hipDeviceEnablePeerAccess(1, 0));
        }
        all.emplace_back(16, static_cast<uint32_t>(g));
        packets.push_back(launch_of(add, data + 64 * 4 * g, 3 + g, 4, count, system_fences | AQL_BARRIER));
    }
    // A barrier on each GPU, then a kernel and bare packets that only count.
    for (int g = 0; g < gpus; g++) {
        all[g].put(barrier_of(AQL_BARRIER_AND, {gate}, 0));
        all[g].put(packets[g]);
        for (int i = 1; i + 1 < rounds; i++) {
            all[g].put(barrier_of(AQL_BARRIER_AND, {}, count));
        }
        all[g].submit(packets[g]);
    }
    MUST(api->signal_wait(1, count, 0, 30000), DRIVER_NOT_READY);
    CHECK(signal_value(count) == gpus * rounds);
    all[2].destroy(); // which waits, too; the others go on
    int64_t open = 0;
    HIP_MUST(hipMemcpy(reinterpret_cast<void *>(gate + AQL_SIGNAL_VALUE), &open, sizeof open, hipMemcpyHostToDevice));
    MUST(api->signal_wait(1, count, rounds, UINT64_MAX), DRIVER_OK);
    for (int g = 0; g < gpus; g++) {
        expect(data + 64 * 4 * g, 64 * 4, g == 2 ? 0 : 2 * (3 + g));
    }
    // One GPU waits for what another does.
    all[0].submit(barrier_of(AQL_BARRIER_OR, {after}, gate));
    HIP_MUST(hipSetDevice(1));
    all[1].submit(launch_of(slow, data, 200, 1, after));
    MUST(api->signal_wait(1, gate, -1, UINT64_MAX), DRIVER_OK);
    CHECK(signal_value(after) == 0);
    all[0].destroy();
    all[1].destroy();
    HIP_MUST(hipSetDevice(0));
}

// A barrier that nothing can ever open: the run ends, and says what waits for what.
static void part_stuck()
{
    user_queue queue;
    uint64_t never = make_signal(1), done = make_signal(1);
    queue.put(barrier_of(AQL_BARRIER_AND, {never}, 0));
    queue.submit(barrier_of(AQL_BARRIER_AND, {}, done));
    std::printf("never is 0x%llx\n", static_cast<unsigned long long>(never));
    std::fflush(stdout);
    MUST(api->signal_wait(0, done, 0, UINT64_MAX), DRIVER_DEADLOCK);
    std::exit(0);
}

// More queues than slots that are all busy: two long kernels each, the second of which waits for the first in its slot.
static void part_busy()
{
    std::vector<user_queue> all;
    uint32_t *data = device_zeros<uint32_t>(64 * 12), value = 0;
    uint64_t done = make_signal(24);
    for (int i = 0; i < 12; i++) {
        all.emplace_back(8);
        all[i].put(launch_of(slow, data + 64 * i, 1500, 1, done));
        all[i].submit(launch_of(slow, data + 64 * i, 1500, 1, done, system_fences | AQL_BARRIER));
    }
    wait_for(done);
    for (int n = 0; n < 3000; n++) {
        value = value * 1664525u + 1013904223u;
    }
    for (int i = 0; i < 12; i++) {
        expect(data + 64 * i, 64, value);
        all[i].destroy();
    }
}

// Two processes on one GPU, each with queues and memory of its own: kernels of both run at the same time, no process can ring
// the doorbells of the other, and with a process its queues are gone.
static void part_processes()
{
    int other = 0;
    MUST(heddleCreateContext(&other, 0), 0);
    uint32_t *data[2];
    uint64_t done[2];
    std::vector<user_queue> all;
    uint32_t device[2];
    size_t kept = 0; // pieces of memory that are not the other process's
    for (int p = 0; p < 2; p++) {
        kept = check_memory.size();
        HIP_MUST(hipSetDevice(p ? other : 0));
        MUST(heddleUserQueues(&api, &device[p]), 0);
        data[p] = device_zeros<uint32_t>(64);
        done[p] = make_signal(1);
        all.emplace_back(8, device[p]);
        all[p].put(launch_of(slow, data[p], 1000, 1, done[p]));
    }
    MUST(api->ring(all[0].page, all[1].info.offset, 0), DRIVER_INVALID_ADDRESS);
    MUST(api->ring(all[1].page, all[0].info.offset, 0), DRIVER_INVALID_ADDRESS);
    for (int p = 0; p < 2; p++) {
        MUST(api->ring(all[p].page, all[p].info.offset, 0), DRIVER_OK);
    }
    uint32_t value = 0;
    for (int n = 0; n < 1000; n++) {
        value = value * 1664525u + 1013904223u;
    }
    for (int p = 0; p < 2; p++) {
        HIP_MUST(hipSetDevice(p ? other : 0));
        wait_for(done[p], 0, device[p]);
        expect(data[p], 64, value);
    }
    // A packet of one process that names memory of the other.
    uint64_t foreign = done[0];
    HIP_MUST(hipSetDevice(other));
    all[1].submit(barrier_of(AQL_BARRIER_AND, {foreign}, 0));
    MUST(api->signal_wait(device[1], done[1], 1, 20000), DRIVER_NOT_READY);
    CHECK(all[1].error() == QUEUE_ADDRESS);
    HIP_MUST(hipSetDevice(0));
    MUST(heddleDestroyDevice(other), 0);
    check_memory.resize(kept);
    queue_state state;
    MUST(api->state(all[1].info.id, &state), DRIVER_INVALID_VALUE);
    MUST(api->ring(all[1].page, all[1].info.offset, 1), DRIVER_INVALID_ADDRESS);
    all[0].submit(launch_of(add, data[0], 1, 1, done[0]));
    wait_for(done[0], -1);
    expect(data[0], 64, value + 1);
    all[0].destroy();
}

static bool several_gpus()
{
    int gpus = 0;
    HIP_MUST(hipGetDeviceCount(&gpus));
    return gpus > 2;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } parts[] = {{"one", part_one},           {"wrap", part_wrap},   {"order", part_order},   {"barriers", part_barriers},
                 {"oversubscribed", part_oversubscribed}, {"overlap", part_overlap}, {"scratch", part_scratch}, {"destroy", part_destroy},
                 {"misuse", part_misuse},     {"early", part_early}, {"gpus", part_gpus},         {"busy", part_busy},
                 {"remote", part_remote},     {"processes", part_processes}, {"stuck", part_stuck}};
    uint32_t number = 0;
    CHECK(heddleUserQueues && heddleKernelObject);
    MUST(heddleUserQueues(&api, &number), 0);
    for (const auto &part : parts) {
        bool wanted = argc == 1 && part.run != part_stuck && (part.run != part_remote || several_gpus());
        for (int i = 1; i < argc; i++) {
            wanted |= !std::strcmp(argv[i], part.name);
        }
        if (wanted) {
            part.run();
        }
    }
    return pass("user_queues");
}
