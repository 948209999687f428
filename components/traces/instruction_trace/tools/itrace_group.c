/* A run is a buffer of lines, each in the chain of its block and warp; full, its keys are sorted
 * and the chains written as chunks: block (difference to the chunk before), warp, lines, bytes,
 * then the text. A run has one chunk for a key at most, and runs are merged in the order in which
 * they were read, so the order within a warp is kept. */
#include "components/traces/instruction_trace/tools/itrace_group.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"
#include "components/traces/instruction_trace/tools/itrace_output.h"
#include "runtime/engine/hash.h"

#define LEAST_MERGE_BUFFER 4096
#define MOST_MERGE_BUFFER  ((size_t)1 << 20)
#define NONE               UINT32_MAX

struct key {
    uint64_t block;
    uint32_t warp;
    uint32_t first, last; /* lines, as offsets in the buffer */
    uint32_t lines;
    uint64_t bytes;
};

struct line {
    uint32_t next, size;
    char text[];
};

struct run {
    uint64_t at, end;              /* in the scratch file, not yet in `buffer` */
    size_t buffer_at, buffer_size; /* in its part of the merge buffer */
    uint8_t *buffer;
    uint64_t block, lines, bytes; /* of the chunk that comes next; its bytes are not yet read */
    uint32_t warp;
    bool ended;
};

struct grouping {
    struct itrace *trace;
    size_t memory;
    /* collecting */
    char *buffer;
    size_t used, size;
    struct key *keys;
    size_t key_count, key_limit;
    uint32_t *slots; /* hash of keys; NONE: empty */
    size_t slot_count;
    /* runs */
    FILE *scratch;
    uint64_t scratch_bytes;
    struct run *runs;
    size_t run_count, run_capacity;
    size_t merge_buffer;
    uint32_t *heap;
    size_t heap_count;
    bool failed;
};

static bool fail(struct grouping *g, const char *what)
{
    if (!g->failed)
        itrace_fail(g->trace, 0, "%s: %s", what, strerror(errno));
    g->failed = true;
    return false;
}

static size_t power_of_two(size_t least)
{
    size_t size = 16;
    while (size < least)
        size *= 2;
    return size;
}

/* Half of the memory for lines, a sixth for keys, and as much again for sorting them. */
static void collect_begin(struct grouping *g)
{
    g->size = g->memory / 2;
    g->key_limit = g->memory / 6 / sizeof(struct key);
    g->slot_count = power_of_two(g->key_limit + g->key_limit / 2);
    g->buffer = itrace_allocate(g->size, 1);
    g->keys = itrace_allocate(g->key_limit, sizeof *g->keys);
    g->slots = itrace_allocate(g->slot_count, sizeof *g->slots);
    memset(g->slots, 0xff, g->slot_count * sizeof *g->slots);
}

static void collect_end(struct grouping *g)
{
    itrace_free(g->buffer);
    itrace_free(g->keys);
    itrace_free(g->slots);
    g->buffer = NULL;
    g->keys = NULL;
    g->slots = NULL;
}

/* The key of block and warp, made if need be; NULL: no room. */
static struct key *find_key(struct grouping *g, uint64_t block, uint32_t warp)
{
    uint64_t hash = hash_multiply(block * 64 + warp);
    size_t slot = (size_t)(hash >> 32) & (g->slot_count - 1);
    for (; g->slots[slot] != NONE; slot = (slot + 1) & (g->slot_count - 1)) {
        struct key *key = &g->keys[g->slots[slot]];
        if (key->block == block && key->warp == warp)
            return key;
    }
    if (g->key_count == g->key_limit)
        return NULL;
    g->slots[slot] = (uint32_t)g->key_count;
    struct key *key = &g->keys[g->key_count++];
    *key = (struct key){.block = block, .warp = warp, .first = NONE, .last = NONE};
    return key;
}

static struct line *line_at(struct grouping *g, uint32_t at)
{
    return (struct line *)(void *)(g->buffer + at);
}

/* false: no room. */
static bool collect(struct grouping *g, uint64_t block, uint32_t warp, const char *text,
                    size_t size)
{
    size_t need = (sizeof(struct line) + size + 7) & ~(size_t)7;
    if (need > g->size - g->used)
        return false;
    struct key *key = find_key(g, block, warp);
    if (!key)
        return false;
    uint32_t at = (uint32_t)g->used;
    struct line *line = line_at(g, at);
    line->next = NONE;
    line->size = (uint32_t)size;
    memcpy(line->text, text, size);
    if (key->last == NONE)
        key->first = at;
    else
        line_at(g, key->last)->next = at;
    key->last = at;
    key->lines++;
    key->bytes += size + 1;
    g->used += need;
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->warp < y->warp ? -1 : x->warp > y->warp;
}

