/* The device that takes calls of the GPUs' API as packets.
 *
 * A call goes through phases: its address is written here; the DMA engine fetches the packet; the
 * call is executed, in the order of addresses (mmio_call.c); the DMA engine writes the answer to
 * where the packet was; the host's write is answered. These are the steps of the sequence diagram
 * of "Balar In Depth"; `return_on_read` has the order of balar's source instead. A hosted call that
 * waits is answered twice: `pending` at once, and with what it brought when the host's reads of the
 * device say so. Nothing here ever waits inside: the component that takes calls also drains the
 * streams that they wait for. */
#include "base/number.h"

#include "mmio_state.h"

static void mmio_init(struct mmio *c)
{
    c->calls_at = arena_allocate(call_count(c) * sizeof(struct mmio_call));
    c->operations_at = arena_allocate(MMIO_OPERATIONS * sizeof(struct mmio_operation));
    c->blocks_at = arena_allocate(mmio_params(c)->blocks * sizeof(struct mmio_block));
    c->streams_at = arena_allocate(sizeof(struct api_streams));
    c->threads_at = arena_allocate(MMIO_THREADS_MAX * sizeof(struct mmio_thread));
    c->functions_at = arena_allocate(MMIO_NAMES_MAX * sizeof(struct mmio_name));
    c->variables_at = arena_allocate(MMIO_NAMES_MAX * sizeof(struct mmio_name));
    c->events_at = arena_allocate(MMIO_EVENTS_MAX * sizeof(struct mmio_event));
    c->info_at = arena_allocate(MMIO_DEVICES * sizeof(struct driver_device_info));
    posts_init(c, &c->dma);
    posts_init(c, &c->driver);
    api_streams_init(streams_of(c), mmio_params(c)->launch_blocking != 0);
    c->streams[0].is_used = true;
    c->running = MMIO_NONE;
}

/* ---- the GPUs: asked for before the first call ---- */

static void ask_devices(struct mmio *c)
{
    if (c->info_blob != BLOB_NONE || (c->device_count && c->devices_asked == c->device_count))
        return;
    c->info_blob = blob_new(sizeof(struct driver_device_info))->number;
    struct mmio_post *post = post_driver(c, OWNER_FETCH, MMIO_NONE, DEVICE_CALL_INFO);
    post->blob = c->info_blob;
    post->device = c->devices_asked;
}

static void enter_device(struct mmio *c, uint64_t count)
{
    memcpy(info_of(c, c->devices_asked), blob_at(c->info_blob)->bytes,
           sizeof(struct driver_device_info));
    blob_free(c->info_blob);
    c->info_blob = BLOB_NONE;
    c->devices_asked++;
    c->device_count = (uint32_t)count;
}

static bool has_devices(const struct mmio *c)
{
    return c->device_count && c->devices_asked == c->device_count;
}

/* ---- from address to packet ---- */

static void fetch_bytes(struct mmio *c, uint32_t slot, uint64_t offset, uint64_t bytes)
{
    const struct mmio_call *k = call_at(c, slot);
    post_dma(c, OWNER_FETCH, slot,
             (struct packet_dma_command){.address = k->address + offset,
                                         .size = bytes,
                                         .blob = k->blob,
                                         .offset = (uint32_t)offset,
                                         .way = PACKET_DMA_WAY_TO_DEVICE});
}

static void call_begin(struct mmio *c, uint32_t slot, uint16_t tag, uint64_t address)
{
    struct mmio_call *k = call_at(c, slot);
    *k = (struct mmio_call){.phase = PHASE_FETCHING,
                            .tag = tag,
                            .address = address,
                            .order = c->calls_taken++,
                            .since = mmio_now(c)};
    k->blob = blob_new(API_REQUEST_BYTES_MAX)->number;
    c->used_calls++;
    timeline_begin(&c->io.base, k->order, "3 fetch the packet");
    fetch_bytes(c, slot, 0, MMIO_FETCH);
}

/* A packet that cannot be read gets an answer all the same; it is that of the call if that is
 * known. */
