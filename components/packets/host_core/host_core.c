/* Carries packets for a program. Each call in flight has a slot, with a page of memory of its own;
 * its lines have the slot's number and their own as tags. The bytes of a copy lie in memory, too:
 * the core writes them before the packet, or reads them after the answer, as the program would
 * have written and will read its buffer. The device sees what the core's cache holds of them. The
 * call that is not waiting for the program's sake has its turn alone, so packets reach the device
 * in the order of calls. A call that the device answers as pending looks at the device's status
 * from time to time. */
#include "base/number.h"

#include "host_core_state.h"

static void host_core_init(struct host_core *c)
{
    c->calls_at = arena_allocate(call_count(c) * sizeof(struct core_call));
}

static uint64_t data_address(const struct host_core *c, uint32_t slot)
{
    return address_of(c, call_count(c)) + (uint64_t)slot * HOST_CALL_DATA;
}

/* The packet of a copy says where in memory its data are. */
static void place_data(const struct host_core *c, struct core_call *k, uint32_t slot)
{
    struct blob *blob = blob_at(k->blob);
    struct packet_fault fault;
    struct api_request r;
    if (!k->data)
        return;
    if (!api_request_decode(&r, blob->bytes, k->bytes, &fault) || r.call != API_CALL_MEMCPY_ASYNC
        || r.memcpy_async.size > HOST_CALL_DATA)
        bug("host_core: data with a packet that is not a copy of at most %d bytes", HOST_CALL_DATA);
    k->is_from_device = r.memcpy_async.direction == API_DIRECTION_DEVICE_TO_HOST;
    k->data_bytes = (uint32_t)r.memcpy_async.size;
    *(k->is_from_device ? &r.memcpy_async.destination : &r.memcpy_async.source) =
        data_address(c, slot);
    api_request_encode(&r, blob->bytes, blob->size, &fault);
}

static bool accept_call(struct host_core *c)
{
    const struct host_call_request *m = host_core_host_peek(c);
    uint32_t slot = 0;
    if (!m || c->used_calls == call_count(c) || c->is_busy)
        return false;
    while (call_at(c, slot)->phase != CORE_FREE)
        slot++;
    const uint8_t *bytes = blob_at(m->call.blob)->bytes;
    struct core_call *k = call_at(c, slot);
    *k = (struct core_call){.phase = CORE_WRITE,
                            .blob = m->call.blob,
                            .data = m->call.data,
                            .tag = m->tag,
                            .waits = m->call.wait,
                            .order = c->calls_taken++,
                            .since = host_core_now(c)};
    memcpy(&k->bytes, bytes + 4, sizeof k->bytes); /* length and call of the packet */
    memcpy(&k->call, bytes + 16, sizeof k->call);
    place_data(c, k, slot);
    if (k->data && !k->is_from_device)
        k->phase = CORE_PUT;
    c->is_busy = true;
    c->used_calls++;
    c->io.stats.packets++;
    if (k->phase == CORE_WRITE)
        timeline_begin(&c->io.base, k->order, "1 write the packet to memory");
    else
        timeline_begin(&c->io.base, k->order, "0 write the data to memory");
    host_core_host_pop(c);
    return true;
}

/* Sends requests for the data of a copy or for the packet, which begin at a line, so that a line of
 * them is a line of memory. */
