/* Pools: memory that is asked for and released in the order of a stream. Here it is there at once,
 * and gone when all work that was queued before the release is done, so a pool keeps nothing: what
 * is reserved is what is used. A pool only has its properties, and says how much was made from it.
 * Sharing with other processes is refused (hip_stubs.c). */
#include "base/number.h"
#include "components/hip/api/hip_findings.h"
#include "components/hip/api/hip_handle.h"
#include "components/hip/api/hip_internal.h"

#define SWITCHES hipMemPoolReuseAllowInternalDependencies

struct pool {
    struct pool *next;
    hipMemPool_t handle;
    int device;
    bool is_default;
    int switches[SWITCHES]; /* by attribute - 1; hints: nothing is reused */
    uint64_t threshold;     /* a hint, too */
    uint64_t most;          /* bytes at a time */
};

static struct pool *pools;
static hipMemPool_t chosen[HIP_DEVICES_MAX]; /* by device; NULL: the default one */

static struct pool *find_pool(hipMemPool_t handle)
{
    return hip_handle_find(HIP_HANDLE_POOL, handle);
}

static struct pool *create_pool(int device, bool is_default)
{
    struct pool *pool = hip_allocate(sizeof *pool);
    *pool = (struct pool){
        .next = pools, .device = device, .is_default = is_default, .switches = {1, 1, 1}};
    hip_hide_origins(is_default);
    pool->handle = hip_handle_add(HIP_HANDLE_POOL, pool);
    hip_hide_origins(false);
    pools = pool;
    return pool;
}

static struct pool *default_pool(int device)
{
    struct pool *pool = pools;
    while (pool && !(pool->is_default && pool->device == device))
        pool = pool->next;
    return pool ? pool : create_pool(device, true);
}

static struct pool *pool_of(int device)
{
    struct pool *pool = find_pool(chosen[device]);
    return pool ? pool : default_pool(device);
}

/* ---- memory ---- */

/* Allocates on the pool's device, whichever is current. */
static hipError_t allocate_from(struct pool *pool, void **pointer, size_t size)
{
    int current = hip_current_device();
    hipError_t error = hip_set_current_device(pool->device);
    error = error == hipSuccess ? hip_allocate_for_program(pointer, size) : error;
    if (current != pool->device)
        hip_set_current_device(current);
    if (error == hipSuccess && *pointer) {
        hip_set_pool((uintptr_t)*pointer, pool->handle);
        uint64_t used = hip_pool_bytes(pool->handle);
        pool->most = max(used, pool->most);
    }
    return error;
}

HIP_DEFINE(hipMallocAsync, (pointer, size, stream), void **pointer, size_t size, hipStream_t stream)
{
    (void)stream; /* memory that is there at once is there in the stream's order, too */
    return allocate_from(pool_of(hip_current_device()), pointer, size);
}

HIP_DEFINE(hipMallocFromPoolAsync, (pointer, size, handle, stream), void **pointer, size_t size,
           hipMemPool_t handle, hipStream_t stream)
{
    (void)stream;
    struct pool *pool = find_pool(handle);
    return pool ? allocate_from(pool, pointer, size) : hipErrorInvalidValue;
}

/* ---- pools ---- */

static hipError_t return_pool(hipMemPool_t *handle, int device, bool is_default)
{
    if (!handle || !hip_is_device(device))
        return handle ? hipErrorInvalidDevice : hipErrorInvalidValue;
    *handle = (is_default ? default_pool(device) : pool_of(device))->handle;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipDeviceGetDefaultMemPool, (pool, device), hipMemPool_t *pool, int device)
{
    return return_pool(pool, device, true);
}

HIP_DEFINE_ALWAYS(hipDeviceGetMemPool, (pool, device), hipMemPool_t *pool, int device)
{
    return return_pool(pool, device, false);
}

HIP_DEFINE_ALWAYS(hipDeviceSetMemPool, (device, handle), int device, hipMemPool_t handle)
{
    const struct pool *pool = find_pool(handle);
    if (!hip_is_device(device))
        return hipErrorInvalidDevice;
    if (!pool || pool->device != device)
        return hipErrorInvalidValue;
    chosen[device] = handle;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipMemPoolCreate, (handle, properties), hipMemPool_t *handle,
                  const hipMemPoolProps *properties)
{
    if (!handle || !properties || properties->allocType != hipMemAllocationTypePinned
        || properties->location.type != hipMemLocationTypeDevice)
        return hipErrorInvalidValue;
    if (!hip_is_device(properties->location.id))
        return hipErrorInvalidDevice;
    if (properties->handleTypes != hipMemHandleTypeNone)
        return hip_fail(hipErrorNotSupported, "pools are not shared with other processes");
    *handle = create_pool(properties->location.id, false)->handle;
    return hipSuccess;
}

/* Memory made from the pool stays until it is freed. */
HIP_DEFINE_ALWAYS(hipMemPoolDestroy, (handle), hipMemPool_t handle)
{
    struct pool *pool = find_pool(handle);
    if (!pool || pool->is_default)
        return hipErrorInvalidValue;
    struct pool **link = &pools;
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    hip_handle_remove(handle);
    hip_release(pool);
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipMemPoolTrimTo, (pool, bytes), hipMemPool_t pool, size_t bytes)
{
    (void)bytes; /* nothing is kept */
    return find_pool(pool) ? hipSuccess : hipErrorInvalidValue;
}

/* True if the attribute asks for the most bytes at a time. Reserved bytes are the used ones. */
static bool is_mark(hipMemPoolAttr attribute)
{
    return attribute == hipMemPoolAttrReservedMemHigh || attribute == hipMemPoolAttrUsedMemHigh;
}

HIP_DEFINE_ALWAYS(hipMemPoolSetAttribute, (handle, attribute, value), hipMemPool_t handle,
                  hipMemPoolAttr attribute, void *value)
{
    struct pool *pool = find_pool(handle);
    if (!pool || !value)
        return hipErrorInvalidValue;
    if (attribute >= 1 && attribute <= SWITCHES) {
        pool->switches[attribute - 1] = *(const int *)value;
        return hipSuccess;
    }
    uint64_t number = *(const uint64_t *)value;
    if (attribute == hipMemPoolAttrReleaseThreshold) {
        pool->threshold = number;
        return hipSuccess;
    }
    if (!is_mark(attribute) || number != 0)
        return hipErrorInvalidValue;
    pool->most = hip_pool_bytes(pool->handle);
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipMemPoolGetAttribute, (handle, attribute, value), hipMemPool_t handle,
                  hipMemPoolAttr attribute, void *value)
{
    const struct pool *pool = find_pool(handle);
    if (!pool || !value || attribute < 1 || attribute > hipMemPoolAttrUsedMemHigh)
        return hipErrorInvalidValue;
    if (attribute <= SWITCHES) {
        *(int *)value = pool->switches[attribute - 1];
        return hipSuccess;
    }
    *(uint64_t *)value = attribute == hipMemPoolAttrReleaseThreshold ? pool->threshold
                         : is_mark(attribute)                        ? pool->most
                                                                     : hip_pool_bytes(pool->handle);
    return hipSuccess;
}
