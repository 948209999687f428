/* Images of platform tables; see tables.h. Reading maps the file and points into it. The checksum
 * proves that heddle has written the file, so its contents need no further checks. */
#include "tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/number.h"

#define CHECKED offsetof(struct tables_header, abi) /* from here on */

struct section {
    const void *data;
    uint32_t count;
    uint32_t size;
};

static uint32_t find_string(const struct platform_table *t, const char *text)
{
    size_t bytes = strlen(text) + 1;
    for (uint32_t section_at = 0; section_at + bytes <= t->string_bytes; section_at++)
        if ((section_at == 0 || t->strings[section_at - 1] == '\0')
            && memcmp(t->strings + section_at, text, bytes) == 0)
            return section_at;
    return UINT32_MAX;
}

static void list_sections(const struct platform_table *t, struct section s[TABLES_SECTIONS])
{
    s[TABLES_STRINGS] = (struct section){t->strings, t->string_bytes, 1};
    s[TABLES_UNITS] = (struct section){NULL, t->unit_count, sizeof(uint32_t)};
    s[TABLES_DOMAINS] = (struct section){t->domains, t->domain_count, sizeof *t->domains};
    s[TABLES_GROUPS] = (struct section){t->groups, t->group_count, sizeof *t->groups};
    s[TABLES_INSTANCES] = (struct section){t->instances, t->instance_count, sizeof *t->instances};
    s[TABLES_RINGS] = (struct section){t->rings, t->ring_count, sizeof *t->rings};
    s[TABLES_LINKS] = (struct section){t->links, t->link_count, sizeof *t->links};
    s[TABLES_PARTS] = (struct section){t->parts, t->part_count, sizeof *t->parts};
    s[TABLES_PROTOCOLS] = (struct section){t->protocols, t->protocol_count, sizeof *t->protocols};
    s[TABLES_MESSAGES] = (struct section){t->messages, t->message_count, sizeof *t->messages};
    s[TABLES_SPACES] = (struct section){t->spaces, t->space_count, sizeof *t->spaces};
    s[TABLES_MAPS] = (struct section){t->maps, t->map_count, sizeof *t->maps};
    s[TABLES_PARAM_NAMES] = (struct section){t->param_names, t->param_words, sizeof(uint32_t)};
    s[TABLES_PARAM_UNITS] = (struct section){t->param_units, t->param_words, sizeof(uint32_t)};
    s[TABLES_PARAMS] = (struct section){t->params, t->param_words, sizeof(int64_t)};
    s[TABLES_BINDINGS] = (struct section){t->bindings, t->binding_words, sizeof(uint32_t)};
    s[TABLES_BINDING_KINDS] = (struct section){t->binding_kinds, t->binding_words, 1};
    s[TABLES_PORT_RINGS] = (struct section){t->port_rings, t->port_ring_words, sizeof(uint32_t)};
    s[TABLES_PART_REFS] = (struct section){t->part_refs, t->part_ref_count, sizeof(uint32_t)};
    s[TABLES_INCOMING] = (struct section){t->incoming, t->incoming_count, sizeof(uint32_t)};
    s[TABLES_PARTITIONS] = (struct section){t->partitions, t->partition_count, sizeof(uint32_t)};
    s[TABLES_ROUTES] = (struct section){t->routes, t->route_words, sizeof(uint32_t)};
}

static uint64_t checksum(const struct tables_header *h, size_t bytes)
{
    return hash_bytes(0, (const char *)h + CHECKED, bytes - CHECKED);
}

static size_t aligned(size_t bytes)
{
    return round_up(bytes, 16);
}

size_t tables_image_bytes(const struct platform_table *t)
{
    struct section s[TABLES_SECTIONS];
    size_t bytes = aligned(sizeof(struct tables_header));
    if (find_string(t, t->model_hash) == UINT32_MAX)
        return 0;
    for (uint32_t i = 0; i < t->unit_count; i++)
        if (find_string(t, t->units[i]->name) == UINT32_MAX)
            return 0;
    list_sections(t, s);
    for (unsigned i = 0; i < TABLES_SECTIONS; i++)
        bytes += aligned((size_t)s[i].count * s[i].size);
    return bytes;
}

void tables_image(const struct platform_table *t, char *image, size_t bytes)
{
    struct tables_header *h = (void *)image;
    struct section s[TABLES_SECTIONS];
    size_t offset = aligned(sizeof *h);
    memset(image, 0, bytes);
    list_sections(t, s);
    h->magic = TABLES_MAGIC;
    h->abi = t->abi;
    h->name = t->name;
    h->model_hash = find_string(t, t->model_hash);
    h->settings = t->settings ? (uint32_t)(t->settings - t->strings) : t->string_bytes - 1;
    h->store_count = t->store_count;
    for (unsigned i = 0; i < TABLES_SECTIONS; i++) {
        h->section[i].offset = offset;
        h->section[i].count = s[i].count;
        h->section[i].size = s[i].size;
        if (i == TABLES_UNITS)
            for (uint32_t u = 0; u < t->unit_count; u++)
                ((uint32_t *)(void *)(image + offset))[u] = find_string(t, t->units[u]->name);
        else if (s[i].count)
            memcpy(image + offset, s[i].data, (size_t)s[i].count * s[i].size);
        offset += aligned((size_t)s[i].count * s[i].size);
    }
    h->checksum = checksum(h, bytes);
}

