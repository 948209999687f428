/* File: 64 bytes (struct file_head), then the payload: the header's fields, then one record for
 * each event. Numbers are LEB128, signed ones zigzag, like DWARF's. A step is one byte when the
 * warp executes what followed last time, with the same mask and no addresses; addresses are
 * differences from the instruction's last ones. The coder's state (what followed what, last mask)
 * is rebuilt by the reader from the records, so nothing but the records is stored. */
#include "components/sass_trace/sass_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "components/sass_trace/sass_hash.h"
#include "components/sass_trace/sass_memory.h"
#include "components/sass_trace/sass_output.h"

#define VERSION     1
#define BUFFER_SIZE 65536
/* More than the longest record: 64 addresses of 10 bytes, or the header with its name. */
#define RECORD_ROOM 4096

static const char magic[8] = "HDLSASS";

struct file_head {
    char magic[8];
    uint32_t version, unused;
    uint64_t text_size, text_digest[2];
    uint64_t payload_size, payload_digest[2];
};
_Static_assert(sizeof(struct file_head) == 64, "no padding in the file");

/* First byte of a record. Steps are below 0x80: flags. */
enum {
    STEP_PREDICTED = 0x01, /* else the instruction's id follows */
    STEP_SAME_MASK = 0x02, /* else the mask follows */
    STEP_STRIDE = 0x04,    /* addresses with the stride of last time: base follows */
    STEP_ADDRESSES = 0x08, /* mode and addresses follow */
    STEP_FLAGS = 0x0f,
    RECORD_BLOCK = 0x80,
    RECORD_WARP,
    RECORD_BLOCK_END,
    RECORD_END,
    RECORD_INST,
};

struct coder {
    uint32_t *successor; /* by id: 1 + the id that followed, 0: none */
    size_t capacity;
    uint32_t last;  /* 1 + id */
    uint32_t known; /* instructions defined so far */
    uint64_t mask;
};

struct sass_cache_writer {
    struct sass_output output;
    struct coder coder;
    struct sass_hash digest;
    uint64_t size;
    size_t used;
    uint8_t buffer[BUFFER_SIZE + RECORD_ROOM];
};

struct sass_cache_reader {
    int fd; /* -1: memory */
    struct coder coder;
    bool failed, ended;
    const uint8_t *at, *end; /* in `buffer`, or in memory */
    uint8_t buffer[BUFFER_SIZE];
};

static uint32_t predicted(const struct coder *coder)
{
    return coder->last ? coder->successor[coder->last - 1] : 0;
}

static void define(struct coder *coder)
{
    size_t need = coder->known + 1;
    coder->successor =
        sass_reserve(coder->successor, need, &coder->capacity, sizeof *coder->successor);
    coder->successor[coder->known++] = 0;
}

static void follow(struct coder *coder, uint32_t id)
{
    if (coder->last)
        coder->successor[coder->last - 1] = id + 1;
    coder->last = id + 1;
}

/* Writing */

static void put_byte(struct sass_cache_writer *w, unsigned byte)
{
    w->buffer[w->used++] = (uint8_t)byte;
}

static void put(struct sass_cache_writer *w, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(w, (unsigned)(value & 0x7f) | 0x80);
    put_byte(w, (unsigned)value);
}

static void put_signed(struct sass_cache_writer *w, uint64_t value)
{
    put(w, value << 1 ^ (0 - (value >> 63)));
}

static void put_text(struct sass_cache_writer *w, const char *text)
{
    size_t size = strlen(text);
    put(w, size);
    memcpy(w->buffer + w->used, text, size);
    w->used += size;
}

static void put_header(struct sass_cache_writer *w, const struct sass_header *h)
{
    put_text(w, h->kernel_name);
    put_text(w, h->nvbit_version);
    put(w, h->kernel_id);
    for (unsigned i = 0; i < 3; i++) {
        put(w, h->grid[i]);
        put(w, h->block[i]);
    }
    put(w, h->shared_bytes);
    put(w, h->registers);
    put(w, h->binary_version);
    put(w, h->stream);
    put(w, h->shared_base);
    put(w, h->local_base);
    put(w, h->tracer_version);
    put(w, h->tracer_minor);
    put(w, h->has_line_info);
    put(w, h->present);
}