static void refuse_packet(struct mmio *c, struct mmio_call *k)
{
    const uint8_t *bytes = blob_at(k->blob)->bytes;
    uint16_t call = (uint16_t)(bytes[16] | bytes[17] << 8);
    bool known = call_is_known(call);
    memset(&k->answer, 0, sizeof k->answer);
    memcpy(&k->answer.sequence, bytes + 8, sizeof k->answer.sequence);
    k->answer.call = known ? call : API_CALL_PEEK_AT_LAST_ERROR;
    k->answer.error = MMIO_INVALID_VALUE;
    k->is_malformed = true;
    k->phase = PHASE_READY;
    c->io.stats.malformed++;
}

/* Bytes of the packet are here: all, or the first ones. */
static void read_packet(struct mmio *c, uint32_t slot)
{
    struct mmio_call *k = call_at(c, slot);
    const struct blob *blob = blob_at(k->blob);
    struct packet_fault fault;
    uint32_t length;
    memcpy(&length, blob->bytes + 4, sizeof length);
    bool refused = blob->status == PACKET_DMA_REFUSED;
    if (!refused && k->step == 0 && length > MMIO_FETCH && length <= API_REQUEST_BYTES_MAX) {
        k->step = 1;
        fetch_bytes(c, slot, MMIO_FETCH, length - MMIO_FETCH);
        return;
    }
    k->ready = mmio_now(c);
    k->step = 0;
    timeline_end(&c->io.base, k->order, "3 fetch the packet");
    stat_histogram_add(&c->io.stats.fetch, k->ready - k->since);
    if (refused || length > API_REQUEST_BYTES_MAX
        || !api_request_decode(&k->request, blob->bytes, length, &fault)
        || k->request.thread >= MMIO_THREADS_MAX) {
        refuse_packet(c, k);
        return;
    }
    k->answer.sequence = k->request.sequence;
    k->answer.call = k->request.call;
    k->phase = PHASE_READY;
}

/* ---- execution, one after the other ---- */

static bool run_next(struct mmio *c)
{
    for (uint32_t i = 0; i < call_count(c); i++) {
        struct mmio_call *k = call_at(c, i);
        if (k->phase != PHASE_READY || k->order != c->calls_executed)
            continue;
        timeline_begin(&c->io.base, k->order, "5 call the driver");
        c->running = i;
        k->phase = PHASE_RUNNING;
        if (k->is_malformed) {
            int32_t error = k->answer.error;
            k->request.thread = 0;
            call_end(c, k, error);
        }
        return true;
    }
    return false;
}

/* True for a copy to or from memory of the host, whose bytes go by the DMA engine. */
static bool moves_data(const struct mmio_call *k, enum api_direction direction)
{
    return k->request.call == API_CALL_MEMCPY_ASYNC && k->request.memcpy_async.size
           && k->request.memcpy_async.direction == direction
           && (direction == API_DIRECTION_HOST_TO_DEVICE ? k->request.memcpy_async.source
                                                         : k->request.memcpy_async.destination);
}

/* False: the bytes of the copy come first. */
static bool fetch_data(struct mmio *c, struct mmio_call *k)
{
    if (k->step || !moves_data(k, API_DIRECTION_HOST_TO_DEVICE))
        return true;
    k->step = 1;
    k->pending++;
    k->data = blob_new(k->request.memcpy_async.size)->number;
    c->io.stats.bytes_to_gpu += k->request.memcpy_async.size;
    post_dma(c, OWNER_STEP, (uint32_t)(k - call_at(c, 0)),
             (struct packet_dma_command){.address = k->request.memcpy_async.source,
                                         .size = (uint32_t)k->request.memcpy_async.size,
                                         .blob = k->data,
                                         .way = PACKET_DMA_WAY_TO_DEVICE});
    return false;
}

/* True if the call is over only when work of the GPU is. */
static bool call_waits(const struct mmio_call *k)
{
    return (api_stream_rule((enum api_call)k->request.call) & API_STREAM_WAITS)
           || moves_data(k, API_DIRECTION_DEVICE_TO_HOST);
}

/* Hands the driver's own call back to it. Others continue meanwhile, since it may wait for
 * something.
 */
static bool hand_over(struct mmio *c, struct mmio_call *k)
{
    if (!fetch_data(c, k))
        return false;
    if (k->data && blob_at(k->data)->status == PACKET_DMA_REFUSED) {
        blob_free(k->data);
        call_end(c, k, MMIO_INVALID_VALUE);
        return true;
    }
    struct blob *blob = blob_new(sizeof k->request);
    memcpy(blob->bytes, &k->request, sizeof k->request);
    k->work = blob->number;
    struct mmio_post *post =
        post_driver(c, OWNER_HOSTED, (uint32_t)(k - call_at(c, 0)), DEVICE_CALL_EXECUTE);
    post->blob = k->work;
    post->size = k->data;
    k->phase = PHASE_WAITING;
    k->notice = call_waits(k) ? NOTICE_DUE : NOTICE_NONE;
    return true;
}