static bool send_lines(struct host_core *c, uint32_t slot)
{
    struct core_call *k = call_at(c, slot);
    bool data = k->phase == CORE_PUT || k->phase == CORE_GET;
    bool read = k->phase == CORE_GET || k->phase == CORE_READ;
    uint64_t begin = data ? data_address(c, slot) : address_of(c, slot);
    uint32_t size = data ? k->data_bytes : k->bytes;
    uint32_t first_tag = data ? CORE_DATA_TAG + slot * CORE_DATA_LINES : slot * CORE_LINES;
    const struct blob *blob = blob_at(data ? k->data : k->blob);
    bool sent = false;
    while (k->issued < size && host_core_mem_can_send(c)) {
        uint32_t left = size - k->issued, bytes = min(left, CORE_LINE);
        uint16_t tag = (uint16_t)(first_tag + k->issued / CORE_LINE);
        if (read) {
            host_core_mem_send_read(c, tag, begin + k->issued, bytes, pid_of(c), false);
        } else {
            void *payload =
                host_core_mem_send_write(c, tag, begin + k->issued, pid_of(c), SCOPE_WAVEFRONT);
            mem_mask_store(mem_write_mask(payload, CORE_LINE), mem_mask_range(0, bytes, CORE_LINE),
                           CORE_LINE);
            memcpy(mem_write_data(payload, CORE_LINE), blob->bytes + k->issued, bytes);
        }
        k->issued += bytes;
        sent = true;
    }
    return sent;
}

static void end_phase(struct host_core *c, struct core_call *k, struct stat_histogram *stat)
{
    stat_histogram_add(stat, host_core_now(c) - k->since);
    k->since = host_core_now(c);
}

static void read_answer(struct host_core *c, struct core_call *k)
{
    k->answer_cy = host_core_now(c);
    k->phase = CORE_READ;
    k->bytes = packet_bytes(&api_answer_layout, k->call);
    k->issued = k->finished = 0;
}

/* The access of a call is over. Calls that wait let others continue meanwhile. */
static void access_end(struct host_core *c, struct core_call *k)
{
    bool rang = k->phase == CORE_RING;
    if (rang && k->waits)
        c->is_busy = false;
    if (rang || k->is_over) {
        read_answer(c, k);
        return;
    }
    k->look_cy = host_core_now(c) + host_core_params(c)->poll;
    k->phase = CORE_WAIT;
}

/* A program that waits looks at the device's status until its call is over (balar's
 * readLastCudaStatus), or until a look of another call has seen that. */
static bool wait_for_status(struct host_core *c, struct core_call *k)
{
    if (k->is_over) {
        read_answer(c, k);
        return true;
    }
    if (host_core_now(c) < k->look_cy) {
        host_core_wake_at(c, k->look_cy);
        return false;
    }
    access_request(c, k, CORE_LOOK);
    return true;
}

/* The packet with the answer has been read. */
static void accept_answer(struct host_core *c, struct core_call *k)
{
    struct api_answer a;
    struct packet_fault fault;
    bool can_read = api_answer_decode(&a, blob_at(k->blob)->bytes, k->bytes, &fault);
    if (can_read && a.state == API_STATE_PENDING) {
        k->look_cy = host_core_now(c) + host_core_params(c)->poll;
        k->phase = CORE_WAIT;
        return;
    }
    stat_histogram_add(&c->io.stats.wait_device, k->answer_cy - k->since);
    k->since = k->answer_cy;
    k->phase = CORE_DONE;
    if (k->data && k->is_from_device && can_read && !a.error) {
        k->issued = k->finished = 0;
        k->phase = CORE_GET;
        timeline_begin(&c->io.base, k->order, "8 read the data from memory");
    } else {
        end_phase(c, k, &c->io.stats.read_answer);
    }
}

static void end_data_line(struct host_core *c, struct core_call *k, uint32_t offset,
                          const uint8_t *line)
{
    uint32_t left = k->data_bytes - offset, bytes = min(left, CORE_LINE);
    if (line)
        memcpy(blob_at(k->data)->bytes + offset, line, bytes);
    *(line ? &c->io.stats.bytes_read : &c->io.stats.bytes_written) += bytes;
    k->finished += bytes;
    if (k->finished < k->data_bytes)
        return;
    k->issued = k->finished = 0;
    if (k->phase == CORE_PUT) {
        timeline_end(&c->io.base, k->order, "0 write the data to memory");
        timeline_begin(&c->io.base, k->order, "1 write the packet to memory");
        k->phase = CORE_WRITE;
    } else {
        timeline_end(&c->io.base, k->order, "8 read the data from memory");
        end_phase(c, k, &c->io.stats.read_answer);
        k->phase = CORE_DONE;
    }
}

