/* Allocation, copies, fills, and every misuse of pointers, through the HIP library on the mock
 * platform. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hip_fixture.h"

static void *device_memory(size_t size)
{
    void *pointer = NULL;
    expect(hipMalloc(&pointer, size), hipSuccess);
    return pointer;
}

Test(hip_memory, copies_there_and_back)
{
    char out[100] = "through the device", in[100] = "";
    void *a = device_memory(100), *b = device_memory(100);
    expect(hipMemcpy(a, out, 100, hipMemcpyHostToDevice), hipSuccess);
    expect(hipMemcpy(b, a, 100, hipMemcpyDeviceToDevice), hipSuccess);
    expect(hipMemcpy(in, b, 100, hipMemcpyDefault), hipSuccess);
    cr_assert_arr_eq(in, out, 100);
    expect(hipMemcpyHtoD((char *)a + 50, out, 50), hipSuccess);
    expect(hipMemcpyDtoH(in, (char *)a + 50, 50), hipSuccess);
    cr_assert_arr_eq(in, out, 50);
    expect(hipMemcpy(in, out, 0, hipMemcpyDeviceToDevice), hipSuccess);
    expect(hipFree(a), hipSuccess);
    expect(hipFree(b), hipSuccess);
    cr_assert_eq(fixture_mock()->allocations, 0);
}

Test(hip_memory, copies_rectangles)
{
    unsigned char out[6 * 5], in[6 * 5];
    void *device = NULL;
    size_t pitch = 0;
    for (int i = 0; i < 30; i++) {
        out[i] = (unsigned char)i;
        in[i] = 99;
    }
    expect(hipMallocPitch(&device, &pitch, 6, 5), hipSuccess);
    cr_assert_eq(pitch, 256);
    expect(hipMemset2D(device, pitch, 7, 6, 5), hipSuccess);
    expect(hipMemcpy2D((char *)device + pitch + 1, pitch, out + 7, 6, 4, 3, hipMemcpyHostToDevice),
           hipSuccess);
    expect(hipMemcpy2D(in, 6, device, pitch, 6, 5, hipMemcpyDeviceToHost), hipSuccess);
    for (int y = 0; y < 5; y++) {
        for (int x = 0; x < 6; x++) {
            bool inner = y >= 1 && y <= 3 && x >= 1 && x <= 4;
            cr_assert_eq(in[y * 6 + x], inner ? out[y * 6 + x] : 7, "row %d column %d", y, x);
        }
    }
    expect(hipMemcpy2D(device, pitch, out, 3, 6, 5, hipMemcpyHostToDevice),
           hipErrorInvalidPitchValue);
    expect(hipMemcpy2D(device, pitch, out, 6, 6, 6, hipMemcpyHostToDevice), hipErrorInvalidValue);
}

Test(hip_memory, fills)
{
    uint32_t in[8];
    char *device = device_memory(32);
    expect(hipMemset(device, 0x1ab, 32), hipSuccess);
    expect(hipMemsetD16((char *)device + 4, 0x1234, 2), hipSuccess);
    expect(hipMemsetD32Async((char *)device + 8, (int)0xdeadbeef, 1, NULL), hipSuccess);
    expect(hipMemcpy(in, device, 32, hipMemcpyDeviceToHost), hipSuccess);
    cr_assert_eq(in[0], 0xabababab);
    cr_assert_eq(in[1], 0x12341234);
    cr_assert_eq(in[2], 0xdeadbeef);
    cr_assert_eq(in[7], 0xabababab);
    expect(hipMemset(device, 0, 33), hipErrorInvalidValue);
    expect(hipMemsetD32((char *)device + 30, 0, 1), hipErrorInvalidValue);
    expect(hipMemset(in, 0, 4), hipErrorInvalidValue);
}

Test(hip_memory, refuses_wrong_pointers)
{
    char host[64] = {0}, other[64];
    char *device = device_memory(64);
    char *freed = device_memory(64);
    expect(hipFree(freed), hipSuccess);
    expect(hipMemcpy(device, host, 65, hipMemcpyHostToDevice), hipErrorInvalidValue);
    expect(hipMemcpy(device + 1, host, 64, hipMemcpyHostToDevice), hipErrorInvalidValue);
    expect(hipMemcpy(host, device + 60, 5, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    expect(hipMemcpy(freed, host, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    expect(hipMemcpy(other, host, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    expect(hipMemcpy(device, device, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    expect(hipMemcpy(device, NULL, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    expect(hipMemcpy(NULL, host, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    expect(hipMemcpy(device, host, SIZE_MAX, hipMemcpyHostToDevice), hipErrorInvalidValue);
    expect(hipMemcpy(device, host, 4, (hipMemcpyKind)9), hipErrorInvalidMemcpyDirection);
    expect(hipFree(freed), hipErrorInvalidValue);
    expect(hipFree(device + 8), hipErrorInvalidValue);
    expect(hipFree(host), hipErrorInvalidValue);
    expect(hipFree(NULL), hipSuccess);
    expect(hipMalloc(NULL, 4), hipErrorInvalidValue);
    expect(hipMemcpy(device, host, 64, hipMemcpyHostToDevice), hipSuccess);
}

Test(hip_memory, errors_stay_until_asked_for)
{
    expect(hipGetLastError(), hipSuccess);
    expect(hipMalloc(NULL, 4), hipErrorInvalidValue);
    void *device = device_memory(4);
    cr_assert(device);
    expect(hipPeekAtLastError(), hipErrorInvalidValue);
    expect(hipGetLastError(), hipErrorInvalidValue);
    expect(hipGetLastError(), hipSuccess);
    cr_assert_str_eq(hipGetErrorName(hipErrorNoBinaryForGpu), "hipErrorNoBinaryForGpu");
    cr_assert_str_eq(hipGetErrorString(hipErrorOutOfMemory), "out of memory");
    cr_assert_str_eq(hipGetErrorName((hipError_t)12345), "hipErrorUnknown");
}

Test(hip_memory, running_out_of_memory_loses_nothing)
{
    size_t before = 0, after = 0, total = 0;
    void *pointers[9], *more = &before;
    expect(hipMemGetInfo(&before, &total), hipSuccess);
    cr_assert_eq(total, MOCK_MEMORY_BYTES);
    expect(hipMalloc(&more, total + 1), hipErrorOutOfMemory);
    cr_assert_null(more);
    expect(hipMalloc(&more, SIZE_MAX), hipErrorOutOfMemory);
    for (int i = 0; i < 8; i++)
        pointers[i] = device_memory(total / 8);
    expect(hipMalloc(&more, 1), hipErrorOutOfMemory);
    for (int i = 0; i < 8; i++)
        expect(hipFree(pointers[i]), hipSuccess);
    expect(hipMemGetInfo(&after, &total), hipSuccess);
    cr_assert_eq(after, before);
    expect(hipMalloc(&more, 0), hipSuccess);
    cr_assert_null(more);
}

Test(hip_memory, pageable_memory_is_read_before_an_asynchronous_copy_returns)
{
    int host = 1, back = 0, *pinned = NULL;
    void *device = device_memory(sizeof host);
    expect(hipMemcpyAsync(device, &host, sizeof host, hipMemcpyHostToDevice, NULL), hipSuccess);
    host = 2;
    expect(hipMemcpy(&back, device, sizeof back, hipMemcpyDeviceToHost), hipSuccess);
    cr_assert_eq(back, 1);
    expect(hipHostMalloc((void **)&pinned, sizeof *pinned, hipHostMallocDefault), hipSuccess);
    *pinned = 3;
    expect(hipMemcpyAsync(device, pinned, sizeof *pinned, hipMemcpyHostToDevice, NULL), hipSuccess);
    cr_assert_eq(fixture_mock()->pending, 1, "a pinned copy is only enqueued");
    expect(hipDeviceSynchronize(), hipSuccess);
    cr_assert_eq(fixture_mock()->pending, 0);
    expect(hipHostFree(pinned), hipSuccess);
    expect(hipHostFree(pinned), hipErrorInvalidValue);
}

Test(hip_memory, knows_pointers)
{
    hipPointerAttribute_t attributes;
    void *base = NULL;
    size_t size = 0;
    int host = 0;
    char *device = device_memory(1000), *pinned = NULL;
    expect(hipHostMalloc((void **)&pinned, 10, hipHostMallocPortable), hipSuccess);
    expect(hipPointerGetAttributes(&attributes, device + 999), hipSuccess);
    cr_assert_eq(attributes.memoryType, hipMemoryTypeDevice);
    cr_assert_eq(attributes.devicePointer, device + 999);
    expect(hipPointerGetAttributes(&attributes, pinned), hipSuccess);
    cr_assert_eq(attributes.memoryType, hipMemoryTypeHost);
    cr_assert_eq(attributes.allocationFlags, hipHostMallocPortable);
    expect(hipPointerGetAttributes(&attributes, &host), hipErrorInvalidValue);
    expect(hipPointerGetAttributes(&attributes, device + 1000), hipErrorInvalidValue);
    expect(hipMemGetAddressRange(&base, &size, device + 10), hipSuccess);
    cr_assert_eq(base, device);
    cr_assert_eq(size, 1000);
    expect(hipHostRegister(&host, sizeof host, 0), hipSuccess);
    expect(hipHostRegister(&host, sizeof host, 0), hipErrorHostMemoryAlreadyRegistered);
    expect(hipHostUnregister(&host), hipSuccess);
    expect(hipHostUnregister(&host), hipErrorHostMemoryNotRegistered);
}

static bool is_free(uintptr_t address, size_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *memory = mmap((void *)address, size, PROT_NONE, flags, -1, 0);
    if (memory != MAP_FAILED)
        munmap(memory, size);
    return memory == (void *)address;
}

/* Criterion maps its own memory at a random address, which is now and then in the range that the
 * library tries first; then the second one must be taken. */
