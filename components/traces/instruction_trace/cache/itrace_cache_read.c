/* A cache is read twice: once to see that it is whole, then record by record. What it says is
 * checked all the same, since only the digest is between a wrong byte and an index. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"

#include "itrace_cache.h"
#include "itrace_cache_format.h"

struct itrace_cache_reader {
    int fd; /* -1: memory */
    struct itrace_cache_coder coder;
    bool failed, ended;
    const uint8_t *at, *end; /* in `buffer`, or in memory */
    uint8_t buffer[ITRACE_CACHE_BUFFER];
};

static uint64_t get(struct itrace_cache_reader *r)
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

static uint64_t get_signed(struct itrace_cache_reader *r)
{
    uint64_t value = get(r);
    return value >> 1 ^ (0 - (value & 1));
}

static uint64_t get_at_most(struct itrace_cache_reader *r, uint64_t most)
{
    uint64_t value = get(r);
    if (value <= most)
        return value;
    r->failed = true;
    return 0;
}

static void get_text(struct itrace_cache_reader *r, char *text, size_t room)
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

static void get_header(struct itrace_cache_reader *r, struct itrace_header *h)
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
    h->launch_behind = get(r);
    h->launch_delay = get(r);
    h->tracer_version = (uint32_t)get_at_most(r, UINT32_MAX);
    h->tracer_minor = (uint32_t)get_at_most(r, UINT32_MAX);
    h->has_line_info = get_at_most(r, 1);
    h->present = (uint32_t)get_at_most(r, (1u << ITRACE_HEADER_FIELDS) - 1);
}

static void get_inst(struct itrace_cache_reader *r, struct itrace_program *program)
{
    struct itrace_inst *added, inst = {0};
    inst.pc = (uint32_t)get_at_most(r, UINT32_MAX);
    inst.source_line = (uint32_t)get_at_most(r, UINT32_MAX);
    get_text(r, inst.name, sizeof inst.name);
    inst.width = (uint8_t)get_at_most(r, 128);
    inst.destination_count = (uint8_t)get_at_most(r, ITRACE_DESTINATIONS_MAX);
    for (unsigned i = 0; i < inst.destination_count; i++)
        inst.destinations[i] = (uint16_t)get_at_most(r, SASS_REGISTER_NONE);
    inst.source_count = (uint8_t)get_at_most(r, ITRACE_SOURCES_MAX);
    for (unsigned i = 0; i < inst.source_count; i++)
        inst.sources[i] = (uint16_t)get_at_most(r, SASS_REGISTER_NONE);
    inst.immediate_count = (uint8_t)get_at_most(r, 2);
    for (unsigned i = 0; i < inst.immediate_count; i++)
        inst.immediates[i] = (int64_t)get_signed(r);
    if (r->failed || !itrace_program_add(program, &inst, &added))
        r->failed = true;
    else
        itrace_cache_define(&r->coder);
}

static void get_addresses(struct itrace_cache_reader *r, struct itrace_step *step, unsigned flags)
{
    uint64_t base = step->inst->base;
    unsigned explicit_count = step->count;
    if (flags & STEP_STRIDE) {
        step->mode = ITRACE_MODE_STRIDE;
        step->stride = step->inst->stride;
    } else {
        step->mode = (enum itrace_mode)get_at_most(r, ITRACE_MODE_DELTA);
        if (step->mode == ITRACE_MODE_STRIDE)
            step->stride = (int64_t)get_signed(r);
    }
    if (step->mode == ITRACE_MODE_STRIDE && step->count > 1)
        explicit_count = 1;
    for (unsigned i = 0; i < explicit_count; i++) {
        base += get_signed(r);
        step->address[i] = base;
    }
    for (unsigned i = explicit_count; i < step->count; i++)
        step->address[i] = base + (uint64_t)step->stride * i;
}

static enum itrace_event get_step(struct itrace_cache_reader *r, struct itrace *t, unsigned flags)
{
    struct itrace_step *step = &t->step;
    uint32_t guess = itrace_cache_predicted(&r->coder);
    uint64_t id = flags & STEP_PREDICTED ? (uint64_t)guess - 1 : get(r);
    if (!(flags & STEP_SAME_MASK))
        r->coder.mask = get(r);
    if (id >= t->program.count || flags > STEP_FLAGS) {
        r->failed = true;
        return ITRACE_ERROR;
    }
    step->inst = t->program.insts[id];
    step->mask = r->coder.mask;
    step->mode = ITRACE_MODE_NONE;
    step->count = 0;
    if (flags & (STEP_STRIDE | STEP_ADDRESSES)) {
        step->count = (unsigned)__builtin_popcountll(step->mask);
        get_addresses(r, step, flags);
    }
    if (step->count)
        step->inst->base = step->address[0];
    if (step->mode == ITRACE_MODE_STRIDE)
        step->inst->stride = step->stride;
    itrace_cache_follow(&r->coder, (uint32_t)id);
    itrace_program_count(&t->program, step);
    return ITRACE_STEP;
}

