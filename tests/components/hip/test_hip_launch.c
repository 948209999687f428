/* Modules, registered binaries, launches, streams, events and devices of the HIP library on the
 * mock platform. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "runtime/session/run_ledger.h"
#include "tests/components/amd/isa/object/objects.h"

#include "hip_fixture.h"

static const char add_stub, tile_stub, names_nothing; /* host addresses; two stand for kernels */

static void register_kernels(const char *file, const char *target)
{
    void **handle = fixture_register(file, target);
    char name[2][8] = {"add", "tile"};
    static char kept[2][8];
    memcpy(kept, name, sizeof kept);
    __hipRegisterFunction(handle, &add_stub, kept[0], kept[0], 0, NULL, NULL, NULL, NULL, NULL);
    __hipRegisterFunction(handle, &tile_stub, kept[1], kept[1], 0, NULL, NULL, NULL, NULL, NULL);
}

static hipError_t launch_add(unsigned blocks, unsigned threads, size_t lds)
{
    static uint64_t to = 0x1111, from = 0x2222;
    static int count = 77;
    static void *values[] = {&to, &from, &count};
    return hipLaunchKernel(&add_stub, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, values, lds,
                           NULL);
}

struct launch_case {
    char file[16];
    uint32_t kernarg_bytes;
};

ParameterizedTestParameters(hip_launch, passes_on_what_the_hardware_needs)
{
    static struct launch_case cases[] = {
        {"v2.hsaco", 80}, {"v3.hsaco", 80}, {"v4.hsaco", 80}, {"v5.hsaco", 280}};
    return cr_make_param_array(struct launch_case, cases, 4);
}

ParameterizedTest(struct launch_case *each, hip_launch, passes_on_what_the_hardware_needs)
{
    register_kernels(each->file, "gfx803");
    expect(launch_add(10, 128, 64), hipSuccess);
    expect(hipDeviceSynchronize(), hipSuccess);
    const struct mock_state *mock = fixture_mock();
    cr_assert_eq(mock->launches, 1);
    cr_assert_str_eq(mock->launch_name, "add");
    cr_assert_str_eq(mock->launch_symbol, "add");
    cr_assert_eq(mock->launch.grid[0], 1280);
    cr_assert_eq(mock->launch.grid[1], 1);
    cr_assert_eq(mock->launch.block[0], 128);
    cr_assert_eq(mock->launch.group_bytes, 64);
    cr_assert_eq(mock->launch.kernarg_bytes, each->kernarg_bytes);
    cr_assert_eq(mock->launch.kernarg_align, 8);
    uint64_t arguments[3] = {0x1111, 0x2222, 77};
    cr_assert_arr_eq(mock->kernarg, arguments, 20);
    int64_t entry;
    memcpy(&entry, mock->launch.descriptor + 16, 8);
    cr_assert_eq(mock->launch.kernel_object + (uint64_t)entry, mock->launch.entry);
    cr_assert_eq(mock->registered_code, 1);
    cr_assert_eq(mock->registered_kernels, 2);
}