static void put_inst(struct sass_cache_writer *w, const struct sass_inst *inst)
{
    put_byte(w, RECORD_INST);
    put(w, inst->pc);
    put(w, inst->source_line);
    put_text(w, inst->name);
    put(w, inst->width);
    put(w, inst->destination_count);
    for (unsigned i = 0; i < inst->destination_count; i++)
        put(w, inst->destinations[i]);
    put(w, inst->source_count);
    for (unsigned i = 0; i < inst->source_count; i++)
        put(w, inst->sources[i]);
    put(w, inst->immediate_count);
    for (unsigned i = 0; i < inst->immediate_count; i++)
        put_signed(w, (uint64_t)inst->immediates[i]);
    define(&w->coder);
}

static void put_addresses(struct sass_cache_writer *w, const struct sass_step *step)
{
    struct sass_inst *inst = step->inst;
    uint64_t base = inst->base;
    put_byte(w, step->mode);
    if (step->mode == SASS_MODE_STRIDE)
        put_signed(w, (uint64_t)step->stride);
    unsigned count = step->mode == SASS_MODE_STRIDE && step->count > 1 ? 1 : step->count;
    for (unsigned i = 0; i < count; i++) {
        put_signed(w, step->address[i] - base);
        base = step->address[i];
    }
}

static void put_step(struct sass_cache_writer *w, const struct sass_step *step)
{
    struct sass_inst *inst = step->inst;
    while (w->coder.known <= inst->id)
        put_inst(w, inst);
    bool is_stride = step->mode == SASS_MODE_STRIDE && step->count && step->stride == inst->stride;
    unsigned flags = (predicted(&w->coder) == inst->id + 1 ? STEP_PREDICTED : 0u)
                     | (step->mask == w->coder.mask ? STEP_SAME_MASK : 0u)
                     | (is_stride                      ? STEP_STRIDE
                        : step->mode != SASS_MODE_NONE ? STEP_ADDRESSES
                                                       : 0u);
    put_byte(w, flags);
    if (!(flags & STEP_PREDICTED))
        put(w, inst->id);
    if (!(flags & STEP_SAME_MASK))
        put(w, step->mask);
    if (flags & STEP_STRIDE)
        put_signed(w, step->address[0] - inst->base);
    if (flags & STEP_ADDRESSES)
        put_addresses(w, step);
    follow(&w->coder, inst->id);
    w->coder.mask = step->mask;
    if (step->count)
        inst->base = step->address[0];
    if (step->mode == SASS_MODE_STRIDE)
        inst->stride = step->stride;
}

static bool write_out(struct sass_cache_writer *w)
{
    sass_hash_add(&w->digest, w->buffer, w->used);
    w->size += w->used;
    bool ok = fwrite(w->buffer, 1, w->used, w->output.file) == w->used;
    w->used = 0;
    return ok;
}

static char *cache_path(const char *path)
{
    size_t size = strlen(path) + sizeof SASS_CACHE_SUFFIX;
    char *name = sass_allocate(size, 1);
    snprintf(name, size, "%s%s", path, SASS_CACHE_SUFFIX);
    return name;
}

struct sass_cache_writer *sass_cache_create(struct sass_trace *trace)
{
    struct sass_cache_writer *w = sass_allocate(1, sizeof *w);
    char *path = cache_path(trace->path);
    bool ok = sass_output_open(&w->output, path);
    sass_free(path);
    if (!ok) {
        sass_free(w);
        return NULL;
    }
    sass_hash_init(&w->digest);
    static const struct file_head none;
    fwrite(&none, sizeof none, 1, w->output.file);
    put_header(w, &trace->header);
    return w;
}

static void free_writer(struct sass_cache_writer *w)
{
    sass_free(w->coder.successor);
    sass_free(w);
}

void sass_cache_abandon(struct sass_cache_writer *w)
{
    if (!w)
        return;
    sass_output_abandon(&w->output);
    free_writer(w);
}