/* Moves what is left to the front and reads on after it. */
static void refill(struct itrace_cache_reader *r)
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

static enum itrace_event next_record(struct itrace_cache_reader *r, struct itrace *t)
{
    for (;;) {
        if (r->end - r->at < ITRACE_CACHE_RECORD) /* a whole record must be there */
            refill(r);
        if (r->failed || r->at == r->end)
            return ITRACE_ERROR;
        unsigned first = *r->at++;
        if (first < 0x80)
            return get_step(r, t, first);
        switch (first) {
        case RECORD_BLOCK:
            for (unsigned i = 0; i < 3; i++)
                t->block[i] = (uint32_t)get_at_most(r, t->header.grid[i] - 1);
            return ITRACE_BLOCK;
        case RECORD_WARP:
            t->warp = (uint32_t)get_at_most(r, 31);
            t->warp_steps = get(r);
            return ITRACE_WARP;
        case RECORD_BLOCK_END:
            return ITRACE_BLOCK_END;
        case RECORD_END:
            r->ended = true;
            return ITRACE_END;
        case RECORD_INST:
            get_inst(r, &t->program);
            break;
        default:
            return ITRACE_ERROR;
        }
    }
}

enum itrace_event itrace_cache_next(struct itrace *t)
{
    struct itrace_cache_reader *r = t->cached;
    if (r->ended)
        return ITRACE_END;
    enum itrace_event event = next_record(r, t);
    if (event == ITRACE_ERROR || r->failed) {
        itrace_fail(t, 0, "the cache '%s%s' is damaged: remove it", t->path, ITRACE_CACHE_SUFFIX);
        r->ended = true;
        return ITRACE_ERROR;
    }
    return event;
}

void itrace_cache_close(struct itrace_cache_reader *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    itrace_free(r->coder.successor);
    itrace_free(r);
}

enum fit { FITS, OTHER, DAMAGED };

/* `wholly`: the trace must be known to be whole, so that no report of a line of it is wanted. */
static enum fit examine(int fd, const char *path, bool wholly)
{
    struct itrace_cache_head head;
    struct stat text;
    struct itrace_digest digest = {0};
    if (read(fd, &head, sizeof head) != (ssize_t)sizeof head
        || memcmp(head.magic, ITRACE_CACHE_MAGIC, 8) != 0)
        return DAMAGED;
    if (head.version != ITRACE_CACHE_VERSION || (wholly && head.whole != 1)
        || stat(path, &text) != 0 || (uint64_t)text.st_size != head.text.size)
        return OTHER;
    if (!itrace_digest_rest(fd, &digest) || memcmp(&digest, &head.payload, sizeof digest) != 0)
        return DAMAGED;
    if (!itrace_input_digest(path, &digest) || memcmp(&digest, &head.text, sizeof digest) != 0)
        return OTHER;
    return lseek(fd, sizeof head, SEEK_SET) == (off_t)sizeof head ? FITS : DAMAGED;
}

struct itrace_cache_reader *itrace_cache_open(struct itrace *t)
{
    char *path = itrace_cache_path(t->path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    itrace_free(path);
    if (fd < 0)
        return NULL;
    struct itrace_cache_reader *r = itrace_allocate(1, sizeof *r);
    r->fd = fd;
    r->at = r->end = r->buffer;
    enum fit fit = examine(fd, t->path, t->options.demand != ITRACE_GAPS_COUNTED);
    if (fit == FITS) {
        refill(r);
        get_header(r, &t->header);
        fit = r->failed ? DAMAGED : FITS;
    }
    if (fit == FITS)
        return r;
    if (fit == DAMAGED)
        itrace_warn(t, 0,
                    "the cache beside it is damaged: the text is read and the cache made anew");
    t->header = (struct itrace_header){0};
    itrace_cache_close(r);
    return NULL;
}

struct itrace_cache_reader *itrace_cache_open_memory(struct itrace *t, const void *bytes,
                                                     size_t size)
{
    struct itrace_cache_reader *r = itrace_allocate(1, sizeof *r);
    r->fd = -1;
    r->at = bytes;
    r->end = r->at + size;
    get_header(r, &t->header);
    if (!r->failed)
        return r;
    itrace_cache_close(r);
    return NULL;
}
