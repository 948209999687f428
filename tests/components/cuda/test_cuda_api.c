/* CUDA's runtime library on a platform without a simulator (tests/components/hip/mock_platform.h),
 * opened as a program's loader does: properties, memory, launches of a registered binary in both
 * forms, and what is refused. */
#define _GNU_SOURCE /* dlvsym() */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/cuda/api/cuda_types.h"
#include "tests/components/hip/mock_platform.h"

enum { NO_DEVICE = 100, NOT_SUPPORTED = 801, INVALID_VALUE = 1, INVALID_CONFIGURATION = 9 };

static void *library;

static void open_library(const char *major)
{
    char path[400];
    snprintf(path, sizeof path, "%s/libcudart.so.%s", getenv("CUDA_FOLDER"), major);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(library, "%s", dlerror());
}

/* A function of the library as `type`, a pointer to a function. */
static void *find(const char *name)
{
    void *symbol = dlsym(library, name);
    cr_assert(symbol, "%s is missing", name);
    return symbol;
}

#define CALL(name, parameters, ...)                                                                \
    ({                                                                                             \
        int(*call_function) parameters = NULL;                                                     \
        void *call_symbol = find(#name);                                                           \
        memcpy(&call_function, &call_symbol, sizeof call_symbol);                                  \
        call_function(__VA_ARGS__);                                                                \
    })

static const char *error_text(const char *function, int error)
{
    const char *(*call)(int) = NULL;
    void *symbol = find(function);
    memcpy(&call, &symbol, sizeof symbol);
    return call(error);
}

static struct mock_state *mock(void)
{
    struct mock_state *(*state)(void) = NULL;
    void *symbol = dlsym(dlopen(getenv("HEDDLE_PLATFORM"), RTLD_NOW), "mock_state");
    memcpy(&state, &symbol, sizeof symbol);
    return state();
}

static void start(void)
{
    setenv("MOCK_ISA", "sm_86", 1);
    open_library("12");
}

static int last_error(void)
{
    return CALL(cudaGetLastError, (void));
}

/* A call that finds no platform must leave the library open for the next one. */
Test(cuda_api, call_without_a_platform_gives_the_lock_back, .timeout = 10)
{
    bool enabled = false;
    start();
    unsetenv("HEDDLE_PLATFORM");
    for (int i = 0; i < 2; i++)
        cr_assert_eq(
            CALL(cudaGraphNodeSetEnabled, (void *, void *, unsigned), &enabled, &enabled, 1),
            NO_DEVICE);
}

/* ---- devices ---- */

Test(cuda_api, has_the_version_node_of_each_major_version)
{
    int version = 0;
    open_library("12");
    cr_assert(dlvsym(library, "cudaMalloc", "libcudart.so.12"));
    cr_assert(dlvsym(library, "__cudaRegisterFatBinary", "libcudart.so.12"));
    cr_assert_null(dlvsym(library, "cudaMalloc", "libcudart.so.13"));
    CALL(cudaRuntimeGetVersion, (int *), &version);
    cr_assert_eq(version / 1000, 12);
    open_library("13");
    cr_assert(dlvsym(library, "cudaMalloc", "libcudart.so.13"));
    CALL(cudaRuntimeGetVersion, (int *), &version);
    cr_assert_eq(version / 1000, 13);
    cr_assert_null(dlsym(library, "hipMalloc_body"));
    cr_assert_null(dlsym(library, "cuda_launch"), "only functions of CUDA are exported");
}

Test(cuda_api, properties_have_the_layout_of_their_version, .init = start)
{
    struct cuda_properties_12 twelve;
    struct cuda_properties_13 thirteen;
    char eleven[CUDA_PROPERTIES_11_BYTES + 1];
    eleven[CUDA_PROPERTIES_11_BYTES] = 'x';
    cr_assert_eq(CALL(cudaGetDeviceProperties_v2, (void *, int), &twelve, 0), 0);
    cr_assert_eq(CALL(cudaGetDeviceProperties, (void *, int), eleven, 0), 0);
    cr_assert_eq(eleven[CUDA_PROPERTIES_11_BYTES], 'x');
    cr_assert_arr_eq(eleven, &twelve, CUDA_PROPERTIES_11_BYTES);
    open_library("13");
    cr_assert_eq(CALL(cudaGetDeviceProperties, (void *, int), &thirteen, 0), 0);
    cr_assert_str_eq(twelve.name, "mock gpu 0");
    cr_assert_str_eq(thirteen.name, "mock gpu 0");
    cr_assert_eq(twelve.major, 8);
    cr_assert_eq(thirteen.minor, 6);
    cr_assert_eq(twelve.warpSize, 32);
    cr_assert_eq(thirteen.sharedMemPerBlock, 49152);
    cr_assert_eq(thirteen.sharedMemPerBlockOptin, 64512);
    cr_assert_eq(twelve.maxGridSize[1], 65535);
    cr_assert_eq(thirteen.maxThreadsDim[2], 64);
    cr_assert_eq(twelve.clockRate, 1000000);
    cr_assert_eq(thirteen.hostNumaId, -1);
    cr_assert_eq(CALL(cudaGetDeviceProperties, (void *, int), &thirteen, 1), 101);
}

Test(cuda_api, attributes_are_those_of_the_manual, .init = start)
{
    static const struct {
        int attribute, value;
    } rows[] = {{1, 1024}, {4, 64}, {7, 65535}, {8, 49152}, {9, 65536},  {10, 32},
                {16, 64},  {17, 0}, {75, 8},    {76, 6},    {82, 65536}, {97, 64512},
                {95, 1},   {88, 0}, {87, 64},   {134, -1}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        int value = -5;
        cr_assert_eq(CALL(cudaDeviceGetAttribute, (int *, int, int), &value, rows[i].attribute, 0),
                     0);
        cr_assert_eq(value, rows[i].value, "attribute %d is %d", rows[i].attribute, value);
    }
    int value;
    cr_assert_eq(CALL(cudaDeviceGetAttribute, (int *, int, int), &value, 0, 0), INVALID_VALUE);
    cr_assert_eq(CALL(cudaDeviceGetAttribute, (int *, int, int), &value, 500, 0), INVALID_VALUE);
}

Test(cuda_api, finds_no_device_on_a_machine_of_another_vendor)
{
    int count = 7;
    setenv("MOCK_ISA", "gfx906", 1);
    open_library("12");
    cr_assert_eq(CALL(cudaGetDeviceCount, (int *), &count), NO_DEVICE);
    cr_assert_eq(count, 0);
    cr_assert_eq(last_error(), NO_DEVICE);
}

Test(cuda_api, a_program_of_hip_finds_no_device_of_nvidia, .init = start)
{
    int count = 7;
    void *hip = dlopen("libamdhip64.so.5", RTLD_NOW | RTLD_NOLOAD), *symbol;
    cr_assert(hip);
    int (*hip_count)(int *) = NULL;
    symbol = dlsym(hip, "hipGetDeviceCount");
    memcpy(&hip_count, &symbol, sizeof symbol);
    cr_assert_eq(hip_count(&count), NO_DEVICE);
    cr_assert_eq(CALL(cudaGetDeviceCount, (int *), &count), 0);
    cr_assert_eq(count, 1);
}

Test(cuda_api, limits_are_kept, .init = start)
{
    size_t value = 0;
    cr_assert_eq(CALL(cudaDeviceGetLimit, (size_t *, int), &value, 2), 0);
    cr_assert_eq(value, 8 << 20);
    cr_assert_eq(CALL(cudaDeviceSetLimit, (int, size_t), 2, 64 << 20), 0);
    CALL(cudaDeviceGetLimit, (size_t *, int), &value, 2);
    cr_assert_eq(value, 64 << 20);
    cr_assert_eq(CALL(cudaDeviceSetLimit, (int, size_t), 7, 1), 215);
}

/* ---- errors ---- */

Test(cuda_api, errors_have_names_of_cuda, .init = start)
{
    void *pointer = NULL;
    cr_assert_str_eq(error_text("cudaGetErrorName", 2), "cudaErrorMemoryAllocation");
    cr_assert_str_eq(error_text("cudaGetErrorString", 700),
                     "an illegal memory access was encountered");
    cr_assert_str_eq(error_text("cudaGetErrorName", 12345), "unrecognized error code");
    cr_assert_eq(CALL(cudaMalloc, (void **, size_t), &pointer, (size_t)1 << 50), 2);
    cr_assert_eq(CALL(cudaPeekAtLastError, (void)), 2);
    cr_assert_eq(last_error(), 2);
    cr_assert_eq(last_error(), 0);
    cr_assert_eq(CALL(cudaMallocMipmappedArray, (void), ), NOT_SUPPORTED);
    cr_assert_eq(last_error(), NOT_SUPPORTED);
    cr_assert_eq(CALL(cudaDeviceSetLimit, (int, size_t), 99, 1), 215);
    cr_assert_eq(last_error(), 215, "errors that CUDA's library finds itself are noted, too");
}

/* A kernel breaks the device: every later call says how. */
static void expect_fault(enum driver_ptx_fault fault, int error)
{
    void *pointer = NULL;
    start();
    CALL(cudaGetDeviceCount, (int *), &(int){0});
    CALL(cudaMemsetAsync, (void *, int, size_t, void *), NULL, 0, 0, NULL);
    mock()->fail_next = DRIVER_FAULT;
    mock()->ptx_fault = fault;
    cr_assert_eq(CALL(cudaMalloc, (void **, size_t), &pointer, 4), 0);
    cr_assert_eq(CALL(cudaMemset, (void *, int, size_t), pointer, 0, 4), error);
    cr_assert_eq(CALL(cudaDeviceSynchronize, (void)), error);
}

Test(cuda_api, a_wrong_address_of_a_kernel_is_an_error)
{
    expect_fault(DRIVER_PTX_ADDRESS, 700);
}

Test(cuda_api, an_assertion_of_a_kernel_is_an_error)
{
    expect_fault(DRIVER_PTX_ASSERT, 710);
}

Test(cuda_api, a_misaligned_address_of_a_kernel_is_an_error)
{
    expect_fault(DRIVER_PTX_MISALIGNED, 716);
}

Test(cuda_api, a_trap_of_a_kernel_is_an_error)
{
    expect_fault(DRIVER_PTX_TRAP, 719);
}

/* ---- memory ---- */

Test(cuda_api, tells_where_a_pointer_points, .init = start)
{
    struct {
        struct cuda_pointer_attributes is;
        char behind[65];
    } answer;
    int here = 0;
    void *device = NULL, *pinned = NULL;
    CALL(cudaMalloc, (void **, size_t), &device, 100);
    CALL(cudaMallocHost, (void **, size_t), &pinned, 100);
    memset(&answer, 'x', sizeof answer);
    cr_assert_eq(CALL(cudaPointerGetAttributes, (void *, const void *), &answer.is, &here), 0);
    cr_assert_eq(answer.is.type, CUDA_MEMORY_UNREGISTERED);
    cr_assert_eq(answer.is.host_pointer, &here);
    cr_assert_eq(answer.behind[0], 'x', "CUDA 12 has nothing behind it");
    cr_assert_eq(last_error(), 0);
    CALL(cudaPointerGetAttributes, (void *, const void *), &answer.is, (char *)device + 50);
    cr_assert_eq(answer.is.type, CUDA_MEMORY_DEVICE);
    cr_assert_eq(answer.is.device_pointer, (char *)device + 50);
    open_library("13");
    CALL(cudaPointerGetAttributes, (void *, const void *), &answer.is, pinned);
    cr_assert_eq(answer.is.type, CUDA_MEMORY_HOST);
    cr_assert_eq(answer.behind[0], 0);
    cr_assert_eq(answer.behind[63], 0);
    cr_assert_eq(answer.behind[64], 'x');
}

Test(cuda_api, default_streams_have_handles, .init = start)
{
    int out = 5, in = 0;
    void *device = NULL;
    CALL(cudaMalloc, (void **, size_t), &device, sizeof out);
    for (size_t stream = 0; stream <= CUDA_STREAM_PER_THREAD; stream++) {
        out++;
        cr_assert_eq(CALL(cudaMemcpyAsync, (void *, const void *, size_t, int, size_t), device,
                          &out, sizeof out, 1, stream),
                     0, "stream %zu", stream);
        cr_assert_eq(CALL(cudaStreamSynchronize, (size_t), stream), 0);
        CALL(cudaMemcpy_ptds, (void *, const void *, size_t, int), &in, device, sizeof in, 2);
        cr_assert_eq(in, out);
    }
    cr_assert_eq(CALL(cudaStreamSynchronize_ptsz, (size_t), 0), 0);
    cr_assert_eq(CALL(cudaStreamSynchronize, (size_t), 77), 400);
}

static void report_call(void *data)
{
    ++*(int *)data;
}

Test(cuda_api, streams_call_the_program, .init = start)
{
    int calls = 0;
    void *graph = NULL, *exec = NULL, *stream = NULL;
    cr_assert_eq(
        CALL(cudaLaunchHostFunc, (void *, void (*)(void *), void *), NULL, report_call, &calls), 0);
    cr_assert_eq(calls, 1);
    CALL(cudaStreamCreate, (void **), &stream);
    CALL(cudaStreamBeginCapture, (void *, int), stream, 0);
    CALL(cudaLaunchHostFunc, (void *, void (*)(void *), void *), stream, report_call, &calls);
    cr_assert_eq(calls, 1);
    cr_assert_eq(CALL(cudaStreamEndCapture, (void *, void **), stream, &graph), 0);
    cr_assert_eq(CALL(cudaGraphInstantiate, (void **, void *, unsigned long long), &exec, graph, 0),
                 0);
    for (int i = 0; i < 2; i++)
        CALL(cudaGraphLaunch, (void *, void *), exec, stream);
    CALL(cudaStreamSynchronize, (void *), stream);
    cr_assert_eq(calls, 3);
}

/* ---- kernels ---- */

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".global .u32 zeros;\n.const .align 4 .b8 table[16];\n.global .u32 after, before;\n"
    ".visible .entry scale(.param .u64 data, .param .u8 small, .param .f64 factor)\n"
    "{\n    .reg .u64 %r<2>;\n    ld.param.u64 %r1, [data];\n    ret;\n}\n";

static struct {
    uint32_t magic, version;
    const void *data, *more;
} wrapper = {0x466243b1, 1, NULL, NULL};

static char container[1024], kernel_stub, table_stub;
static void **handle;

static void put(size_t at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        container[at + i] = (char)(value >> (8 * i));
}

/* What a program's constructors do. */
static void embed(const char *text, unsigned sm)
{
    const size_t size = (strlen(text) + 8) / 8 * 8;
    put(0, 0xba55ed50, 4);
    put(4, 1 | 16 << 16, 4);
    put(8, 64 + size, 8);
    put(16, 1 | 0x101 << 16, 4);
    put(20, 64, 4);
    put(24, size, 8);
    put(44, sm, 4);
    memcpy(container + 80, text, strlen(text) + 1);
    wrapper.data = container;
    void **(*register_binary)(const void *) = NULL;
    void *symbol = find("__cudaRegisterFatBinary");
    memcpy(&register_binary, &symbol, sizeof symbol);
    handle = register_binary(&wrapper);
    CALL(__cudaRegisterFunction,
         (void **, const void *, const char *, const char *, int, void *, void *, void *, void *,
          int *),
         handle, &kernel_stub, "scale", "scale", -1, NULL, NULL, NULL, NULL, NULL);
    CALL(__cudaRegisterVar, (void **, void *, const char *, const char *, int, size_t, int, int),
         handle, &table_stub, "table", "table", 0, 16, 1, 0);
    CALL(__cudaRegisterFatBinaryEnd, (void **), handle);
}

static int launch(dim3 grid, dim3 block, size_t shared)
{
    uint64_t data = 0x1122334455667788;
    uint8_t small = 9;
    double factor = 2.5;
    void *values[] = {&data, &small, &factor};
    return CALL(cudaLaunchKernel, (const void *, dim3, dim3, void **, size_t, void *), &kernel_stub,
                grid, block, values, shared, NULL);
}

Test(cuda_api, launches_with_the_arguments_of_ptx, .init = start)
{
    const void *kernel = NULL;
    void *pushed[] = {&(uint64_t){1}, &(uint8_t){2}, &(double){3}};
    double factor = 0;
    dim3 grid = {5, 6, 7}, block = {32, 2, 1}, popped_grid, popped_block;
    size_t shared = 0;
    void *stream = NULL;
    embed(ptx, 80);
    cr_assert_eq(mock()->registered_code, 0, "nothing is loaded before it is used");
    cr_assert_eq(launch(grid, block, 100), 0);
    cr_assert_eq(CALL(cudaDeviceSynchronize, (void)), 0);
    const struct mock_state *state = mock();
    cr_assert_eq(state->launches, 1);
    cr_assert_str_eq(state->launch_symbol, "scale");
    cr_assert_eq(state->launch.grid[0], 160);
    cr_assert_eq(state->launch.grid[1], 12);
    cr_assert_eq(state->launch.grid[2], 7);
    cr_assert_eq(state->launch.block[1], 2);
    cr_assert_eq(state->launch.group_bytes, 256 + 100, "static and dynamic");
    cr_assert_eq(state->launch.kernarg_bytes, 24);
    cr_assert_eq(state->kernarg[0], 0x88);
    cr_assert_eq(state->kernarg[8], 9);
    memcpy(&factor, state->kernarg + 16, sizeof factor);
    cr_assert_eq(factor, 2.5);
    CALL(__cudaPushCallConfiguration, (dim3, dim3, size_t, void *), grid, block, 8, NULL);
    CALL(__cudaPopCallConfiguration, (dim3 *, dim3 *, size_t *, void **), &popped_grid,
         &popped_block, &shared, &stream);
    cr_assert_eq(popped_grid.z, 7);
    cr_assert_eq(popped_block.x, 32);
    cr_assert_eq(shared, 8);
    cr_assert_eq(CALL(__cudaGetKernel, (const void **, const void *), &kernel, &kernel_stub), 0);
    cr_assert_eq(CALL(__cudaLaunchKernel, (const void *, dim3, dim3, void **, size_t, void *),
                      kernel, popped_grid, popped_block, pushed, shared, stream),
                 0);
    CALL(cudaDeviceSynchronize, (void));
    cr_assert_eq(state->launches, 2);
    cr_assert_eq(state->kernarg[0], 1);
    CALL(__cudaUnregisterFatBinary, (void **), handle);
    cr_assert_eq(state->unregistered_code, 1);
}

Test(cuda_api, symbols_are_variables_of_the_ptx, .init = start)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0};
    size_t size = 0;
    embed(ptx, 80);
    cr_assert_eq(CALL(cudaGetSymbolSize, (size_t *, const void *), &size, &table_stub), 0);
    cr_assert_eq(size, 16);
    cr_assert_eq(CALL(cudaMemcpyToSymbol, (const void *, const void *, size_t, size_t, int),
                      &table_stub, out, 8, 8, 1),
                 0);
    cr_assert_eq(CALL(cudaMemcpyFromSymbol, (void *, const void *, size_t, size_t, int), in,
                      &table_stub, 16, 0, 2),
                 0);
    cr_assert_eq(in[0], 0);
    cr_assert_eq(in[2], 1);
    cr_assert_eq(in[3], 2);
    cr_assert_eq(CALL(cudaGetSymbolSize, (size_t *, const void *), &size, &kernel_stub), 13);
}