/* `value`: of a copy from a GPU, the blob with its bytes. */
static void end_hosted(struct mmio *c, uint32_t slot, uint64_t value, uint32_t status)
{
    struct mmio_call *k = call_at(c, slot);
    blob_free(k->work);
    if (status || !moves_data(k, API_DIRECTION_DEVICE_TO_HOST)) {
        call_end(c, k, error_of(status));
        return;
    }
    c->io.stats.bytes_from_gpu += k->request.memcpy_async.size;
    k->data = (uint32_t)value;
    post_dma(c, OWNER_DELIVERY, slot,
             (struct packet_dma_command){.address = k->request.memcpy_async.destination,
                                         .size = (uint32_t)k->request.memcpy_async.size,
                                         .blob = k->data,
                                         .way = PACKET_DMA_WAY_TO_MEMORY});
}

static void end_delivery(struct mmio *c, uint32_t slot)
{
    struct mmio_call *k = call_at(c, slot);
    bool refused = blob_at(k->data)->status == PACKET_DMA_REFUSED;
    call_end(c, k, refused ? MMIO_INVALID_VALUE : MMIO_SUCCESS);
}

/* A step of the call that is executed. */
static bool run_call(struct mmio *c)
{
    if (c->running == MMIO_NONE && ((!mmio_params(c)->hosted && !has_devices(c)) || !run_next(c)))
        return false;
    struct mmio_call *k = call_at(c, c->running);
    if (k->pending)
        return false;
    uint32_t step = k->step + k->place;
    bool over =
        k->phase != PHASE_RUNNING || (mmio_params(c)->hosted ? hand_over(c, k) : call_step(c, k));
    if (!over)
        return k->pending || step != k->step + k->place;
    c->running = MMIO_NONE;
    c->calls_executed++;
    return true;
}

/* ---- from answer to host ---- */

static void post_answer(struct mmio *c, uint32_t slot)
{
    struct mmio_call *k = call_at(c, slot);
    struct packet_fault fault;
    struct blob *blob = blob_at(k->blob);
    memset(blob->bytes, 0, blob->size);
    size_t bytes = api_answer_encode(&k->answer, blob->bytes, blob->size, &fault);
    if (!bytes)
        bug("mmio: the answer to call %u cannot be encoded", k->answer.call);
    timeline_begin(&c->io.base, k->order, "6 write the answer");
    post_dma(c, OWNER_ANSWER, slot,
             (struct packet_dma_command){.address = k->address,
                                         .size = bytes,
                                         .blob = k->blob,
                                         .way = PACKET_DMA_WAY_TO_MEMORY});
}

static void write_answer(struct mmio *c, uint32_t slot)
{
    call_at(c, slot)->phase = PHASE_ANSWERING;
    post_answer(c, slot);
}

static void call_release(struct mmio *c, struct mmio_call *k)
{
    blob_free(k->blob);
    k->phase = PHASE_FREE;
    c->used_calls--;
    c->io.stats.calls_done++;
    stat_histogram_add(&c->io.stats.answer, mmio_now(c) - k->done);
}

static bool reply_to_write(struct mmio *c, struct mmio_call *k)
{
    if (!mmio_host_can_reply(c))
        return false;
    timeline_begin(&c->io.base, k->order, "7 answer the write");
    mmio_host_reply_done(c, k->tag);
    timeline_end(&c->io.base, k->order, "7 answer the write");
    k->is_write_answered = true;
    return true;
}

/* A step of the notice to the host that the call is pending. */
static bool notice_step(struct mmio *c, uint32_t slot)
{
    struct mmio_call *k = call_at(c, slot);
    if (k->notice == NOTICE_REPLY) {
        if (!reply_to_write(c, k))
            return false;
        k->notice = NOTICE_SENT;
        return true;
    }
    if (k->notice != NOTICE_DUE)
        return false;
    k->notice = k->phase == PHASE_DONE ? NOTICE_NONE : NOTICE_WRITING;
    if (k->notice == NOTICE_WRITING) {
        k->answer.state = API_STATE_PENDING;
        post_answer(c, slot);
        k->answer.state = API_STATE_DONE;
    }
    return true;
}

