/* State files of one model with other parameters. Words have 4 bytes: most of what components keep
 * of parameters has so many, and a neighbour that changes while the platform runs must not be in
 * their way. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/instances.h"
#include "runtime/link/ring_run.h"

#include "checkpoint_internal.h"
#include "lookup.h"
#include "platform.h"

enum {
    WORD = 4,
    WORDS = CHECKPOINT_PAGE / WORD,
    NAMED = 4, /* parameters in a message */
    TEXT = 1024,
};

/* MERGE_PART; after it `params` numbers and the lines of --set. */
struct description {
    char platform[64];
    uint64_t instances, params, set_bytes;
};

struct patch {
    uint64_t offset; /* in the arena */
    uint32_t word;
};

static const struct platform_table *own_table;
static const char *own_set;
static uint64_t start_bytes;
static struct checkpoint_page *start; /* reserved; NULL: not kept */
static uint64_t start_count;
static uint8_t *start_map;    /* reserved */
static struct patch *patches; /* reserved; NULL: there are none */
static uint64_t patch_count;
static struct checkpoint_origin origin;
static char origin_model[sizeof((struct checkpoint_header *)0)->model];
static char *origin_set; /* reserved */

/* ---- what a state says of its platform ---- */

static const char *platform_name(void)
{
    return platform_string(own_table->name);
}

static uint64_t description_size(void)
{
    return sizeof(struct description) + own_table->param_words * sizeof *own_table->params
           + strlen(own_set) + 1;
}

static void description_save(struct checkpoint_sink *to)
{
    struct description t = {.instances = own_table->instance_count,
                            .params = own_table->param_words,
                            .set_bytes = strlen(own_set) + 1};
    snprintf(t.platform, sizeof t.platform, "%s", platform_name());
    checkpoint_put(to, &t, sizeof t);
    checkpoint_put(to, own_table->params, own_table->param_words * sizeof *own_table->params);
    checkpoint_put(to, own_set, t.set_bytes);
}

static bool ignore_part(const void *bytes, uint64_t size)
{
    (void)bytes;
    (void)size; /* the part was checked before */
    return true;
}

static const struct checkpoint_part description_part = {
    .name = MERGE_PART, .size = description_size, .save = description_save, .load = ignore_part};

/* ---- the start ---- */

/* A bit for each page of the arena: it held something then. */
static uint64_t map_size(void)
{
    return start_map ? divide_up(start_bytes / CHECKPOINT_PAGE + 1, 8) : 0;
}

static void map_save(struct checkpoint_sink *to)
{
    checkpoint_put(to, start_map, map_size());
}

static const struct checkpoint_part map_part = {
    .name = MERGE_MAP, .size = map_size, .save = map_save, .load = ignore_part};

void merge_strip(bool strip)
{
    if (strip) {
        engine_hide_pointers();
        platform_hide_kinds();
    } else {
        engine_show_pointers();
        platform_show_kinds();
    }
    ring_trace_all(!strip && engine.tracing != 0);
}

static bool holds_something(const char *page)
{
    static const char zeros[CHECKPOINT_PAGE];
    return memcmp(page, zeros, CHECKPOINT_PAGE) != 0;
}

/* The next page that may hold something. */
static uint64_t skip_hole(uint64_t page)
{
    return arena_skip(page * CHECKPOINT_PAGE) / CHECKPOINT_PAGE;
}

void merge_open(const struct platform_table *table, const char *set, uint64_t bytes,
                bool keeps_start)
{
    own_table = table;
    own_set = set ? set : "";
    start_bytes = bytes;
    start_count = patch_count = 0;
    origin = (struct checkpoint_origin){0};
    checkpoint_register(&description_part);
    checkpoint_register(&map_part);
    if (!keeps_start)
        return;
    uint64_t pages = divide_up(bytes, CHECKPOINT_PAGE);
    if (!start)
        start = arena_reserve(pages * sizeof *start);
    if (!start_map)
        start_map = arena_reserve(pages / 8 + 1);
    merge_strip(true);
    for (uint64_t i = 0; i < pages; i = skip_hole(i + 1)) {
        const char *page = engine_base.arena + i * CHECKPOINT_PAGE;
        if (!holds_something(page))
            continue;
        start_map[i / 8] |= (uint8_t)(1u << i % 8);
        start[start_count].number = i;
        memcpy(start[start_count++].bytes, page, CHECKPOINT_PAGE);
    }
    merge_strip(false);
}