Test(cuda_api, managed_variables_are_where_the_host_finds_them, .init = start)
{
    static int *counter;
    void *address = NULL;
    embed(".version 8.0\n.target sm_80\n.address_size 64\n"
          ".visible .global .attribute(.managed) .align 4 .u32 counter = 41;\n",
          80);
    CALL(__cudaRegisterManagedVar,
         (void **, void **, const char *, const char *, int, size_t, int, int), handle,
         (void **)&counter, "counter", "counter", 0, sizeof *counter, 0, 0);
    cr_assert_null(counter);
    cr_assert_eq((char)CALL(__cudaInitModule, (void **), handle), 1);
    cr_assert_eq(*counter, 41);
    ++*counter;
    cr_assert_eq(CALL(cudaGetSymbolAddress, (void **, const void *), &address, &counter), 0);
    cr_assert_eq(address, counter);
    int in = 0;
    cr_assert_eq(CALL(cudaMemcpy, (void *, const void *, size_t, int), &in, address, sizeof in, 2),
                 0);
    cr_assert_eq(in, 42);
}

Test(cuda_api, launches_out_of_bounds_are_refused, .init = start)
{
    embed(ptx, 80);
    cr_assert_eq(launch((dim3){1, 65536, 1}, (dim3){1, 1, 1}, 0), INVALID_CONFIGURATION);
    cr_assert_eq(launch((dim3){1, 1, 1}, (dim3){1, 1, 65}, 0), INVALID_CONFIGURATION);
    cr_assert_eq(launch((dim3){0, 1, 1}, (dim3){1, 1, 1}, 0), INVALID_CONFIGURATION);
    cr_assert_eq(launch((dim3){1, 1, 1}, (dim3){1025, 1, 1}, 0), INVALID_CONFIGURATION);
    cr_assert_eq(launch((dim3){1, 1, 1}, (dim3){513, 1, 1}, 0), 701, "the kernel takes 512");
    cr_assert_eq(mock()->launches, 0);
}