Test(hip_launch, refuses_bad_geometry_and_goes_on)
{
    register_kernels("v4.hsaco", "gfx803");
    expect(launch_add(1, 2048, 0), hipErrorInvalidConfiguration);
    expect(launch_add(1, 0, 0), hipErrorInvalidConfiguration);
    expect(launch_add(0, 64, 0), hipErrorInvalidConfiguration);
    expect(launch_add(1u << 31, 64, 0), hipErrorInvalidConfiguration);
    expect(launch_add(1, 64, 65537), hipErrorInvalidConfiguration);
    expect(launch_add(1, 64, SIZE_MAX), hipErrorInvalidConfiguration);
    expect(launch_add(1, 512, 0), hipErrorLaunchFailure); /* compiled for up to 256 */
    expect(hipGetLastError(), hipErrorLaunchFailure);
    expect(hipLaunchKernel(&add_stub, (dim3){1, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL),
           hipErrorInvalidValue);
    expect(hipLaunchKernel(&names_nothing, (dim3){1, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL),
           hipErrorInvalidDeviceFunction);
    expect(launch_add(1, 64, 0), hipSuccess);
    expect(hipDeviceSynchronize(), hipSuccess);
    cr_assert_eq(fixture_mock()->launches, 1);
}

Test(hip_launch, call_configurations_are_a_stack)
{
    dim3 grid, block;
    size_t lds = 0;
    hipStream_t stream = NULL;
    expect(__hipPopCallConfiguration(&grid, &block, &lds, &stream), hipErrorMissingConfiguration);
    expect(__hipPushCallConfiguration((dim3){1, 2, 3}, (dim3){4, 5, 6}, 7, NULL), hipSuccess);
    expect(__hipPushCallConfiguration((dim3){9, 1, 1}, (dim3){8, 1, 1}, 0, NULL), hipSuccess);
    expect(__hipPopCallConfiguration(&grid, &block, &lds, &stream), hipSuccess);
    cr_assert_eq(grid.x, 9);
    expect(__hipPopCallConfiguration(&grid, &block, &lds, &stream), hipSuccess);
    cr_assert(grid.z == 3 && block.y == 5 && lds == 7);
}

/* What hipGetDeviceProperties() says of a target. */
struct target_case {
    char isa[8], name[32];
    int number, major, minor;
};

ParameterizedTestParameters(hip_launch, devices_name_their_target)
{
    static struct target_case cases[] = {{"gfx803", "gfx803", 803, 8, 0},
                                         {"gfx900", "gfx900:xnack-", 900, 9, 0},
                                         {"gfx906", "gfx906:sramecc+:xnack-", 906, 9, 0},
                                         {"gfx908", "gfx908:sramecc+:xnack-", 908, 9, 0},
                                         {"gfx90a", "gfx90a:sramecc+:xnack-", 910, 9, 0},
                                         {"gfx942", "gfx942:sramecc+:xnack-", 942, 9, 4}};
    return cr_make_param_array(struct target_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct target_case *each, hip_launch, devices_name_their_target)
{
    hipDeviceProp_t properties;
    setenv("MOCK_ISA", each->isa, 1);
    expect(hipGetDeviceProperties(&properties, 0), hipSuccess);
    cr_expect_str_eq(properties.gcnArchName, each->name);
    cr_expect_eq(properties.gcnArch, each->number);
    cr_expect_eq(properties.major, each->major);
    cr_expect_eq(properties.minor, each->minor);
}

Test(hip_launch, code_for_another_architecture_is_refused)
{
    register_kernels("gfx90a.hsaco", "gfx90a");
    expect(launch_add(1, 64, 0), hipErrorNoBinaryForGpu);
    expect(launch_add(1, 64, 0), hipErrorNoBinaryForGpu);
    size_t size = 0;
    hipModule_t module = NULL;
    unsigned char *bytes = objects_read("gfx90a.hsaco", &size);
    expect(hipModuleLoadData(&module, bytes), hipErrorNoBinaryForGpu);
    free(bytes);
    cr_assert_eq(fixture_mock()->allocations, 0);
}

Test(hip_launch, variables_are_found_by_their_host_address)
{
    static int host_value, host_pointer;
    static char names[2][8] = {"value", "pointer"};
    void **handle = fixture_register("relocations.hsaco", "gfx803");
    __hipRegisterVar(handle, &host_value, names[0], names[0], 0, 8, 0, 0);
    __hipRegisterVar(handle, &host_pointer, names[1], names[1], 0, 16, 0, 0);
    uint64_t value = 0, pointers[2] = {0, 0};
    void *address = NULL;
    size_t size = 0;
    expect(hipMemcpyFromSymbol(&value, &host_value, 8, 0, hipMemcpyDeviceToHost), hipSuccess);
    cr_assert_eq(value, 0x1122334455667788);
    expect(hipGetSymbolAddress(&address, &host_value), hipSuccess);
    expect(hipGetSymbolSize(&size, &host_pointer), hipSuccess);
    cr_assert_eq(size, 16);
    expect(hipMemcpyFromSymbol(pointers, &host_pointer, 16, 0, hipMemcpyDeviceToHost), hipSuccess);
    cr_assert_eq(pointers[0], (uintptr_t)address + 4, "the relocation was applied");
    value = 5;
    expect(hipMemcpyToSymbol(&host_value, &value, 4, 4, hipMemcpyHostToDevice), hipSuccess);
    expect(hipMemcpy(&value, address, 8, hipMemcpyDeviceToHost), hipSuccess);
    cr_assert_eq(value, 0x0000000555667788);
    expect(hipMemcpyToSymbol(&host_value, &value, 8, 4, hipMemcpyHostToDevice),
           hipErrorInvalidValue);
    expect(hipMemcpyToSymbol(&value, &value, 8, 0, hipMemcpyHostToDevice), hipErrorInvalidSymbol);
    expect(hipFree(address), hipErrorInvalidValue);
}

Test(hip_launch, modules_load_launch_both_ways_and_unload)
{
    size_t size = 0;
    hipModule_t module = NULL;
    hipFunction_t function = NULL, missing = NULL;
    unsigned char *bytes = objects_read("v4.hsaco", &size);
    expect(hipModuleLoadData(&module, bytes), hipSuccess);
    free(bytes);
    expect(hipModuleGetFunction(&function, module, "add"), hipSuccess);
    expect(hipModuleGetFunction(&missing, module, "ad"), hipErrorNotFound);
    expect(hipModuleGetFunction(&missing, (hipModule_t)(void *)&size, "add"),
           hipErrorInvalidHandle);
    struct {
        uint64_t to, from;
        int count;
    } packed = {5, 6, 7};
    size_t packed_size = 20;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                     &packed_size, HIP_LAUNCH_PARAM_END};
    void *values[] = {&packed.to, &packed.from, &packed.count};
    const struct mock_state *mock = fixture_mock();
    expect(hipModuleLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, NULL, NULL, extra), hipSuccess);
    expect(hipDeviceSynchronize(), hipSuccess);
    cr_assert_arr_eq(mock->kernarg, &packed, 20);
    packed.count = 8;
    expect(hipModuleLaunchKernel(function, 2, 1, 1, 32, 2, 1, 0, NULL, values, NULL), hipSuccess);
    expect(hipDeviceSynchronize(), hipSuccess);
    cr_assert_arr_eq(mock->kernarg, &packed, 20);
    cr_assert_eq(mock->launch.block[1], 2);
    packed_size = 12;
    expect(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra),
           hipErrorInvalidValue);
    expect(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, values, extra),
           hipErrorInvalidValue);
    expect(hipModuleLaunchKernel((hipFunction_t)(void *)&packed, 1, 1, 1, 64, 1, 1, 0, NULL, values,
                                 NULL),
           hipErrorInvalidHandle);
    expect(hipModuleUnload(module), hipSuccess);
    expect(hipModuleUnload(module), hipErrorInvalidHandle);
    expect(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, values, NULL),
           hipErrorInvalidHandle);
    cr_assert_eq(mock->unregistered_code, 1);
    cr_assert_eq(mock->allocations, 0);
    expect(hipModuleLoad(&module, "/nowhere/at.all"), hipErrorFileNotFound);
}

