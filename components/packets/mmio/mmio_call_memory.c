/* Calls that allocate, copy and fill memory. */
#include "mmio_state.h"

static bool allocate_memory(struct mmio *c, struct mmio_call *k)
{
    if (k->step == 0) {
        struct mmio_post *post = ask_driver(c, k, DEVICE_CALL_ALLOCATE);
        post->size = k->request.malloc.size;
        post->device = device_of(c, k);
        return false;
    }
    k->answer.malloc.address = k->status ? 0 : k->value;
    return end_call(c, k, error_of(k->status));
}

/* `address` 0: anywhere. */
static bool ask_for_shared(struct mmio *c, struct mmio_call *k, uint64_t address, uint64_t size)
{
    struct mmio_post *post = ask_driver(c, k, DEVICE_CALL_ALLOCATE);
    post->address = address;
    post->size = whole_host_pages(size);
    post->device = device_of(c, k);
    post->width = DRIVER_PLACE_MANAGED;
    return false;
}

static bool allocate_managed(struct mmio *c, struct mmio_call *k)
{
    if (k->step == 0)
        return ask_for_shared(c, k, 0, k->request.malloc_managed.size);
    k->answer.malloc_managed.address = k->status ? 0 : k->value;
    return end_call(c, k, error_of(k->status));
}

/* Other memory gets the addresses that it gets without what is mapped, as in a program. */
static bool map_host(struct mmio *c, struct mmio_call *k)
{
    uint64_t address = k->request.host_get_device_pointer.address;
    if (address >= DEVICE_CALL_WINDOW_BYTES / 2)
        return end_call(c, k, MMIO_INVALID_VALUE);
    if (k->step == 0)
        return ask_for_shared(c, k, DEVICE_CALL_MAPPED_BASE + address,
                              k->request.host_get_device_pointer.size);
    k->answer.host_get_device_pointer.address = k->status ? 0 : k->value;
    return end_call(c, k, error_of(k->status));
}

static bool prefetch(struct mmio *c, struct mmio_call *k)
{
    return end_call(c, k, MMIO_SUCCESS);
}

static bool release_memory(struct mmio *c, struct mmio_call *k)
{
    if (!k->request.free.address)
        return end_call(c, k, MMIO_SUCCESS);
    if (k->step == 0 && streams_of(c)->pending)
        return false; /* an earlier request may use it */
    if (k->step == 0) {
        ask_driver(c, k, DEVICE_CALL_RELEASE)->address = k->request.free.address;
        return false;
    }
    return end_call(c, k, error_of(k->status));
}

static bool memory_info(struct mmio *c, struct mmio_call *k)
{
    if (k->step == 0) {
        ask_driver(c, k, DEVICE_CALL_ROOM)->device = device_of(c, k);
        return false;
    }
    k->answer.memory_info.free_bytes = k->value;
    k->answer.memory_info.total_bytes = info_of(c, device_of(c, k))->memory_bytes;
    return end_call(c, k, error_of(k->status));
}

static bool in_window(uint64_t address)
{
    return address - DEVICE_CALL_WINDOW_BASE < DEVICE_CALL_WINDOW_BYTES;
}

static bool copy_range(struct mmio *c, struct mmio_call *k, uint64_t stream, uint64_t to,
                       uint64_t from, uint64_t size, uint32_t direction)
{
    static const uint8_t kinds[] = {[API_DIRECTION_HOST_TO_HOST] = OPERATION_HOST,
                                    [API_DIRECTION_HOST_TO_DEVICE] = OPERATION_WRITE,
                                    [API_DIRECTION_DEVICE_TO_HOST] = OPERATION_READ,
                                    [API_DIRECTION_DEVICE_TO_DEVICE] = OPERATION_COPY};
    if (direction == API_DIRECTION_BY_ADDRESS)
        direction = (in_window(from) ? 2u : 0u) + (in_window(to) ? 1u : 0u);
    return issue_operation(
        c, k, stream,
        (struct mmio_operation){.kind = kinds[direction], .to = to, .from = from, .size = size});
}

static bool copy_memory(struct mmio *c, struct mmio_call *k)
{
    return copy_range(c, k, 0, k->request.memcpy.destination, k->request.memcpy.source,
                      k->request.memcpy.size, k->request.memcpy.direction);
}

static bool copy_memory_async(struct mmio *c, struct mmio_call *k)
{
    return copy_range(c, k, k->request.memcpy_async.stream, k->request.memcpy_async.destination,
                      k->request.memcpy_async.source, k->request.memcpy_async.size,
                      k->request.memcpy_async.direction);
}

static bool copy_peer(struct mmio *c, struct mmio_call *k)
{
    return copy_range(c, k, 0, k->request.memcpy_peer.destination, k->request.memcpy_peer.source,
                      k->request.memcpy_peer.size, API_DIRECTION_DEVICE_TO_DEVICE);
}

static bool copy_peer_async(struct mmio *c, struct mmio_call *k)
{
    return copy_range(c, k, k->request.memcpy_peer_async.stream,
                      k->request.memcpy_peer_async.destination, k->request.memcpy_peer_async.source,
                      k->request.memcpy_peer_async.size, API_DIRECTION_DEVICE_TO_DEVICE);
}

static bool fill_memory(struct mmio *c, struct mmio_call *k, uint64_t stream, uint64_t address,
                        uint32_t value, uint8_t width, uint64_t count)
{
    if (width != 1 && width != 2 && width != 4)
        return end_call(c, k, MMIO_INVALID_VALUE);
    return issue_operation(c, k, stream,
                           (struct mmio_operation){.kind = OPERATION_FILL,
                                                   .to = address,
                                                   .pattern = value,
                                                   .width = width,
                                                   .size = count});
}

static bool set_memory(struct mmio *c, struct mmio_call *k)
{
    return fill_memory(c, k, 0, k->request.memset.address, k->request.memset.value,
                       k->request.memset.width, k->request.memset.count);
}

static bool set_memory_async(struct mmio *c, struct mmio_call *k)
{
    return fill_memory(c, k, k->request.memset_async.stream, k->request.memset_async.address,
                       k->request.memset_async.value, k->request.memset_async.width,
                       k->request.memset_async.count);
}
