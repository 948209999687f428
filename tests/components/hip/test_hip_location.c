/* The classification of addresses, and which copies between which places are allowed: every pair of
 * kinds in every direction. This test is linked from the library's objects, so that it can call
 * what the library hides. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/hip/api/memory/hip_location.h"

#include "hip_fixture.h"

enum { SIZE = 96 };

/* What a test can have of each kind, and the sides of a copy that it may be. */
enum source { PAGEABLE, REGISTERED, PINNED, MAPPED, SHARED, DEVICE, MANAGED, FREED };

static const struct expected {
    const char *name;
    enum hip_location_kind kind;
    bool managed, on_device, stays;
    bool host_side, device_side, by_default;
} expected[] = {
    [PAGEABLE] = {"pageable", HIP_LOCATION_PAGEABLE, false, false, false, true, false, true},
    [REGISTERED] = {"registered", HIP_LOCATION_REGISTERED, false, false, true, true, false, true},
    [PINNED] = {"pinned", HIP_LOCATION_PINNED, false, false, true, true, true, true},
    [MAPPED] = {"pinned, used by kernels", HIP_LOCATION_PINNED, true, false, true, true, true,
                true},
    [SHARED] = {"registered, used by kernels", HIP_LOCATION_REGISTERED, false, false, true, true,
                true, true},
    [DEVICE] = {"device", HIP_LOCATION_DEVICE, false, true, true, false, true, true},
    [MANAGED] = {"managed", HIP_LOCATION_MANAGED, true, true, true, true, true, true},
    [FREED] = {"freed", HIP_LOCATION_UNALLOCATED, false, true, true, false, false, false},
};
enum { SOURCES = ARRAY_COUNT(expected) };

static const struct direction {
    const char *name;
    hipMemcpyKind kind;
    bool by_default, to_device, from_device;
} directions[] = {
    {"host to host", hipMemcpyHostToHost, false, false, false},
    {"host to device", hipMemcpyHostToDevice, false, true, false},
    {"device to host", hipMemcpyDeviceToHost, false, false, true},
    {"device to device", hipMemcpyDeviceToDevice, false, true, true},
    {"default", hipMemcpyDefault, true, false, false},
};
enum { DIRECTIONS = ARRAY_COUNT(directions) };

static unsigned char *make(enum source source)
{
    void *memory = NULL, *mapped = NULL;
    switch (source) {
    case PAGEABLE:
        return calloc(1, SIZE);
    case REGISTERED:
        memory = calloc(1, SIZE);
        expect(hipHostRegister(memory, SIZE, 0), hipSuccess);
        return memory;
    case PINNED:
        expect(hipHostMalloc(&memory, SIZE, 0), hipSuccess);
        return memory;
    case MAPPED:
        expect(hipHostMalloc(&memory, SIZE, 0), hipSuccess);
        expect(hipHostGetDevicePointer(&mapped, memory, 0), hipSuccess);
        cr_assert_eq(mapped, memory);
        return memory;
    case SHARED:
        memory = (unsigned char *)calloc(1, SIZE + 3) + 3;
        expect(hipHostRegister(memory, SIZE, 0), hipSuccess);
        expect(hipHostGetDevicePointer(&mapped, memory, 0), hipSuccess);
        cr_assert_eq(mapped, memory);
        return memory;
    case MANAGED:
        expect(hipMallocManaged(&memory, SIZE, hipMemAttachGlobal), hipSuccess);
        return memory;
    case DEVICE:
    case FREED:
        expect(hipMalloc(&memory, SIZE), hipSuccess);
        if (source == FREED)
            expect(hipFree(memory), hipSuccess);
        return memory;
    }
    return NULL;
}

static struct hip_location location_of(const unsigned char *address)
{
    return hip_location_of((uintptr_t)address);
}

/* The table's answer for one side. */
static bool may_be(const struct expected *location, const struct direction *direction, bool to)
{
    bool device = to ? direction->to_device : direction->from_device;
    return direction->by_default ? location->by_default
           : device              ? location->device_side
                                 : location->host_side;
}

Test(hip_location, knows_every_kind_of_memory)
{
    for (int i = 0; i < SOURCES; i++) {
        const struct expected *e = &expected[i];
        unsigned char *start = make((enum source)i);
        struct hip_location location = location_of(start + 16);
        cr_expect_eq(location.kind, e->kind, "%s: kind %d", e->name, location.kind);
        cr_expect_eq(location.is_managed, e->managed, "%s", e->name);
        cr_expect_eq(hip_location_on_device(&location), e->on_device, "%s", e->name);
        cr_expect_eq(hip_location_stays(&location, 16), e->stays, "%s", e->name);
        cr_expect_eq(location.address, (uintptr_t)start + 16);
        bool known = e->kind != HIP_LOCATION_PAGEABLE && e->kind != HIP_LOCATION_UNALLOCATED;
        cr_expect_eq(location.allocation.number > 0, known, "%s", e->name);
        cr_expect_eq(hip_location_left(&location) >= SIZE - 16, known, "%s", e->name);
        cr_expect_eq(hip_location_device(&location), e->on_device && known ? 0 : -1, "%s", e->name);
    }
}

Test(hip_location, the_last_byte_belongs_to_the_allocation_and_the_next_does_not)
{
    unsigned char *device = make(DEVICE), *pinned = make(PINNED);
    cr_expect_eq(location_of(device + SIZE - 1).kind, HIP_LOCATION_DEVICE);
    cr_expect_eq(location_of(device + SIZE).kind, HIP_LOCATION_UNALLOCATED);
    cr_expect_eq(location_of(pinned + SIZE - 1).kind, HIP_LOCATION_PINNED);
    cr_expect_eq(location_of(pinned + SIZE).kind, HIP_LOCATION_PAGEABLE);
    struct hip_location last = location_of(pinned + SIZE - 1);
    cr_expect(hip_location_stays(&last, 1));
    cr_expect_not(hip_location_stays(&last, 2));
}

