/* Makes the calls of a trace: a function for each kind, in a table. Where a recording says that the
 * caller waited, the copy uses pageable memory, which is freed at once. Otherwise it uses pinned
 * memory, which stays, since HIP may read it until the copy's turn comes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/hip/api/heddle_hip.h"

#include "play_api.h"

/* ---- memory ---- */

static void call_malloc(const struct api_trace_call *call)
{
    void *address = NULL;
    play_check(call, hipExtMallocWithFlags(&address, call->size, call->flags), "hipMalloc");
    play_add(PLAY_DEVICE, call->to.allocation, address);
}

/* The address is that of the recording: allocations before it were made in the same order. */
static void call_malloc_at(const struct api_trace_call *call)
{
    void *address = (void *)(uintptr_t)call->device_address;
    play_check(call, (hipError_t)heddleAllocateAt(address, call->size), "heddleAllocateAt");
    play_add(PLAY_DEVICE, call->to.allocation, address);
}

static void call_malloc_managed(const struct api_trace_call *call)
{
    void *address = NULL;
    play_check(call, hipMallocManaged(&address, call->size, call->flags), "hipMallocManaged");
    play_add(PLAY_DEVICE, call->to.allocation, address);
}

static void call_free(const struct api_trace_call *call)
{
    void *address = play_get(call, PLAY_DEVICE, call->to.allocation)->handle;
    play_remove(PLAY_DEVICE, call->to.allocation);
    play_check(call, hipFree(address), "hipFree");
}

static void call_host_malloc(const struct api_trace_call *call)
{
    void *address = NULL;
    play_check(call, hipHostMalloc(&address, call->size, call->flags), "hipHostMalloc");
    play_add(PLAY_HOST, call->place.allocation, address)->size = call->size;
}

static void call_host_free(const struct api_trace_call *call)
{
    void *address = play_get(call, PLAY_HOST, call->place.allocation)->handle;
    play_remove(PLAY_HOST, call->place.allocation);
    play_check(call, hipHostFree(address), "hipHostFree");
}

static void call_host_register(const struct api_trace_call *call)
{
    void *address = play_allocate(call->size);
    play_check(call, hipHostRegister(address, call->size, call->flags), "hipHostRegister");
    play_add(PLAY_HOST, call->place.allocation, address)->size = call->size;
}

/* The memory stays: a copy of the trace may still be on its way. */
static void call_host_unregister(const struct api_trace_call *call)
{
    void *address = play_get(call, PLAY_HOST, call->place.allocation)->handle;
    play_remove(PLAY_HOST, call->place.allocation);
    play_check(call, hipHostUnregister(address), "hipHostUnregister");
}

static void call_host_map(const struct api_trace_call *call)
{
    void *address = NULL;
    struct play_object *host = play_get(call, PLAY_HOST, call->place.allocation);
    play_check(call, hipHostGetDevicePointer(&address, host->handle, 0), "hipHostGetDevicePointer");
    host->is_mapped = true;
    play_add(PLAY_DEVICE, call->to.allocation, address);
}

/* Repeats an access of the program to managed memory, which has the same consequences. */
static void call_host_access(const struct api_trace_call *call)
{
    volatile uint8_t *byte = play_address(call, &call->place);
    if (call->value)
        __asm__ volatile("lock orb $0, %0"
                         : "+m"(*byte)); /* one access, and a write to the processor */
    else
        (void)*byte;
}

static void call_host_write(const struct api_trace_call *call)
{
    uint8_t *bytes = play_read_file(call, call->size);
    memcpy(play_address(call, &call->place), bytes, call->size);
    free(bytes);
}

static void call_compare(const struct api_trace_call *call)
{
    play_compare(call, play_address(call, &call->place), call->host_pitch);
}

/* ---- copies ---- */

/* Allocates memory that an asynchronous copy may use until the end. */
static uint8_t *find_pinned(const struct api_trace_call *call, uint64_t size)
{
    void *bytes = NULL;
    play_check(call, hipHostMalloc(&bytes, size, hipHostMallocDefault), "hipHostMalloc");
    return bytes;
}

/* Makes a copy and waits for it. Host memory is pageable and its rows have no gaps.
 */