static void put_number(struct grouping *g, uint64_t value)
{
    for (; value >= 0x80; value >>= 7, g->scratch_bytes++)
        putc((int)(value & 0x7f) | 0x80, g->scratch);
    putc((int)value, g->scratch);
    g->scratch_bytes++;
}

/* The buffer becomes a run. */
static bool write_run(struct grouping *g)
{
    uint64_t block = 0, begin = g->scratch_bytes;
    qsort(g->keys, g->key_count, sizeof *g->keys, compare_keys);
    for (size_t i = 0; i < g->key_count; i++) {
        const struct key *key = &g->keys[i];
        put_number(g, key->block - block);
        put_number(g, key->warp);
        put_number(g, key->lines);
        put_number(g, key->bytes);
        block = key->block;
        for (uint32_t at = key->first; at != NONE; at = line_at(g, at)->next) {
            fwrite(line_at(g, at)->text, 1, line_at(g, at)->size, g->scratch);
            putc('\n', g->scratch);
        }
        g->scratch_bytes += key->bytes;
    }
    g->runs = itrace_reserve(g->runs, g->run_count + 1, &g->run_capacity, sizeof *g->runs);
    g->runs[g->run_count++] = (struct run){.at = begin, .end = g->scratch_bytes};
    g->used = g->key_count = 0;
    memset(g->slots, 0xff, g->slot_count * sizeof *g->slots);
    return !ferror(g->scratch) || fail(g, "the temporary file cannot be written");
}

static bool read_all(struct grouping *g)
{
    struct itrace *t = g->trace;
    enum itrace_event event;
    collect_begin(g);
    while ((event = itrace_next(t)) == ITRACE_STEP) {
        uint64_t block = itrace_block_index(t);
        if (collect(g, block, t->warp, t->text, t->text_size))
            continue;
        if (g->key_count && !write_run(g))
            return false;
        if (!collect(g, block, t->warp, t->text, t->text_size)) {
            itrace_fail(t, t->input.line, "this line needs more memory: --memory");
            return false;
        }
    }
    if (event != ITRACE_END || (g->key_count && !write_run(g)))
        return false;
    if (fflush(g->scratch) != 0)
        return fail(g, "the temporary file cannot be written");
    collect_end(g);
    return true;
}

/* Makes at least one byte of the run readable. false: there is none. */
static bool fill(struct grouping *g, struct run *run)
{
    if (run->buffer_at < run->buffer_size)
        return true;
    uint64_t left = run->end - run->at;
    size_t want = left < g->merge_buffer ? (size_t)left : g->merge_buffer, got = 0;
    while (got < want) {
        ssize_t n =
            pread(fileno(g->scratch), run->buffer + got, want - got, (off_t)(run->at + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(g, "the temporary file cannot be read");
        got += (size_t)n;
    }
    run->at += got;
    run->buffer_at = 0;
    run->buffer_size = got;
    return got > 0;
}

static uint64_t get_number(struct grouping *g, struct run *run)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && fill(g, run); shift += 7) {
        uint8_t byte = run->buffer[run->buffer_at++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return value;
}

static void next_chunk(struct grouping *g, struct run *run)
{
    run->ended = !fill(g, run);
    if (run->ended)
        return;
    run->block += get_number(g, run);
    run->warp = (uint32_t)get_number(g, run);
    run->lines = get_number(g, run);
    run->bytes = get_number(g, run);
}

static bool is_before(const struct grouping *g, uint32_t a, uint32_t b)
{
    const struct run *x = &g->runs[a], *y = &g->runs[b];
    if (x->block != y->block)
        return x->block < y->block;
    return x->warp != y->warp ? x->warp < y->warp : a < b;
}

static void push(struct grouping *g, uint32_t run)
{
    size_t at = g->heap_count++;
    for (; at > 0 && is_before(g, run, g->heap[(at - 1) / 2]); at = (at - 1) / 2)
        g->heap[at] = g->heap[(at - 1) / 2];
    g->heap[at] = run;
}

static uint32_t pop(struct grouping *g)
{
    uint32_t top = g->heap[0], last = g->heap[--g->heap_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= g->heap_count)
            break;
        if (child + 1 < g->heap_count && is_before(g, g->heap[child + 1], g->heap[child]))
            child++;
        if (!is_before(g, g->heap[child], last))
            break;
        g->heap[at] = g->heap[child];
        at = child;
    }
    g->heap[at] = last;
    return top;
}

static void copy_chunk(struct grouping *g, struct run *run, FILE *out)
{
    while (run->bytes > 0 && fill(g, run)) {
        size_t size = run->buffer_size - run->buffer_at;
        size = run->bytes < size ? (size_t)run->bytes : size;
        fwrite(run->buffer + run->buffer_at, 1, size, out);
        run->buffer_at += size;
        run->bytes -= size;
    }
}

/* The header, without what its last line says about numbers that are no longer there. */
static void write_header(const struct itrace *t, FILE *out)
{
    static const char *const gone[] = {"threadblock_x ", "threadblock_y ", "threadblock_z ",
                                       "warpid_tb ",     "sm_id ",         "warpid_sm "};
    const char *at = t->header_text, *end = at + t->header_size;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        bool is_format = *at == '#';
        if (is_format)
            putc('\n', out);
        while (at <= newline) {
            bool cut = false;
            for (size_t i = 0; is_format && i < sizeof gone / sizeof gone[0] && !cut; i++) {
                size_t size = strlen(gone[i]);
                cut = (size_t)(newline - at) >= size && memcmp(at, gone[i], size) == 0;
                at += cut ? size : 0;
            }
            if (!cut)
                putc(*at++, out);
        }
    }
    putc('\n', out);
}