Test(cuda_api, large_shared_memory_is_asked_for, .init = start)
{
    struct cuda_function_attributes attributes;
    const dim3 one = {1, 1, 1};
    int blocks = 0;
    embed(ptx, 80);
    cr_assert_eq(launch(one, one, 49152), 0);
    cr_assert_eq(launch(one, one, 49153), INVALID_VALUE);
    cr_assert_eq(CALL(cudaFuncSetAttribute, (const void *, int, int), &kernel_stub, 8, 64512),
                 INVALID_VALUE, "256 bytes are static");
    cr_assert_eq(CALL(cudaFuncSetAttribute, (const void *, int, int), &kernel_stub, 8, 60000), 0);
    cr_assert_eq(launch(one, one, 60000), 0);
    cr_assert_eq(CALL(cudaFuncGetAttributes, (void *, const void *), &attributes, &kernel_stub), 0);
    cr_assert_eq(attributes.max_dynamic_shared_bytes, 60000);
    cr_assert_eq(attributes.registers, 32);
    cr_assert_eq(attributes.shared_bytes, 256);
    cr_assert_eq(attributes.max_threads, 512);
    cr_assert_eq(attributes.ptx_version, 80);
    cr_assert_eq(CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                      (int *, const void *, int, size_t), &blocks, &kernel_stub, 256, 0),
                 0);
    cr_assert_eq(blocks, 8);
}

