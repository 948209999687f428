/* Calls of the host by device code. A wavefront takes a packet from a stack in device memory,
 * writes its request into the packet, pushes the packet on a second stack, and spins until the
 * packet's ready bit is cleared. The host gets no signal: it looks while it waits for the kernel,
 * through a queue of its own, so the copies of buffer and kernel run side by side in simulated
 * time. A kernel that is executed without timing is over within one step of the driver, which lets
 * the host look whenever wavefronts wait (attend_kernel()).
 *
 * Layout and life of a packet are those of ROCm's device library (ROCm-Device-Libs, ockl:
 * hostcall): a buffer of six words, headers of 24 bytes, payloads of 8 words for each of 64 lanes.
 * A packet's number has a tag above its index that grows with each use.
 *
 * Invariants. Only the device changes the stacks. Packets stay linked in the ready stack until they
 * are answered, so those above the top seen last are new, and all of them are answered before the
 * host looks again. A copy flushes the L2 first, so an answer is seen when the copy after it has
 * begun; payloads are written before the ready bit is cleared. */
#include "hip_hostcall.h"

#include <stddef.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "runtime/session/run_ledger.h"

enum {
    HEADER_BYTES = 24,
    PAYLOAD_BYTES = HIP_WAVEFRONT * HIP_CALL_WORDS * 8,
    SIGNAL_BYTES = 64,
    SERVICE_PRINTF = 2,
    SERVICE_DEVICE_MEMORY = 3,
    POLLS_FIRST = 8, /* polls of the driver between looks; doubled, up to the limit, after each that
                        finds nothing */
    POLLS_MAX = 256,
    SENDMSG_INTERRUPT = (int)0xbf900001, /* s_sendmsg sendmsg(MSG_INTERRUPT) */
};

struct buffer {
    uint64_t headers, payloads, doorbell, free_stack, ready_stack, index_mask;
};

struct header {
    uint64_t next, lanes;
    uint32_t service, ready;
};

static struct {
    uint64_t address; /* 0: not made yet */
    uint32_t queue;   /* for the host's own copies */
    struct buffer layout;
    uint64_t last_top; /* top of the ready stack when the host looked last */
    bool is_active;    /* kernels that may call are queued or running */
    uint64_t ticket;   /* the last of these kernels */
    const char *kernel;
    const char *refused_kernel; /* its refusal was the last to be written */
} services[HIP_DEVICES_MAX];

static bool sends_interrupt(const struct code_object_segment *segment)
{
    for (uint64_t offset = 0; offset + 4 <= segment->file_size; offset += 4) {
        uint32_t word;
        memcpy(&word, segment->bytes + offset, sizeof word);
        if (word == (uint32_t)SENDMSG_INTERRUPT)
            return true;
    }
    return false;
}

bool hip_calls_host(const struct hip_function *function)
{
    const struct code_object_kernel *kernel = function->kernel;
    const struct code_object *object = &function->module->object;
    bool has_argument = false;
    for (uint32_t i = kernel->explicit_argument_count; i < kernel->argument_count; i++)
        has_argument |= kernel->arguments[i].kind == CODE_OBJECT_VALUE_HIDDEN_HOSTCALL_BUFFER;
    if (!has_argument)
        return false;
    for (size_t s = 0; s < object->segment_count; s++)
        if (object->segments[s].is_executable && sends_interrupt(&object->segments[s]))
            return true;
    return false;
}

/* ---- the buffer ---- */

/* Not NULL while the driver lets the host attend to a kernel that is executed without timing: the
 * simulation stops, and memory is accessed at once. */
static const struct driver_attention *attention;

static hipError_t access_now(bool is_accessible)
{
    if (!is_accessible)
        hip_say("the buffer through which kernels call the host (printf, assert) is not in device "
                "memory any more: a kernel or the program has freed or overwritten its address");
    return is_accessible ? hipSuccess : hipErrorLaunchFailure;
}

/* Copies between host and device on the service's own queue, and waits. */
static hipError_t put_bytes(int device, uint64_t to, const void *from, uint64_t size)
{
    uint64_t ticket = 0;
    if (attention)
        return access_now(attention->write(to, from, size));
    enum driver_status status = hip.api->write(services[device].queue, to, from, size, &ticket);
    return hip_status_of(status == DRIVER_OK ? hip.api->wait(ticket) : status, "calls of the host");
}

static hipError_t read_device(int device, void *to, uint64_t from, uint64_t size)
{
    uint64_t ticket = 0;
    if (attention)
        return access_now(attention->read(from, to, size));
    enum driver_status status = hip.api->read(services[device].queue, to, from, size, &ticket);
    return hip_status_of(status == DRIVER_OK ? hip.api->wait(ticket) : status, "calls of the host");
}

static void attend_kernel(const struct driver_attention *accesses);