const struct checkpoint_page *merge_start_pages(uint64_t *count)
{
    *count = start_count;
    return start;
}

/* ---- messages ---- */

static const char *owner_of(uint32_t param)
{
    for (uint32_t i = 0; i < own_table->instance_count; i++)
        if (param - own_table->instances[i].params < own_table->instances[i].param_count)
            return platform_string(own_table->instances[i].path);
    for (uint32_t i = 0; i < own_table->part_count; i++)
        if (param - own_table->parts[i].params < own_table->parts[i].param_count)
            return platform_string(own_table->parts[i].path);
    return "";
}

/* "device.cache[*].sets": all members of an array are named at once. */
static void name_param(uint32_t param, char *to, size_t size)
{
    const char *from = owner_of(param);
    size_t used = 0;
    for (; *from && used + 4 < size; from++) {
        to[used++] = *from;
        if (*from != '[')
            continue;
        to[used++] = '*';
        from += strcspn(from, "]") - 1;
    }
    snprintf(to + used, size - used, ".%s", platform_string(own_table->param_names[param]));
}

static void describe(const int64_t *then, uint32_t param, const char *name, char *to, size_t size)
{
    const char *unit = platform_string(own_table->param_units[param]);
    snprintf(to, size, "%s is %" PRId64 "%s%s, was %" PRId64, name, own_table->params[param],
             *unit ? " " : "", unit, then[param]);
}

/* Times and rates say how long something takes; all others decide what is where. */
static bool is_time(uint32_t param)
{
    static const char *const units[] = {"cy", "ps", "B/s", "B/cy"};
    for (size_t i = 0; i < ARRAY_COUNT(units); i++)
        if (strcmp(platform_string(own_table->param_units[param]), units[i]) == 0)
            return true;
    return false;
}

/* Names the parameters that differ from `then`, all of them or only those that are no times; the
 * first ones with their values. */
static void name_changes(const int64_t *then, bool names_times, char *text, size_t size)
{
    char names[NAMED][256];
    unsigned count = 0;
    *text = '\0';
    for (uint32_t i = 0; i < own_table->param_words && count < NAMED; i++) {
        bool is_known = false;
        if (own_table->params[i] == then[i] || (!names_times && is_time(i)))
            continue;
        name_param(i, names[count], sizeof names[count]);
        for (unsigned n = 0; n < count && !is_known; n++)
            is_known = strcmp(names[n], names[count]) == 0;
        if (is_known)
            continue;
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s", count ? "; " : "");
        used = strlen(text);
        describe(then, i, names[count++], text + used, size - used);
    }
}

static bool fail(const struct merge_file *file, const char *why, const char *detail)
{
    fprintf(stderr, "heddle: cannot load '%s': %s%s\n", file->name, why, detail);
    return false;
}

/* ---- comparing ---- */

/* A walk over the pages of one kind in a file, which are in ascending order. */
struct walk {
    const struct merge_file *file;
    uint64_t at, kind;
};

static const uint8_t *page_at(struct walk *w, uint64_t number)
{
    const struct merge_file *f = w->file;
    while (w->at < f->page_count && f->pages[w->at].number < (number | w->kind))
        w->at++;
    return w->at < f->page_count && f->pages[w->at].number == (number | w->kind)
               ? f->pages[w->at].bytes
               : NULL;
}

