// Functions of HIP that AMD's library has and heddle's refuses, a case each: `amd_calls CASE`. For
// `heddle run --stack rocm`. Without arguments it names the cases.
#include "check.hpp"

#include <hip/hip_ext.h>
#include <hip/hiprtc.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("FAIL amd_calls: line %d: %s\n", __LINE__, #condition);                    \
            std::fflush(stdout);                                                                   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

__global__ void change(int *data, int n, int factor, int more)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = data[i] * factor + more;
    }
}

__device__ int table[64];

__global__ void read_table(int *out)
{
    out[threadIdx.x] = table[threadIdx.x] + 1;
}

static const int n = 1000;

static int *device_ints(int first)
{
    std::vector<int> host(n);
    for (int i = 0; i < n; i++) {
        host[i] = first + i;
    }
    return to_device(host);
}

// Are all elements (first + i) * factor + more?
static void expect_ints(const int *device, int first, int factor, int more)
{
    std::vector<int> got(n), want(n);
    for (int i = 0; i < n; i++) {
        want[i] = (first + i) * factor + more;
    }
    from_device(got, device);
    if (!same_or_report("amd_calls", got, want)) {
        std::exit(1);
    }
}

struct kernel_node {
    int *data;
    int count = n, factor, more;
    void *arguments[4] = {&data, &count, &factor, &more};
    hipKernelNodeParams params = {};
    kernel_node(int *on, int times, int plus) : data(on), factor(times), more(plus)
    {
        params.func = reinterpret_cast<void *>(change);
        params.gridDim = dim3(blocks_for(n, 64));
        params.blockDim = dim3(64);
        params.kernelParams = arguments;
    }
};

static void run_graph(hipGraphExec_t ready)
{
    HIP_MUST(hipGraphLaunch(ready, nullptr));
    HIP_MUST(hipStreamSynchronize(nullptr));
}