Test(hip_location, every_pair_in_every_direction)
{
    for (int to = 0; to < SOURCES; to++) {
        for (int from = 0; from < SOURCES; from++) {
            struct hip_location to_location = location_of(make((enum source)to));
            struct hip_location from_location = location_of(make((enum source)from));
            for (int i = 0; i < DIRECTIONS; i++) {
                const struct direction *d = &directions[i];
                bool good = may_be(&expected[to], d, true) && may_be(&expected[from], d, false);
                hipError_t error =
                    hip_location_check_copy(&to_location, SIZE, &from_location, SIZE, d->kind);
                cr_expect_eq(error, good ? hipSuccess : hipErrorInvalidValue,
                             "%s: from %s to %s: error %d", d->name, expected[from].name,
                             expected[to].name, error);
            }
        }
    }
}

/* Host code may touch all but memory that is the device's alone. */
static bool host_may_touch(enum source source)
{
    return source != DEVICE && source != FREED;
}

static void put(enum source source, unsigned char *at, const unsigned char *bytes)
{
    if (host_may_touch(source))
        memcpy(at, bytes, SIZE);
    else
        expect(hipMemcpy(at, bytes, SIZE, hipMemcpyHostToDevice), hipSuccess);
}

static void get(enum source source, unsigned char *bytes, const unsigned char *at)
{
    if (host_may_touch(source))
        memcpy(bytes, at, SIZE);
    else
        expect(hipMemcpy(bytes, at, SIZE, hipMemcpyDeviceToHost), hipSuccess);
}

/* Bytes arrive between every pair that may be copied, whether the call waits or not. */
Test(hip_location, what_is_allowed_is_copied)
{
    unsigned char bytes[SIZE], found[SIZE];
    for (int to = 0; to < FREED; to++) {
        for (int from = 0; from < FREED; from++) {
            unsigned char *target = make((enum source)to), *origin = make((enum source)from);
            for (int i = 0; i < 2 * DIRECTIONS; i++) {
                const struct direction *d = &directions[i / 2];
                if (!may_be(&expected[to], d, true) || !may_be(&expected[from], d, false))
                    continue;
                for (int byte = 0; byte < SIZE; byte++)
                    bytes[byte] = (unsigned char)(to + 8 * from + 64 * i + byte);
                put((enum source)from, origin, bytes);
                expect(i % 2 ? hipMemcpyAsync(target, origin, SIZE, d->kind, NULL)
                             : hipMemcpy(target, origin, SIZE, d->kind),
                       hipSuccess);
                expect(hipDeviceSynchronize(), hipSuccess);
                get((enum source)to, found, target);
                cr_expect_arr_eq(found, bytes, SIZE, "%s: from %s to %s", d->name,
                                 expected[from].name, expected[to].name);
            }
        }
    }
}

Test(hip_location, ranges_must_lie_in_what_HIP_has_allocated)
{
    static const struct {
        enum source source;
        uint64_t size;
        hipError_t error;
    } cases[] = {
        {PAGEABLE, 4 * SIZE, hipSuccess},                    /* HIP does not know how long it is */
        {PAGEABLE, (uint64_t)1 << 40, hipErrorInvalidValue}, /* but that no memory is there */
        {PAGEABLE, UINT64_MAX, hipErrorInvalidValue},
        {REGISTERED, SIZE + 1, hipSuccess}, /* its pages go on */
        {PINNED, SIZE, hipSuccess},
        {PINNED, SIZE + 1, hipErrorInvalidValue},
        {MAPPED, SIZE + 1, hipErrorInvalidValue},
        {DEVICE, SIZE, hipSuccess},
        {DEVICE, SIZE + 1, hipErrorInvalidValue},
        {DEVICE, UINT64_MAX, hipErrorInvalidValue},
        {MANAGED, 4096, hipSuccess}, /* whole pages */
        {MANAGED, 4097, hipErrorInvalidValue},
        {FREED, 1, hipErrorInvalidValue},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct hip_location location = location_of(make(cases[i].source)),
                            host = location_of(make(PAGEABLE));
        hipError_t to =
            hip_location_check_copy(&location, cases[i].size, &host, 1, hipMemcpyDefault);
        hipError_t from =
            hip_location_check_copy(&host, 1, &location, cases[i].size, hipMemcpyDefault);
        cr_expect_eq(to, cases[i].error, "to %s: %d", expected[cases[i].source].name, to);
        cr_expect_eq(from, cases[i].error, "from %s: %d", expected[cases[i].source].name, from);
    }
}

Test(hip_location, wrong_directions_and_null_are_refused)
{
    struct hip_location device = location_of(make(DEVICE)), null = location_of(NULL);
    const hipMemcpyKind wrong[] = {(hipMemcpyKind)-1, (hipMemcpyKind)5, (hipMemcpyKind)99};
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        cr_expect_eq(hip_location_check_copy(&device, 1, &device, 1, wrong[i]),
                     hipErrorInvalidMemcpyDirection);
    }
    for (int i = 0; i < DIRECTIONS; i++) {
        cr_expect_eq(hip_location_check_copy(&null, 1, &device, 1, directions[i].kind),
                     hipErrorInvalidValue, "%s", directions[i].name);
        cr_expect_eq(hip_location_check_copy(&device, 1, &null, 1, directions[i].kind),
                     hipErrorInvalidValue, "%s", directions[i].name);
    }
}