/* A step of a call that has been executed, or waits. */
static bool answer_step(struct mmio *c, uint32_t slot)
{
    struct mmio_call *k = call_at(c, slot);
    bool on_read = mmio_params(c)->return_on_read != 0;
    if (k->notice != NOTICE_NONE && k->notice != NOTICE_SENT)
        return notice_step(c, slot);
    switch ((enum mmio_phase)k->phase) {
    case PHASE_DONE:
        if (k->notice == NOTICE_SENT) {
            k->phase = PHASE_UNREAD;
            return true;
        }
        if (!on_read) {
            write_answer(c, slot);
            return true;
        }
        if (!reply_to_write(c, k))
            return false;
        k->phase = PHASE_UNREAD;
        return true;
    case PHASE_REPLY:
        if (!reply_to_write(c, k))
            return false;
        c->last_answer = k->address;
        call_release(c, k);
        return true;
    default:
        return false;
    }
}

/* The answer is in memory. */
static void end_answer(struct mmio *c, uint32_t slot)
{
    struct mmio_call *k = call_at(c, slot);
    timeline_end(&c->io.base, k->order, "6 write the answer");
    if (k->notice == NOTICE_WRITING) {
        k->notice = NOTICE_REPLY;
        return;
    }
    k->phase = PHASE_REPLY;
    if (!k->is_write_answered)
        return;
    c->last_answer = k->address;
    c->is_read_ready = true;
    call_release(c, k);
}

/* ---- the registers ---- */

/* Reads the 8 bytes at the start of the register. False: the write is another one. */
static bool read_written_address(const struct mmio *c, const struct mem_request *m,
                                 uint64_t *address)
{
    void *payload = mmio_host_payload(c);
    struct mem_mask mask = mem_mask_load(mem_write_mask(payload, MMIO_LINE), MMIO_LINE);
    memcpy(address, mem_write_data(payload, MMIO_LINE), sizeof *address);
    return mask.word[0] == 0xff && m->write.address % MMIO_LINE == 0;
}

static uint32_t find_free_call(const struct mmio *c)
{
    uint32_t i = 0;
    while (i < call_count(c) && call_at(c, i)->phase != PHASE_FREE)
        i++;
    return i;
}

static void reply_read(struct mmio *c, uint16_t tag, uint64_t address)
{
    uint8_t *line = mem_data_data(mmio_host_reply_data(c, tag), MMIO_LINE);
    memset(line, 0, MMIO_LINE);
    memcpy(line, &address, sizeof address);
}

/* The oldest call whose answer has not been read, or MMIO_NONE. */
static uint32_t find_oldest_unread(const struct mmio *c)
{
    uint32_t best = MMIO_NONE;
    for (uint32_t i = 0; i < call_count(c); i++)
        if (call_at(c, i)->phase == PHASE_UNREAD
            && (best == MMIO_NONE || call_at(c, i)->order < call_at(c, best)->order))
            best = i;
    return best;
}

/* Reads that wait for an answer: with return_on_read, or of a host that polls, which gets 0 when no
 * call is over. The answer goes to memory first. */
static bool serve_reads(struct mmio *c)
{
    if (!c->reads || !mmio_host_can_reply(c))
        return false;
    if (!c->is_reading && c->used_calls) {
        uint32_t unread = find_oldest_unread(c);
        if (unread != MMIO_NONE) {
            write_answer(c, unread);
            c->is_reading = true;
            return true;
        }
        if (!mmio_params(c)->hosted)
            return false;
    }
    if (c->is_reading && !c->is_read_ready)
        return false;
    reply_read(c, c->read_tags[0], c->is_reading || !mmio_params(c)->hosted ? c->last_answer : 0);
    memmove(c->read_tags, c->read_tags + 1, sizeof c->read_tags - sizeof c->read_tags[0]);
    c->reads--;
    c->is_reading = c->is_read_ready = false;
    return true;
}