/* The trace was read to its end without an error: so was every byte of its file. */
static void complete(struct sass_cache_writer *w, struct sass_trace *trace)
{
    struct file_head head = {.version = VERSION, .text_size = trace->input.hash.size};
    put_byte(w, RECORD_END);
    bool ok = write_out(w);
    struct sass_digest text = sass_hash_finish(&trace->input.hash);
    struct sass_digest payload = sass_hash_finish(&w->digest);
    memcpy(head.magic, magic, sizeof magic);
    memcpy(head.text_digest, text.word, sizeof text.word);
    head.payload_size = w->size;
    memcpy(head.payload_digest, payload.word, sizeof payload.word);
    ok = ok && fseek(w->output.file, 0, SEEK_SET) == 0
         && fwrite(&head, sizeof head, 1, w->output.file) == 1;
    if (ok)
        sass_output_commit(&w->output); /* a disk that is full: no cache, no harm */
    else
        sass_output_abandon(&w->output);
    free_writer(w);
}

bool sass_cache_add(struct sass_trace *trace, enum sass_event event)
{
    struct sass_cache_writer *w = trace->writer;
    bool ok = event != SASS_ERROR && trace->errors == 0;
    if (ok && event == SASS_END) {
        complete(w, trace);
        return false;
    }
    if (ok && event == SASS_STEP) {
        put_step(w, &trace->step);
    } else if (ok && event == SASS_BLOCK) {
        put_byte(w, RECORD_BLOCK);
        for (unsigned i = 0; i < 3; i++)
            put(w, trace->block[i]);
    } else if (ok && event == SASS_WARP) {
        put_byte(w, RECORD_WARP);
        put(w, trace->warp);
        put(w, trace->warp_steps);
    } else if (ok) {
        put_byte(w, RECORD_BLOCK_END);
    }
    if (ok && w->used >= BUFFER_SIZE)
        ok = write_out(w);
    if (!ok)
        sass_cache_abandon(w);
    return ok;
}

/* Reading */

static uint64_t get(struct sass_cache_reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (r->at == r->end)
            break;
        uint8_t byte = *r->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    r->failed = true;
    return 0;
}

static uint64_t get_signed(struct sass_cache_reader *r)
{
    uint64_t value = get(r);
    return value >> 1 ^ (0 - (value & 1));
}

static uint64_t get_at_most(struct sass_cache_reader *r, uint64_t most)
{
    uint64_t value = get(r);
    if (value <= most)
        return value;
    r->failed = true;
    return 0;
}

static void get_text(struct sass_cache_reader *r, char *text, size_t room)
{
    size_t size = get_at_most(r, room - 1);
    if (size > (size_t)(r->end - r->at)) {
        r->failed = true;
        size = 0;
    }
    memcpy(text, r->at, size);
    text[size] = '\0';
    r->at += size;
}

static void get_header(struct sass_cache_reader *r, struct sass_header *h)
{
    get_text(r, h->kernel_name, sizeof h->kernel_name);
    get_text(r, h->nvbit_version, sizeof h->nvbit_version);
    h->kernel_id = get(r);
    for (unsigned i = 0; i < 3; i++) {
        h->grid[i] = (uint32_t)get_at_most(r, UINT32_MAX);
        h->block[i] = (uint32_t)get_at_most(r, UINT32_MAX);
    }
    h->shared_bytes = get(r);
    h->registers = get(r);
    h->binary_version = get(r);
    h->stream = get(r);
    h->shared_base = get(r);
    h->local_base = get(r);
    h->tracer_version = (uint32_t)get_at_most(r, UINT32_MAX);
    h->tracer_minor = (uint32_t)get_at_most(r, UINT32_MAX);
    h->has_line_info = get_at_most(r, 1);
    h->present = (uint32_t)get_at_most(r, (1u << SASS_HEADER_FIELDS) - 1);
}