Test(hip_launch, truncated_images_are_refused)
{
    size_t size = 0;
    hipModule_t module = NULL;
    unsigned char *bytes = objects_read("v4.hsaco", &size);
    for (size_t length = 0; length < size - 1000; length += 100) {
        unsigned char *cut = calloc(1, size); /* what is cut off reads as zero */
        memcpy(cut, bytes, length);
        expect(hipModuleLoadData(&module, cut), hipErrorInvalidImage);
        free(cut);
    }
    expect(hipModuleLoadData(&module, NULL), hipErrorInvalidValue);
    expect(hipModuleLoadData(&module, (void *)16), hipErrorInvalidImage);
    free(bytes);
}

Test(hip_launch, a_fault_breaks_the_device_for_good)
{
    register_kernels("v4.hsaco", "gfx803");
    void *pointer = NULL;
    expect(hipMalloc(&pointer, 16), hipSuccess);
    expect(launch_add(1, 64, 0), hipSuccess);
    fixture_mock()->fail_next = DRIVER_FAULT;
    expect(hipDeviceSynchronize(), hipErrorIllegalAddress);
    expect(hipMemset(pointer, 0, 16), hipErrorIllegalAddress);
    expect(launch_add(1, 64, 0), hipErrorIllegalAddress);
    expect(hipFree(pointer), hipSuccess);
}