static bool accept_request(struct mmio *c, const struct mem_request *m)
{
    uint64_t address;
    uint32_t slot = find_free_call(c);
    if (message_kind(m) == MEM_WRITE && read_written_address(c, m, &address)) {
        if (slot == call_count(c))
            return false;
        call_begin(c, slot, m->tag, address);
        return true;
    }
    if (message_kind(m) == MEM_READ && (mmio_params(c)->return_on_read || mmio_params(c)->hosted)) {
        if (c->reads == ARRAY_COUNT(c->read_tags))
            return false;
        c->read_tags[c->reads++] = m->tag;
        return true;
    }
    if (!mmio_host_can_reply(c))
        return false;
    if (message_kind(m) == MEM_READ) {
        reply_read(c, m->tag, c->last_answer);
        return true;
    }
    c->io.stats.malformed += message_kind(m) < MEM_FENCE;
    if (message_kind(m) == MEM_ATOMIC)
        memset(mem_data_data(mmio_host_reply_data(c, m->tag), MMIO_LINE), 0, MMIO_LINE);
    else
        mmio_host_reply_done(c, m->tag);
    return true;
}

static bool accept_requests(struct mmio *c)
{
    const struct mem_request *m;
    bool progress = false;
    while ((m = mmio_host_peek(c)) && accept_request(c, m)) {
        mmio_host_pop(c);
        progress = true;
    }
    return progress;
}

/* ---- answers of DMA engine and driver ---- */

static void end_step(struct mmio_call *k, uint64_t value, uint32_t status)
{
    k->value = value;
    k->status = status;
    k->pending--;
}

static void accept_answer(struct mmio *c, const struct mmio_post *post, uint64_t value,
                          uint32_t status)
{
    switch ((enum mmio_owner)post->owner) {
    case OWNER_FETCH:
        if (post->number == MMIO_NONE)
            enter_device(c, value);
        else
            read_packet(c, post->number);
        break;
    case OWNER_ANSWER:
        end_answer(c, post->number);
        break;
    case OWNER_STEP:
        end_step(call_at(c, post->number), value, status);
        break;
    case OWNER_HOSTED:
        end_hosted(c, post->number, value, status);
        break;
    case OWNER_DELIVERY:
        end_delivery(c, post->number);
        break;
    case OWNER_OPERATION:
        operation_at(c, post->number)->error = error_of(status);
        operation_end(c, post->number);
        break;
    case OWNER_BLOCK:
        block_next(c, post->number, error_of(status));
        break;
    default:
        bug("mmio: an answer to nothing");
    }
}

static bool accept_answers(struct mmio *c)
{
    const struct mem_reply *m;
    const struct device_call_reply *d;
    bool progress = false;
    while ((m = mmio_dma_peek_reply(c))) {
        struct mmio_post post = post_remove(&c->dma, m->tag);
        mmio_dma_pop_reply(c);
        accept_answer(c, &post, 0, DRIVER_OK);
        progress = true;
    }
    while ((d = mmio_driver_peek_reply(c))) {
        struct mmio_post post = post_remove(&c->driver, d->tag);
        uint64_t value = d->done.value;
        uint32_t status = d->done.status;
        mmio_driver_pop_reply(c);
        accept_answer(c, &post, value, status);
        progress = true;
    }
    return progress;
}

static bool mmio_tick(struct mmio *c)
{
    bool progress = accept_answers(c);
    progress |= accept_requests(c);
    if (c->used_calls && !mmio_params(c)->hosted)
        ask_devices(c);
    progress |= run_call(c);
    progress |= streams_step(c);
    for (uint32_t i = 0; i < call_count(c) && c->used_calls; i++)
        progress |= answer_step(c, i);
    progress |= serve_reads(c);
    progress |= send_dma(c);
    return send_driver(c) || progress;
}

static unsigned mmio_outstanding(const struct mmio *c, struct hang_report *report)
{
    static const char *const phases[] = {
        "",        "is fetched",  "is next",     "is executed",  "waits for a stream",
        "is done", "is answered", "is answered", "is to be read"};
    if (report)
        for (uint32_t i = 0; i < call_count(c); i++)
            if (call_at(c, i)->phase != PHASE_FREE)
                hang_note(report, "the packet at 0x%llx %s",
                          (unsigned long long)call_at(c, i)->address, phases[call_at(c, i)->phase]);
    if (report && streams_of(c)->pending)
        hang_note(report, "%u operations are in streams", streams_of(c)->pending);
    return c->used_calls + streams_of(c)->pending;
}
