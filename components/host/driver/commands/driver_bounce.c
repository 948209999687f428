/* Copies between GPUs through the host, where neither GPU's DMA engine reaches the other's memory.
 *
 * A copy is read in pieces, each into a buffer of the host that no other piece has, and a piece is
 * written to the other GPU as soon as it is there, while others are still being read. Both
 * directions go at the pace of their links and with as many messages under way as `in_flight` says
 * for each GPU; there are buffers for as many of both. The slot of a message says the piece's
 * number in `offset`. Pieces of one command are written in the order in which they have come; a
 * write ends at pages of its own, so a piece may take several. */
#include <string.h>

#include "base/number.h"
#include "components/host/driver/driver_memory.h"

#include "driver_commands.h"

/* A buffer in the host's memory, of COPY_MESSAGE_BYTES. */
struct driver_bounce {
    uint64_t offset; /* in the copy */
    uint32_t size;
    uint32_t sent, written; /* bytes */
    uint32_t next;          /* in the list of free ones, or of those that the command is to write */
};

static struct driver_bounce *bounce_at(const struct driver *d, uint32_t piece)
{
    return arena_at(struct driver_bounce, d->bounces) + piece;
}

static char *bounce_data(const struct driver *d, uint32_t piece)
{
    return arena_at(char, d->bounce_data) + (size_t)piece * COPY_MESSAGE_BYTES;
}

static void bounce_init(struct driver *d)
{
    uint32_t count = 2 * driver_params(d)->in_flight;
    if (d->device_count < 2)
        return;
    d->bounces = arena_allocate(count * sizeof(struct driver_bounce));
    d->bounce_data = arena_allocate((size_t)count * COPY_MESSAGE_BYTES);
    for (uint32_t i = 0; i < count; i++)
        bounce_at(d, i)->next = i + 1 < count ? i + 1 : DRIVER_NONE;
    d->free_bounce = 0;
}

static bool bounce_read(struct driver *d, uint32_t command)
{
    struct driver_command *k = driver_command_at(d, command);
    uint32_t piece = d->free_bounce;
    if (k->sent == k->size || piece == DRIVER_NONE)
        return false;
    uint64_t rest, address = k->move.source + k->sent;
    uint32_t number = memory_owner(d, address);
    uint64_t physical = memory_physical(d, address, &rest);
    int slot = link_busy(d, number, LINK_BACK) ? -1 : slot_for(d, number);
    if (slot < 0)
        return false;
    struct driver_bounce *b = bounce_at(d, piece);
    d->free_bounce = b->next;
    uint32_t bytes = copy_cut(d, command, physical, min(rest, k->size - k->sent));
    *b = (struct driver_bounce){.offset = k->sent, .size = bytes, .next = DRIVER_NONE};
    link_take(d, number, LINK_BACK, bytes);
    driver_gpu_send_read(d, number, (uint16_t)slot, physical, bytes);
    slot_acquire(d, number, slot, command, piece, bytes);
    k->sent += bytes;
    return true;
}

static bool bounce_write(struct driver *d, uint32_t command)
{
    struct driver_command *k = driver_command_at(d, command);
    uint32_t piece = k->move.first_ready;
    if (piece == DRIVER_NONE)
        return false;
    struct driver_bounce *b = bounce_at(d, piece);
    uint64_t rest, address = k->move.address + b->offset + b->sent;
    uint32_t number = memory_owner(d, address);
    uint64_t physical = memory_physical(d, address, &rest);
    int slot = link_busy(d, number, LINK_THERE) ? -1 : slot_for(d, number);
    if (slot < 0)
        return false;
    uint32_t bytes = copy_cut(d, command, physical, min(rest, b->size - b->sent));
    memcpy(send_write(d, number, slot, physical, bytes), bounce_data(d, piece) + b->sent, bytes);
    link_take(d, number, LINK_THERE, bytes);
    slot_acquire(d, number, slot, command, piece, bytes);
    b->sent += bytes;
    if (b->sent == b->size) {
        k->move.first_ready = b->next;
        if (b->next == DRIVER_NONE)
            k->move.last_ready = DRIVER_NONE;
    }
    return true;
}

static bool send_between(struct driver *d, uint32_t command)
{
    return bounce_write(d, command) || bounce_read(d, command);
}

static void bounce_answer(struct driver *d, struct driver_command *k,
                          const struct driver_slot *sent, const void *data)
{
    uint32_t piece = (uint32_t)sent->offset;
    struct driver_bounce *b = bounce_at(d, piece);
    if (data) {
        memcpy(bounce_data(d, piece), data, sent->size);
        d->io.stats.bytes_from_gpu += sent->size;
        if (k->move.last_ready == DRIVER_NONE)
            k->move.first_ready = piece;
        else
            bounce_at(d, k->move.last_ready)->next = piece;
        k->move.last_ready = piece;
        return;
    }
    k->received += sent->size;
    b->written += sent->size;
    if (b->written == b->size) {
        b->next = d->free_bounce;
        d->free_bounce = piece;
    }
}