Test(hip_memory, device_addresses_are_the_same_in_every_run)
{
    const size_t window = (size_t)2 << 40; /* of devices, and of pinned memory */
    uintptr_t expected = is_free(0x200000000000, window) ? 0x200000000000 : 0x7a0000000000;
    cr_assert_eq((uintptr_t)device_memory(100), expected);
}

Test(hip_memory, device_addresses_move_when_the_first_range_is_taken)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void *wish = (void *)0x200000000000;
    cr_assert_neq(mmap(wish, 4096, PROT_NONE, flags, -1, 0), MAP_FAILED);
    if (is_free(0x7a0000000000, (size_t)2 << 40))
        cr_assert_eq((uintptr_t)device_memory(100), 0x7a0000000000);
}

/* The message goes to standard error, which the test reads through a pipe in a child. */
Test(hip_memory, host_access_to_device_memory_is_named)
{
    int ends[2], status = 0;
    cr_assert_eq(pipe(ends), 0);
    volatile char *device = device_memory(100);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        _exit(device[42]);
    }
    close(ends[1]);
    char text[600] = "";
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    siginfo_t info = {0};
    cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED), 0);
    cr_assert(info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED);
    status = info.si_status;
    cr_assert_eq(status, SIGSEGV);
    cr_assert(strstr(text, "byte 42 of the allocation of 100 bytes"), "said: %s", text);
}