static void copy_rows(const struct api_trace_call *call, void *to, uint64_t to_pitch,
                      const void *from, uint64_t from_pitch, hipMemcpyKind kind)
{
    hipStream_t stream = play_stream(call);
    if (call->rows <= 1)
        play_check(call,
                   stream ? hipMemcpyWithStream(to, from, call->size, kind, stream)
                          : hipMemcpy(to, from, call->size, kind),
                   "hipMemcpy");
    else if (!stream)
        play_check(call, hipMemcpy2D(to, to_pitch, from, from_pitch, call->size, call->rows, kind),
                   "hipMemcpy2D");
    else
        play_check(
            call,
            hipMemcpy2DAsync(to, to_pitch, from, from_pitch, call->size, call->rows, kind, stream),
            "hipMemcpy2DAsync");
}

static void copy_rows_async(const struct api_trace_call *call, void *to, uint64_t to_pitch,
                            const void *from, uint64_t from_pitch, hipMemcpyKind kind)
{
    hipStream_t stream = play_stream(call);
    play_check(call,
               call->rows > 1 ? hipMemcpy2DAsync(to, to_pitch, from, from_pitch, call->size,
                                                 call->rows, kind, stream)
                              : hipMemcpyAsync(to, from, call->size, kind, stream),
               "hipMemcpyAsync");
}

static void call_copy_to(const struct api_trace_call *call)
{
    uint64_t size = api_trace_bytes(call);
    uint8_t *bytes = play_read_file(call, size);
    void *to = play_address(call, &call->to);
    if (call->is_async) {
        uint8_t *pinned = find_pinned(call, size);
        memcpy(pinned, bytes, size);
        copy_rows_async(call, to, call->pitch, pinned, call->size, hipMemcpyHostToDevice);
    } else {
        copy_rows(call, to, call->pitch, bytes, call->size, hipMemcpyHostToDevice);
    }
    free(bytes);
}

/* Beforehand the memory has other bytes than are expected, so a copy that does not happen is seen.
 */
static void call_copy_from(const struct api_trace_call *call)
{
    uint64_t size = api_trace_bytes(call);
    uint8_t *golden = play_read_file(call, size),
            *bytes = call->is_async ? find_pinned(call, size) : golden;
    const void *from = play_address(call, &call->from);
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)~golden[i];
    if (call->is_async) {
        copy_rows_async(call, bytes, call->size, from, call->pitch, hipMemcpyDeviceToHost);
        play_compare_later(call, bytes);
    } else {
        copy_rows(call, bytes, call->size, from, call->pitch, hipMemcpyDeviceToHost);
        play_compare(call, bytes, call->size);
    }
    free(golden);
}

static void call_copy_on(const struct api_trace_call *call)
{
    void *to = play_address(call, &call->to);
    const void *from = play_address(call, &call->from);
    if (call->is_async)
        copy_rows_async(call, to, call->pitch, from, call->from_pitch, hipMemcpyDeviceToDevice);
    else
        copy_rows(call, to, call->pitch, from, call->from_pitch, hipMemcpyDeviceToDevice);
}

/* The bytes are those of the time when the call was made; an earlier copy that had not ended then
 * has not ended here either. */
static void call_pinned_to(const struct api_trace_call *call)
{
    uint64_t rows =
        play_get(call, PLAY_HOST, call->place.allocation)->is_mapped ? 0 : api_trace_rows(call);
    uint8_t *bytes = play_read_file(call, api_trace_bytes(call)),
            *place = play_address(call, &call->place);
    for (uint64_t row = 0; row < rows; row++)
        if (memcmp(place + row * call->host_pitch, bytes + row * call->size, call->size) != 0)
            memcpy(place + row * call->host_pitch, bytes + row * call->size, call->size);
    free(bytes);
    copy_rows_async(call, play_address(call, &call->to), call->pitch, place, call->host_pitch,
                    hipMemcpyHostToDevice);
}

static void call_pinned_from(const struct api_trace_call *call)
{
    copy_rows_async(call, play_address(call, &call->place), call->host_pitch,
                    play_address(call, &call->from), call->pitch, hipMemcpyDeviceToHost);
}

