/* See checkpoint_image.h. Only pages that the system has given this process are looked at, so that
 * looking at address space does not fill it. */
#include "checkpoint_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint_merge.h"
#include "checkpoint_parts.h"
#include "memory.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/version.h"

#define PAGEMAP_HELD                                                                               \
    ((uint64_t)3 << 62) /* present or swapped: Documentation/admin-guide/mm/pagemap.rst */
#define PAGEMAP_ROWS 512

const char checkpoint_magic[8] = {'h', 'e', 'd', 'd', 'l', 'e', '\n', '\032'};

struct writer {
    struct checkpoint_sink sink;
    struct image_target *to;
    int pagemap; /* -1: unknown which pages have been touched */
    uint64_t sum;
    uint64_t pages;
};

static void put_summed(struct writer *w, const void *bytes, size_t size)
{
    w->sum = checkpoint_checksum(w->sum, bytes, size);
    w->to->put(w->to, bytes, size);
}

static bool is_zero(const char *page)
{
    static const char zeros[CHECKPOINT_PAGE];
    return memcmp(page, zeros, CHECKPOINT_PAGE) == 0;
}

/* Which of the `count` pages from `base` on may hold something; reading the others would make the
 * system give them tables. */
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

/* Puts the pages that stand at `base`, from byte `first`, where a page begins, to `end`. */
static void put_pages(struct writer *w, const char *base, uint64_t first, uint64_t end,
                      uint64_t mark)
{
    static uint64_t rows[PAGEMAP_ROWS];
    uint64_t page_end = (end + CHECKPOINT_PAGE - 1) / CHECKPOINT_PAGE;
    uint64_t start = first / CHECKPOINT_PAGE;
    for (uint64_t i = start; i < page_end && !w->to->failed; i++) {
        uint32_t row = (uint32_t)((i - start) % PAGEMAP_ROWS);
        const char *page = base + i * CHECKPOINT_PAGE;
        if (row == 0)
            find_held(w, page, page_end - i < PAGEMAP_ROWS ? (size_t)(page_end - i) : PAGEMAP_ROWS,
                      rows);
        if ((rows[row] & PAGEMAP_HELD) && !is_zero(page))
            put_page(w, page, i | mark);
    }
}

/* What has been handed out; with several ranks of the common slice and that of this one. */
static void put_arena(struct writer *w)
{
    const uint32_t slices[] = {ARENA_COMMON, ranks.number};
    struct arena_run runs[2];
    for (uint32_t i = 0; i < (rank_is_alone() ? 1 : 2); i++) {
        arena_slice(slices[i], runs);
        for (uint32_t k = 0; k < 2; k++)
            put_pages(w, engine_base.arena, runs[k].start, runs[k].start + runs[k].bytes, 0);
    }
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

struct checkpoint_header image_begin(const struct platform_table *table, uint64_t layout,
                                     uint64_t placement)
{
    uint64_t parts_bytes = parts_measure(); /* may still allocate */
    struct arena_ends ends = arena_ends();
    struct checkpoint_header h = {.version = CHECKPOINT_VERSION,
                                  .abi = PLATFORM_ABI,
                                  .layout = layout,
                                  .placement = placement,
                                  .time_ps = engine.time_ps,
                                  .instructions = engine_instructions(),
                                  .front_bytes = ends.front,
                                  .arena_bytes = ends.rear,
                                  .own_front = ends.own_front,
                                  .own_rear = ends.own_rear,
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

struct checkpoint_header image_put(struct image_target *to, const struct checkpoint_header *header)
{
    struct writer w = {.sink.put = put_to_sink,
                       .to = to,
                       .pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};
    struct checkpoint_engine state = make_engine();
    struct checkpoint_header told = *header;
    to->put(to, header, sizeof *header);
    put_summed(&w, &state, sizeof state);
    merge_bare(true);
    put_arena(&w);
    put_start(&w);
    merge_bare(false);
    put_pages(&w, memory.bytes, 0, memory.size, CHECKPOINT_MEMORY);
    parts_write(&w.sink);
    if (w.pagemap >= 0)
        close(w.pagemap);
    told.page_count = w.pages;
    told.checksum = 0;
    told.checksum = checkpoint_checksum(w.sum, &told, sizeof told);
    return told;
}

/* ---- to a file ---- */

struct file_target {
    struct image_target target;
    int fd;
    uint64_t bytes;
};

static void put_to_file(struct image_target *to, const void *bytes, size_t size)
{
    struct file_target *file = (struct file_target *)(void *)to;
    const char *from = bytes;
    while (size && !to->failed) {
        ssize_t n = write(file->fd, from, size);
        if (n < 0 && errno == EINTR)
            continue;
        to->failed = n < 0;
        from += to->failed ? 0 : n;
        size -= to->failed ? 0 : (size_t)n;
        file->bytes += to->failed ? 0 : (uint64_t)n;
    }
}

bool image_write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
    const char *from = bytes;
    while (size) {
        ssize_t n = pwrite(fd, from, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        from += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

bool image_write(int fd, const struct checkpoint_header *begun, uint64_t *bytes)
{
    struct file_target file = {.target.put = put_to_file, .fd = fd};
    off_t start = lseek(fd, 0, SEEK_CUR);
    if (start < 0)
        return false;
    const struct checkpoint_header header = image_put(&file.target, begun);
    *bytes = file.bytes;
    return !file.target.failed && image_write_at(fd, &header, sizeof header, (uint64_t)start);
}
