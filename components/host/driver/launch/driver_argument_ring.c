/* Packets and kernel arguments of a device: a ring in its memory, and what launches write there.
 *
 * Positions count bytes since start; the place of a position is its remainder. Every launch holds a
 * piece until it is done. Launches of different queues end in any order: pieces are forgotten in
 * the order in which they were taken, and when the head has gone round and meets one that is still
 * held, that one becomes "late" and the head goes around it. A launch whose packet and arguments
 * are what the last piece contains uses that piece, and nothing is copied. */
#include "driver_launch.h"

#include <string.h>

#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/program/driver_program.h"

static struct driver_piece *argument_ring_piece(const struct driver_device *device, uint32_t number)
{
    return arena_at(struct driver_piece, device->pieces) + number % DRIVER_COMMANDS;
}

/* All processes that use the device see its ring at the same address. */
static enum driver_status argument_ring_share(struct driver *d, uint32_t number)
{
    for (uint32_t i = d->gpu_count; i < d->handle_count; i++) {
        const struct driver_handle *h = driver_handle_at(d, i);
        if (h->used && h->pid != DRIVER_PID && handle_has(h, number)
            && !memory_share(memory_view(d), d->device[number].ring_address, h->pid))
            return driver_fail(DRIVER_OUT_OF_MEMORY, "the page table is full");
    }
    return DRIVER_OK;
}

static enum driver_status argument_ring_open(struct driver *d, uint32_t number)
{
    struct driver_device *device = &d->device[number];
    if (device->ring_address)
        return DRIVER_OK;
    uint64_t bytes = DRIVER_RING_BYTES;
    while (bytes > device->size / 16)
        bytes /= 2;
    const struct memory_request room = {.device = &number, .device_count = 1};
    enum driver_status status;
    do {
        status = memory_allocate_own(d, number, DRIVER_PID, bytes, PROGRAM_ARGUMENTS,
                                     &device->ring_address);
    } while (status == DRIVER_OUT_OF_MEMORY
             && host_make_room(d, &room, bytes / driver_page_bytes(d) + 1));
    if (status == DRIVER_OK && (status = argument_ring_share(d, number)) != DRIVER_OK)
        memory_release(d, device->ring_address);
    if (status != DRIVER_OK) {
        device->ring_address = 0;
        return status;
    }
    device->ring_bytes = (uint32_t)bytes;
    device->ring_wrapped = device->left_at > device->flushed_at; /* the L2 may have old lines */
    device->ring_mirror = arena_allocate(bytes);
    device->pieces = arena_allocate(DRIVER_COMMANDS * sizeof(struct driver_piece));
    return DRIVER_OK;
}

static uint64_t argument_ring_tail(const struct driver_device *device)
{
    return device->pieces_held ? argument_ring_piece(device, device->first_piece)->start
                               : device->ring_head;
}

/* Where `bytes` neighbouring bytes begin, aligned to `align`, a power of two that divides the
 * ring's size. UINT64_MAX: late pieces leave no room. */
static uint64_t argument_ring_find_start(const struct driver_device *device, uint32_t bytes,
                                         uint32_t align)
{
    uint64_t at = device->ring_head, size = device->ring_bytes;
    for (uint32_t i = 0; i < device->late_pieces;) {
        const struct driver_late_piece *late = &device->late_piece[i++];
        at = (at + align - 1) & ~(uint64_t)(align - 1);
        at += bytes > size - at % size ? size - at % size : 0;
        if (at % size < late->offset + late->bytes && late->offset < at % size + bytes) {
            at += late->offset + late->bytes - at % size;
            i = 0;
        }
        if (at - device->ring_head > size)
            return UINT64_MAX;
    }
    at = (at + align - 1) & ~(uint64_t)(align - 1);
    return at + (bytes > size - at % size ? size - at % size : 0);
}

static uint32_t argument_ring_hold(struct driver_device *device, uint64_t start, uint32_t bytes,
                                   bool written)
{
    uint32_t number = device->first_piece + device->pieces_held++;
    *argument_ring_piece(device, number) = (struct driver_piece){start, bytes, true, written};
    return number;
}

static void argument_ring_forget(struct driver_device *device)
{
    device->first_piece++;
    device->pieces_held--;
}

/* The oldest piece that is held stays where it is. False: there are too many such pieces. */
static bool argument_ring_make_late(struct driver_device *device)
{
    const struct driver_piece *piece = argument_ring_piece(device, device->first_piece);
    if (device->late_pieces == DRIVER_LATE_PIECES)
        return false;
    if (piece->held)
        device->late_piece[device->late_pieces++] = (struct driver_late_piece){
            device->first_piece, (uint32_t)(piece->start % device->ring_bytes), piece->bytes};
    argument_ring_forget(device);
    return true;
}

static bool argument_ring_is_last(const struct driver_device *device, const void *content,
                                  uint32_t bytes, uint32_t queue)
{
    const struct driver_piece *last = &device->last_piece;
    return last->bytes == bytes && bytes && (device->last_piece_queue == queue || last->written)
           && !memcmp(arena_at(char, device->ring_mirror) + last->start % device->ring_bytes,
                      content, bytes);
}

static enum driver_status argument_ring_find(struct driver *d, struct driver_device *device,
                                             uint32_t bytes, uint32_t align, uint64_t *start)
{
    enum driver_status status = DRIVER_OK;
    if (bytes > device->ring_bytes)
        return driver_fail(DRIVER_TOO_LARGE,
                           "%u bytes of packet and arguments; at most %u can wait for %s", bytes,
                           device->ring_bytes, device->info.name);
    while (status == DRIVER_OK) {
        *start = argument_ring_find_start(device, bytes, align);
        bool full = *start == UINT64_MAX || device->pieces_held == DRIVER_COMMANDS;
        if (!full && *start + bytes - argument_ring_tail(device) <= device->ring_bytes)
            return DRIVER_OK;
        if (*start == UINT64_MAX || !device->pieces_held || !argument_ring_make_late(device))
            status = host_wait_some(d, d->undone);
    }
    return status;
}

static uint32_t argument_ring_take(struct driver_device *device, uint64_t start,
                                   const void *content, uint32_t bytes, uint32_t queue)
{
    uint64_t offset = start % device->ring_bytes;
    if (start / device->ring_bytes && start / device->ring_bytes != device->ring_head_round) {
        device->ring_head_round = start / device->ring_bytes;
        device->ring_wrapped = true;
    }
    device->ring_head = start + bytes;
    device->last_piece = (struct driver_piece){start, bytes, true, false};
    device->last_piece_queue = queue;
    memcpy(arena_at(char, device->ring_mirror) + offset, content, bytes);
    return argument_ring_hold(device, start, bytes, false);
}

static void argument_ring_written(struct driver_device *device, uint32_t number)
{
    struct driver_piece *piece = argument_ring_piece(device, number);
    if (number - device->first_piece >= device->pieces_held)
        return; /* late: it is not asked for any more */
    piece->written = true;
    if (piece->start == device->last_piece.start)
        device->last_piece.written = true;
}

static void argument_ring_give(struct driver_device *device, uint32_t number)
{
    if (number - device->first_piece < device->pieces_held) {
        argument_ring_piece(device, number)->held = false;
        while (device->pieces_held && !argument_ring_piece(device, device->first_piece)->held)
            argument_ring_forget(device);
        return;
    }
    for (uint32_t i = 0; i < device->late_pieces; i++) {
        if (device->late_piece[i].number == number) {
            device->late_piece[i] = device->late_piece[--device->late_pieces];
            return;
        }
    }
    bug("driver: piece %u of the ring of arguments is given back twice", number);
}
