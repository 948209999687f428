/* Packets and kernel arguments of a device: a ring in its memory, and what launches write there.
 *
 * Positions count bytes since start; the place of a position is its remainder. Every launch holds a
 * piece until it is done. Launches of different queues end in any order: pieces are forgotten in
 * the order of their launches. When the head has gone round and meets a piece that is still held,
 * the piece becomes "late", and the head passes it. A launch whose packet and arguments are what
 * the last piece contains uses that piece, and nothing is copied. */
#include <string.h>

#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/program/driver_program.h"

#include "driver_launch.h"

static struct driver_piece *argument_ring_piece(const struct driver_ring *r, uint32_t number)
{
    return arena_at(struct driver_piece, r->pieces) + number % DRIVER_COMMANDS_MAX;
}

/* The process whose ring it is: contexts of one program share theirs. */
static uint32_t argument_ring_pid(const struct driver *d, uint32_t pid)
{
    return program_contains(driver_program(d), pid) ? pid : DRIVER_PID;
}

/* NULL: it is the first ring of the device. */
static struct driver_ring *argument_ring_find_process(const struct driver *d, uint32_t number,
                                                      uint32_t pid)
{
    struct driver_ring *ring = NULL;
    const struct driver_ring *r = &d->device[number].ring;
    for (pid = argument_ring_pid(d, pid); r->pid != pid; r = ring) {
        if (!r->next)
            bug("driver: process %u has no ring of arguments", pid);
        ring = arena_at(struct driver_ring, r->next);
    }
    return ring;
}

static struct driver_ring *argument_ring_of(struct driver *d, uint32_t number, uint32_t pid)
{
    struct driver_ring *ring = argument_ring_find_process(d, number, pid);
    return ring ? ring : &d->device[number].ring;
}

static const struct driver_ring *argument_ring_seen(const struct driver *d, uint32_t number,
                                                    uint32_t pid)
{
    const struct driver_ring *ring = argument_ring_find_process(d, number, pid);
    return ring ? ring : &d->device[number].ring;
}

/* All contexts of the program that use the device see its ring at the same address. */
static enum driver_status argument_ring_share(struct driver *d, uint32_t number)
{
    for (uint32_t i = d->gpu_count; i < d->handle_count; i++) {
        const struct driver_handle *h = driver_handle_at(d, i);
        if (h->is_used && argument_ring_pid(d, h->pid) == DRIVER_PID && h->pid != DRIVER_PID
            && handle_has(h, number)
            && !memory_share(memory_view(d), d->device[number].ring.address, h->pid))
            return driver_fail(DRIVER_OUT_OF_MEMORY, "the page table is full");
    }
    return DRIVER_OK;
}

/* The ring of the process, or one without a process, or a new one. */
static struct driver_ring *argument_ring_slot(struct driver_device *device, uint32_t pid)
{
    struct driver_ring *r = &device->ring, *unused = NULL;
    while (r->pid != pid && r->next) {
        r = arena_at(struct driver_ring, r->next);
        unused = r->pid ? unused : r;
    }
    if (r->pid != pid && unused)
        r = unused;
    if (r->pid != pid && !unused) {
        r->next = arena_allocate(sizeof *r);
        r = arena_at(struct driver_ring, r->next);
    }
    r->pid = pid;
    return r;
}

static enum driver_status argument_ring_open(struct driver *d, uint32_t number, uint32_t of)
{
    struct driver_device *device = &d->device[number];
    uint32_t pid = argument_ring_pid(d, of);
    device->ring.pid = DRIVER_PID;
    struct driver_ring *r = argument_ring_slot(device, pid);
    if (r->address)
        return DRIVER_OK;
    uint64_t bytes = DRIVER_RING_BYTES_MAX;
    while (bytes > device->size / 16)
        bytes /= 2;
    const struct memory_request request = {.device = &number, .device_count = 1};
    enum driver_status status;
    do {
        status = memory_allocate_own(d, number, pid, bytes, PROGRAM_ARGUMENTS, &r->address);
    } while (status == DRIVER_OUT_OF_MEMORY
             && mapping_make_room(d, &request, bytes / driver_page_bytes(d) + 1));
    if (status == DRIVER_OK && pid == DRIVER_PID
        && (status = argument_ring_share(d, number)) != DRIVER_OK)
        memory_release(d, r->address);
    if (status != DRIVER_OK) {
        r->address = 0;
        return status;
    }
    r->bytes = (uint32_t)bytes;
    device->has_wrapped_ring |=
        device->left_at > device->flushed_at; /* the L2 may have old lines */
    if (!r->mirror) {
        r->mirror = arena_allocate(bytes);
        r->pieces = arena_allocate(DRIVER_COMMANDS_MAX * sizeof(struct driver_piece));
    }
    return DRIVER_OK;
}

static void argument_ring_leave(struct driver *d, uint32_t number, uint32_t pid)
{
    struct driver_ring *r = &d->device[number].ring;
    if (argument_ring_pid(d, pid) == DRIVER_PID) {
        if (r->address)
            memory_unshare(memory_view(d), r->address, pid);
        return;
    }
    while (r->pid != pid && r->next)
        r = arena_at(struct driver_ring, r->next);
    if (r->pid == pid) /* its memory goes with that of the process */
        *r = (struct driver_ring){.next = r->next, .mirror = r->mirror, .pieces = r->pieces};
}