/* Whether the device was lost by a fault, a deadlock, a stall or the limit shows in HIP's error and
 * in what `heddle run` is told. */
struct loss {
    enum driver_status status;
    hipError_t error;
    enum exit_status outcome;
};

ParameterizedTestParameters(hip_launch, the_end_of_a_simulation_has_its_own_error)
{
    static struct loss losses[] = {
        {DRIVER_FAULT, hipErrorIllegalAddress, EXIT_GAVE_UP},
        {DRIVER_DEADLOCK, hipErrorLaunchFailure, EXIT_DEADLOCK},
        {DRIVER_STALL, hipErrorIllegalState, EXIT_STALL},
        {DRIVER_LIMIT, hipErrorLaunchTimeOut, EXIT_LIMIT},
    };
    return cr_make_param_array(struct loss, losses, ARRAY_COUNT(losses));
}

ParameterizedTest(struct loss *loss, hip_launch, the_end_of_a_simulation_has_its_own_error)
{
    char path[] = "/tmp/heddle-test-XXXXXX", text[128] = "", want[32];
    int ledger = mkstemp(path);
    setenv(RUN_LEDGER_ENV, path, 1);
    register_kernels("v4.hsaco", "gfx803");
    expect(launch_add(1, 64, 0), hipSuccess);
    fixture_mock()->fail_next = loss->status;
    expect(hipDeviceSynchronize(), loss->error);
    expect(launch_add(1, 64, 0), loss->error);
    cr_assert_gt(pread(ledger, text, sizeof text - 1, 0), 0);
    close(ledger);
    unlink(path);
    snprintf(want, sizeof want, "\nstatus 1 %d\n", loss->outcome);
    const char *said = strchr(text, '\n');
    cr_assert_str_eq(said, want, "'%s' was reported", text);
}