static void get_inst(struct sass_cache_reader *r, struct sass_program *program)
{
    struct sass_inst *added, inst = {0};
    inst.pc = (uint32_t)get_at_most(r, UINT32_MAX);
    inst.source_line = (uint32_t)get_at_most(r, UINT32_MAX);
    get_text(r, inst.name, sizeof inst.name);
    inst.width = (uint8_t)get_at_most(r, 128);
    inst.destination_count = (uint8_t)get_at_most(r, SASS_MAX_DESTINATIONS);
    for (unsigned i = 0; i < inst.destination_count; i++)
        inst.destinations[i] = (uint16_t)get_at_most(r, 511);
    inst.source_count = (uint8_t)get_at_most(r, SASS_MAX_SOURCES);
    for (unsigned i = 0; i < inst.source_count; i++)
        inst.sources[i] = (uint16_t)get_at_most(r, 511);
    inst.immediate_count = (uint8_t)get_at_most(r, 2);
    for (unsigned i = 0; i < inst.immediate_count; i++)
        inst.immediates[i] = (int64_t)get_signed(r);
    if (r->failed || !sass_program_add(program, &inst, &added))
        r->failed = true;
    else
        define(&r->coder);
}

static void get_addresses(struct sass_cache_reader *r, struct sass_step *step, unsigned flags)
{
    uint64_t base = step->inst->base;
    unsigned explicit_count = step->count;
    if (flags & STEP_STRIDE) {
        step->mode = SASS_MODE_STRIDE;
        step->stride = step->inst->stride;
    } else {
        step->mode = (enum sass_mode)get_at_most(r, SASS_MODE_DELTA);
        if (step->mode == SASS_MODE_STRIDE)
            step->stride = (int64_t)get_signed(r);
    }
    if (step->mode == SASS_MODE_STRIDE && step->count > 1)
        explicit_count = 1;
    for (unsigned i = 0; i < explicit_count; i++) {
        base += get_signed(r);
        step->address[i] = base;
    }
    for (unsigned i = explicit_count; i < step->count; i++)
        step->address[i] = base + (uint64_t)step->stride * i;
}

static enum sass_event get_step(struct sass_cache_reader *r, struct sass_trace *t, unsigned flags)
{
    struct sass_step *step = &t->step;
    uint32_t guess = predicted(&r->coder);
    uint64_t id = flags & STEP_PREDICTED ? (uint64_t)guess - 1 : get(r);
    if (!(flags & STEP_SAME_MASK))
        r->coder.mask = get(r);
    if (id >= t->program.count || flags > STEP_FLAGS) {
        r->failed = true;
        return SASS_ERROR;
    }
    step->inst = t->program.insts[id];
    step->mask = r->coder.mask;
    step->mode = SASS_MODE_NONE;
    step->count = 0;
    if (flags & (STEP_STRIDE | STEP_ADDRESSES)) {
        step->count = (unsigned)__builtin_popcountll(step->mask);
        get_addresses(r, step, flags);
    }
    if (step->count)
        step->inst->base = step->address[0];
    if (step->mode == SASS_MODE_STRIDE)
        step->inst->stride = step->stride;
    follow(&r->coder, (uint32_t)id);
    sass_program_count(&t->program, step);
    return SASS_STEP;
}

/* Moves what is left to the front and reads on behind it. */
static void refill(struct sass_cache_reader *r)
{
    size_t left = (size_t)(r->end - r->at);
    if (r->fd < 0)
        return;
    memmove(r->buffer, r->at, left);
    r->at = r->buffer;
    while (left < sizeof r->buffer) {
        ssize_t got = read(r->fd, r->buffer + left, sizeof r->buffer - left);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            close(r->fd); /* all is there: no more refills */
            r->fd = -1;
            break;
        }
        left += (size_t)got;
    }
    r->end = r->buffer + left;
}