static volatile sig_atomic_t caught;

static void catch_fault(int number)
{
    caught = number;
    _exit(17);
}

Test(hip_memory, other_faults_go_to_the_program_s_handler, .exit_code = 17)
{
    signal(SIGSEGV, catch_fault);
    device_memory(100);
    volatile char *closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *closed = 1;
}

enum { THREADS = 8, ROUNDS = 100 };

static void *work(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    unsigned char out[512], in[512];
    for (int round = 0; round < ROUNDS; round++) {
        char *device = NULL;
        size_t size = 1 + rand_r(&seed) % sizeof out;
        memset(out, (int)(seed >> 8), size);
        if (hipMalloc((void **)&device, size) != hipSuccess
            || hipMemcpy(device, out, size, hipMemcpyHostToDevice) != hipSuccess
            || hipMemcpy(in, device, size, hipMemcpyDeviceToHost) != hipSuccess
            || memcmp(in, out, size) != 0 || hipFree(device) != hipSuccess
            || hipFree(device) != hipErrorInvalidValue || hipGetLastError() != hipErrorInvalidValue)
            return argument;
    }
    return NULL;
}

Test(hip_memory, serves_many_host_threads)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        cr_assert_null(failed, "thread %d saw a wrong answer", i);
    }
    cr_assert_eq(fixture_mock()->allocations, 0);
}

/* Whatever has been made since: numbers of handles are not used again. */
Test(hip_memory, destroyed_handles_are_refused_for_ever)
{
    hipStream_t stream, streams[8];
    hipEvent_t event, events[8];
    expect(hipStreamCreate(&stream), hipSuccess);
    expect(hipEventCreate(&event), hipSuccess);
    expect(hipStreamDestroy(stream), hipSuccess);
    expect(hipEventDestroy(event), hipSuccess);
    for (int i = 0; i < 8; i++) {
        expect(hipEventCreate(&events[i]), hipSuccess);
        expect(hipStreamCreate(&streams[i]), hipSuccess);
        cr_assert(events[i] != event && streams[i] != stream);
        expect(hipEventRecord(event, streams[i]), hipErrorInvalidHandle);
        expect(hipStreamSynchronize(stream), hipErrorInvalidHandle);
        expect(hipStreamDestroy((hipStream_t)(void *)events[i]), hipErrorInvalidHandle);
    }
}