// Nodes of kernels: asked for, changed before and after they are made ready; edges and their ends.
static void edit_graphs()
{
    int *data = device_ints(0);
    kernel_node twice(data, 2, 1), thrice(data, 3, 5);
    hipGraph_t graph, copy;
    hipGraphNode_t first, second, from[4], to[4], found;
    hipGraphExec_t ready;
    size_t count = 4;
    HIP_MUST(hipGraphCreate(&graph, 0));
    HIP_MUST(hipGraphAddKernelNode(&first, graph, nullptr, 0, &twice.params));
    HIP_MUST(hipGraphAddKernelNode(&second, graph, &first, 1, &thrice.params));
    HIP_MUST(hipGraphGetEdges(graph, from, to, &count));
    EXPECT(count == 1 && from[0] == first && to[0] == second);
    HIP_MUST(hipGraphNodeGetDependencies(second, from, &(count = 4)));
    EXPECT(count == 1 && from[0] == first);
    HIP_MUST(hipGraphNodeGetDependentNodes(first, to, &(count = 4)));
    EXPECT(count == 1 && to[0] == second);
    hipKernelNodeParams asked = {};
    HIP_MUST(hipGraphKernelNodeGetParams(second, &asked));
    EXPECT(asked.func == thrice.params.func && asked.gridDim.x == thrice.params.gridDim.x);
    HIP_MUST(hipGraphClone(&copy, graph));
    HIP_MUST(hipGraphNodeFindInClone(&found, first, copy));
    EXPECT(found != first);
    HIP_MUST(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    run_graph(ready);
    expect_ints(data, 0, 6, 8);
    kernel_node other(data, 1, 1000);
    HIP_MUST(hipGraphExecKernelNodeSetParams(ready, second, &other.params));
    run_graph(ready); // ((6 i + 8) * 2 + 1) + 1000
    expect_ints(data, 0, 12, 1017);
    HIP_MUST(hipGraphExecDestroy(ready));
    HIP_MUST(hipGraphDestroy(copy));
    HIP_MUST(hipGraphDestroy(graph));
}

// A graph that is ready takes over what another one of its shape says.
static void update_graphs()
{
    int *data = device_ints(0);
    hipGraph_t graph[2];
    hipGraphExec_t ready;
    kernel_node kernels[2] = {{data, 2, 0}, {data, 1, 7}};
    for (int i = 0; i < 2; i++) {
        hipGraphNode_t node;
        kernels[i].arguments[0] = &kernels[i].data;
        kernels[i].arguments[1] = &kernels[i].count;
        kernels[i].arguments[2] = &kernels[i].factor;
        kernels[i].arguments[3] = &kernels[i].more;
        kernels[i].params.kernelParams = kernels[i].arguments;
        HIP_MUST(hipGraphCreate(&graph[i], 0));
        HIP_MUST(hipGraphAddKernelNode(&node, graph[i], nullptr, 0, &kernels[i].params));
    }
    HIP_MUST(hipGraphInstantiate(&ready, graph[0], nullptr, nullptr, 0));
    run_graph(ready);
    hipGraphNode_t wrong;
    hipGraphExecUpdateResult result = hipGraphExecUpdateError;
    HIP_MUST(hipGraphExecUpdate(ready, graph[1], &wrong, &result));
    EXPECT(result == hipGraphExecUpdateSuccess);
    run_graph(ready);
    expect_ints(data, 0, 2, 7);
}

// Copies to and from a variable, and a fill.
static void copy_nodes()
{
    int values[64], *out = device_ints(0), back[64];
    for (int i = 0; i < 64; i++) {
        values[i] = 3 * i;
    }
    hipGraph_t graph;
    hipGraphNode_t to, from, fill;
    hipGraphExec_t ready;
    hipMemsetParams zero = {};
    zero.dst = out;
    zero.elementSize = 4;
    zero.width = n;
    zero.height = 1;
    zero.value = 9;
    HIP_MUST(hipGraphCreate(&graph, 0));
    HIP_MUST(hipGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, HIP_SYMBOL(table), values,
                                           sizeof values, 0, hipMemcpyHostToDevice));
    HIP_MUST(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, back, HIP_SYMBOL(table),
                                             sizeof back, 0, hipMemcpyDeviceToHost));
    HIP_MUST(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
    hipMemsetParams asked = {};
    HIP_MUST(hipGraphMemsetNodeGetParams(fill, &asked));
    EXPECT(asked.dst == out && asked.value == 9);
    HIP_MUST(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    run_graph(ready);
    EXPECT(std::memcmp(back, values, sizeof back) == 0);
    expect_ints(out, 0, 0, 9);
    read_table<<<1, 64>>>(out);
    HIP_MUST(hipMemcpy(back, out, sizeof back, hipMemcpyDeviceToHost));
    EXPECT(back[0] == 1 && back[63] == 3 * 63 + 1);
}

static void count_up(void *number)
{
    ++*static_cast<int *>(number);
}

// Events and functions of the host in a graph.
static void host_nodes()
{
    int *data = device_ints(0), calls[2] = {0, 0};
    kernel_node twice(data, 2, 0);
    hipEvent_t begin, end;
    hipGraph_t graph;
    hipGraphNode_t started, work, done, call;
    hipGraphExec_t ready;
    HIP_MUST(hipEventCreate(&begin));
    HIP_MUST(hipEventCreate(&end));
    HIP_MUST(hipGraphCreate(&graph, 0));
    HIP_MUST(hipGraphAddEventRecordNode(&started, graph, nullptr, 0, begin));
    HIP_MUST(hipGraphAddKernelNode(&work, graph, &started, 1, &twice.params));
    HIP_MUST(hipGraphAddEventRecordNode(&done, graph, &work, 1, end));
    hipHostNodeParams host = {count_up, &calls[0]};
    HIP_MUST(hipGraphAddHostNode(&call, graph, &done, 1, &host));
    hipEvent_t asked;
    HIP_MUST(hipGraphEventRecordNodeGetEvent(done, &asked));
    EXPECT(asked == end);
    HIP_MUST(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    run_graph(ready);
    HIP_MUST(hipEventSynchronize(end));
    EXPECT(hipEventQuery(end) == hipSuccess && calls[0] == 1);
    expect_ints(data, 0, 2, 0);
    hipHostNodeParams second = {count_up, &calls[1]};
    HIP_MUST(hipGraphExecHostNodeSetParams(ready, call, &second));
    run_graph(ready);
    HIP_MUST(hipDeviceSynchronize());
    EXPECT(calls[0] == 1 && calls[1] == 1);
}

// What a capture says of itself, and dependencies that are put into it from outside.
static void captures()
{
    int *data = device_ints(0);
    hipStream_t stream;
    hipGraph_t graph, same;
    hipStreamCaptureStatus status;
    const hipGraphNode_t *before;
    size_t count;
    unsigned long long id;
    hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
    HIP_MUST(hipStreamCreate(&stream));
    HIP_MUST(hipThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode == hipStreamCaptureModeGlobal);
    HIP_MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    change<<<blocks_for(n, 64), 64, 0, stream>>>(data, n, 2, 0);
    HIP_MUST(hipStreamGetCaptureInfo_v2(stream, &status, &id, &same, &before, &count));
    EXPECT(status == hipStreamCaptureStatusActive && count == 1);
    kernel_node more(data, 1, 4);
    hipGraphNode_t added;
    HIP_MUST(hipGraphAddKernelNode(&added, same, before, count, &more.params));
    HIP_MUST(
        hipStreamUpdateCaptureDependencies(stream, &added, 1, hipStreamSetCaptureDependencies));
    change<<<blocks_for(n, 64), 64, 0, stream>>>(data, n, 3, 0);
    HIP_MUST(hipStreamEndCapture(stream, &graph));
    hipGraphExec_t ready;
    HIP_MUST(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    run_graph(ready);
    expect_ints(data, 0, 6, 12);
}

// Streams that write words of memory and wait for them.
static void stream_words()
{
    int *data = device_ints(0);
    uint64_t *word = nullptr;
    hipStream_t first, second;
    HIP_MUST(hipExtMallocWithFlags(reinterpret_cast<void **>(&word), 8, hipMallocSignalMemory));
    *word = 0;
    HIP_MUST(hipStreamCreate(&first));
    HIP_MUST(hipStreamCreate(&second));
    HIP_MUST(hipStreamWaitValue64(first, word, 7, hipStreamWaitValueEq, ~uint64_t(0)));
    change<<<blocks_for(n, 64), 64, 0, first>>>(data, n, 3, 0);
    change<<<blocks_for(n, 64), 64, 0, second>>>(data, n, 1, 5);
    HIP_MUST(hipStreamWriteValue64(second, word, 7, 0));
    HIP_MUST(hipStreamSynchronize(first));
    EXPECT(*word == 7);
    expect_ints(data, 0, 3, 15);
    HIP_MUST(hipStreamWriteValue32(second, word, 3, 0));
    HIP_MUST(hipStreamWaitValue32(first, word, 2, hipStreamWaitValueGte, ~0u));
    HIP_MUST(hipDeviceSynchronize());
    EXPECT(*word == 3);
}

// Handles for other processes. This one opens its own, and has the memory at two addresses.
static void ipc_handles()
{
    int *data = device_ints(0), *again = nullptr;
    hipIpcMemHandle_t memory, zero;
    hipIpcEventHandle_t handle;
    hipEvent_t event;
    std::memset(&zero, 0, sizeof zero);
    std::memset(&memory, 0, sizeof memory);
    HIP_MUST(hipIpcGetMemHandle(&memory, data));
    EXPECT(std::memcmp(&memory, &zero, sizeof zero) != 0);
    HIP_MUST(hipIpcOpenMemHandle(reinterpret_cast<void **>(&again), memory, 0));
    change<<<blocks_for(n, 64), 64>>>(again, n, 3, 1);
    HIP_MUST(hipDeviceSynchronize());
    expect_ints(data, 0, 3, 1);
    HIP_MUST(hipIpcCloseMemHandle(again));
    EXPECT(hipIpcGetMemHandle(&memory, nullptr) == hipErrorInvalidValue);
    HIP_MUST(hipEventCreateWithFlags(&event, hipEventDisableTiming | hipEventInterprocess));
    HIP_MUST(hipIpcGetEventHandle(&handle, event));
    HIP_MUST(hipEventRecord(event, nullptr));
    HIP_MUST(hipEventSynchronize(event));
    expect_ints(data, 0, 3, 1);
}

// Where managed memory lies and may be used.
static void managed_ranges()
{
    int managed = 0, *data = nullptr;
    HIP_MUST(hipDeviceGetAttribute(&managed, hipDeviceAttributeConcurrentManagedAccess, 0));
    HIP_MUST(hipMallocManaged(&data, 1 << 20));
    for (int i = 0; i < n; i++) {
        data[i] = i;
    }
    if (!managed) { // GPUs without memory by attributes
        std::printf("not managed\n");
    } else {
        int home = -9, mostly = -9;
        void *both[2] = {&home, &mostly};
        size_t sizes[2] = {sizeof home, sizeof mostly};
        hipMemRangeAttribute which[2] = {hipMemRangeAttributePreferredLocation,
                                         hipMemRangeAttributeReadMostly};
        HIP_MUST(hipMemAdvise(data, 1 << 20, hipMemAdviseSetPreferredLocation, 0));
        HIP_MUST(hipMemAdvise(data, 1 << 20, hipMemAdviseSetReadMostly, 0));
        HIP_MUST(hipMemRangeGetAttribute(&home, sizeof home, hipMemRangeAttributePreferredLocation,
                                         data, 1 << 20));
        EXPECT(home == 0);
        HIP_MUST(hipMemRangeGetAttributes(both, sizes, which, 2, data, 1 << 20));
        EXPECT(home == 0 && mostly == 1);
        HIP_MUST(hipMemPrefetchAsync(data, 1 << 20, 0, nullptr));
        HIP_MUST(hipMemAdvise(data, 1 << 20, hipMemAdviseUnsetReadMostly, 0));
    }
    change<<<blocks_for(n, 64), 64>>>(data, n, 2, 1);
    HIP_MUST(hipDeviceSynchronize());
    EXPECT(data[0] == 1 && data[n - 1] == 2 * (n - 1) + 1);
    data[5] = 100;
    change<<<blocks_for(n, 64), 64>>>(data, n, 1, 1);
    HIP_MUST(hipDeviceSynchronize());
    EXPECT(data[5] == 101 && data[6] == 14);
    HIP_MUST(hipFree(data));
}

// What two GPUs are to each other; with one GPU, that there is no second.
static void peers()
{
    int gpus = 0, access = -1;
    HIP_MUST(hipGetDeviceCount(&gpus));
    uint32_t type = 0, hops = 0;
    EXPECT(hipDeviceGetP2PAttribute(&access, hipDevP2PAttrAccessSupported, 0, gpus)
           == hipErrorInvalidDevice);
    if (gpus > 1) {
        HIP_MUST(hipDeviceGetP2PAttribute(&access, hipDevP2PAttrAccessSupported, 0, 1));
        HIP_MUST(hipExtGetLinkTypeAndHopCount(0, 1, &type, &hops));
        int can = -1;
        HIP_MUST(hipDeviceCanAccessPeer(&can, 0, 1));
        EXPECT(access == can && hops >= 1);
    }
    hipDevice_t device;
    hipUUID uuid = {};
    HIP_MUST(hipDeviceGet(&device, 0));
    HIP_MUST(hipDeviceGetUuid(&uuid, device));
    hipDeviceProp_t wanted = {};
    int chosen = -1;
    HIP_MUST(hipChooseDevice(&chosen, &wanted));
    EXPECT(chosen >= 0 && chosen < gpus);
}

// A stream whose mask has all compute units works; the mask can be asked for.
static void unit_masks()
{
    int *data = device_ints(0);
    hipDeviceProp_t device;
    HIP_MUST(hipGetDeviceProperties(&device, 0));
    std::vector<uint32_t> mask((device.multiProcessorCount + 31) / 32, ~0u), got(mask.size());
    hipStream_t stream;
    HIP_MUST(hipExtStreamCreateWithCUMask(&stream, mask.size(), mask.data()));
    change<<<blocks_for(n, 64), 64, 0, stream>>>(data, n, 4, 2);
    HIP_MUST(hipStreamSynchronize(stream));
    expect_ints(data, 0, 4, 2);
    HIP_MUST(hipExtStreamGetCUMask(stream, got.size(), got.data()));
    EXPECT(got[0] != 0);
}

// What a pointer is, attribute by attribute.
static void pointers()
{
    int *data = device_ints(0), ordinal = -1;
    void *device = nullptr;
    unsigned type = 0;
    size_t size = 0;
    HIP_MUST(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, data + 1));
    HIP_MUST(hipPointerGetAttribute(&device, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, data + 1));
    EXPECT(type == hipMemoryTypeDevice && device == data + 1);
    void *both[2] = {&ordinal, &size};
    hipPointer_attribute which[2] = {HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                     HIP_POINTER_ATTRIBUTE_RANGE_SIZE};
    HIP_MUST(hipDrvPointerGetAttributes(2, which, both, data));
    EXPECT(ordinal == 0 && size == n * sizeof(int));
}

// hipRTC, which compiles by AMD's code object manager, in the process.
static void compile()
{
    static const char source[] =
        "template <typename T> __global__ void fill(T *to, T value, int n)\n"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) to[i] = to[i] * value + FACTOR; }\n";
    hiprtcProgram program;
    hipDeviceProp_t device;
    hipModule_t module;
    hipFunction_t function;
    const char *name = nullptr;
    int *data = device_ints(0), value = 3, count = n;
    HIP_MUST(hipGetDeviceProperties(&device, 0));
    std::string target = std::string("--gpu-architecture=") + device.gcnArchName;
    const char *options[] = {target.c_str(), "-DFACTOR=11"};
    EXPECT(hiprtcCreateProgram(&program, source, "fill.hip", 0, nullptr, nullptr) == 0);
    EXPECT(hiprtcAddNameExpression(program, "fill<int>") == 0);
    hiprtcResult result = hiprtcCompileProgram(program, 2, options);
    size_t size = 0;
    EXPECT(hiprtcGetProgramLogSize(program, &size) == 0);
    std::vector<char> log(size + 1);
    EXPECT(hiprtcGetProgramLog(program, log.data()) == 0);
    if (result != HIPRTC_SUCCESS) {
        std::printf("%s\n", log.data());
    }
    EXPECT(result == HIPRTC_SUCCESS && hiprtcGetLoweredName(program, "fill<int>", &name) == 0);
    EXPECT(hiprtcGetCodeSize(program, &size) == 0);
    std::vector<char> code(size);
    EXPECT(hiprtcGetCode(program, code.data()) == 0);
    HIP_MUST(hipModuleLoadData(&module, code.data()));
    HIP_MUST(hipModuleGetFunction(&function, module, name));
    void *arguments[] = {&data, &value, &count};
    HIP_MUST(hipModuleLaunchKernel(function, blocks_for(n, 64), 1, 1, 64, 1, 1, 0, nullptr,
                                   arguments, nullptr));
    expect_ints(data, 0, 3, 11);
    EXPECT(hiprtcDestroyProgram(&program) == 0);
}

