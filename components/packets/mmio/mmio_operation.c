/* Operations of streams: copies, fills, launches, events.
 *
 * api_stream.h says which operation may begin: the head of each stream, so each stream is a queue
 * and streams proceed side by side. A copy between host and device is cut into blocks; each block
 * is first brought here (by the DMA engine, or the driver) and then sent on (by the other), several
 * at a time. Bytes therefore arrive in blocks in any order; a copy is complete when all have. */
#include "base/number.h"
#include "runtime/state/platform.h"

#include "mmio_state.h"

/* A free operation, or MMIO_NONE. */
static uint32_t operation_find_free(const struct mmio *c)
{
    for (uint32_t i = 0; i < MMIO_OPERATIONS; i++)
        if (operation_at(c, i)->kind == OPERATION_NONE)
            return i;
    return MMIO_NONE;
}

/* The call waits no longer; its answer has been filled in but for the error. */
static void call_end(struct mmio *c, struct mmio_call *call, int32_t error)
{
    call->answer.error = error;
    call->phase = PHASE_DONE;
    call->done = mmio_now(c);
    stat_histogram_add(&c->io.stats.execute, call->done - call->ready);
    if (error) {
        thread_of(c, call->request.thread)->error = error;
        c->io.stats.errors++;
    }
    timeline_end(&c->io.base, call->order, "5 call the driver");
}

/* A call that waits for a stream: `ticket` is its slot, above the operations. */
static void waiter_end(struct mmio *c, uint64_t ticket)
{
    struct mmio_call *call = call_at(c, (uint32_t)ticket - MMIO_OPERATIONS);
    call_end(c, call, MMIO_SUCCESS);
}

static void operation_end(struct mmio *c, uint32_t number)
{
    struct mmio_operation *o = operation_at(c, number);
    uint64_t ticket;
    api_stream_complete(streams_of(c), o->stream, &ticket);
    if (o->blob != BLOB_NONE)
        blob_free(o->blob);
    if (o->kind == OPERATION_RECORD) {
        event_at(c, o->event)->has_happened = true;
        event_at(c, o->event)->time_ps = component_now_ps(&c->io.base);
    }
    if (o->call != MMIO_NONE) {
        call_end(c, call_at(c, o->call), o->error);
    } else if (o->error) {
        thread_of(c, o->thread)->error = o->error;
        c->io.stats.errors++;
    }
    o->kind = OPERATION_NONE;
    while (api_stream_next_waiter(streams_of(c), &ticket))
        waiter_end(c, ticket);
}

/* ---- copies between host and device ---- */

static void block_fetch(struct mmio *c, uint32_t number)
{
    struct mmio_block *b = block_at(c, number);
    const struct mmio_operation *o = operation_at(c, b->operation);
    if (o->kind == OPERATION_READ) {
        struct mmio_post *post = post_driver(c, OWNER_BLOCK, number, DEVICE_CALL_READ);
        post->address = o->from + b->offset;
        post->size = b->size;
        post->blob = b->blob;
        post->device = o->queue;
        return;
    }
    post_dma(c, OWNER_BLOCK, number,
             (struct packet_dma_command){.address = o->from + b->offset,
                                         .size = b->size,
                                         .blob = b->blob,
                                         .way = PACKET_DMA_WAY_TO_DEVICE});
}

static void block_send(struct mmio *c, uint32_t number)
{
    struct mmio_block *b = block_at(c, number);
    const struct mmio_operation *o = operation_at(c, b->operation);
    b->is_fetched = true;
    if (o->kind == OPERATION_WRITE) {
        struct mmio_post *post = post_driver(c, OWNER_BLOCK, number, DEVICE_CALL_WRITE);
        post->address = o->to + b->offset;
        post->size = b->size;
        post->blob = b->blob;
        post->device = o->queue;
        c->io.stats.bytes_to_gpu += b->size;
        return;
    }
    if (o->kind == OPERATION_READ)
        c->io.stats.bytes_from_gpu += b->size;
    post_dma(c, OWNER_BLOCK, number,
             (struct packet_dma_command){.address = o->to + b->offset,
                                         .size = b->size,
                                         .blob = b->blob,
                                         .way = PACKET_DMA_WAY_TO_MEMORY});
}

/* A half of a block is over; `error` is hipError_t. */
static void block_next(struct mmio *c, uint32_t number, int32_t error)
{
    struct mmio_block *b = block_at(c, number);
    struct mmio_operation *o = operation_at(c, b->operation);
    if (blob_at(b->blob)->status == PACKET_DMA_REFUSED)
        error = MMIO_INVALID_VALUE;
    if (!error && !b->is_fetched) {
        block_send(c, number);
        return;
    }
    if (error)
        o->error = error;
    o->moved += b->size;
    o->blocks--;
    blob_free(b->blob);
    b->is_used = false;
    c->used_blocks--;
    if (o->moved == o->size || (o->error && !o->blocks))
        operation_end(c, b->operation);
}

static bool cut_blocks(struct mmio *c, uint32_t number)
{
    struct mmio_operation *o = operation_at(c, number);
    uint64_t most = mmio_params(c)->block;
    uint32_t blocks = mmio_params(c)->blocks;
    bool progress = false;
    for (uint32_t i = 0; i < blocks && o->cut < o->size && !o->error; i++) {
        struct mmio_block *b = block_at(c, i);
        if (b->is_used)
            continue;
        uint64_t left = o->size - o->cut;
        *b = (struct mmio_block){.is_used = true,
                                 .operation = number,
                                 .offset = o->cut,
                                 .size = (uint32_t)min(left, most)};
        b->blob = blob_new(b->size)->number;
        o->cut += b->size;
        o->blocks++;
        c->used_blocks++;
        block_fetch(c, i);
        progress = true;
    }
    return progress;
}

/* ---- operations that the driver does by itself ---- */

static void operation_post(struct mmio *c, uint32_t number)
{
    static const uint8_t kinds[] = {[OPERATION_COPY] = DEVICE_CALL_COPY,
                                    [OPERATION_FILL] = DEVICE_CALL_FILL,
                                    [OPERATION_LAUNCH] = DEVICE_CALL_LAUNCH};
    const struct mmio_operation *o = operation_at(c, number);
    struct mmio_post *post = post_driver(c, OWNER_OPERATION, number, kinds[o->kind]);
    post->address = o->to;
    post->from = o->from;
    post->size = o->size;
    post->pattern = o->pattern;
    post->width = o->width;
    post->blob = o->blob;
    post->device = o->queue;
    c->io.stats.launches += o->kind == OPERATION_LAUNCH;
}

/* A step of the operation at the head of a stream. */
static bool operation_step(struct mmio *c, uint32_t number)
{
    struct mmio_operation *o = operation_at(c, number);
    bool is_first = !o->has_begun;
    o->has_begun = true;
    switch ((enum operation_kind)o->kind) {
    case OPERATION_WRITE:
    case OPERATION_READ:
    case OPERATION_HOST:
        if (o->size == 0)
            operation_end(c, number);
        return o->size == 0 || cut_blocks(c, number);
    case OPERATION_COPY:
    case OPERATION_FILL:
    case OPERATION_LAUNCH:
        if (is_first)
            operation_post(c, number);
        return is_first;
    default:
        operation_end(c, number);
        return true;
    }
}

static bool streams_step(struct mmio *c)
{
    bool progress = false;
    for (uint16_t i = 0; streams_of(c)->pending && i < API_STREAMS_MAX; i++) {
        const struct api_stream_operation *head = api_stream_head(streams_of(c), i);
        if (head)
            progress |= operation_step(c, (uint32_t)head->ticket);
    }
    return progress;
}
