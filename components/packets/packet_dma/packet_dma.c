/* DMA for a device that is called by packets: bytes between simulated memory and the device's
 * blobs.
 *
 * As in the GPU's dma_engine, a command is cut into pieces that stay inside one line of memory (of
 * both lines for copies inside of memory), and each piece in flight has a slot, whose number is the
 * tag of its requests. Pieces are issued oldest command first. The tail of a command is a shorter
 * piece, nothing else. Commands that touch the same bytes are kept in order (packet_dma.heddle). */
#include "packet_dma.gen.h"

#define UNIT_COLD

#include "components/packets/packet_dma_command/packet_dma_command.h"
#include "components/packets/packet_dma_command/packet_dma_status.h"
#include "components/protocols/mem/mem_mask.h"
#include "runtime/engine/index_pool.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/timeline.h"
#include "runtime/state/blob.h"
#include "runtime/state/platform.h"

#define DMA_LINE 64u
#define DMA_NONE UINT32_MAX

struct dma_job {
    struct packet_dma_command command;
    uint64_t order; /* commands taken before */
    uint64_t since; /* cycle of its arrival */
    uint64_t issued, finished;
    uint16_t tag;
    bool is_used;
    bool waits; /* for an earlier one that touches the same bytes */
};

struct dma_piece {
    uint64_t offset; /* in the command */
    uint32_t job;
    uint32_t bytes;
    uint32_t next; /* the next piece that has been read and is to be written */
    bool is_writing;
    uint8_t data[DMA_LINE]; /* at their places in the line that is written */
};

struct packet_dma {
    struct packet_dma_io io;
    uint32_t jobs_at; /* arena offsets */
    uint32_t pieces_at;
    struct index_pool free_pieces;
    uint32_t first_read, last_read; /* pieces to write */
    uint32_t used_jobs;
    uint64_t commands_taken;
};

static uint32_t job_count(const struct packet_dma *c)
{
    return packet_dma_params(c)->commands;
}

static struct dma_job *job_at(const struct packet_dma *c, uint32_t i)
{
    return arena_at(struct dma_job, c->jobs_at) + i;
}

static struct dma_piece *piece_at(const struct packet_dma *c, uint32_t i)
{
    return arena_at(struct dma_piece, c->pieces_at) + i;
}

static void packet_dma_init(struct packet_dma *c)
{
    c->jobs_at = arena_allocate(job_count(c) * sizeof(struct dma_job));
    c->pieces_at = arena_allocate(packet_dma_params(c)->lines * sizeof(struct dma_piece));
    index_pool_init(&c->free_pieces, packet_dma_params(c)->lines);
    c->first_read = DMA_NONE;
    c->last_read = DMA_NONE;
}

