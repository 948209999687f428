/* Managed and mapped memory (components/hip/api/memory/hip_managed_pages.h) on the mock platform,
 * whose device memory is apart from what the host sees. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"

#include "hip_fixture.h"

enum { BLOCK = 65536, SIZE = 3 * BLOCK + 5000 };

static unsigned char *managed_memory(size_t size)
{
    void *pointer = NULL;
    expect(hipMallocManaged(&pointer, size, hipMemAttachGlobal), hipSuccess);
    cr_assert(pointer);
    return pointer;
}

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 7 + i / 251);
}

/* Ranges that begin and end inside of, at, and across the borders of blocks and of the allocation.
 */
static const struct {
    size_t start, size;
} ranges[] = {
    {0, 1},        {BLOCK - 1, 2},    {0, BLOCK},     {BLOCK, BLOCK},     {100, 2 * BLOCK},
    {SIZE - 1, 1}, {3 * BLOCK, 5000}, {BLOCK + 1, 1}, {2 * BLOCK - 3, 3}, {0, SIZE},
};

Test(hip_managed, a_fill_of_a_range_keeps_what_the_host_wrote_around_it)
{
    for (size_t r = 0; r < ARRAY_COUNT(ranges); r++) {
        unsigned char *data = managed_memory(SIZE);
        size_t start = ranges[r].start, end = start + ranges[r].size;
        for (size_t i = 0; i < SIZE; i++)
            data[i] = pattern(i);
        expect(hipMemset(data + start, 200, end - start), hipSuccess);
        for (size_t i = 0; i < SIZE; i++) {
            cr_assert_eq(data[i], i >= start && i < end ? 200 : pattern(i),
                         "range %zu, byte %zu is %u", r, i, data[i]);
        }
        expect(hipFree(data), hipSuccess);
    }
    cr_assert_eq(fixture_mock()->allocations, 0);
}

Test(hip_managed, a_copy_reads_what_the_host_wrote_last)
{
    unsigned char *data = managed_memory(SIZE), back[2];
    for (size_t r = 0; r < ARRAY_COUNT(ranges); r++) {
        for (unsigned char round = 0; round < 3; round++) {
            size_t last = ranges[r].start + ranges[r].size - 1;
            data[last] = (unsigned char)(100 + round);
            cr_assert_eq(data[last], 100 + round);
            expect(hipMemcpy(back, data + last, 1, hipMemcpyDeviceToHost), hipSuccess);
            cr_assert_eq(back[0], 100 + round, "range %zu, round %d: %u", r, round, back[0]);
            cr_assert_eq(data[last], 100 + round, "still there for the host");
        }
    }
}

Test(hip_managed, prefetches_and_advice_change_nothing_but_are_checked)
{
    unsigned char *data = managed_memory(SIZE);
    data[5] = 42;
    expect(hipMemPrefetchAsync(data, SIZE, 0, NULL), hipSuccess);
    expect(hipMemPrefetchAsync(data, SIZE, hipCpuDeviceId, NULL), hipSuccess);
    expect(hipMemAdvise(data, SIZE, hipMemAdviseSetReadMostly, 0), hipSuccess);
    cr_assert_eq(data[5], 42);
    expect(hipMemPrefetchAsync(data, SIZE, 77, NULL), hipErrorInvalidDevice);
    expect(hipMemPrefetchAsync(data + SIZE - 1, BLOCK, 0, NULL), hipErrorInvalidValue);
    expect(hipMemAdvise(&data, 1, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
}

Test(hip_managed, wrong_requests_are_refused)
{
    void *pointer = &pointer;
    expect(hipMallocManaged(NULL, 16, hipMemAttachGlobal), hipErrorInvalidValue);
    expect(hipMallocManaged(&pointer, 0, hipMemAttachGlobal), hipErrorInvalidValue);
    cr_assert_null(pointer);
    expect(hipMallocManaged(&pointer, 16, 77), hipErrorInvalidValue);
    expect(hipMallocManaged(&pointer, SIZE_MAX, hipMemAttachGlobal), hipErrorOutOfMemory);
    expect(hipFree(managed_memory(16) + 1), hipErrorInvalidValue);
    expect(hipHostGetDevicePointer(&pointer, ranges[0].start + (char *)&pointer, 0),
           hipErrorInvalidValue);
}

Test(hip_managed, pinned_memory_gets_a_device_address)
{
    unsigned char *host = NULL, *device = NULL, *same = NULL, other[8] = "kernels";
    hipPointerAttribute_t attributes;
    expect(hipHostMalloc((void **)&host, SIZE, hipHostMallocDefault), hipSuccess);
    for (size_t i = 0; i < SIZE; i++)
        host[i] = pattern(i);
    expect(hipHostGetDevicePointer((void **)&device, host, 0), hipSuccess);
    expect(hipHostGetDevicePointer((void **)&same, host + BLOCK, 0), hipSuccess);
    cr_assert(device == host && same == device + BLOCK);
    cr_assert_eq(host[BLOCK], pattern(BLOCK));
    expect(hipMemset(device + BLOCK, 3, 10), hipSuccess);
    expect(hipMemcpy(host + 2 * BLOCK, device + BLOCK, 10, hipMemcpyDeviceToHost), hipSuccess);
    cr_assert(host[BLOCK - 1] == pattern(BLOCK - 1) && host[BLOCK] == 3
              && host[2 * BLOCK + 9] == 3);
    cr_assert_eq(host[2 * BLOCK + 10], pattern(2 * BLOCK + 10));
    expect(hipMemcpy(device, other, 8, hipMemcpyHostToDevice), hipSuccess);
    cr_assert_str_eq((char *)host, "kernels");
    expect(hipPointerGetAttributes(&attributes, host + 9), hipSuccess);
    cr_assert(attributes.devicePointer == device + 9 && !attributes.isManaged);
    expect(hipHostFree(host + 1), hipErrorInvalidValue);
    expect(hipHostFree(host), hipSuccess);
    cr_assert_eq(fixture_mock()->allocations, 0);
}

/* A child touches `pointer`; its exit status or signal. */
static int touch(volatile unsigned char *pointer)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(*pointer == 0 ? 10 : 11);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

Test(hip_managed, fresh_memory_is_zero_and_freed_memory_faults)
{
    unsigned char *data = managed_memory(SIZE);
    cr_assert_eq(touch(data + BLOCK), 10);
    data[0] = 1;
    expect(hipFree(data), hipSuccess);
    cr_assert_eq(touch(data), SIGSEGV);
}

Test(hip_managed, a_lost_device_keeps_its_memory)
{
    unsigned char *data = managed_memory(SIZE);
    data[0] = 1;
    expect(hipMemset(data, 0, BLOCK), hipSuccess);
    expect(hipMemsetAsync(data, 0, BLOCK, NULL), hipSuccess);
    fixture_mock()->fail_next = DRIVER_FAULT;
    expect(hipDeviceSynchronize(), hipErrorIllegalAddress);
    cr_assert_eq(touch(data), SIGSEGV);
    cr_assert_eq(touch(data + 2 * BLOCK), 10, "what never left the host is there");
}
