/* `heddle topology`: the files that the kernel driver of a machine with the platform's GPUs shows,
 * and the few others that AMD's runtime reads beside them. topology.h has what they say,
 * topology.def every property. */
#include "topology.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/number.h"

#define FOLDER        VIEW_TOPOLOGY_FOLDER
#define FIRST_GPU_ID  4096 /* components/kfd/channel/kfd_ids.h */
#define RENDER_MINOR  128
#define SIBLINGS_MAX  256u /* ROCt, HSA_CPU_SIBLINGS */
#define SIBLINGS_STEP 32u  /* kernel: four bytes for each array */

struct writer {
    struct topology t;
    const struct view_files *files;
    VECTOR(char) text; /* text of the file that is being written */
    bool ok;
};

__attribute__((format(printf, 2, 3))) static void add_text(struct writer *w, const char *format,
                                                           ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *piece = region_vprintf(w->t.region, format, arguments);
    va_end(arguments);
    for (; *piece; piece++)
        vector_push(w->t.region, &w->text, *piece);
}

/* Writes and empties the text. */
static void put_file(struct writer *w, const char *path)
{
    vector_push(w->t.region, &w->text, '\0');
    if (w->ok)
        w->ok = w->files->put(w->files->context, path, w->text.items);
    w->text.count = 0;
}

static const char *path_of(struct writer *w, const struct topology_node *n, const char *kind,
                           uint32_t number)
{
    return region_printf(w->t.region, FOLDER "nodes/%u/%s/%u/properties", n->number, kind, number);
}

/* ---- properties ---- */

enum kind { SYSTEM, NODE, GPU, BANK, CACHE, LINK };

/* The subject of a file: a node, and its cache or link. */
struct subject {
    const struct topology_node *n;
    const struct topology_cache *cache;
    const struct topology_link *link;
};

static bool row_is_in_file(enum kind row, enum kind file, const struct subject *about)
{
    return row == file || (row == GPU && file == NODE && about->n->compute_units);
}

static void put_properties(struct writer *w, enum kind file, const struct subject *about)
{
    const struct topology_node *n = about->n;
    const struct topology_bank *bank = n ? &n->bank : NULL;
    const struct topology_cache *cache = about->cache;
    const struct topology_link *link = about->link;
#define PROPERTY(kind, name, value, source)                                                        \
    if (row_is_in_file(kind, file, about))                                                         \
        add_text(w, #name " %" PRIu64 "\n", (uint64_t)(value));
#include "topology.def"
#undef PROPERTY
}

static void put_siblings(struct writer *w, uint32_t units)
{
    uint32_t places = round_up(units, SIBLINGS_STEP);
    add_text(w, "sibling_map ");
    for (uint32_t i = 0; i < places && i < SIBLINGS_MAX; i++)
        add_text(w, "%s%d", i ? "," : "", i < units);
    add_text(w, "\n");
}

/* ---- files ---- */

static void write_node(struct writer *w, const struct topology_node *n)
{
    const char *folder = region_printf(w->t.region, FOLDER "nodes/%u", n->number);
    add_text(w, "%u\n", n->number ? FIRST_GPU_ID + n->number - 1 : 0);
    put_file(w, region_printf(w->t.region, "%s/gpu_id", folder));
    add_text(w, "%s\n", n->chip ? n->chip->name : "");
    put_file(w, region_printf(w->t.region, "%s/name", folder));
    put_properties(w, NODE, &(struct subject){.n = n});
    put_file(w, region_printf(w->t.region, "%s/properties", folder));
    put_properties(w, BANK, &(struct subject){.n = n});
    put_file(w, path_of(w, n, "mem_banks", 0));
    for (uint32_t i = 0; i < n->caches.count; i++) {
        put_properties(w, CACHE, &(struct subject){.n = n, .cache = &n->caches.items[i]});
        put_siblings(w, n->caches.items[i].units);
        put_file(w, path_of(w, n, "caches", i));
    }
    for (uint32_t i = 0; i < n->peers.count; i++) {
        put_properties(w, LINK, &(struct subject){.n = n, .link = &n->peers.items[i]});
        put_file(w, path_of(w, n, "p2p_links", i));
    }
    for (uint32_t i = 0; i < n->links.count; i++) {
        put_properties(w, LINK, &(struct subject){.n = n, .link = &n->links.items[i]});
        put_file(w, path_of(w, n, "io_links", i));
    }
}

static void write_topology(struct writer *w)
{
    add_text(w, "1\n");
    put_file(w, FOLDER "generation_id");
    put_properties(w, SYSTEM, &(struct subject){0});
    put_file(w, FOLDER "system_properties");
    for (uint32_t i = 0; i < w->t.count; i++)
        write_node(w, &w->t.nodes[i]);
}

/* Files that libdrm reads: of a render node, its list of names, the list of modules. GPUs of one
 * chip have names of their own by their revision, which the interposer tells. */
static void write_surroundings(struct writer *w)
{
    struct region *region = w->t.region;
    add_text(w, "amdgpu 1 0 - Live 0x0000000000000000\n");
    put_file(w, "/proc/modules");
    put_file(w, "/sys/module/amdgpu/holders/");
    add_text(w, "1.0.0\n");
    for (uint32_t i = 1; i < w->t.count; i++)
        add_text(w, "%04X,\t%02X,\t%s %s\n", w->t.nodes[i].chip->device_id, (i - 1) & 0xff,
                 w->t.model->name, w->t.nodes[i].root->path);
    put_file(w, "/usr/share/libdrm/amdgpu.ids");
    put_file(w, "/dev/kfd");
    for (uint32_t i = 0; i + 1 < w->t.count; i++) {
        put_file(w, region_printf(region, "/dev/dri/renderD%u", RENDER_MINOR + i));
        add_text(w, "226:%u\n", RENDER_MINOR + i);
        put_file(w, region_printf(region, "/sys/dev/char/226:%u/device/drm/renderD%u/dev",
                                  RENDER_MINOR + i, RENDER_MINOR + i));
        add_text(w, "226:%u\n", i);
        put_file(w, region_printf(region, "/sys/dev/char/226:%u/device/drm/card%u/dev",
                                  RENDER_MINOR + i, i));
    }
}

bool view_topology(const struct model *model, const struct view_files *files, bool whole,
                   struct view_error *error)
{
    struct region region;
    region_init(&region, "a description");
    struct writer w = {.t = {.region = &region, .model = model}, .files = files, .ok = true};
    bool collected = topology_collect(&w.t, error);
    if (collected)
        write_topology(&w);
    if (collected && whole)
        write_surroundings(&w);
    region_release(&region);
    return collected && w.ok;
}

void view_topology_sources(FILE *out)
{
    static const struct {
        const char *kind, *name, *source;
    } rows[] = {
#define PROPERTY(kind, name, value, source) {#kind, #name, source},
#include "topology.def"
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        fprintf(out, "%-7s %-27s %s\n", rows[i].kind, rows[i].name, rows[i].source);
}