Test(hip_launch, events_measure_simulated_time)
{
    register_kernels("v4.hsaco", "gfx803");
    hipEvent_t start, stop, untimed;
    hipStream_t stream;
    float milliseconds = 0;
    expect(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
    expect(hipEventCreate(&start), hipSuccess);
    expect(hipEventCreate(&stop), hipSuccess);
    expect(hipEventCreateWithFlags(&untimed, hipEventDisableTiming), hipSuccess);
    expect(hipEventCreateWithFlags(&untimed, hipEventReleaseToDevice | hipEventReleaseToSystem),
           hipErrorInvalidValue);
    expect(hipEventElapsedTime(&milliseconds, start, stop), hipErrorInvalidHandle);
    expect(hipEventQuery(stop), hipSuccess);
    expect(launch_add(1, 64, 0), hipSuccess);
    expect(hipEventRecord(start, stream), hipSuccess);
    for (int i = 0; i < 3; i++)
        expect(launch_add(1, 64, 0), hipSuccess);
    expect(hipEventRecord(stop, stream), hipSuccess);
    expect(hipEventElapsedTime(&milliseconds, start, stop), hipErrorNotReady);
    expect(hipEventQuery(stop), hipErrorNotReady);
    expect(hipGetLastError(), hipErrorInvalidHandle); /* "not ready" is no error */
    expect(hipEventSynchronize(stop), hipSuccess);
    expect(hipStreamQuery(stream), hipSuccess);
    expect(hipEventElapsedTime(&milliseconds, start, stop), hipSuccess);
    cr_assert_float_eq(milliseconds, 0.003, 1e-7);
    expect(hipEventElapsedTime(&milliseconds, start, untimed), hipErrorInvalidHandle);
    expect(hipStreamWaitEvent(stream, stop, 0), hipSuccess);
    expect(hipEventDestroy(stop), hipSuccess);
    expect(hipEventDestroy(stop), hipErrorInvalidHandle);
    expect(hipEventRecord(stop, stream), hipErrorInvalidHandle);
    expect(hipStreamDestroy(stream), hipSuccess);
    expect(hipStreamSynchronize(stream), hipErrorInvalidHandle);
    expect(hipStreamSynchronize(NULL), hipSuccess);
    expect(hipStreamSynchronize(hipStreamPerThread), hipSuccess);
    expect(hipStreamDestroy(NULL), hipErrorInvalidHandle);
}

Test(hip_launch, devices_say_what_they_are)
{
    hipDeviceProp_t properties;
    int value = 0;
    char text[64];
    expect(hipGetDeviceCount(&value), hipSuccess);
    cr_assert_eq(value, 1);
    expect(hipGetDeviceProperties(&properties, 0), hipSuccess);
    cr_assert_str_eq(properties.gcnArchName, "gfx803");
    cr_assert_str_eq(properties.name, "mock gpu 0");
    cr_assert_eq(properties.gcnArch, 803);
    cr_assert_eq(properties.major, 8);
    cr_assert_eq(properties.multiProcessorCount, 64);
    cr_assert_eq(properties.regsPerBlock, 65536);
    cr_assert_eq(properties.maxThreadsPerMultiProcessor, 2560);
    expect(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0), hipSuccess);
    cr_assert_eq(value, 64);
    expect(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxSharedMemoryPerBlock, 0), hipSuccess);
    cr_assert_eq(value, 65536);
    expect(hipDeviceGetAttribute(&value, hipDeviceAttributeCooperativeLaunch, 0), hipSuccess);
    cr_assert_eq(value, 1);
    expect(hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)9999, 0), hipErrorInvalidValue);
    expect(hipGetDeviceProperties(&properties, 1), hipErrorInvalidDevice);
    expect(hipSetDevice(1), hipErrorInvalidDevice);
    expect(hipSetDevice(-1), hipErrorInvalidDevice);
    expect(hipDeviceCanAccessPeer(&value, 0, 0), hipSuccess);
    cr_assert_eq(value, 0);
    expect(hipDeviceGetPCIBusId(text, 64, 0), hipSuccess);
    cr_assert_str_eq(text, "0000:01:00.0");
    expect(hipDeviceGetByPCIBusId(&value, text), hipSuccess);
    expect(hipRuntimeGetVersion(&value), hipSuccess);
    cr_assert_eq(value / 10000000, 5);
}