// Kernels on several devices by one call, here on one.
static void several_devices()
{
    int gpus = 0;
    HIP_MUST(hipGetDeviceCount(&gpus));
    std::vector<kernel_node> kernels;
    std::vector<hipLaunchParams> launches(gpus);
    std::vector<hipStream_t> streams(gpus);
    for (int i = 0; i < gpus; i++) {
        HIP_MUST(hipSetDevice(i));
        HIP_MUST(hipStreamCreate(&streams[i]));
        kernels.emplace_back(device_ints(i), 2, i);
    }
    std::vector<std::vector<void *>> arguments(gpus);
    for (int i = 0; i < gpus; i++) {
        kernel_node &k = kernels[i];
        arguments[i] = {&k.data, &k.count, &k.factor, &k.more};
        launches[i] = {reinterpret_cast<void *>(change),
                       k.params.gridDim,
                       k.params.blockDim,
                       arguments[i].data(),
                       0,
                       streams[i]};
    }
    HIP_MUST(hipExtLaunchMultiKernelMultiDevice(launches.data(), gpus, 0));
    for (int i = 0; i < gpus; i++) {
        HIP_MUST(hipSetDevice(i));
        HIP_MUST(hipStreamSynchronize(streams[i]));
        expect_ints(kernels[i].data, i, 2, i);
    }
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {{"edit_graphs", edit_graphs},
             {"update_graphs", update_graphs},
             {"copy_nodes", copy_nodes},
             {"host_nodes", host_nodes},
             {"captures", captures},
             {"stream_words", stream_words},
             {"ipc_handles", ipc_handles},
             {"managed_ranges", managed_ranges},
             {"peers", peers},
             {"unit_masks", unit_masks},
             {"pointers", pointers},
             {"compile", compile},
             {"several_devices", several_devices}};

int main(int argc, char **argv)
{
    for (const auto &one : cases) {
        if (argc < 2) {
            std::printf("%s ", one.name);
        } else if (!std::strcmp(argv[1], one.name)) {
            one.run();
            return pass("amd_calls");
        }
    }
    return 1;
}