/* ---- reading ---- */

/* NULL, or why the file is none. */
static const char *refusal(const struct tables_header *h, size_t bytes)
{
    if (bytes < sizeof *h || h->magic != TABLES_MAGIC)
        return "it is not a tables file";
    if (h->abi != PLATFORM_ABI)
        return "it was made for another version of heddle; generate it again";
    return bytes % 16 || h->checksum != checksum(h, bytes) ? "it is truncated or damaged" : NULL;
}

static const void *section_at(const struct tables_header *h, enum tables_section section)
{
    return (const char *)h + h->section[section].offset;
}

static void fill_table(struct platform_table *t, const struct tables_header *h)
{
    t->abi = h->abi;
    t->name = h->name;
    t->strings = section_at(h, TABLES_STRINGS);
    t->model_hash = t->strings + h->model_hash;
    t->settings = t->strings + h->settings;
    t->domains = section_at(h, TABLES_DOMAINS);
    t->groups = section_at(h, TABLES_GROUPS);
    t->instances = section_at(h, TABLES_INSTANCES);
    t->rings = section_at(h, TABLES_RINGS);
    t->links = section_at(h, TABLES_LINKS);
    t->parts = section_at(h, TABLES_PARTS);
    t->protocols = section_at(h, TABLES_PROTOCOLS);
    t->messages = section_at(h, TABLES_MESSAGES);
    t->spaces = section_at(h, TABLES_SPACES);
    t->maps = section_at(h, TABLES_MAPS);
    t->param_names = section_at(h, TABLES_PARAM_NAMES);
    t->param_units = section_at(h, TABLES_PARAM_UNITS);
    t->params = section_at(h, TABLES_PARAMS);
    t->bindings = section_at(h, TABLES_BINDINGS);
    t->binding_kinds = section_at(h, TABLES_BINDING_KINDS);
    t->port_rings = section_at(h, TABLES_PORT_RINGS);
    t->part_refs = section_at(h, TABLES_PART_REFS);
    t->incoming = section_at(h, TABLES_INCOMING);
    t->partitions = section_at(h, TABLES_PARTITIONS);
    t->routes = section_at(h, TABLES_ROUTES);
    t->unit_count = h->section[TABLES_UNITS].count;
    t->domain_count = h->section[TABLES_DOMAINS].count;
    t->group_count = h->section[TABLES_GROUPS].count;
    t->instance_count = h->section[TABLES_INSTANCES].count;
    t->ring_count = h->section[TABLES_RINGS].count;
    t->link_count = h->section[TABLES_LINKS].count;
    t->part_count = h->section[TABLES_PARTS].count;
    t->protocol_count = h->section[TABLES_PROTOCOLS].count;
    t->message_count = h->section[TABLES_MESSAGES].count;
    t->space_count = h->section[TABLES_SPACES].count;
    t->map_count = h->section[TABLES_MAPS].count;
    t->param_words = h->section[TABLES_PARAMS].count;
    t->binding_words = h->section[TABLES_BINDINGS].count;
    t->port_ring_words = h->section[TABLES_PORT_RINGS].count;
    t->part_ref_count = h->section[TABLES_PART_REFS].count;
    t->incoming_count = h->section[TABLES_INCOMING].count;
    t->partition_count = h->section[TABLES_PARTITIONS].count;
    t->route_words = h->section[TABLES_ROUTES].count;
    t->store_count = h->store_count;
    t->string_bytes = h->section[TABLES_STRINGS].count;
}

/* True if the tables belong to what was compiled. */
static bool header_fits(const struct tables_header *h, const struct platform_table *t,
                        const struct platform_image *image)
{
    const uint32_t *names = section_at(h, TABLES_UNITS);
    if (t->unit_count != image->unit_count
        || (image->model_hash && strcmp(image->model_hash, t->model_hash) != 0))
        return false;
    for (uint32_t i = 0; i < t->unit_count; i++)
        if (strcmp(image->units[i]->name, t->strings + names[i]) != 0)
            return false;
    return true;
}

const struct platform_table *tables_read(const char *path, const struct platform_image *image)
{
    static struct platform_table table;
    struct stat status;
    const char *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *file = MAP_FAILED;
    if (fd < 0 || fstat(fd, &status) != 0)
        why = strerror(errno);
    else if ((file = mmap(NULL, (size_t)status.st_size + 1, PROT_READ, MAP_PRIVATE, fd, 0))
             == MAP_FAILED)
        why = strerror(errno);
    else
        why = refusal(file, (size_t)status.st_size);
    if (fd >= 0)
        close(fd);
    if (!why) {
        fill_table(&table, file);
        table.units = image->units;
        if (!header_fits(file, &table, image))
            why = "they are of another platform";
    }
    if (why)
        fprintf(stderr, "heddle: cannot use the tables '%s': %s\n", path, why);
    return why ? NULL : &table;
}
