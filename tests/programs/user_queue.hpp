// What programs of user queues share: packets, signals, a queue with its page of doorbells, and a kernel. Include it once.
#pragma once

#include "check.hpp"

#include <algorithm>

#include "components/hip/api/heddle_hip.h"
#include "components/hip/api/heddle_user_queues.h"
#include "components/protocols/user_queue/aql_queue.h"

static const struct driver_queue_api *api;

#define MUST(call, status)                                                                         \
    do {                                                                                           \
        int must_status = (call);                                                                  \
        if (must_status != (status)) {                                                             \
            std::printf("FAIL user_queue: line %d: %s is %d\n", __LINE__, #call, must_status);    \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("FAIL user_queue: line %d: not %s\n", __LINE__, #condition);              \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

__global__ void add(uint32_t *data, uint32_t more)
{
    data[blockIdx.x * 64 + threadIdx.x] += more;
}

struct dispatch_packet {
    uint16_t header, setup, work_group[3], reserved0;
    uint32_t grid[3], private_bytes, group_bytes;
    uint64_t kernel_object, kernarg, reserved1, completion;
};
static_assert(sizeof(dispatch_packet) == AQL_PACKET_BYTES, "a packet has 64 bytes");

constexpr uint16_t system_fences = AQL_SCOPE_SYSTEM << AQL_ACQUIRE_SHIFT | AQL_SCOPE_SYSTEM << AQL_RELEASE_SHIFT;

static uint64_t address_of(const void *pointer)
{
    return reinterpret_cast<uint64_t>(pointer);
}

static uint64_t make_signal(int64_t value)
{
    int64_t words[8] = {0, value};
    void *signal = nullptr;
    HIP_MUST(hipMalloc(&signal, sizeof words));
    HIP_MUST(hipMemcpy(signal, words, sizeof words, hipMemcpyHostToDevice));
    return address_of(signal);
}

static int64_t signal_value(uint64_t signal)
{
    int64_t words[8];
    HIP_MUST(hipMemcpy(words, reinterpret_cast<void *>(signal), sizeof words, hipMemcpyDeviceToHost));
    return words[1];
}

// A launch of `kernel`(data, number) with `blocks` work-groups of 64.
static dispatch_packet launch_of(void (*kernel)(uint32_t *, uint32_t), uint32_t *data, uint32_t number, uint32_t blocks,
                                 uint64_t completion, uint16_t flags = system_fences)
{
    heddle_kernel k;
    MUST(heddleKernelObject(reinterpret_cast<const void *>(kernel), &k), 0);
    std::vector<char> bytes(k.kernarg_bytes < 16 ? 16 : k.kernarg_bytes);
    std::memcpy(&bytes[0], &data, 8);
    std::memcpy(&bytes[8], &number, 4);
    char *kernarg = to_device(bytes);
    dispatch_packet p = {};
    p.header = static_cast<uint16_t>(AQL_DISPATCH | flags);
    p.setup = 1;
    p.work_group[0] = 64;
    p.work_group[1] = p.work_group[2] = 1;
    p.grid[0] = blocks * 64;
    p.grid[1] = p.grid[2] = 1;
    p.private_bytes = k.private_bytes;
    p.group_bytes = k.group_bytes;
    p.kernel_object = k.object;
    p.kernarg = address_of(kernarg);
    p.completion = completion;
    return p;
}

static aql_barrier_packet barrier_of(uint16_t type, std::vector<uint64_t> dependencies, uint64_t completion)
{
    aql_barrier_packet p = {};
    p.header = type;
    std::copy(dependencies.begin(), dependencies.end(), p.dependency);
    p.completion = completion;
    return p;
}

struct user_queue {
    queue_info info;
    uint32_t page;
    explicit user_queue(uint32_t packets = 16, uint32_t device = 0)
    {
        MUST(api->create(device, packets, &info), DRIVER_OK);
        MUST(api->map(device, info.offset, &page), DRIVER_OK);
    }
    template <typename P> uint64_t put(const P &packet)
    {
        uint64_t number = 0;
        MUST(api->write(info.id, &packet, &number), DRIVER_OK);
        return number;
    }
    template <typename P> void submit(const P &packet)
    {
        uint64_t number = put(packet);
        MUST(api->ring(page, info.offset, number), DRIVER_OK);
    }
    uint32_t error()
    {
        queue_state state;
        MUST(api->state(info.id, &state), DRIVER_OK);
        return state.error;
    }
    uint64_t read()
    {
        queue_state state;
        MUST(api->state(info.id, &state), DRIVER_OK);
        return state.read;
    }
    void destroy()
    {
        MUST(api->destroy(info.id), DRIVER_OK);
        MUST(api->unmap(page), DRIVER_OK);
    }
};

static void wait_for(uint64_t signal, int64_t value = 0, uint32_t device = 0)
{
    MUST(api->signal_wait(device, signal, value, 10000000), DRIVER_OK);
}

static void expect(uint32_t *device, size_t count, uint32_t want)
{
    std::vector<uint32_t> got(count), all(count, want);
    from_device(got, device);
    if (!same_or_report("user_queues", got, all)) {
        std::exit(1);
    }
}
