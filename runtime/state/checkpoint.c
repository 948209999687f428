/* State files. Writing: a temporary file, renamed when it is complete. Loading: the platform
 * has been started as always, so that everything is where it was; then its pages are dropped
 * and those of the file take their place.
 *
 * Invariant: the engine is between two steps, so nothing is kept outside of what is written:
 * no message waits for a shared wire, no extension has a window's end to settle. */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/options.h"
#include "runtime/engine/output_file.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/version.h"
#include "runtime/link/ring_run.h"

#include "checkpoint_internal.h"
#include "lookup.h"
#include "memory.h"
#include "platform.h"

static const struct platform_table *table;
static const char *save_path; /* NULL: none is wanted */
static uint64_t save_ps;
static const char *save_kernel; /* NULL, or in place of save_ps */
static bool is_saved, has_save_failed;
static uint64_t layout;
static struct arena_ends start_ends; /* when the platform had been started */
static const char *driver_objection;

enum { RETRY_PS = 1000 }; /* between looks whether a state can be written */

/* The file that is being restored. */
static struct {
    const char *path;
    const void *bytes; /* NULL: none, or it is in place */
    size_t size;
} pending;

/* ---- writing ---- */

static bool write_state(void)
{
    struct output_file file;
    bool is_open = output_file_open(&file, save_path);
    bool is_complete = is_open && image_write(file.fd, table, layout);
    if (is_complete && output_file_publish(&file))
        return true;
    fprintf(stderr, "heddle: cannot write the state to '%s': %s\n", save_path, strerror(errno));
    if (is_open && !is_complete)
        output_file_discard(&file);
    return false;
}

bool checkpoint_is_wanted(void)
{
    return save_path && !is_saved && !has_save_failed;
}

const char *checkpoint_kernel(void)
{
    return save_kernel;
}

void checkpoint_now(void)
{
    save_kernel = NULL;
    save_ps = 0;
    engine_pause_now();
}

enum engine_result checkpoint_run(void)
{
    if (!checkpoint_is_wanted())
        return engine_run();
    engine_pause_at(save_ps);
    enum engine_result result = engine_run();
    for (uint64_t at = save_ps; result == ENGINE_PAUSED && !parts_are_over();) {
        at = max(at, engine.time_ps) + RETRY_PS;
        engine_pause_at(at);
        result = engine_run();
    }
    if (result != ENGINE_PAUSED)
        return result;
    is_saved = write_state();
    has_save_failed = !is_saved;
    engine_pause_at(ENGINE_NEVER);
    return engine_run();
}

enum checkpoint_end checkpoint_end(void)
{
    if (pending.bytes) {
        fprintf(
            stderr,
            "heddle: the state in '%s' was not restored: the run ended before the call in which "
            "it was written; it is of another trace\n",
            pending.path);
        return CHECKPOINT_FAILED;
    }
    if (checkpoint_is_wanted())
        fprintf(stderr,
                "heddle: no state was written to '%s': the run ended at %" PRIu64
                " ps, before --checkpoint-at\n",
                save_path, engine.time_ps);
    return has_save_failed          ? CHECKPOINT_FAILED
           : checkpoint_is_wanted() ? CHECKPOINT_MISSED
                                    : CHECKPOINT_DONE;
}

/* ---- loading ---- */

static bool fail(const char *name, const char *why)
{
    fprintf(stderr, "heddle: cannot load '%s': %s\n", name, why);
    return false;
}

/* Says in words why the file is none of this program; NULL if it is one. */
static const char *explain_mismatch(const struct checkpoint_header *h)
{
    if (memcmp(h->magic, checkpoint_magic, sizeof checkpoint_magic) != 0)
        return "it was not written by `heddle run --checkpoint`";
    if (h->version != CHECKPOINT_VERSION || h->abi != PLATFORM_ABI
        || strncmp(h->toolkit, HEDDLE_VERSION, sizeof h->toolkit) != 0)
        return "it was written by another version of heddle; write it again";
    return NULL;
}

/* True if this platform has the same layout as the file. */
static bool header_fits(const struct checkpoint_header *h)
{
    return h->layout == layout && h->front_bytes >= start_ends.front
           && h->arena_bytes >= start_ends.rear && h->memory_first == memory.first
           && h->memory_bytes == memory.size;
}

/* The parts of a file that was checked: pages, bytes, parts of libraries. */
static const struct checkpoint_page *pages_of(const void *bytes)
{
    return (const void *)((const char *)bytes + sizeof(struct checkpoint_header)
                          + sizeof(struct checkpoint_engine));
}

