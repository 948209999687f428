/* Turns lanes into lines. Lanes that follow each other without gaps are the common case; they
 * become whole runs of sectors at once. */
#include "coalesce.h"

#include "base/number.h"

#include "bulk.h"

/* The request for `line`, which is most often the one before. */
static inline struct sm_request *coalesce_line(struct sm_lines *m, uint64_t line)
{
    for (uint32_t i = m->count; i-- > 0;)
        if (m->request[i].line == line)
            return &m->request[i];
    struct sm_request *r = &m->request[m->count++];
    *r = (struct sm_request){.line = line};
    return r;
}

/* `width` bytes at `address`, which one lane accesses. */
static inline void coalesce_add(struct sm_lines *m, uint64_t address, unsigned width)
{
    struct sm_request *lane = NULL;
    while (width) {
        struct sm_request *r = coalesce_line(m, round_down(address, SM_LINE));
        unsigned sector = (unsigned)(address % SM_LINE) / SM_SECTOR;
        unsigned first = (unsigned)(address % SM_SECTOR);
        unsigned size = min(width, SM_SECTOR - first);
        r->sectors |= (uint8_t)(1u << sector);
        r->bytes[sector] |= (uint32_t)((((uint64_t)1 << size) - 1) << first);
        r->lanes += r != lane;
        lane = r;
        address += size;
        width -= size;
    }
}

/* `size` bytes from `address` on, all in one line. */
static inline struct sm_request coalesce_part(uint64_t address, uint64_t size, unsigned width)
{
    struct sm_request r = {.line = round_down(address, SM_LINE),
                           .lanes = divide_up((uint32_t)size, width)};
    for (uint64_t at = address; at < address + size;) {
        unsigned sector = (unsigned)(at % SM_LINE) / SM_SECTOR, first = at % SM_SECTOR;
        uint64_t rest = address + size - at;
        unsigned part = rest < SM_SECTOR - first ? (unsigned)rest : SM_SECTOR - first;
        r.sectors |= (uint8_t)(1u << sector);
        r.bytes[sector] |= (uint32_t)((((uint64_t)1 << part) - 1) << first);
        at += part;
    }
    return r;
}

/* Bytes from `address` on that lie in one line, at most `bytes`. */
static inline uint64_t coalesce_rest(uint64_t address, uint64_t bytes)
{
    uint64_t rest = SM_LINE - address % SM_LINE;
    return min(rest, bytes);
}

/* Lanes that follow each other without gaps: whole runs of sectors. */
static inline void coalesce_run(struct sm_lines *m, uint64_t address, uint64_t bytes,
                                unsigned width)
{
    while (bytes) {
        uint64_t size = coalesce_rest(address, bytes);
        m->request[m->count++] = coalesce_part(address, size, width);
        address += size;
        bytes -= size;
    }
}

/* Local memory of a warp: word w of its 32 threads is one line (NVIDIA, "CUDA C++ Programming
 * Guide", local memory: consecutive words go to consecutive threads). It lies in a window of its
 * own for each warp slot of the GPU. `own`: number of the slot, instance * SM_WARPS + warp. */
#define SM_LOCAL_BASE   ((uint64_t)1 << 46)
#define SM_LOCAL_WINDOW ((uint64_t)1 << 24) /* bytes of a thread */

static inline void coalesce_local(struct sm_lines *m, uint64_t offset, unsigned lane,
                                  unsigned width, uint64_t own)
{
    uint64_t base = SM_LOCAL_BASE + own * SM_LOCAL_WINDOW * 32;
    offset %= SM_LOCAL_WINDOW;
    for (unsigned done = 0; done < width || !done; done += 4) {
        uint64_t word = (offset + done) % SM_LOCAL_WINDOW / 4;
        unsigned size = width < 4 ? width + !width : 4;
        coalesce_add(m, base + word * SM_LINE + lane * 4, size);
    }
}

/* Fills `m` with the requests of a record. */
static inline void coalesce(struct sm_lines *m, const uint32_t *record, unsigned width,
                            uint64_t own)
{
    uint64_t address[32];
    uint32_t mask = trace_record_mask(record);
    unsigned count = trace_addresses(record, address);
    m->count = 0;
    width += !width;
    if (trace_record_space(*record) == TRACE_LOCAL) {
        for (unsigned i = 0; i < count; i++, mask &= mask - 1)
            coalesce_local(m, address[i], (unsigned)__builtin_ctz(mask), width, own);
        return;
    }
    const uint32_t *stride = record + (*record & TRACE_FULL ? 3 : 4);
    if (trace_record_mode(*record) == TRACE_STRIDE && *stride == width) {
        coalesce_run(m, address[0], (uint64_t)count * width, width);
        return;
    }
    for (unsigned i = 0; i < count; i++)
        coalesce_add(m, address[i], width);
}

/* Sectors of a request that are not wholly written. */
static inline uint8_t coalesce_partial(const struct sm_request *r)
{
    uint8_t partial = 0;
    for (unsigned s = 0; s < 4; s++)
        if ((r->sectors >> s & 1) && r->bytes[s] != UINT32_MAX)
            partial |= (uint8_t)(1u << s);
    return partial;
}

static inline bool bulk_next(const uint32_t *record, struct bulk_cursor *at,
                             struct sm_request *request)
{
    if (at->run == bulk_runs(record))
        return false;
    const uint32_t *run = bulk_head(record) + TRACE_BULK_HEAD + (size_t)at->run * TRACE_RUN;
    uint64_t row = trace_wide(run) + (uint64_t)(int64_t)(int32_t)run[2] * at->row;
    uint64_t size = coalesce_rest(row + at->done, run[4] - at->done);
    *request = coalesce_part(row + at->done, size, 4);
    at->done += (uint32_t)size;
    if (at->done == run[4]) {
        at->done = 0;
        at->row++;
    }
    if (at->row == run[3]) {
        at->row = 0;
        at->run++;
    }
    return true;
}

static inline uint32_t bulk_lines(const uint32_t *record)
{
    struct bulk_cursor at = {0};
    struct sm_request request;
    uint32_t lines = 0;
    while (bulk_next(record, &at, &request))
        lines++;
    return lines;
}
