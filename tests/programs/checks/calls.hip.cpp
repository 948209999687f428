// Mistakes in calls of HIP, as cases.hpp says.
#include "../check.hpp"

#include <string>

static void *memory(size_t bytes = 1024)
{
    void *made = nullptr;
    HIP_MUST(hipMalloc(&made, bytes)); // leak_device: first
    return made;
}

static hipStream_t stream()
{
    hipStream_t made = nullptr;
    HIP_MUST(hipStreamCreate(&made)); // leak_stream: first
    return made;
}

static void leak_device(bool wrong) // leak_device: leak
{
    void *data = memory();
    HIP_MUST(hipMemset(data, 0, 1024));
    if (!wrong) {
        HIP_MUST(hipFree(data));
    }
}

static void leak_pinned(bool wrong) // leak_pinned: leak
{
    void *data = nullptr;
    HIP_MUST(hipHostMalloc(&data, 4096, hipHostMallocDefault)); // leak_pinned: first
    if (!wrong) {
        HIP_MUST(hipHostFree(data));
    }
}

static void leak_stream(bool wrong) // leak_stream: leak
{
    hipStream_t made = stream();
    if (!wrong) {
        HIP_MUST(hipStreamDestroy(made));
    }
}

static void leak_event(bool wrong) // leak_event: leak
{
#pragma unroll 1
    for (int step = 0; step < 4; step++) {
        hipEvent_t event = nullptr;
        HIP_MUST(hipEventCreate(&event)); // leak_event: first
        HIP_MUST(hipEventRecord(event, nullptr));
        if (!wrong) {
            HIP_MUST(hipEventDestroy(event));
        }
    }
}

static void leak_graph(bool wrong) // leak_graph: leak
{
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    HIP_MUST(hipGraphCreate(&graph, 0));
    HIP_MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0)); // leak_graph: first
    HIP_MUST(hipGraphDestroy(graph));
    if (!wrong) {
        HIP_MUST(hipGraphExecDestroy(exec));
    }
}

__managed__ int managed_word = 1;

// Managed variables and the default pool belong to the library.
static void leak_pool(bool wrong) // leak_pool: leak
{
    hipMemPool_t made = nullptr, present = nullptr;
    hipMemPoolProps properties = {};
    properties.allocType = hipMemAllocationTypePinned;
    properties.location.type = hipMemLocationTypeDevice;
    HIP_MUST(hipDeviceGetDefaultMemPool(&present, 0));
    HIP_MUST(hipMemPoolCreate(&made, &properties)); // leak_pool: first
    managed_word = 2;
    if (!wrong) {
        HIP_MUST(hipMemPoolDestroy(made));
    }
}

static void free_twice(bool wrong) // free_twice: freed-twice
{
    void *data = memory(), *other = memory();
    HIP_MUST(hipFree(data)); // free_twice: first
    HIP_MUST(hipFree(other));
    if (wrong) {
        (void)hipFree(data); // free_twice: second
    }
}

static void free_inside(bool wrong) // free_inside: freed-wrong
{
    void *data = nullptr;
    HIP_MUST(hipMalloc(&data, 1024)); // free_inside: first
    if (wrong) {
        (void)hipFree(static_cast<char *>(data) + 4); // free_inside: second
    }
    HIP_MUST(hipFree(data));
}

static void copy_freed(bool wrong) // copy_freed: used-freed
{
    void *data = memory();
    char out[16];
    HIP_MUST(hipMemset(data, 0, 1024));
    HIP_MUST(hipMemcpy(out, data, sizeof out, hipMemcpyDeviceToHost));
    HIP_MUST(hipFree(data)); // copy_freed: first
    if (wrong) {
        (void)hipMemcpy(out, data, sizeof out, hipMemcpyDeviceToHost); // copy_freed: second
    }
}

static void copy_freed_pinned(bool wrong) // copy_freed_pinned: used-freed
{
    void *pinned = nullptr, *data = memory();
    HIP_MUST(hipHostMalloc(&pinned, 1024, hipHostMallocDefault));
    std::memset(pinned, 1, 1024);
    HIP_MUST(hipMemcpy(data, pinned, 1024, hipMemcpyHostToDevice));
    HIP_MUST(hipHostFree(pinned)); // copy_freed_pinned: first
    if (wrong) {
        (void)hipMemcpy(data, pinned, 1024, hipMemcpyHostToDevice); // copy_freed_pinned: second
    }
    HIP_MUST(hipFree(data));
}

static void unjoined(bool wrong) // unjoined: capture-unjoined
{
    void *data = memory();
    hipStream_t first = stream(), second = stream();
    hipEvent_t fork = nullptr, join = nullptr;
    hipGraph_t graph = nullptr;
    HIP_MUST(hipEventCreate(&fork));
    HIP_MUST(hipEventCreate(&join));
    HIP_MUST(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal)); // unjoined: first
    HIP_MUST(hipEventRecord(fork, first));
    HIP_MUST(hipStreamWaitEvent(second, fork, 0));
    HIP_MUST(hipMemsetAsync(data, 0, 256, second));
    if (!wrong) {
        HIP_MUST(hipEventRecord(join, second));
        HIP_MUST(hipStreamWaitEvent(first, join, 0));
    }
    (void)hipStreamEndCapture(first, &graph); // unjoined: second
    if (graph) {
        HIP_MUST(hipGraphDestroy(graph));
    }
    HIP_MUST(hipEventDestroy(fork));
    HIP_MUST(hipEventDestroy(join));
    HIP_MUST(hipStreamDestroy(first));
    HIP_MUST(hipStreamDestroy(second));
    HIP_MUST(hipFree(data));
}

static void open_capture(bool wrong) // open_capture: capture-open
{
    hipStream_t made = stream();
    hipGraph_t graph = nullptr;
    HIP_MUST(hipStreamBeginCapture(made, hipStreamCaptureModeGlobal)); // open_capture: first
    if (!wrong) {
        HIP_MUST(hipStreamEndCapture(made, &graph));
        HIP_MUST(hipGraphDestroy(graph));
    }
    HIP_MUST(hipStreamDestroy(made));
}

#define CASE(name) {#name, name}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(bool wrong);
    } cases[] = {CASE(leak_device), CASE(leak_pinned), CASE(leak_stream),       CASE(leak_event),
                 CASE(leak_graph),  CASE(free_twice),  CASE(free_inside),       CASE(copy_freed),
                 CASE(unjoined),    CASE(open_capture), CASE(copy_freed_pinned),
                 CASE(leak_pool)};
    const std::string name = argc > 1 ? argv[1] : "";
    for (const auto &each : cases) {
        if (name == each.name) {
            each.run(argc > 2 && std::strcmp(argv[2], "wrong") == 0);
            return pass(each.name);
        }
    }
    return 2;
}