static void end_packet_line(struct host_core *c, struct core_call *k, uint32_t offset,
                            const uint8_t *line)
{
    uint32_t left = k->bytes - offset, bytes = min(left, CORE_LINE);
    if (line)
        memcpy(blob_at(k->blob)->bytes + offset, line, bytes);
    k->finished += bytes;
    if (k->finished < k->bytes)
        return;
    if (k->phase == CORE_READ) {
        accept_answer(c, k);
        return;
    }
    timeline_end(&c->io.base, k->order, "1 write the packet to memory");
    end_phase(c, k, &c->io.stats.write_packet);
    access_request(c, k, CORE_RING);
}

/* The device's status: the packet of a call that is over, or 0. */
static void read_status(struct host_core *c, uint64_t address)
{
    uint64_t first = address_of(c, 0);
    if (address >= first && address < address_of(c, call_count(c)))
        call_at(c, (uint32_t)((address - first) / CORE_PACKET_BYTES))->is_over = true;
    else if (address)
        bug("host_core: the device has answered a packet at 0x%llx, where none is",
            (unsigned long long)address);
}

static bool receive_replies(struct host_core *c)
{
    const struct mem_reply *m;
    bool progress = false;
    while ((m = host_core_mem_peek_reply(c))) {
        bool data = m->tag >= CORE_DATA_TAG;
        uint32_t number = data ? m->tag - CORE_DATA_TAG : m->tag;
        uint32_t lines = data ? CORE_DATA_LINES : CORE_LINES;
        struct core_call *k = call_at(c, number / lines);
        uint32_t line = number % lines;
        const uint8_t *bytes = message_kind(m) == MEM_DATA
                                   ? mem_data_data(host_core_mem_reply_payload(c), CORE_LINE)
                                   : NULL;
        if (data)
            end_data_line(c, k, line * CORE_LINE, bytes);
        else if (line == CORE_DEVICE) {
            uint64_t status = 0;
            if (bytes)
                memcpy(&status, bytes, sizeof status);
            read_status(c, status);
            access_accept_answer(c);
        } else
            end_packet_line(c, k, line * CORE_LINE, bytes);
        host_core_mem_pop_reply(c);
        progress = true;
    }
    return progress;
}

static bool call_step(struct host_core *c, uint32_t slot)
{
    struct core_call *k = call_at(c, slot);
    switch ((enum core_phase)k->phase) {
    case CORE_PUT:
    case CORE_GET:
    case CORE_WRITE:
    case CORE_READ:
        return send_lines(c, slot);
    case CORE_WAIT:
        return wait_for_status(c, k);
    case CORE_DONE:
        if (!host_core_host_can_reply(c))
            return false;
        host_core_host_reply_done(c, k->tag, k->blob);
        if (!k->waits)
            c->is_busy = false;
        k->phase = CORE_FREE;
        c->used_calls--;
        return true;
    default:
        return false;
    }
}

static bool host_core_tick(struct host_core *c)
{
    bool progress = receive_replies(c);
    progress |= accept_call(c);
    for (uint32_t i = 0; i < call_count(c) && c->used_calls; i++)
        progress |= call_step(c, i);
    return access_step(c) || progress;
}

static unsigned host_core_outstanding(const struct host_core *c, struct hang_report *report)
{
    static const char *const phases[] = {
        [CORE_PUT] = "has its data written", [CORE_WRITE] = "is written",
        [CORE_RING] = "accesses registers",  [CORE_READ] = "is read",
        [CORE_WAIT] = "is waited for",       [CORE_LOOK] = "accesses registers",
        [CORE_GET] = "has its data read",    [CORE_DONE] = "is done"};
    if (report)
        for (uint32_t i = 0; i < call_count(c); i++)
            if (call_at(c, i)->phase != CORE_FREE)
                hang_note(report, "call %u of the API %s", call_at(c, i)->call,
                          phases[call_at(c, i)->phase]);
    return c->used_calls;
}