static bool ranges_overlap(uint64_t a, uint64_t b, uint64_t a_size, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

static bool writes_memory(const struct packet_dma_command *k)
{
    return k->way != PACKET_DMA_WAY_TO_DEVICE;
}

/* The address at which the command reads memory; only for commands that do. */
static uint64_t read_from(const struct packet_dma_command *k)
{
    return k->way == PACKET_DMA_WAY_IN_MEMORY ? k->source : k->address;
}

static bool reads_memory(const struct packet_dma_command *k)
{
    return k->way != PACKET_DMA_WAY_TO_MEMORY;
}

static bool commands_conflict(const struct packet_dma_command *a,
                              const struct packet_dma_command *b)
{
    bool both_write = writes_memory(a) && writes_memory(b)
                      && ranges_overlap(a->address, b->address, a->size, b->size);
    bool reads_written = writes_memory(a) && reads_memory(b)
                         && ranges_overlap(a->address, read_from(b), a->size, b->size);
    bool overwrites_read = reads_memory(a) && writes_memory(b)
                           && ranges_overlap(read_from(a), b->address, a->size, b->size);
    bool share_blob =
        a->blob == b->blob && a->blob != BLOB_NONE
        && ranges_overlap(a->offset, b->offset, a->size, b->size)
        && !(a->way == PACKET_DMA_WAY_TO_MEMORY && b->way == PACKET_DMA_WAY_TO_MEMORY);
    return both_write || reads_written || overwrites_read || share_blob;
}

/* All of [address, address + size) on the map, without a wrap. */
static bool is_on_map(const struct packet_dma *c, uint64_t address, uint64_t size)
{
    if (address + size < address)
        return false;
    if (!packet_dma_params(c)->physical || size == 0)
        return true;
    int32_t space = platform_space(address);
    return space >= 0 && platform_space(address + size - 1) == space;
}

static bool is_valid(const struct packet_dma *c, const struct packet_dma_command *k)
{
    const struct blob *blob = blob_at(k->blob);
    if (!is_on_map(c, k->address, k->size))
        return false;
    if (k->way == PACKET_DMA_WAY_IN_MEMORY)
        return is_on_map(c, k->source, k->size);
    return blob && k->offset <= blob->size && k->size <= blob->size - k->offset;
}

/* A command that was refused is over at once. */
static void refuse_command(struct packet_dma *c, const struct packet_dma_command *k)
{
    struct blob *blob = blob_at(k->blob);
    if (blob)
        blob->status = PACKET_DMA_REFUSED;
    c->io.stats.refused++;
}

static void accept_command(struct packet_dma *c, uint32_t slot, const struct mem_request *m)
{
    struct dma_job *job = job_at(c, slot);
    struct packet_fault fault;
    struct packet_dma_command k;
    *job = (struct dma_job){
        .is_used = true, .tag = m->tag, .order = c->commands_taken++, .since = packet_dma_now(c)};
    c->used_jobs++;
    const uint8_t *bytes = mem_write_data(packet_dma_command_payload(c), DMA_LINE);
    if (!packet_dma_command_decode(&k, bytes, DMA_LINE, &fault))
        k = (struct packet_dma_command){.size = 0, .blob = BLOB_NONE};
    if (!is_valid(c, &k)) {
        refuse_command(c, &k);
        k.size = 0;
    } else if (blob_at(k.blob)) {
        blob_at(k.blob)->status = PACKET_DMA_BUSY;
    }
    job->command = k;
    for (uint32_t i = 0; i < job_count(c); i++)
        if (i != slot && job_at(c, i)->is_used && commands_conflict(&job_at(c, i)->command, &k))
            job->waits = true;
    c->io.stats.ordered += job->waits;
}

static uint32_t free_job(const struct packet_dma *c)
{
    uint32_t i = 0;
    while (job_at(c, i)->is_used)
        i++;
    return i;
}

static bool accept_commands(struct packet_dma *c)
{
    bool progress = false;
    const struct mem_request *m;
    while ((m = packet_dma_command_peek(c))) {
        if (message_kind(m) == MEM_WRITE) {
            if (c->used_jobs == job_count(c))
                return progress;
            accept_command(c, free_job(c), m);
        } else {
            if (!packet_dma_command_can_reply(c))
                return progress;
            uint64_t refused = c->io.stats.refused;
            if (message_kind(m) == MEM_READ || message_kind(m) == MEM_ATOMIC) {
                uint8_t *line = mem_data_data(packet_dma_command_reply_data(c, m->tag), DMA_LINE);
                memset(line, 0, DMA_LINE);
                memcpy(line, &refused, sizeof refused);
            } else {
                packet_dma_command_reply_done(c, m->tag);
            }
        }
        packet_dma_command_pop(c);
        progress = true;
    }
    return progress;
}

static uint32_t bytes_to_line_end(uint64_t address, uint64_t bytes)
{
    uint32_t rest = DMA_LINE - (uint32_t)(address % DMA_LINE);
    return bytes < rest ? (uint32_t)bytes : rest;
}

static void send_write(struct packet_dma *c, uint32_t number)
{
    struct dma_piece *p = piece_at(c, number);
    uint64_t target = job_at(c, p->job)->command.address + p->offset;
    unsigned first = (unsigned)(target % DMA_LINE);
    void *payload = packet_dma_mem_send_write(c, (uint16_t)number, target - first,
                                              packet_dma_params(c)->pid, SCOPE_WAVEFRONT);
    mem_mask_store(mem_write_mask(payload, DMA_LINE), mem_mask_range(first, p->bytes, DMA_LINE),
                   DMA_LINE);
    memcpy(mem_write_data(payload, DMA_LINE), p->data, DMA_LINE);
    p->is_writing = true;
    c->io.stats.bytes_written += p->bytes;
}

/* Cuts the next piece off a command and sends its first request. */
static void issue_piece(struct packet_dma *c, uint32_t i)
{
    struct dma_job *job = job_at(c, i);
    const struct packet_dma_command *k = &job->command;
    uint32_t number = index_pool_acquire(&c->free_pieces);
    struct dma_piece *p = piece_at(c, number);
    uint64_t left = k->size - job->issued, target = k->address + job->issued;
    uint32_t bytes = bytes_to_line_end(target, left);
    if (k->way == PACKET_DMA_WAY_IN_MEMORY)
        bytes = bytes_to_line_end(k->source + job->issued, bytes);
    *p = (struct dma_piece){.offset = job->issued, .job = i, .bytes = bytes, .next = DMA_NONE};
    job->issued += bytes;
    if (reads_memory(k)) {
        packet_dma_mem_send_read(c, (uint16_t)number, read_from(k) + p->offset, bytes,
                                 packet_dma_params(c)->pid, false);
        c->io.stats.bytes_read += bytes;
        return;
    }
    memcpy(p->data + target % DMA_LINE, blob_at(k->blob)->bytes + k->offset + p->offset, bytes);
    send_write(c, number);
}

static bool has_conflict(const struct packet_dma *c, const struct dma_job *job)
{
    for (uint32_t i = 0; i < job_count(c); i++) {
        const struct dma_job *earlier = job_at(c, i);
        if (earlier->is_used && earlier->order < job->order
            && commands_conflict(&earlier->command, &job->command))
            return true;
    }
    return false;
}

/* The oldest command with bytes left to cut that need not wait, or DMA_NONE. */
static uint32_t find_oldest_ready(const struct packet_dma *c)
{
    uint32_t best = DMA_NONE;
    for (uint32_t i = 0; i < job_count(c); i++) {
        const struct dma_job *job = job_at(c, i);
        if (job->is_used && job->issued < job->command.size && !job->waits
            && (best == DMA_NONE || job->order < job_at(c, best)->order))
            best = i;
    }
    return best;
}

/* Pieces that have been read are written first, so that slots come free. */
static bool send_requests(struct packet_dma *c)
{
    bool progress = false;
    for (;;) {
        bool write = c->first_read != DMA_NONE;
        uint32_t i = !write && index_pool_has(&c->free_pieces) ? find_oldest_ready(c) : DMA_NONE;
        if ((!write && i == DMA_NONE) || !packet_dma_mem_can_send(c))
            return progress;
        if (write) {
            uint32_t number = c->first_read;
            c->first_read = piece_at(c, number)->next;
            send_write(c, number);
        } else {
            issue_piece(c, i);
        }
        progress = true;
    }
}

static void queue_write(struct packet_dma *c, uint32_t number)
{
    if (c->first_read == DMA_NONE)
        c->first_read = number;
    else
        piece_at(c, c->last_read)->next = number;
    c->last_read = number;
}

static bool accept_answers(struct packet_dma *c)
{
    bool progress = false;
    const struct mem_reply *m;
    while ((m = packet_dma_mem_peek_reply(c))) {
        struct dma_piece *p = piece_at(c, m->tag);
        struct dma_job *job = job_at(c, p->job);
        const struct packet_dma_command *k = &job->command;
        bool read = !p->is_writing;
        const uint8_t *line =
            read ? mem_data_data(packet_dma_mem_reply_payload(c), DMA_LINE) : NULL;
        if (read)
            line += (read_from(k) + p->offset) % DMA_LINE;
        if (read && k->way == PACKET_DMA_WAY_IN_MEMORY) {
            memcpy(p->data + (k->address + p->offset) % DMA_LINE, line, p->bytes);
            queue_write(c, m->tag);
        } else {
            if (read)
                memcpy(blob_at(k->blob)->bytes + k->offset + p->offset, line, p->bytes);
            job->finished += p->bytes;
            index_pool_release(&c->free_pieces, m->tag);
        }
        packet_dma_mem_pop_reply(c);
        progress = true;
    }
    return progress;
}

static bool finish_commands(struct packet_dma *c)
{
    bool progress = false, ended = false;
    for (uint32_t i = 0; i < job_count(c); i++) {
        struct dma_job *job = job_at(c, i);
        if (!job->is_used || job->waits || job->finished < job->command.size
            || !packet_dma_command_can_reply(c))
            continue;
        struct blob *blob = blob_at(job->command.blob);
        if (blob && blob->status == PACKET_DMA_BUSY)
            blob->status = PACKET_DMA_DONE;
        packet_dma_command_reply_done(c, job->tag);
        const char *span =
            writes_memory(&job->command) ? "bytes are in memory" : "4 return the bytes";
        timeline_begin(&c->io.base, job->order, span);
        timeline_end(&c->io.base, job->order, span);
        stat_histogram_add(&c->io.stats.latency, packet_dma_now(c) - job->since);
        job->is_used = false;
        c->used_jobs--;
        c->io.stats.commands_done++;
        progress = ended = true;
    }
    if (!ended)
        return progress;
    for (uint32_t i = 0; i < job_count(c); i++)
        if (job_at(c, i)->is_used && job_at(c, i)->waits)
            job_at(c, i)->waits = has_conflict(c, job_at(c, i));
    return progress;
}

static bool packet_dma_tick(struct packet_dma *c)
{
    bool progress = accept_answers(c);
    progress |= finish_commands(c);
    progress |= accept_commands(c);
    return send_requests(c) || progress;
}

static unsigned packet_dma_outstanding(const struct packet_dma *c, struct hang_report *report)
{
    if (report)
        for (uint32_t i = 0; i < job_count(c); i++)
            if (job_at(c, i)->is_used)
                hang_note(report, "a command of %llu bytes at 0x%llx is %llu bytes done",
                          (unsigned long long)job_at(c, i)->command.size,
                          (unsigned long long)job_at(c, i)->command.address,
                          (unsigned long long)job_at(c, i)->finished);
    return c->used_jobs;
}