static void *symbol_place(const struct api_trace_call *call)
{
    uint64_t size = 0;
    char *address = play_symbol(call, &size);
    if (call->offset > size || call->size > size - call->offset)
        play_die(call,
                 "%" PRIu64 " bytes from byte %" PRIu64 " of '%s' do not lie in its %" PRIu64
                 " bytes",
                 call->size, call->offset, call->name, size);
    return address + call->offset;
}

static void call_symbol_to(const struct api_trace_call *call)
{
    uint8_t *bytes = play_read_file(call, call->size);
    play_check(call, hipMemcpyHtoD(symbol_place(call), bytes, call->size), "hipMemcpyToSymbol");
    free(bytes);
}

static void call_symbol_from(const struct api_trace_call *call)
{
    uint8_t *bytes = play_read_file(call, call->size);
    for (uint64_t i = 0; i < call->size; i++)
        bytes[i] = (uint8_t)~bytes[i];
    play_check(call, hipMemcpyDtoH(bytes, symbol_place(call), call->size), "hipMemcpyFromSymbol");
    play_compare(call, bytes, call->size);
    free(bytes);
}

static void fill_rows(const struct api_trace_call *call, void *to)
{
    play_check(call,
               call->is_async
                   ? hipMemset2DAsync(to, call->pitch, (int)call->value, call->size, call->rows,
                                      play_stream(call))
                   : hipMemset2D(to, call->pitch, (int)call->value, call->size, call->rows),
               "hipMemset2D");
}

static void call_memset(const struct api_trace_call *call)
{
    void *to = play_address(call, &call->to);
    hipStream_t stream = play_stream(call);
    size_t count = call->size;
    if (call->rows > 1) {
        fill_rows(call, to);
        return;
    }
    hipError_t error;
    if (call->width == 1)
        error = call->is_async ? hipMemsetD8Async(to, (unsigned char)call->value, count, stream)
                               : hipMemsetD8(to, (unsigned char)call->value, count);
    else if (call->width == 2)
        error = call->is_async ? hipMemsetD16Async(to, (unsigned short)call->value, count, stream)
                               : hipMemsetD16(to, (unsigned short)call->value, count);
    else
        error = call->is_async ? hipMemsetD32Async(to, (int)call->value, count, stream)
                               : hipMemsetD32(to, (int)call->value, count);
    play_check(call, error, "hipMemset");
}

static void call_prefetch(const struct api_trace_call *call)
{
    play_check(call,
               hipMemPrefetchAsync(play_address(call, &call->to), call->size, (int)call->device,
                                   play_stream(call)),
               "hipMemPrefetchAsync");
}

/* ---- launches ---- */

static void call_launch(const struct api_trace_call *call)
{
    const struct api_trace_argument *last =
        call->argument_count ? &call->arguments[call->argument_count - 1] : NULL;
    size_t size = last ? last->offset + last->size : 0;
    uint8_t *packed = play_allocate(size + 1);
    for (uint32_t i = 0; i < call->argument_count; i++) {
        const struct api_trace_argument *argument = &call->arguments[i];
        const void *address = argument->is_pointer ? play_address(call, &argument->pointer) : NULL;
        memcpy(packed + argument->offset,
               argument->is_pointer ? (const void *)&address : argument->bytes, argument->size);
    }
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     HIP_LAUNCH_PARAM_END};
    const uint32_t *grid = call->grid, *block = call->block;
    if (call->cluster)
        heddleNextCluster(call->cluster);
    hipError_t error =
        hipModuleLaunchKernel(play_function(call), grid[0], grid[1], grid[2], block[0], block[1],
                              block[2], call->shared_bytes, play_stream(call), NULL, extra);
    play_check(call, error, "hipModuleLaunchKernel");
    free(packed);
}

static void call_code_object(const struct api_trace_call *call)
{
    play_add_source(play_file_path(call->file), call);
}

static void set_device(const struct api_trace_call *call, uint32_t device)
{
    int count = 0;
    play_check(call, hipGetDeviceCount(&count), "hipGetDeviceCount");
    if (hipSetDevice((int)device) != hipSuccess)
        play_die(call, "the trace uses device %" PRIu32 "; the platform has %d", device, count);
}