static void write_block(const struct itrace *t, uint64_t index, FILE *out)
{
    const uint32_t *grid = t->header.grid;
    fprintf(out, "\n#BEGIN_TB\n\nthread block = %" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
            index % grid[0], index / grid[0] % grid[1], index / grid[0] / grid[1]);
}

/* All chunks of the smallest key: `same` gets their runs in order. */
static size_t pop_same(struct grouping *g, uint32_t *same, uint64_t *lines)
{
    size_t count = 0;
    *lines = 0;
    do {
        same[count] = pop(g);
        *lines += g->runs[same[count++]].lines;
    } while (g->heap_count && g->runs[g->heap[0]].block == g->runs[same[0]].block
             && g->runs[g->heap[0]].warp == g->runs[same[0]].warp);
    return count;
}

static bool merge(struct grouping *g, FILE *out)
{
    uint64_t block = UINT64_MAX, lines;
    uint32_t *same = itrace_allocate(g->run_count, sizeof *same);
    g->heap = itrace_allocate(g->run_count, sizeof *g->heap);
    for (uint32_t i = 0; i < g->run_count; i++) {
        g->runs[i].buffer = itrace_allocate(g->merge_buffer, 1);
        next_chunk(g, &g->runs[i]);
        if (!g->runs[i].ended)
            push(g, i);
    }
    write_header(g->trace, out);
    while (g->heap_count && !g->failed) {
        size_t count = pop_same(g, same, &lines);
        const struct run *first = &g->runs[same[0]];
        if (first->block != block) {
            fputs(block == UINT64_MAX ? "" : "\n#END_TB\n", out);
            write_block(g->trace, block = first->block, out);
        }
        fprintf(out, "\nwarp = %" PRIu32 "\ninsts = %" PRIu64 "\n", first->warp, lines);
        for (size_t i = 0; i < count; i++) {
            struct run *run = &g->runs[same[i]];
            copy_chunk(g, run, out);
            next_chunk(g, run);
            if (!run->ended)
                push(g, same[i]);
        }
    }
    fputs(block == UINT64_MAX ? "" : "\n#END_TB\n", out);
    itrace_free(same);
    return !g->failed;
}

static void release(struct grouping *g)
{
    collect_end(g);
    for (size_t i = 0; i < g->run_count; i++)
        itrace_free(g->runs[i].buffer);
    itrace_free(g->runs);
    itrace_free(g->heap);
    if (g->scratch)
        fclose(g->scratch);
}

/* Half of the memory is for merging: more than one pass is never made. */
static bool can_merge(struct grouping *g)
{
    size_t each = g->run_count ? g->memory / 2 / g->run_count : MOST_MERGE_BUFFER;
    g->merge_buffer = each > MOST_MERGE_BUFFER ? MOST_MERGE_BUFFER : each;
    if (each >= LEAST_MERGE_BUFFER)
        return true;
    itrace_fail(g->trace, 0, "%zu parts cannot be merged in %zu MiB: --memory", g->run_count,
                g->memory >> 20);
    return false;
}

bool itrace_group(struct itrace *trace, const char *path, size_t memory,
                  struct itrace_group_result *result)
{
    struct grouping g = {.trace = trace, .memory = memory};
    struct itrace_output output = {.slot = -1};
    bool ok = (g.scratch = itrace_output_scratch(path)) != NULL
              || fail(&g, "no temporary file can be made beside the output");
    ok = ok && read_all(&g) && can_merge(&g);
    if (ok && !itrace_output_open(&output, path))
        ok = fail(&g, "the output cannot be written");
    ok = ok && merge(&g, output.file);
    if (ok && !itrace_output_commit(&output))
        ok = fail(&g, "the output cannot be written");
    itrace_output_abandon(&output);
    *result = (struct itrace_group_result){g.run_count, g.scratch_bytes};
    release(&g);
    return ok;
}