static uint64_t argument_ring_tail(const struct driver_ring *r)
{
    return r->pieces_held ? argument_ring_piece(r, r->first_piece)->start : r->head;
}

/* The offset at which `bytes` neighbouring bytes begin, aligned to `align`, a power of two that
 * divides the ring's size. UINT64_MAX: late pieces leave no room. */
static uint64_t argument_ring_find_start(const struct driver_ring *r, uint32_t bytes,
                                         uint32_t align)
{
    uint64_t at = r->head, size = r->bytes;
    for (uint32_t i = 0; i < r->late_pieces;) {
        const struct driver_late_piece *late = &r->late_piece[i++];
        at = (at + align - 1) & ~(uint64_t)(align - 1);
        at += bytes > size - at % size ? size - at % size : 0;
        if (at % size < late->offset + late->bytes && late->offset < at % size + bytes) {
            at += late->offset + late->bytes - at % size;
            i = 0;
        }
        if (at - r->head > size)
            return UINT64_MAX;
    }
    at = (at + align - 1) & ~(uint64_t)(align - 1);
    return at + (bytes > size - at % size ? size - at % size : 0);
}

static uint32_t argument_ring_hold(struct driver_ring *r, uint64_t start, uint32_t bytes,
                                   bool written)
{
    uint32_t number = r->first_piece + r->pieces_held++;
    *argument_ring_piece(r, number) = (struct driver_piece){start, bytes, true, written};
    return number;
}

static void argument_ring_release_first(struct driver_ring *r)
{
    r->first_piece++;
    r->pieces_held--;
}

/* The oldest piece that is held stays where it is. False: there are too many such pieces. */
static bool argument_ring_make_late(struct driver_ring *r)
{
    const struct driver_piece *piece = argument_ring_piece(r, r->first_piece);
    if (r->late_pieces == DRIVER_LATE_PIECES)
        return false;
    if (piece->is_held)
        r->late_piece[r->late_pieces++] = (struct driver_late_piece){
            r->first_piece, (uint32_t)(piece->start % r->bytes), piece->bytes};
    argument_ring_release_first(r);
    return true;
}

static bool argument_ring_is_last(const struct driver_ring *r, const void *content, uint32_t bytes,
                                  uint32_t queue)
{
    const struct driver_piece *last = &r->last_piece;
    return last->bytes == bytes && bytes && (r->last_piece_queue == queue || last->is_written)
           && !memcmp(arena_at(char, r->mirror) + last->start % r->bytes, content, bytes);
}

static enum driver_status argument_ring_find(struct driver *d, const struct driver_device *device,
                                             struct driver_ring *r, uint32_t bytes, uint32_t align,
                                             uint64_t *start)
{
    enum driver_status status = DRIVER_OK;
    if (bytes > r->bytes)
        return driver_fail(DRIVER_TOO_LARGE,
                           "%u bytes of packet and arguments; at most %u can wait for %s", bytes,
                           r->bytes, device->info.name);
    while (status == DRIVER_OK) {
        *start = argument_ring_find_start(r, bytes, align);
        bool full = *start == UINT64_MAX || r->pieces_held == DRIVER_COMMANDS_MAX;
        if (!full && *start + bytes - argument_ring_tail(r) <= r->bytes)
            return DRIVER_OK;
        if (*start == UINT64_MAX || !r->pieces_held || !argument_ring_make_late(r))
            status = await_some(d, d->undone);
    }
    return status;
}

static uint32_t argument_ring_acquire(struct driver_device *device, struct driver_ring *r,
                                      uint64_t start, const void *content, uint32_t bytes,
                                      uint32_t queue)
{
    uint64_t offset = start % r->bytes;
    if (start / r->bytes && start / r->bytes != r->head_round) {
        r->head_round = start / r->bytes;
        device->has_wrapped_ring = true;
    }
    r->head = start + bytes;
    r->last_piece = (struct driver_piece){start, bytes, true, false};
    r->last_piece_queue = queue;
    memcpy(arena_at(char, r->mirror) + offset, content, bytes);
    return argument_ring_hold(r, start, bytes, false);
}

static void argument_ring_written(struct driver_ring *r, uint32_t number)
{
    struct driver_piece *piece = argument_ring_piece(r, number);
    if (number - r->first_piece >= r->pieces_held)
        return; /* late: it is not asked for any more */
    piece->is_written = true;
    if (piece->start == r->last_piece.start)
        r->last_piece.is_written = true;
}

static void argument_ring_release(struct driver_ring *r, uint32_t number)
{
    if (number - r->first_piece < r->pieces_held) {
        argument_ring_piece(r, number)->is_held = false;
        while (r->pieces_held && !argument_ring_piece(r, r->first_piece)->is_held)
            argument_ring_release_first(r);
        return;
    }
    for (uint32_t i = 0; i < r->late_pieces; i++) {
        if (r->late_piece[i].number == number) {
            r->late_piece[i] = r->late_piece[--r->late_pieces];
            return;
        }
    }
    bug("driver: piece %u of the ring of arguments is given back twice", number);
}
