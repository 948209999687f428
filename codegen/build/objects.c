/* Compiles units to objects.
 *
 * Invariant: what has a key's name was made from what the key says. A compiler reads files later
 * than we do, so a source that has changed meanwhile has another key by then, and its object is
 * thrown away. */
#include "objects.h"

#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "codegen/emit/emit.h"

#include "cache.h"
#include "outputs.h"
#include "seal.h"

/* A generated C file, and how it is compiled. */
struct source {
    const char *stem;
    const struct layout_unit *unit; /* NULL: the platform's tables */
    const char *path;
    struct words flags;
    struct words folders; /* for quoted includes */
    char key[65];
};

struct plan {
    const struct site *site;
    const struct layout *layout;
    struct objects *objects;
    struct outputs outputs;
    VECTOR(const struct source *) sources; /* the sources of each output */
};

/* Folders for quoted includes: generated files, the authors' folders, the toolkit's. */
static struct words include_folders(const struct plan *plan, const struct layout_unit *unit)
{
    struct region *region = plan->site->region;
    const char *const *toolkit = plan->site->request->toolkit->include;
    struct words list = {0};
    vector_push(region, &list, plan->site->folder);
    if (unit) {
        const char **folders;
        uint32_t count = layout_unit_folders(plan->layout, unit, &folders);
        for (uint32_t i = 0; i < count; i++)
            vector_push(region, &list, *folders[i] ? folders[i] : ".");
    }
    for (size_t i = 0; toolkit[i]; i++)
        vector_push(region, &list, toolkit[i]);
    return list;
}

/* Keys a source by what `depend` reads. NULL: it cannot be read. */
static const struct source *read_source(const struct plan *plan, struct depend *depend,
                                        const char *stem, const struct layout_unit *unit)
{
    const struct site *site = plan->site;
    struct source *source = region_take(site->region, sizeof *source);
    *source = (struct source){
        .stem = stem,
        .unit = unit,
        .path = region_printf(site->region, "%s/%s.c", site->folder, stem),
        .flags = build_flags(site->region, unit, site->request->profile),
        .folders = include_folders(plan, unit),
    };
    struct sha256 hash;
    sha256_init(&hash);
    sha256_add_string(&hash, site->compiler.key);
    for (uint32_t i = 0; i < source->flags.count; i++)
        sha256_add_string(&hash, source->flags.items[i]);
    if (!depend_add(depend, &hash, source->path, source->folders.items, source->folders.count))
        return NULL;
    sha256_finish(&hash, source->key);
    return source;
}

/* The object, if it came compiled with the toolkit; NULL: it did not. A user who can write there
 * can change the toolkit's sources as well. */
static const char *shipped_object(const struct site *site, const char *key)
{
    const char *folder = site->request->toolkit->objects;
    if (!folder)
        return NULL;
    const char *object = region_printf(site->region, "%s/%.2s/%s.o", folder, key, key);
    return seal_holds(object) ? object : NULL;
}

static void plan_compile(struct plan *plan, const struct source *source, const char *object)
{
    struct region *region = plan->site->region;
    struct words argv = {0};
    vector_push(region, &argv, plan->site->compiler.name);
    for (uint32_t i = 0; i < source->flags.count; i++)
        vector_push(region, &argv, source->flags.items[i]);
    for (uint32_t i = 0; i < source->folders.count; i++) {
        vector_push(region, &argv, "-iquote");
        vector_push(region, &argv, source->folders.items[i]);
    }
    vector_push(region, &argv, "-c");
    vector_push(region, &argv, source->path);
    vector_push(region, &argv, "-o");
    vector_push(region, &argv, outputs_temporary(plan->site, object));
    outputs_plan(plan->site, &plan->outputs, source->stem, &argv, object);
    vector_push(region, &plan->sources, source);
}

/* Keys one generated C file; plans its compilation when neither the cache has it nor the toolkit.
 */
static bool plan_source(struct plan *plan, const char *stem, const struct layout_unit *unit)
{
    const struct site *site = plan->site;
    const struct source *source = read_source(plan, &plan->objects->depend, stem, unit);
    if (!source)
        return false;
    const char *folder = region_printf(site->region, "%s/objects/%.2s", site->cache, source->key);
    const char *object = region_printf(site->region, "%s/%s.o", folder, source->key);
    bool is_there = seal_holds(object);
    const char *shipped = is_there ? NULL : shipped_object(site, source->key);
    vector_push(site->region, &plan->objects->paths, shipped ? shipped : object);
    if (is_there)
        cache_touch(object);
    if (is_there || shipped)
        return true;
    if (!emit_make_folder(folder))
        return false;
    plan_compile(plan, source, object);
    return true;
}

/* True if the source still has its key, with every file read again. */
static bool is_unchanged(const struct plan *plan, struct depend *depend,
                         const struct source *source)
{
    const struct source *now = read_source(plan, depend, source->stem, source->unit);
    if (now && strcmp(now->key, source->key) == 0)
        return true;
    fprintf(stderr, "heddle: sources of %s have changed while it was compiled; build again\n",
            source->stem);
    return false;
}

static bool compile(struct plan *plan)
{
    struct depend again;
    depend_init(&again, plan->site->region);
    outputs_make(plan->site, &plan->outputs);
    for (uint32_t i = 0; i < plan->sources.count; i++) {
        bool *ok = &plan->outputs.jobs.items[i].ok;
        *ok = *ok && is_unchanged(plan, &again, plan->sources.items[i]);
    }
    return outputs_keep(plan->site, &plan->outputs);
}

bool objects_make(const struct site *site, const struct layout *layout, struct objects *objects)
{
    struct plan plan = {.site = site, .layout = layout, .objects = objects};
    *objects = (struct objects){0};
    depend_init(&objects->depend, site->region);
    bool ok = plan_source(&plan, "platform", NULL);
    for (uint32_t i = 0; ok && i < layout->units.count; i++)
        ok = plan_source(&plan, layout->units.items[i]->symbol, layout->units.items[i]);
    objects->compiled = plan.sources.count;
    return ok && (objects->compiled == 0 || compile(&plan));
}