static const char *parts_of(const void *bytes, const struct checkpoint_header *h)
{
    return (const char *)(pages_of(bytes) + h->page_count);
}

static bool check_platform(const char *bytes, const struct checkpoint_header *h, const char *name)
{
    uint64_t size, map_size;
    const void *description = parts_find(parts_of(bytes, h), h->parts_bytes, MERGE_PART, &size);
    const void *map = parts_find(parts_of(bytes, h), h->parts_bytes, MERGE_MAP, &map_size);
    bool is_same = strncmp(h->model, table->model_hash, sizeof h->model) == 0;
    if (is_same)
        return header_fits(h)
               || fail(name, "the components have changed since it was written; write it again");
    const struct merge_file file = {.name = name,
                                    .description = description,
                                    .map = map,
                                    .map_bytes = map_size,
                                    .pages = pages_of(bytes),
                                    .page_count = h->page_count};
    return merge_prepare(table, &file, header_fits(h));
}

/* With the right checksum the file is one that was written: its contents need no checks. */
static bool check(const char *bytes, size_t size, const char *name)
{
    struct checkpoint_header h;
    if (size < sizeof h)
        return fail(name, "it is no file of `heddle run --checkpoint`, or its end is missing");
    memcpy(&h, bytes, sizeof h);
    const char *why = explain_mismatch(&h);
    if (why)
        return fail(name, why);
    uint64_t sum = hash_bytes(0, bytes + sizeof h, size - sizeof h), expected = h.checksum;
    h.checksum = 0;
    if (size % 8 || hash_bytes(sum, &h, sizeof h) != expected)
        return fail(name, "it is damaged, or its end is missing: it does not fit its checksum");
    return check_platform(bytes, &h, name);
}

static void load_engine(const struct checkpoint_header *h, const struct checkpoint_engine *e)
{
    for (uint32_t i = 0; i < engine.domain_count; i++) {
        struct engine_domain *d = &engine.domains[i];
        d->cycle = e->domains[i].cycle;
        d->time_ps = e->domains[i].time_ps;
        d->fraction = e->domains[i].fraction;
    }
    engine.time_ps = h->time_ps;
    engine.domains[0].instructions += h->instructions - engine_instructions();
}

static void place_pages(const struct checkpoint_header *h, const struct checkpoint_page *pages)
{
    arena_clear(engine_base.arena, h->arena_bytes);
    arena_clear(memory.bytes, memory.size);
    for (uint64_t i = 0; i < h->page_count; i++) {
        if (pages[i].number & CHECKPOINT_START)
            continue;
        char *base = pages[i].number & CHECKPOINT_MEMORY ? memory.bytes : engine_base.arena;
        memcpy(base + (pages[i].number & ~CHECKPOINT_MEMORY) * CHECKPOINT_PAGE, pages[i].bytes,
               CHECKPOINT_PAGE);
    }
    merge_apply();
}

/* Puts the contents of a file that was checked in place. */
static bool put_in_place(const void *bytes, const char *name)
{
    struct checkpoint_header h;
    memcpy(&h, bytes, sizeof h);
    const struct checkpoint_engine *e = (const void *)((const char *)bytes + sizeof h);
    if (!arena_extend((struct arena_ends){h.front_bytes, h.arena_bytes}))
        return fail(name, "it is damaged: this platform has no such state");
    place_pages(&h, pages_of(bytes));
    merge_strip(false);
    load_engine(&h, e);
    merge_record_origin(h.time_ps, h.model);
    return parts_load(parts_of(bytes, &h), h.parts_bytes);
}

bool checkpoint_apply(const void *bytes, size_t size, const char *name)
{
    return check(bytes, size, name) && put_in_place(bytes, name);
}

static bool map_file(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has no writer yet */
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        fail(path, fd < 0 ? strerror(errno) : "it is not a file");
        if (fd >= 0)
            close(fd);
        return false;
    }
    pending.size = (size_t)status.st_size;
    pending.bytes = pending.size ? mmap(NULL, pending.size, PROT_READ, MAP_PRIVATE, fd, 0) : "";
    close(fd);
    if (pending.bytes != MAP_FAILED)
        return true;
    pending.bytes = NULL;
    return fail(path, strerror(errno));
}

static void drop_pending(void)
{
    if (pending.bytes && pending.size)
        munmap((void *)(uintptr_t)pending.bytes, pending.size);
    pending.bytes = NULL;
}