static void call_module_load(const struct api_trace_call *call)
{
    int current = 0;
    play_check(call, hipGetDevice(&current), "hipGetDevice");
    set_device(call, call->device);
    const char *path = play_file_path(call->file);
    play_add(PLAY_MODULE, call->module, play_load(call, path));
    free((void *)(uintptr_t)path);
    set_device(call, (uint32_t)current);
}

static void call_module_unload(const struct api_trace_call *call)
{
    hipModule_t module = play_get(call, PLAY_MODULE, call->module)->handle;
    play_remove(PLAY_MODULE, call->module);
    play_check(call, hipModuleUnload(module), "hipModuleUnload");
}

/* ---- devices, streams, events ---- */

static void call_set_device(const struct api_trace_call *call)
{
    set_device(call, call->device);
}

static void call_device_synchronize(const struct api_trace_call *call)
{
    play_check(call, hipDeviceSynchronize(), "hipDeviceSynchronize");
}

static void call_stream_create(const struct api_trace_call *call)
{
    hipStream_t stream = NULL;
    play_check(call, hipStreamCreateWithFlags(&stream, call->flags), "hipStreamCreateWithFlags");
    play_add(PLAY_STREAM, call->stream, stream);
}

static void call_stream_destroy(const struct api_trace_call *call)
{
    hipStream_t stream = play_stream(call);
    play_remove(PLAY_STREAM, call->stream);
    play_check(call, hipStreamDestroy(stream), "hipStreamDestroy");
}

static void call_stream_synchronize(const struct api_trace_call *call)
{
    play_check(call, hipStreamSynchronize(play_stream(call)), "hipStreamSynchronize");
}

static hipEvent_t event_of(const struct api_trace_call *call)
{
    return play_get(call, PLAY_EVENT, call->event)->handle;
}

static void call_stream_wait_event(const struct api_trace_call *call)
{
    play_check(call, hipStreamWaitEvent(play_stream(call), event_of(call), 0),
               "hipStreamWaitEvent");
}

/* A query takes time, whatever the answer is. An object that was ready in the recording must be
 * ready here, too, since the program relied on it; on a slower platform that takes further queries.
 */
static bool must_repeat(const struct api_trace_call *call, hipError_t error, const char *call_name)
{
    play_check(call, error == hipErrorNotReady ? hipSuccess : error, call_name);
    return error == hipErrorNotReady && call->value;
}

static void call_stream_query(const struct api_trace_call *call)
{
    while (must_repeat(call, hipStreamQuery(play_stream(call)), "hipStreamQuery"))
        continue;
}

static void call_event_query(const struct api_trace_call *call)
{
    while (must_repeat(call, hipEventQuery(event_of(call)), "hipEventQuery"))
        continue;
}

static void call_event_create(const struct api_trace_call *call)
{
    hipEvent_t event = NULL;
    play_check(call, hipEventCreateWithFlags(&event, call->flags), "hipEventCreateWithFlags");
    play_add(PLAY_EVENT, call->event, event);
}

static void call_event_destroy(const struct api_trace_call *call)
{
    hipEvent_t event = event_of(call);
    play_remove(PLAY_EVENT, call->event);
    play_check(call, hipEventDestroy(event), "hipEventDestroy");
}

static void call_event_record(const struct api_trace_call *call)
{
    play_check(call, hipEventRecord(event_of(call), play_stream(call)), "hipEventRecord");
}

static void call_event_synchronize(const struct api_trace_call *call)
{
    play_check(call, hipEventSynchronize(event_of(call)), "hipEventSynchronize");
}

static void call_peer(const struct api_trace_call *call)
{
    int peer = (int)call->device;
    play_check(call,
               call->value ? hipDeviceEnablePeerAccess(peer, 0) : hipDeviceDisablePeerAccess(peer),
               "peer access");
}

/* ---- devices that the program makes ---- */

static void check_device(const struct api_trace_call *call, int error, int device)
{
    play_check(call, (hipError_t)error, "making a device");
    if ((uint32_t)device != call->device)
        play_die(call,
                 "the new device is %d, in the trace %" PRIu32
                 ": the platform has another number of GPUs",
                 device, call->device);
}