Test(cuda_api, code_for_other_devices_is_refused, .init = start)
{
    embed(ptx, 90);
    cr_assert_eq(launch((dim3){1, 1, 1}, (dim3){1, 1, 1}, 0), 209);
}

Test(cuda_api, bad_ptx_is_refused, .init = start)
{
    embed(".version 8.0\n.target sm_80\n.address_size 64\n.entry scale() { frob.u32 %r1; }\n", 80);
    cr_assert_eq(launch((dim3){1, 1, 1}, (dim3){1, 1, 1}, 0), 200);
}

Test(cuda_api, graphs_have_kernels_and_fills, .init = start)
{
    void *graph = NULL, *exec = NULL, *node = NULL, *second = NULL, *device = NULL;
    int type = -1, in = 0;
    void *values[] = {&(uint64_t){7}, &(uint8_t){8}, &(double){9}};
    embed(ptx, 80);
    struct cuda_kernel_node kernel = {&kernel_stub, {2, 1, 1}, {64, 1, 1}, 16, values, NULL};
    CALL(cudaMalloc, (void **, size_t), &device, 64);
    struct cuda_fill_node fill = {device, 0, 0x01020304, 4, 16, 1};
    CALL(cudaGraphCreate, (void **, unsigned), &graph, 0);
    cr_assert_eq(CALL(cudaGraphAddKernelNode, (void **, void *, void **, size_t, const void *),
                      &node, graph, NULL, 0, &kernel),
                 0);
    cr_assert_eq(CALL(cudaGraphAddMemsetNode, (void **, void *, void **, size_t, const void *),
                      &second, graph, &node, 1, &fill),
                 0);
    CALL(cudaGraphNodeGetType, (void *, int *), node, &type);
    cr_assert_eq(type, 0, "cudaGraphNodeTypeKernel");
    CALL(cudaGraphNodeGetType, (void *, int *), second, &type);
    cr_assert_eq(type, 2, "cudaGraphNodeTypeMemset");
    cr_assert_eq(CALL(cudaGraphInstantiate, (void **, void *, unsigned long long), &exec, graph, 0),
                 0);
    cr_assert_eq(CALL(cudaGraphLaunch, (void *, void *), exec, NULL), 0);
    CALL(cudaMemcpy, (void *, const void *, size_t, int), &in, (char *)device + 60, sizeof in, 2);
    cr_assert_eq(in, 0x01020304);
    cr_assert_eq(mock()->launches, 1);
    cr_assert_eq(mock()->launch.grid[0], 128);
    cr_assert_eq(mock()->kernarg[8], 8);
    fill.value = 5;
    cr_assert_eq(
        CALL(cudaGraphExecMemsetNodeSetParams, (void *, void *, const void *), exec, second, &fill),
        0);
    cr_assert_eq(
        CALL(cudaGraphExecMemsetNodeSetParams, (void *, void *, const void *), exec, node, &fill),
        INVALID_VALUE, "the node is a kernel's");
    CALL(cudaGraphLaunch, (void *, void *), exec, NULL);
    CALL(cudaMemcpy, (void *, const void *, size_t, int), &in, device, sizeof in, 2);
    cr_assert_eq(in, 5);
}