static enum sass_event next_record(struct sass_cache_reader *r, struct sass_trace *t)
{
    for (;;) {
        if (r->end - r->at < RECORD_ROOM) /* a whole record must be there */
            refill(r);
        if (r->failed || r->at == r->end)
            return SASS_ERROR;
        unsigned first = *r->at++;
        if (first < 0x80)
            return get_step(r, t, first);
        switch (first) {
        case RECORD_BLOCK:
            for (unsigned i = 0; i < 3; i++)
                t->block[i] = (uint32_t)get_at_most(r, t->header.grid[i] - 1);
            return SASS_BLOCK;
        case RECORD_WARP:
            t->warp = (uint32_t)get_at_most(r, 31);
            t->warp_steps = get(r);
            return SASS_WARP;
        case RECORD_BLOCK_END:
            return SASS_BLOCK_END;
        case RECORD_END:
            r->ended = true;
            return SASS_END;
        case RECORD_INST:
            get_inst(r, &t->program);
            break;
        default:
            return SASS_ERROR;
        }
    }
}

enum sass_event sass_cache_next(struct sass_trace *t)
{
    struct sass_cache_reader *r = t->cached;
    if (r->ended)
        return SASS_END;
    enum sass_event event = next_record(r, t);
    if (event == SASS_ERROR || r->failed) {
        sass_trace_fail(t, 0, "the cache '%s%s' is damaged: remove it", t->path, SASS_CACHE_SUFFIX);
        r->ended = true;
        return SASS_ERROR;
    }
    return event;
}

void sass_cache_close(struct sass_cache_reader *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    sass_free(r->coder.successor);
    sass_free(r);
}

/* Reads all bytes behind the head: are they those that were written? */
static bool payload_is_whole(int fd, const struct file_head *head, uint8_t *buffer, size_t room)
{
    struct sass_hash hash;
    ssize_t got;
    sass_hash_init(&hash);
    while ((got = read(fd, buffer, room)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            sass_hash_add(&hash, buffer, (size_t)got);
    uint64_t size = hash.size;
    struct sass_digest digest = sass_hash_finish(&hash);
    return got == 0 && size == head->payload_size
           && memcmp(digest.word, head->payload_digest, sizeof digest.word) == 0;
}

enum fit { FITS, OTHER, DAMAGED };

static enum fit examine(int fd, const char *path, uint8_t *buffer, size_t room)
{
    struct file_head head;
    struct stat text;
    struct sass_digest digest;
    uint64_t size;
    if (read(fd, &head, sizeof head) != (ssize_t)sizeof head
        || memcmp(head.magic, magic, sizeof magic) != 0)
        return DAMAGED;
    if (head.version != VERSION || stat(path, &text) != 0
        || (uint64_t)text.st_size != head.text_size)
        return OTHER;
    if (!payload_is_whole(fd, &head, buffer, room))
        return DAMAGED;
    if (!sass_input_digest(path, &digest, &size) || size != head.text_size
        || memcmp(digest.word, head.text_digest, sizeof digest.word) != 0)
        return OTHER;
    return lseek(fd, sizeof head, SEEK_SET) == (off_t)sizeof head ? FITS : DAMAGED;
}

struct sass_cache_reader *sass_cache_open(struct sass_trace *t)
{
    char *path = cache_path(t->path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    sass_free(path);
    if (fd < 0)
        return NULL;
    struct sass_cache_reader *r = sass_allocate(1, sizeof *r);
    r->fd = fd;
    r->at = r->end = r->buffer;
    enum fit fit = examine(fd, t->path, r->buffer, sizeof r->buffer);
    if (fit == FITS) {
        refill(r);
        get_header(r, &t->header);
        fit = r->failed ? DAMAGED : FITS;
    }
    if (fit == FITS)
        return r;
    if (fit == DAMAGED)
        sass_trace_warn(t, 0,
                        "the cache beside it is damaged: the text is read and the cache made anew");
    t->header = (struct sass_header){0};
    sass_cache_close(r);
    return NULL;
}

struct sass_cache_reader *sass_cache_open_memory(struct sass_trace *t, const void *bytes,
                                                 size_t size)
{
    struct sass_cache_reader *r = sass_allocate(1, sizeof *r);
    r->fd = -1;
    r->at = bytes;
    r->end = r->at + size;
    get_header(r, &t->header);
    if (!r->failed)
        return r;
    sass_cache_close(r);
    return NULL;
}