bool checkpoint_is_pending(void)
{
    return pending.bytes != NULL;
}

const void *checkpoint_pending_part(const char *name, uint64_t *size)
{
    struct checkpoint_header h;
    memcpy(&h, pending.bytes, sizeof h);
    return parts_find(parts_of(pending.bytes, &h), h.parts_bytes, name, size);
}

bool checkpoint_resume(void)
{
    bool is_complete = put_in_place(pending.bytes, pending.path);
    drop_pending();
    return is_complete;
}

static bool load(const char *path)
{
    uint64_t size;
    pending.path = path;
    if (!map_file(path))
        return false;
    bool is_complete = check(pending.bytes, pending.size, path);
    if (is_complete && platform_driver() && !checkpoint_pending_part("driver", &size))
        is_complete = fail(path, "it has nothing of a program");
    if (is_complete && platform_driver())
        return true; /* the driver says when */
    is_complete = is_complete && put_in_place(pending.bytes, path);
    drop_pending();
    return is_complete;
}

/* ---- start ---- */

static uint64_t fold(uint64_t sum, uint64_t word)
{
    return hash_bytes(sum, &word, sizeof word);
}

/* Clocks, the kinds of parts, what connections hold, and where addresses lead. */
static uint64_t hash_shape(uint64_t sum)
{
    for (uint32_t i = 0; i < table->domain_count; i++)
        sum = fold(sum, table->domains[i].hz);
    for (uint32_t i = 0; i < table->part_count; i++)
        for (const char *type = platform_string(table->parts[i].type); *type; type++)
            sum = fold(sum, (unsigned char)*type);
    for (uint32_t i = 0; i < table->ring_count; i++)
        sum = fold(fold(sum, table->rings[i].depth), table->rings[i].width);
    for (uint32_t i = 0; i < table->space_count; i++) {
        const struct platform_space *s = &table->spaces[i];
        sum = fold(fold(fold(sum, s->target_count), s->base), s->size);
        sum = fold(fold(sum, s->interleave), s->is_hashed);
    }
    return sum;
}

/* Sizes that the offsets in the arena follow from, in addition to the model. */
static uint64_t hash_layout(void)
{
    uint64_t sizes[] = {start_ends.front, start_ends.rear, sizeof(struct component),
                        table->store_count};
    uint64_t sum = hash_bytes(0, sizes, sizeof sizes);
    sum = hash_shape(sum);
    for (uint32_t i = 0; i < table->instance_count; i++) {
        uint64_t bytes = platform_unit_of(i)->instance_bytes;
        sum = hash_bytes(sum, &bytes, sizeof bytes);
    }
    return sum;
}

static uint64_t time_of_cycle(uint64_t cycle)
{
    uint32_t fastest = 0;
    for (uint32_t i = 1; i < engine.domain_count; i++)
        fastest = engine.domains[i].hz > engine.domains[fastest].hz ? i : fastest;
    return engine_time_of(fastest, cycle);
}

void checkpoint_set_driver(const char *why)
{
    driver_objection = why;
}

/* The moment in which a state is to be written lies ahead. */
static bool check_moment(void)
{
    if (!save_path || save_kernel)
        return true;
    struct checkpoint_header h = {.time_ps = engine.time_ps};
    if (pending.bytes)
        memcpy(&h, pending.bytes, sizeof h);
    if (save_ps >= h.time_ps)
        return true;
    fprintf(stderr,
            "heddle: --checkpoint-at lies before the state that was restored, which is of %" PRIu64
            " ps\n",
            h.time_ps);
    return false;
}

bool checkpoint_open(const struct platform_table *described)
{
    uint64_t cycle = option_number("checkpoint-cycle"), ps = option_number("checkpoint-ps");
    const char *restored = option_text("restore"), *set = option_text("set");
    table = described;
    save_path = option_text("checkpoint");
    save_kernel = option_text("checkpoint-kernel");
    save_ps = save_kernel ? ENGINE_NEVER : cycle ? time_of_cycle(cycle) : ps;
    is_saved = has_save_failed = false;
    pending.bytes = NULL;
    if (!save_path && !restored)
        return true;
    if (platform_driver() && driver_objection) {
        fprintf(stderr,
                "heddle: the state of this platform cannot be written or restored: %s, and half "
                "of it is the host program's\n",
                driver_objection);
        return false;
    }
    start_ends = arena_ends();
    layout = hash_layout();
    merge_open(table, set, start_ends.rear, save_path != NULL);
    return (!restored || load(restored)) && check_moment();
}