/* A graph of `count` kernels with a small argument. */
static void *graph_of(int count, uint8_t small)
{
    void *graph = NULL, *node = NULL;
    void *values[] = {&(uint64_t){7}, &small, &(double){9}};
    struct cuda_kernel_node kernel = {&kernel_stub, {1, 1, 1}, {32, 1, 1}, 0, values, NULL};
    CALL(cudaGraphCreate, (void **, unsigned), &graph, 0);
    for (int i = 0; i < count; i++)
        CALL(cudaGraphAddKernelNode, (void **, void *, void **, size_t, const void *), &node, graph,
             NULL, 0, &kernel);
    return graph;
}

Test(cuda_api, launched_graphs_are_updated_by_graphs_of_the_same_shape, .init = start)
{
    void *exec = NULL;
    struct cuda_update_result result = {.result = -1};
    embed(ptx, 80);
    CALL(cudaGraphInstantiate, (void **, void *, unsigned long long), &exec, graph_of(2, 1), 0);
    cr_assert_eq(CALL(cudaGraphExecUpdate, (void *, void *, void *), exec, graph_of(2, 6), &result),
                 0);
    cr_assert_eq(result.result, 0);
    CALL(cudaGraphLaunch, (void *, void *), exec, NULL);
    CALL(cudaDeviceSynchronize, (void));
    cr_assert_eq(mock()->launches, 2);
    cr_assert_eq(mock()->kernarg[8], 6);
    cr_assert_eq(CALL(cudaGraphExecUpdate, (void *, void *, void *), exec, graph_of(3, 1), &result),
                 910);
    cr_assert_eq(result.result, 2, "cudaGraphExecUpdateErrorTopologyChanged");
    CALL(cudaGraphLaunch, (void *, void *), exec, NULL);
    CALL(cudaDeviceSynchronize, (void));
    cr_assert_eq(mock()->kernarg[8], 6, "a refused update changes nothing");
}