static void call_unify(const struct api_trace_call *call)
{
    int count = 0, device = -1;
    int *gpus = play_allocate((strlen(call->name) / 2 + 1) * sizeof *gpus);
    for (const char *next = call->name; *next;) {
        char *end;
        gpus[count++] = (int)strtol(next, &end, 10);
        if (end == next || (*end && *end != '+'))
            play_die(call, "'gpus' is '%s', not numbers such as 0+1", call->name);
        next = *end ? end + 1 : end;
    }
    int error = heddleUnifyDevices(&device, gpus, count);
    free(gpus);
    check_device(call, error, device);
}

static void call_context_create(const struct api_trace_call *call)
{
    int device = -1, error = heddleCreateContext(&device, (int)call->value);
    check_device(call, error, device);
}

static void call_device_destroy(const struct api_trace_call *call)
{
    play_check(call, (hipError_t)heddleDestroyDevice((int)call->device), "heddleDestroyDevice");
}

static void call_remap(const struct api_trace_call *call)
{
    play_check(
        call, (hipError_t)heddleRemap(play_address(call, &call->to), call->size, (int)call->device),
        "heddleRemap");
}

static void (*const calls[])(const struct api_trace_call *) = {
    [API_TRACE_MALLOC] = call_malloc,
    [API_TRACE_FREE] = call_free,
    [API_TRACE_COPY_TO_DEVICE] = call_copy_to,
    [API_TRACE_COPY_FROM_DEVICE] = call_copy_from,
    [API_TRACE_COPY_ON_DEVICE] = call_copy_on,
    [API_TRACE_SYMBOL_TO_DEVICE] = call_symbol_to,
    [API_TRACE_SYMBOL_FROM_DEVICE] = call_symbol_from,
    [API_TRACE_MEMSET] = call_memset,
    [API_TRACE_LAUNCH] = call_launch,
    [API_TRACE_CODE_OBJECT] = call_code_object,
    [API_TRACE_SET_DEVICE] = call_set_device,
    [API_TRACE_DEVICE_SYNCHRONIZE] = call_device_synchronize,
    [API_TRACE_STREAM_CREATE] = call_stream_create,
    [API_TRACE_STREAM_DESTROY] = call_stream_destroy,
    [API_TRACE_STREAM_SYNCHRONIZE] = call_stream_synchronize,
    [API_TRACE_STREAM_WAIT_EVENT] = call_stream_wait_event,
    [API_TRACE_EVENT_CREATE] = call_event_create,
    [API_TRACE_EVENT_DESTROY] = call_event_destroy,
    [API_TRACE_EVENT_RECORD] = call_event_record,
    [API_TRACE_EVENT_SYNCHRONIZE] = call_event_synchronize,
    [API_TRACE_STREAM_QUERY] = call_stream_query,
    [API_TRACE_EVENT_QUERY] = call_event_query,
    [API_TRACE_MODULE_LOAD] = call_module_load,
    [API_TRACE_MODULE_UNLOAD] = call_module_unload,
    [API_TRACE_MALLOC_MANAGED] = call_malloc_managed,
    [API_TRACE_HOST_MALLOC] = call_host_malloc,
    [API_TRACE_HOST_FREE] = call_host_free,
    [API_TRACE_HOST_REGISTER] = call_host_register,
    [API_TRACE_HOST_UNREGISTER] = call_host_unregister,
    [API_TRACE_HOST_MAP] = call_host_map,
    [API_TRACE_HOST_ACCESS] = call_host_access,
    [API_TRACE_HOST_WRITE] = call_host_write,
    [API_TRACE_COMPARE] = call_compare,
    [API_TRACE_PINNED_TO_DEVICE] = call_pinned_to,
    [API_TRACE_PINNED_FROM_DEVICE] = call_pinned_from,
    [API_TRACE_PREFETCH] = call_prefetch,
    [API_TRACE_PEER] = call_peer,
    [API_TRACE_UNIFY] = call_unify,
    [API_TRACE_CONTEXT_CREATE] = call_context_create,
    [API_TRACE_DEVICE_DESTROY] = call_device_destroy,
    [API_TRACE_REMAP] = call_remap,
    [API_TRACE_MALLOC_AT] = call_malloc_at,
};

void play_call(const struct api_trace_call *call)
{
    if (call->kind < ARRAY_COUNT(calls) && calls[call->kind])
        calls[call->kind](call);
}
