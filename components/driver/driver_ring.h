/* Packets and kernel arguments of a device: a ring in its memory, and what launches write there. Included by driver.c.
 *
 * Positions count bytes since start; the place of a position is its remainder. Every launch holds a piece until it is done.
 * Launches of different queues end in any order, pieces are given back in the order in which they were taken: the ring is
 * full when its head would pass the oldest piece that is held. A launch whose packet and arguments are what the last piece
 * contains uses that piece, and nothing is copied. */
#ifndef HEDDLE_DRIVER_RING_H
#define HEDDLE_DRIVER_RING_H

#include "driver_host.h"
#include "driver_memory.h"

static struct driver_piece *ring_piece(const struct driver_device *device, uint32_t number)
{
    return arena_at(struct driver_piece, device->pieces) + number % DRIVER_COMMANDS;
}

/* The ring is made at the first launch. */
static enum driver_status ring_open(struct driver *d, uint32_t number)
{
    struct driver_device *device = &d->device[number];
    if (device->ring_address)
        return DRIVER_OK;
    uint64_t bytes = DRIVER_RING_BYTES;
    while (bytes > device->size / 16)
        bytes /= 2;
    enum driver_status status =
        memory_allocate(d, number, bytes, 0, PROGRAM_ARGUMENTS, &device->ring_address);
    if (status != DRIVER_OK) {
        device->ring_address = 0;
        return status;
    }
    device->ring_bytes = (uint32_t)bytes;
    device->ring_mirror = arena_allocate(bytes);
    device->pieces = arena_allocate(DRIVER_COMMANDS * sizeof(struct driver_piece));
    return DRIVER_OK;
}

static uint64_t ring_tail(const struct driver_device *device)
{
    return device->pieces_held ? ring_piece(device, device->first_piece)->start : device->ring_head;
}

/* Where `bytes` neighbouring bytes begin, aligned to `align`, a power of two that divides the ring's size. */
static uint64_t ring_place(const struct driver_device *device, uint32_t bytes, uint32_t align)
{
    uint64_t at = (device->ring_head + align - 1) & ~(uint64_t)(align - 1), left = device->ring_bytes - at % device->ring_bytes;
    return bytes > left ? at + left : at;
}

static uint32_t ring_hold(struct driver_device *device, uint64_t start, uint32_t bytes, bool written)
{
    uint32_t number = device->first_piece + device->pieces_held++;
    *ring_piece(device, number) = (struct driver_piece){start, bytes, true, written};
    return number % DRIVER_COMMANDS;
}

/* The piece that was taken last, if it contains these bytes: its number, or DRIVER_NONE. Another queue may use it only when it
 * has been written; `at` is where a piece would begin. */
static bool ring_is_last(const struct driver_device *device, const void *content, uint32_t bytes, uint32_t queue)
{
    const struct driver_piece *last = &device->last_piece;
    return last->bytes == bytes && bytes && (device->last_piece_queue == queue || last->written)
           && !memcmp(arena_at(char, device->ring_mirror) + last->start % device->ring_bytes, content, bytes);
}

/* Waits for launches to end while the ring is full. */
static enum driver_status ring_wait(struct driver *d, struct driver_device *device, uint32_t bytes, uint32_t align)
{
    enum driver_status status = DRIVER_OK;
    while (status == DRIVER_OK && device->pieces_held
           && (ring_place(device, bytes, align) + bytes - ring_tail(device) > device->ring_bytes
               || device->pieces_held == DRIVER_COMMANDS))
        status = host_wait_some(d, d->undone);
    return status;
}

static uint32_t ring_take(struct driver_device *device, uint64_t start, const void *content, uint32_t bytes, uint32_t queue)
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
    return ring_hold(device, start, bytes, false);
}

/* The piece's bytes are in the device's memory. */
static void ring_written(struct driver_device *device, uint32_t number)
{
    struct driver_piece *piece = ring_piece(device, number);
    piece->written = true;
    if (piece->start == device->last_piece.start)
        device->last_piece.written = true;
}

static void ring_give(struct driver_device *device, uint32_t number)
{
    ring_piece(device, number)->held = false;
    while (device->pieces_held && !ring_piece(device, device->first_piece)->held) {
        device->first_piece = (device->first_piece + 1) % DRIVER_COMMANDS;
        device->pieces_held--;
    }
}

#endif