/* There are as many packets as wavefronts fit on the device, since the device does not check for an
 * empty stack; a power of two. */
static uint64_t count_packets(int device)
{
    const struct driver_device_info *info = &hip.devices[device].info;
    uint64_t wavefronts =
        (uint64_t)info->compute_units * info->simds_per_cu * info->wavefronts_per_simd;
    uint64_t packets = 2;
    while (packets < wavefronts)
        packets *= 2;
    return packets;
}

/* All packets are free, number i linked to i + 1; numbers are never 0, which ends a stack. */
static hipError_t write_buffer(int device, uint64_t packets)
{
    struct buffer *layout = &services[device].layout;
    size_t head_bytes = sizeof *layout + SIGNAL_BYTES, size = head_bytes + packets * HEADER_BYTES;
    uint8_t *image = hip_allocate(size);
    memcpy(image, layout, sizeof *layout);
    image[sizeof *layout] = 1; /* the signal's kind: a plain one, without a mailbox */
    for (uint64_t i = 0; i < packets; i++) {
        uint64_t next = i + 1 < packets ? packets + i + 1 : 0;
        memcpy(image + head_bytes + i * HEADER_BYTES, &next, sizeof next);
    }
    hipError_t error = put_bytes(device, services[device].address, image, size);
    hip_release(image);
    return error;
}

hipError_t hip_hostcall_buffer(const struct hip_function *function, int device, uint64_t *address)
{
    services[device].kernel = function->name;
    if (services[device].address) {
        *address = services[device].address;
        return hipSuccess;
    }
    uint64_t packets = count_packets(device), base = 0;
    uint64_t head_bytes = sizeof(struct buffer) + SIGNAL_BYTES;
    uint64_t payloads = round_up(head_bytes + packets * HEADER_BYTES, 256);
    hipError_t error =
        hip_status_of(hip.api->queue_create(hip.devices[device].number, DRIVER_QUEUE_ATTENDS,
                                            &services[device].queue),
                      "calls of the host");
    if (error == hipSuccess) {
        error = hip_allocate_device(device, payloads + packets * PAYLOAD_BYTES,
                                    HIP_ALLOCATION_ALIGN, HIP_MODULE_MEMORY, &base);
    }
    if (error != hipSuccess)
        return error;
    services[device].address = base;
    services[device].layout = (struct buffer){.headers = base + head_bytes,
                                              .payloads = base + payloads,
                                              .doorbell = base + sizeof(struct buffer),
                                              .free_stack = packets,
                                              .index_mask = packets - 1};
    *address = base;
    hip.api->set_attendant(attend_kernel);
    return write_buffer(device, packets);
}

void hip_release_hostcalls(int device)
{
    memset(&services[device], 0, sizeof services[device]);
}

void hip_hostcall_begin(int device, const char *name, uint64_t ticket)
{
    services[device].is_active = !hip.is_functional;
    services[device].ticket = ticket;
    services[device].kernel = name;
}

/* ---- serving ---- */

/* Says so once for a kernel: each wavefront asks, and again for each lane. */
static void say_unsupported(int device, uint32_t service)
{
    const char *purpose = service == SERVICE_DEVICE_MEMORY ? " (malloc, free, new or delete)" : "";
    run_ledger_report(EXIT_GAVE_UP);
    if (services[device].refused_kernel == services[device].kernel)
        return;
    services[device].refused_kernel = services[device].kernel;
    hip_say("device code asks the host for service %u%s, which is not supported (printf and assert "
            "are); it is answered with 0 (kernel '%s')",
            service, purpose, services[device].kernel);
}

static void serve_lanes(int device, const struct header *header, uint64_t *payload)
{
    if (header->service != SERVICE_PRINTF)
        say_unsupported(device, header->service);
    for (unsigned lane = 0; lane < HIP_WAVEFRONT; lane++) {
        uint64_t *words = payload + (size_t)lane * HIP_CALL_WORDS;
        if (!(header->lanes >> lane & 1))
            continue;
        if (header->service != SERVICE_PRINTF) {
            words[0] = words[1] = 0;
        } else if (!hip_printf_piece(words)) {
            hip_say("a message of printf is malformed (kernel '%s')", services[device].kernel);
            run_ledger_report(EXIT_GAVE_UP);
        }
    }
}

static hipError_t answer_packet(int device, uint64_t packet, const struct header *header)
{
    uint64_t payload[HIP_WAVEFRONT * HIP_CALL_WORDS];
    const struct buffer *layout = &services[device].layout;
    uint64_t index = packet & layout->index_mask;
    uint64_t payload_address = layout->payloads + index * PAYLOAD_BYTES;
    uint32_t idle = 0;
    hipError_t error = read_device(device, payload, payload_address, sizeof payload);
    if (error == hipSuccess) {
        serve_lanes(device, header, payload);
        error = put_bytes(device, payload_address, payload, sizeof payload);
    }
    if (error == hipSuccess) {
        error = put_bytes(device,
                          layout->headers + index * HEADER_BYTES + offsetof(struct header, ready),
                          &idle, sizeof idle);
    }
    return error;
}