static uint32_t word_of(const void *page, unsigned i)
{
    uint32_t word = 0;
    if (page)
        memcpy(&word, (const char *)page + i * WORD, WORD);
    return word;
}

/* `then` and `now`: the page at the two starts, `saved`: as it is in the state; NULL: zeros. */
static bool compare_page(uint64_t number, const void *then, const void *saved, const char *now)
{
    for (unsigned i = 0; i < WORDS; i++) {
        uint32_t word = word_of(now, i), before = word_of(then, i);
        if (word == before)
            continue;
        if (word_of(saved, i) != before)
            return false;
        patches[patch_count++] = (struct patch){number * CHECKPOINT_PAGE + i * WORD, word};
    }
    return true;
}

static bool held_at_start(const struct merge_file *file, uint64_t page)
{
    return page / 8 < file->map_bytes && file->map[page / 8] >> page % 8 & 1;
}

static bool compare(const struct merge_file *file)
{
    struct walk starts = {file, 0, CHECKPOINT_START}, saves = {file, 0, 0};
    uint64_t pages = divide_up(start_bytes, CHECKPOINT_PAGE);
    bool is_complete = true;
    patch_count = 0;
    if (!patches)
        patches = arena_reserve(pages * WORDS * sizeof *patches);
    merge_strip(true);
    for (uint64_t i = 0; i < pages && is_complete; i = skip_hole(i + 1)) {
        const char *now = engine_base.arena + i * CHECKPOINT_PAGE;
        const uint8_t *saved = page_at(&saves, i), *then = page_at(&starts, i);
        then = then || !held_at_start(file, i) ? then : saved;
        if (then ? memcmp(now, then, CHECKPOINT_PAGE) != 0 : holds_something(now))
            is_complete = compare_page(i, then, saved, now);
    }
    merge_strip(false);
    return is_complete;
}

bool merge_prepare(const struct platform_table *table, const struct merge_file *file, bool fits)
{
    const struct description *t = file->description;
    char places[TEXT], changes[TEXT], setting[TEXT];
    own_table = table;
    const int64_t *then = (const void *)(t + 1);
    const char *set = (const char *)(then + t->params);
    snprintf(setting, sizeof setting, "%s%s", *set ? " --set " : "out --set", set);
    for (char *line = setting; (line = strchr(line, '\n'));)
        *line = ' ';
    if (strcmp(t->platform, platform_name()) != 0)
        return fail(file, "it is of another platform: ", t->platform);
    if (t->instances != table->instance_count || t->params != table->param_words)
        return fail(file, "it is of another shape of this platform, written with", setting);
    name_changes(then, false, places, sizeof places);
    if (*places)
        return fail(file,
                    "parameters that decide what is where are not those of the state; only times "
                    "and rates may be others: ",
                    places);
    name_changes(then, true, changes, sizeof changes);
    if (!fits && *changes)
        return fail(
            file,
            "these times decide how much is kept, so they must be those of the state: ", changes);
    if (!fits)
        return fail(file, "it is of other clocks, parts or connections, written with", setting);
    if (!compare(file))
        return fail(file,
                    "what these parameters decide was in use when it was written, so they cannot "
                    "be others now: ",
                    changes);
    origin_set = origin_set ? origin_set : arena_reserve(t->set_bytes);
    memcpy(origin_set, set, t->set_bytes);
    return true;
}

void merge_apply(void)
{
    for (uint64_t i = 0; i < patch_count; i++)
        memcpy(engine_base.arena + patches[i].offset, &patches[i].word, WORD);
}

void merge_record_origin(uint64_t time_ps, const char *model)
{
    if (!origin_set || strcmp(model, own_table->model_hash) == 0)
        return;
    snprintf(origin_model, sizeof origin_model, "%s", model);
    origin = (struct checkpoint_origin){time_ps, origin_model, origin_set};
}

bool checkpoint_origin(struct checkpoint_origin *to)
{
    *to = origin;
    return origin.model != NULL;
}
