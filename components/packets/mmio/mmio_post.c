/* Requests to the DMA engine and the driver: a post waits in a list until its message can be sent,
 * and keeps its slot until the answer has come. */
#include "base/number.h"

#include "mmio_state.h"

static int32_t error_of(uint32_t status)
{
    static const int16_t errors[] = {[DRIVER_OK] = MMIO_SUCCESS,
                                     [DRIVER_NOT_READY] = MMIO_NOT_READY,
                                     [DRIVER_OUT_OF_MEMORY] = MMIO_OUT_OF_MEMORY,
                                     [DRIVER_INVALID_DEVICE] = MMIO_INVALID_DEVICE,
                                     [DRIVER_INVALID_ADDRESS] = MMIO_INVALID_VALUE,
                                     [DRIVER_INVALID_VALUE] = MMIO_INVALID_VALUE,
                                     [DRIVER_TOO_LARGE] = MMIO_INVALID_CONFIGURATION,
                                     [DRIVER_FAULT] = MMIO_LAUNCH_FAILURE};
    return status < ARRAY_COUNT(errors) ? errors[status] : MMIO_UNKNOWN;
}

/* Calls, operations and blocks have one post each at a time, and one asks which devices there are.
 */
static void posts_init(const struct mmio *c, struct mmio_posts *p)
{
    uint32_t most = call_count(c) + MMIO_OPERATIONS + mmio_params(c)->blocks + 1;
    p->posts_at = arena_allocate(most * sizeof(struct mmio_post));
    index_pool_init(&p->free_posts, most);
    p->first = p->last = MMIO_NONE;
}

static struct mmio_post *post_at(const struct mmio_posts *p, uint32_t i)
{
    return arena_at(struct mmio_post, p->posts_at) + i;
}

static struct mmio_post *post_add(struct mmio_posts *p, enum mmio_owner owner, uint32_t number)
{
    if (!index_pool_has(&p->free_posts))
        bug("mmio: a call, an operation or a block has posted twice");
    uint32_t i = index_pool_acquire(&p->free_posts);
    struct mmio_post *post = post_at(p, i);
    *post = (struct mmio_post){.owner = (uint8_t)owner, .number = number, .next = MMIO_NONE};
    if (p->first == MMIO_NONE)
        p->first = i;
    else
        post_at(p, p->last)->next = i;
    p->last = i;
    return post;
}

static struct mmio_post post_remove(struct mmio_posts *p, uint32_t i)
{
    struct mmio_post post = *post_at(p, i);
    post_at(p, i)->owner = OWNER_NONE;
    index_pool_release(&p->free_posts, i);
    return post;
}

static void post_dma(struct mmio *c, enum mmio_owner owner, uint32_t number,
                     struct packet_dma_command command)
{
    post_add(&c->dma, owner, number)->dma = command;
}

static struct mmio_post *post_driver(struct mmio *c, enum mmio_owner owner, uint32_t number,
                                     enum device_call_request_kind kind)
{
    struct mmio_post *post = post_add(&c->driver, owner, number);
    post->kind = (uint8_t)kind;
    return post;
}

static bool send_dma(struct mmio *c)
{
    struct mmio_posts *p = &c->dma;
    bool has_sent = false;
    while (p->first != MMIO_NONE && mmio_dma_can_send(c)) {
        uint32_t i = p->first;
        struct mmio_post *post = post_at(p, i);
        void *payload =
            mmio_dma_send_write(c, (uint16_t)i, mmio_params(c)->dma_register, 0, SCOPE_WAVEFRONT);
        uint8_t *line = mem_write_data(payload, MMIO_LINE);
        struct packet_fault fault;
        memset(line, 0, MMIO_LINE);
        size_t bytes = packet_dma_command_encode(&post->dma, line, MMIO_LINE, &fault);
        if (!bytes)
            bug("mmio: a command of the DMA engine cannot be encoded");
        mem_mask_store(mem_write_mask(payload, MMIO_LINE),
                       mem_mask_range(0, (unsigned)bytes, MMIO_LINE), MMIO_LINE);
        p->first = post->next;
        post->next = MMIO_NONE;
        has_sent = true;
    }
    return has_sent;
}

/* A command of a queue. */
static void send_command(struct mmio *c, uint16_t tag, const struct mmio_post *p)
{
    void *payload;
    switch ((enum device_call_request_kind)p->kind) {
    case DEVICE_CALL_WRITE:
        mmio_driver_send_write(c, tag, p->address, (uint32_t)p->size, p->blob, p->device);
        break;
    case DEVICE_CALL_READ:
        mmio_driver_send_read(c, tag, p->address, (uint32_t)p->size, p->blob, p->device);
        break;
    case DEVICE_CALL_COPY:
        payload = mmio_driver_send_copy(c, tag, p->address, p->from, p->device);
        *device_call_copy_size(payload) = p->size;
        break;
    case DEVICE_CALL_FILL:
        payload = mmio_driver_send_fill(c, tag, p->address, p->size, p->pattern, p->width);
        *device_call_fill_queue(payload) = p->device;
        break;
    default:
        mmio_driver_send_launch(c, tag, p->blob, p->device);
        break;
    }
}

static void send_to_driver(struct mmio *c, uint16_t tag, const struct mmio_post *p)
{
    switch ((enum device_call_request_kind)p->kind) {
    case DEVICE_CALL_INFO:
        mmio_driver_send_info(c, tag, p->blob, p->device);
        break;
    case DEVICE_CALL_ROOM:
        mmio_driver_send_room(c, tag, p->device);
        break;
    case DEVICE_CALL_ALLOCATE:
        mmio_driver_send_allocate(c, tag, p->address, p->size, p->device, p->width);
        break;
    case DEVICE_CALL_RELEASE:
        mmio_driver_send_release(c, tag, p->address);
        break;
    case DEVICE_CALL_OPEN:
        mmio_driver_send_open(c, tag, p->device);
        break;
    case DEVICE_CALL_CLOSE:
        mmio_driver_send_close(c, tag, p->device);
        break;
    case DEVICE_CALL_WRITE:
    case DEVICE_CALL_READ:
    case DEVICE_CALL_COPY:
    case DEVICE_CALL_FILL:
    case DEVICE_CALL_LAUNCH:
        send_command(c, tag, p);
        break;
    case DEVICE_CALL_CODE:
        mmio_driver_send_code(c, tag, p->address, (uint32_t)p->size, p->blob, p->device);
        break;
    case DEVICE_CALL_KERNEL:
        mmio_driver_send_kernel(c, tag, p->address, p->blob, p->device);
        break;
    case DEVICE_CALL_BLOCKS:
        mmio_driver_send_blocks(c, tag, p->address, (uint32_t)p->size, p->pattern, p->device);
        break;
    case DEVICE_CALL_FORGET:
        mmio_driver_send_forget(c, tag, p->address);
        break;
    case DEVICE_CALL_EXECUTE:
        mmio_driver_send_execute(c, tag, p->blob, (uint32_t)p->size);
        break;
    }
}

static bool send_driver(struct mmio *c)
{
    struct mmio_posts *p = &c->driver;
    bool has_sent = false;
    while (p->first != MMIO_NONE && mmio_driver_can_send(c)) {
        uint32_t i = p->first;
        send_to_driver(c, (uint16_t)i, post_at(p, i));
        p->first = post_at(p, i)->next;
        post_at(p, i)->next = MMIO_NONE;
        has_sent = true;
    }
    return has_sent;
}
