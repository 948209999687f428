/* The memory in a state file. Only pages that the system has given this process are looked at, so
 * that looking at address space does not fill it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/version.h"

#include "checkpoint_internal.h"
#include "memory.h"

/* Present or swapped: Documentation/admin-guide/mm/pagemap.rst of Linux. */
#define PAGEMAP_HELD ((uint64_t)3 << 62)
#define PAGEMAP_ROWS 512

const char checkpoint_magic[8] = {'h', 'e', 'd', 'd', 'l', 'e', '\n', '\032'};

struct writer {
    struct checkpoint_sink sink;
    int fd;
    bool has_failed;
    int pagemap; /* -1: unknown which pages have been touched */
    uint64_t sum;
    uint64_t pages;
};

static void put_bytes(struct writer *w, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size && !w->has_failed) {
        ssize_t n = write(w->fd, from, size);
        if (n < 0 && errno == EINTR)
            continue;
        w->has_failed = n < 0;
        from += w->has_failed ? 0 : n;
        size -= w->has_failed ? 0 : (size_t)n;
    }
}

static void put_summed(struct writer *w, const void *bytes, size_t size)
{
    w->sum = hash_bytes(w->sum, bytes, size);
    put_bytes(w, bytes, size);
}

static bool is_zero(const char *page)
{
    static const char zeros[CHECKPOINT_PAGE];
    return memcmp(page, zeros, CHECKPOINT_PAGE) == 0;
}

/* Finds those of the `count` pages from `base` on that may hold something; reading the others would
 * make the system give them tables. */
static void find_held(const struct writer *w, const char *base, size_t count, uint64_t *rows)
{
    off_t at = (off_t)((uintptr_t)base / CHECKPOINT_PAGE * sizeof *rows);
    size_t bytes = count * sizeof *rows;
    if (w->pagemap < 0 || pread(w->pagemap, rows, bytes, at) != (ssize_t)bytes)
        memset(rows, 0xff, bytes);
}

static void put_page(struct writer *w, const char *page, uint64_t number)
{
    static struct checkpoint_page record;
    record.number = number;
    memcpy(record.bytes, page, CHECKPOINT_PAGE);
    put_summed(w, &record, sizeof record);
    w->pages++;
}

/* Puts the pages that are at `base`, from byte `first`, where a page begins, to `end`. */
static void put_pages(struct writer *w, const char *base, uint64_t first, uint64_t end,
                      uint64_t mark)
{
    static uint64_t rows[PAGEMAP_ROWS];
    uint64_t page_end = divide_up(end, CHECKPOINT_PAGE);
    uint64_t start = first / CHECKPOINT_PAGE;
    for (uint64_t i = start; i < page_end && !w->has_failed; i++) {
        uint32_t row = (uint32_t)((i - start) % PAGEMAP_ROWS);
        const char *page = base + i * CHECKPOINT_PAGE;
        if (row == 0)
            find_held(w, page, page_end - i < PAGEMAP_ROWS ? (size_t)(page_end - i) : PAGEMAP_ROWS,
                      rows);
        if ((rows[row] & PAGEMAP_HELD) && !is_zero(page))
            put_page(w, page, i | mark);
    }
}

/* The bytes that are allocated. */
static void put_arena(struct writer *w)
{
    struct arena_run runs[2];
    arena_slice(ARENA_COMMON, runs);
    for (uint32_t k = 0; k < 2; k++)
        put_pages(w, engine_base.arena, runs[k].start, runs[k].start + runs[k].bytes, 0);
}

/* Pages of the start that have changed since. */
static void put_start(struct writer *w)
{
    uint64_t count;
    const struct checkpoint_page *page = merge_start_pages(&count);
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(engine_base.arena + page[i].number * CHECKPOINT_PAGE, page[i].bytes,
                   CHECKPOINT_PAGE)
            != 0)
            put_page(w, (const char *)page[i].bytes, page[i].number | CHECKPOINT_START);
}

static void put_to_sink(struct checkpoint_sink *sink, const void *bytes, size_t size)
{
    put_summed((struct writer *)(void *)sink, bytes, size);
}

/* The header, whose fields are known before the contents are. */
static struct checkpoint_header make_header(const struct platform_table *table, uint64_t layout)
{
    uint64_t parts_bytes = parts_measure(); /* may still allocate */
    struct arena_ends ends = arena_ends();
    struct checkpoint_header h = {.version = CHECKPOINT_VERSION,
                                  .abi = PLATFORM_ABI,
                                  .layout = layout,
                                  .time_ps = engine.time_ps,
                                  .instructions = engine_instructions(),
                                  .front_bytes = ends.front,
                                  .arena_bytes = ends.rear,
                                  .memory_first = memory.first,
                                  .memory_bytes = memory.size,
                                  .parts_bytes = parts_bytes};
    memcpy(h.magic, checkpoint_magic, sizeof h.magic);
    snprintf(h.toolkit, sizeof h.toolkit, "%s", HEDDLE_VERSION);
    snprintf(h.model, sizeof h.model, "%s", table->model_hash);
    return h;
}

static struct checkpoint_engine make_engine(void)
{
    struct checkpoint_engine e = {0};
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        const struct engine_domain *d = &engine.domains[i];
        e.domains[i].cycle = d->cycle;
        e.domains[i].time_ps = d->time_ps;
        e.domains[i].fraction = d->fraction;
    }
    return e;
}

bool image_write(int fd, const struct platform_table *table, uint64_t layout)
{
    struct checkpoint_header header = make_header(table, layout);
    struct checkpoint_engine state = make_engine();
    struct writer w = {.sink.put = put_to_sink,
                       .fd = fd,
                       .pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};
    put_bytes(&w, &header, sizeof header);
    put_summed(&w, &state, sizeof state);
    merge_strip(true);
    parts_detach();
    put_arena(&w);
    parts_reattach();
    put_start(&w);
    merge_strip(false);
    put_pages(&w, memory.bytes, 0, memory.size, CHECKPOINT_MEMORY);
    parts_write(&w.sink);
    if (w.pagemap >= 0)
        close(w.pagemap);
    header.page_count = w.pages;
    header.checksum = hash_bytes(w.sum, &header, sizeof header);
    w.has_failed |= lseek(fd, 0, SEEK_SET) != 0;
    put_bytes(&w, &header, sizeof header);
    return !w.has_failed;
}