/* Answers the packets from `packet` down to the last top, the oldest first. */
static hipError_t answer_chain(int device, uint64_t packet)
{
    const struct buffer *layout = &services[device].layout;
    struct {
        uint64_t packet;
        struct header header;
    } *chain = NULL;
    size_t count = 0, capacity = 0;
    hipError_t error = hipSuccess;
    while (packet && packet != services[device].last_top && error == hipSuccess) {
        if (count > layout->index_mask) {
            hip_say("the buffer for calls of the host has been overwritten (kernel '%s')",
                    services[device].kernel);
            error = hipErrorLaunchFailure;
            break;
        }
        grow_list(chain, count + 1, capacity, HIP_LIBRARY);
        chain[count].packet = packet;
        error = read_device(device, &chain[count].header,
                            layout->headers + (packet & layout->index_mask) * HEADER_BYTES,
                            HEADER_BYTES);
        packet = chain[count++].header.next;
    }
    while (count > 0 && error == hipSuccess) {
        count--;
        error = answer_packet(device, chain[count].packet, &chain[count].header);
    }
    hip_release(chain);
    return error;
}

/* `had_calls`: whether there were calls. */
static hipError_t serve_device(int device, bool *had_calls)
{
    uint64_t top = 0, last_top = services[device].last_top;
    hipError_t error = read_device(
        device, &top, services[device].address + offsetof(struct buffer, ready_stack), sizeof top);
    if (error != hipSuccess || top == services[device].last_top)
        return error;
    *had_calls = true;
    if (services[device].last_top != last_top)
        return hipSuccess; /* attend_kernel() was faster, while we waited for the copy */
    error = answer_chain(device, top);
    services[device].last_top = top;
    return error;
}

static hipError_t serve_packets(bool *had_calls)
{
    hipError_t error = hipSuccess;
    for (int device = 0; device < hip.device_count && error == hipSuccess; device++)
        if (services[device].is_active)
            error = serve_device(device, had_calls);
    return error;
}

/* Called by the driver, in any thread, without `hip.lock`: the thread that holds it may be waiting
 * for the driver. The data that the function uses do not change while a kernel that calls the host
 * is queued. */
static void attend_kernel(const struct driver_attention *accesses)
{
    bool had_calls = false;
    attention = accesses;
    for (int device = 0; device < hip.device_count; device++)
        if (services[device].address)
            serve_device(device, &had_calls);
    attention = NULL;
}

/* Forgets kernels that are done. True if one is left. */
static bool has_active_service(void)
{
    bool has_active = false;
    for (int device = 0; device < hip.device_count; device++) {
        uint64_t done_ps;
        if (services[device].is_active
            && hip.api->time_of(services[device].ticket, &done_ps) != DRIVER_NOT_READY)
            services[device].is_active = false;
        has_active |= services[device].is_active;
    }
    return has_active;
}

hipError_t hip_hostcall_serve(void)
{
    bool had_calls = false;
    return hip.device_error == hipSuccess && has_active_service() ? serve_packets(&had_calls)
                                                                  : hip.device_error;
}

/* Polls of the driver until the next look for calls. */
static struct {
    unsigned polls, limit;
} pace;

static enum driver_status poll_and_serve(uint64_t ticket, hipError_t *error)
{
    enum driver_status status = hip.api->query(ticket);
    if (status == DRIVER_NOT_READY && ++pace.polls >= pace.limit) {
        bool had_calls = false;
        *error = serve_packets(&had_calls);
        pace.limit = had_calls ? 1 : pace.limit < POLLS_MAX ? 2 * pace.limit : POLLS_MAX;
        pace.polls = 0;
    }
    return status;
}

hipError_t hip_hostcall_wait_ticket(uint64_t ticket)
{
    hipError_t error = hipSuccess;
    pace.polls = 0;
    pace.limit = POLLS_FIRST;
    while (error == hipSuccess && hip.device_error == hipSuccess && has_active_service()) {
        enum driver_status status = poll_and_serve(ticket, &error);
        if (status != DRIVER_NOT_READY)
            return hip_status(status);
    }
    return error;
}

bool hip_hostcall_step(void)
{
    if (hip.device_error != hipSuccess || !has_active_service()) {
        pace.limit = 0;
        return false;
    }
    pace.limit = pace.limit ? pace.limit : POLLS_FIRST;
    int device = 0;
    while (!services[device].is_active)
        device++;
    hipError_t error = hipSuccess;
    hip_status_of(poll_and_serve(services[device].ticket, &error), "calls of the host");
    return true;
}