Test(hip_launch, several_devices_have_their_own_code_and_peers)
{
    setenv("MOCK_DEVICES", "3", 1);
    register_kernels("v4.hsaco", "gfx803");
    int value = 0;
    expect(hipGetDeviceCount(&value), hipSuccess);
    cr_assert_eq(value, 3);
    expect(launch_add(1, 64, 0), hipSuccess);
    expect(hipSetDevice(2), hipSuccess);
    expect(launch_add(1, 64, 0), hipSuccess);
    expect(hipDeviceSynchronize(), hipSuccess);
    cr_assert_eq(fixture_mock()->registered_code, 2);
    expect(hipDeviceCanAccessPeer(&value, 0, 2), hipSuccess);
    cr_assert_eq(value, 1);
    expect(hipDeviceEnablePeerAccess(0, 0), hipSuccess);
    expect(hipDeviceEnablePeerAccess(0, 0), hipErrorPeerAccessAlreadyEnabled);
    expect(hipDeviceEnablePeerAccess(2, 0), hipErrorInvalidDevice);
    expect(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
}

Test(hip_launch, kernels_say_what_they_need)
{
    register_kernels("v4.hsaco", "gfx803");
    hipFuncAttributes attributes;
    int count = 0, grid = 0, block = 0;
    expect(hipFuncGetAttributes(&attributes, &tile_stub), hipSuccess);
    cr_assert_eq(attributes.sharedSizeBytes, 256);
    cr_assert_eq(attributes.maxThreadsPerBlock, 256);
    cr_assert_eq(attributes.numRegs, 12);
    /* 10 wavefronts a SIMD on 4 SIMDs, 4 wavefronts a work-group; then bound by LDS. */
    expect(hipOccupancyMaxActiveBlocksPerMultiprocessor(&count, &tile_stub, 256, 0), hipSuccess);
    cr_assert_eq(count, 10);
    expect(hipOccupancyMaxActiveBlocksPerMultiprocessor(&count, &tile_stub, 256, 32512),
           hipSuccess);
    cr_assert_eq(count, 2);
    expect(hipOccupancyMaxActiveBlocksPerMultiprocessor(&count, &tile_stub, 512, 0), hipSuccess);
    cr_assert_eq(count, 0);
    expect(hipOccupancyMaxPotentialBlockSize(&grid, &block, &add_stub, 0, 0), hipSuccess);
    cr_assert_eq(block, 256);
    cr_assert_eq(grid, 640);
    expect(hipFuncSetAttribute(&tile_stub, hipFuncAttributeMaxDynamicSharedMemorySize, 65000),
           hipSuccess);
    expect(hipFuncSetAttribute(&tile_stub, hipFuncAttributeMaxDynamicSharedMemorySize, 65500),
           hipErrorInvalidValue);
}

Test(hip_launch, binaries_can_be_taken_back)
{
    void **handle = fixture_register("v4.hsaco", "gfx803");
    static char name[] = "add";
    __hipRegisterFunction(handle, &add_stub, name, name, 0, NULL, NULL, NULL, NULL, NULL);
    expect(launch_add(1, 64, 0), hipSuccess);
    __hipUnregisterFatBinary(handle);
    cr_assert_eq(fixture_mock()->allocations, 0);
    cr_assert_eq(fixture_mock()->launches, 1, "what was queued has run");
    expect(launch_add(1, 64, 0), hipErrorInvalidDeviceFunction);
}

Test(hip_launch, without_a_platform_there_is_no_device)
{
    int count = -1;
    void *pointer = NULL;
    unsetenv("HEDDLE_PLATFORM");
    expect(hipGetDeviceCount(&count), hipErrorNoDevice);
    cr_assert_eq(count, 0);
    expect(hipMalloc(&pointer, 4), hipErrorNoDevice);
    expect(hipInit(0), hipErrorNoDevice);
}

/* Called through dlsym, since their prototypes promise more than a refusal. */
Test(hip_launch, what_is_missing_refuses_by_name)
{
    static const char *const names[] = {"hipGraphNodeFindInClone", "hipBindTexture",
                                        "hipMallocArray"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        int (*function)(void) = NULL;
        void *symbol = dlsym(RTLD_DEFAULT, names[i]);
        cr_assert(symbol, "%s is not exported", names[i]);
        memcpy(&function, &symbol, sizeof symbol);
        cr_assert_eq(function(), hipErrorNotSupported);
        expect(hipGetLastError(), hipErrorNotSupported);
    }
}
