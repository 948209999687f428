/* See measure.h. Instances come first, then parts, in every list of "own" shares. */
#include "codegen/report/measure.h"

#include <string.h>

#include "codegen/emit/intern.h"
#include "codegen/report/statistics_read.h"

/* What declares measures: an instance or a part. */
struct place {
    const char *path;
    const struct model_type *type;
    const struct model_measure *measures;
};

static uint32_t owner_domain(const struct model *model, const struct model_part *part)
{
    uint32_t best = 0;
    size_t longest = 0;
    for (uint32_t i = 0; i < model->leaf_count; i++) {
        const char *path = model->leaves[i]->path;
        size_t length = strlen(path);
        if (length > longest && strncmp(part->path, path, length) == 0
            && part->path[length] == '.') {
            longest = length;
            best = model->leaves[i]->domain;
        }
    }
    return best;
}

static struct place place_at(const struct model *model, uint32_t index)
{
    if (index < model->instance_count) {
        const struct model_instance *i = model->instances[index];
        return (struct place){i->path, i->type, i->measures};
    }
    const struct model_part *p = model->parts[index - model->instance_count];
    return (struct place){p->path, p->type, p->measures};
}

static uint32_t place_count(const struct model *model)
{
    return model->instance_count + model->part_count;
}

/* `pattern` may have [*] for any index. */
static bool matches(const char *pattern, const char *path)
{
    while (*pattern) {
        if (strncmp(pattern, "[*]", 3) == 0 && *path == '[') {
            pattern += 3;
            path += strcspn(path, "]") + 1;
            continue;
        }
        if (*pattern++ != *path++)
            return false;
    }
    return *path == '\0';
}

static double side_value(const struct place *p, const struct model_measure_side *side,
                         json_t *stats, double cycles)
{
    double sum = 0;
    for (uint32_t i = 0; i < side->count; i++) {
        const struct model_measure_term *t = &side->terms[i];
        sum += t->factor
               * (t->stat < 0 ? cycles
                              : (double)statistics_number(stats, p->type->stats[t->stat].name));
    }
    return sum;
}

/* `stats` are the sums over `count` places like `p`; each gets its share of them. */
static void add_place(struct measured *m, uint32_t index, const struct place *p, json_t *stats,
                      double count, uint64_t cycles)
{
    for (uint32_t i = 0; i < p->type->measure_count; i++) {
        const struct model_measure *measure = &p->measures[i];
        struct view_share *share = &m->own[measure->decl->kind][index];
        double all = (double)cycles * count;
        share->part += side_value(p, &measure->part, stats, all) / count;
        share->whole += side_value(p, &measure->whole, stats, all) / count;
    }
}

/* The sums of an array, whose path has [*]. */
static void add_sums(struct measured *m, const struct model *model, const char *path, json_t *stats)
{
    double count = 0;
    for (uint32_t i = 0; i < place_count(model); i++)
        count += matches(path, place_at(model, i).path);
    for (uint32_t i = 0; i < place_count(model); i++) {
        struct place p = place_at(model, i);
        if (matches(path, p.path))
            add_place(m, i, &p, stats, count, m->cycles[m->domains[i]]);
    }
}

static void add_components(struct measured *m, struct arena *arena, const struct model *model,
                           json_t *components)
{
    const char *path;
    json_t *stats;
    struct intern index;
    intern_init(&index, arena);
    for (uint32_t i = 0; i < place_count(model); i++)
        intern_add(&index, place_at(model, i).path, i);
    json_object_foreach(components, path, stats)
    {
        if (strstr(path, "[*]")) {
            add_sums(m, model, path, stats);
            continue;
        }
        const struct intern_entry *found = intern_find(&index, path);
        if (!found)
            continue;
        struct place p = place_at(model, found->value);
        add_place(m, found->value, &p, stats, 1, m->cycles[m->domains[found->value]]);
    }
}

static uint32_t *domains_of(struct arena *arena, const struct model *model)
{
    uint32_t *domains = arena_alloc(arena, place_count(model) * sizeof *domains);
    for (uint32_t i = 0; i < model->instance_count; i++)
        domains[i] = model->instances[i]->domain;
    for (uint32_t i = 0; i < model->part_count; i++)
        domains[model->instance_count + i] =
            model->domain_count > 1 ? owner_domain(model, model->parts[i]) : 0;
    return domains;
}

static void prepare(struct measured *m, struct arena *arena, const struct model *model)
{
    *m = (struct measured){.scope = "run"};
    m->cycles = arena_alloc(arena, model->domain_count * sizeof *m->cycles);
    m->domains = domains_of(arena, model);
    for (unsigned k = 0; k < MODEL_MEASURE_COUNT; k++) {
        m->own[k] = arena_alloc(arena, place_count(model) * sizeof *m->own[k]);
        m->instances[k] = arena_alloc(arena, model->instance_count * sizeof *m->instances[k]);
        m->connections[k] = arena_alloc(arena, model->connection_count * sizeof *m->connections[k]);
    }
}

static uint32_t payload_of(const struct model_message *messages, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t f = 0; f < messages[i].field_count; f++)
            if (messages[i].fields[f].kind == MODEL_FIELD_BYTES
                && messages[i].fields[f].size > most)
                most = messages[i].fields[f].size;
    return most;
}

/* Messages a cycle; interconnects send one from each way out. */
static double rate_of(const struct model_connection *c)
{
    return c->from->owner->is_interconnect ? 1 : c->width;
}

/* Bytes a cycle that requests of others can move; 0: nobody asks for any. */
static double asked_bytes(const struct model_instance *instance)
{
    double sum = 0;
    for (uint32_t g = 0; g < instance->port_group_count; g++)
        for (uint32_t k = 0; k < instance->port_groups[g].count; k++) {
            const struct model_port *port = &instance->port_groups[g].ports[k];
            const struct model_protocol *protocol = port->protocol;
            if (!port->decl->is_in || !port->connection || !protocol)
                continue;
            uint32_t in = payload_of(protocol->requests, protocol->request_count);
            uint32_t back = payload_of(protocol->replies, protocol->reply_count);
            sum += rate_of(port->connection) * (in > back ? in : back);
        }
    return sum;
}

static void bound_bandwidths(struct measured *m, const struct model *model)
{
    for (uint32_t i = 0; i < model->instance_count; i++) {
        const struct model_instance *instance = model->instances[i];
        struct view_share *share = &m->own[MODEL_MEASURE_BANDWIDTH][i];
        double most = share->whole > 0 ? asked_bytes(instance) : 0;
        most *= (double)m->cycles[instance->domain];
        if (most > 0 && most < share->whole)
            share->whole = most;
    }
}

static double ratio(const struct view_share *s)
{
    return s->whole > 0 ? s->part / s->whole : -1;
}

/* The rule at the top of measure.h. */
static void consider(struct view_share *best, const struct view_share *more, unsigned kind)
{
    if (kind == MODEL_MEASURE_HIT_RATE ? best->whole <= 0 : ratio(more) > ratio(best))
        *best = *more;
}

static void add_parts(const struct measured *m, const struct model *model,
                      const struct model_type *type, const struct model_part_place *places,
                      unsigned kind, struct view_share *best)
{
    for (uint32_t i = 0; i < type->part_count; i++)
        for (uint32_t k = 0; !places[i].shared && k < places[i].count; k++) {
            const struct model_part *part = places[i].parts[k];
            consider(best, &m->own[kind][model->instance_count + part->id], kind);
            add_parts(m, model, part->type, part->places, kind, best);
        }
}

static void speak_for_components(struct measured *m, const struct model *model)
{
    bound_bandwidths(m, model);
    for (unsigned k = 0; k < MODEL_MEASURE_COUNT; k++)
        for (uint32_t i = 0; i < model->instance_count; i++) {
            const struct model_instance *instance = model->instances[i];
            m->instances[k][i] = m->own[k][i];
            if (!instance->type->is_composite)
                add_parts(m, model, instance->type, instance->places, k, &m->instances[k][i]);
        }
    for (uint32_t i = 0; i < model->instance_count; i++)
        consider(&m->instances[MODEL_MEASURE_UTILISATION][i],
                 &m->instances[MODEL_MEASURE_BANDWIDTH][i], MODEL_MEASURE_UTILISATION);
}

/* "gpu.cp.work[3]" */
static const char *port_text(struct arena *arena, const struct model_port *port)
{
    const char *dot = *port->owner->path ? "." : "";
    return port->decl->is_array
               ? arena_printf(arena, "%s%s%s[%u]", port->owner->path, dot, port->decl->name,
                              port->element)
               : arena_printf(arena, "%s%s%s", port->owner->path, dot, port->decl->name);
}

static json_t *link_of(struct arena *arena, const struct model *model,
                       const struct model_connection *c, json_t *links)
{
    if (c->wire)
        return json_object_get(links,
                               arena_printf(arena, "%s -> %s", model->wires[c->wire - 1].path,
                                            model->wires[c->wire - 1].end->path));
    return json_object_get(links, arena_printf(arena, "%s -> %s via %s", port_text(arena, c->from),
                                               port_text(arena, c->to), c->link->name));
}

static void add_link(struct measured *m, const struct model_connection *c, json_t *link)
{
    const char *direction;
    json_t *use;
    struct view_share *time = &m->connections[MODEL_MEASURE_UTILISATION][c->id];
    struct view_share *bytes = &m->connections[MODEL_MEASURE_BANDWIDTH][c->id];
    double could = (double)c->link->bandwidth_bytes_per_s * (double)m->time_ps / 1e12;
    json_object_foreach(link, direction, use)
    {
        if (!json_is_object(use) || !json_object_get(use, "busy_ps"))
            continue;
        struct view_share busy = {(double)statistics_number(use, "busy_ps"), (double)m->time_ps};
        struct view_share moved = {(double)statistics_number(use, "bytes"), could};
        consider(time, &busy, MODEL_MEASURE_UTILISATION);
        consider(bytes, &moved, MODEL_MEASURE_BANDWIDTH);
    }
}

static void add_connections(struct measured *m, struct arena *arena, const struct model *model,
                            json_t *root)
{
    json_t *wires = json_object_get(root, "connections"), *links = json_object_get(root, "links");
    for (uint32_t i = 0; i < model->connection_count; i++) {
        const struct model_connection *c = model->connections[i];
        if (c->link) {
            add_link(m, c, link_of(arena, model, c, links));
            continue;
        }
        json_t *use = json_object_get(wires, port_text(arena, c->from));
        if (use)
            m->connections[MODEL_MEASURE_UTILISATION][i] =
                (struct view_share){(double)statistics_number(use, "requests"),
                                    (double)m->cycles[c->to->owner->domain] * rate_of(c)};
    }
}

void measure_run(struct measured *m, struct arena *arena, const struct model *model, json_t *root)
{
    prepare(m, arena, model);
    m->time_ps = statistics_number(root, "time_ps");
    for (uint32_t i = 0; i < model->domain_count; i++)
        m->cycles[i] = statistics_number(
            json_object_get(json_object_get(root, "clocks"), model->domains[i].name), "cycles");
    add_components(m, arena, model, json_object_get(root, "components"));
    speak_for_components(m, model);
    add_connections(m, arena, model, root);
}

/* Sums of counters of two launches; what is no number stays away. */
static void add_stats(json_t *sums, json_t *components)
{
    const char *path, *stat;
    json_t *stats, *value;
    json_object_foreach(components, path, stats)
    {
        if (!json_object_get(sums, path))
            json_object_set_new(sums, path, json_object());
        json_t *sum = json_object_get(sums, path);
        json_object_foreach(stats, stat, value)
        {
            if (json_is_integer(value))
                json_object_set_new(sum, stat,
                                    json_integer(json_integer_value(value)
                                                 + (json_int_t)statistics_number(sum, stat)));
        }
    }
}

void measure_kernel(struct measured *m, struct arena *arena, const struct model *model,
                    json_t *root, const char *name)
{
    size_t i;
    json_t *kernel, *sums = json_object();
    prepare(m, arena, model);
    m->scope = arena_strdup(arena, name);
    json_array_foreach(json_object_get(root, "kernels"), i, kernel)
    {
        const char *its = json_string_value(json_object_get(kernel, "name"));
        if (!its || strcmp(its, name) != 0)
            continue;
        uint64_t ps = statistics_number(kernel, "end_ps") - statistics_number(kernel, "start_ps");
        m->time_ps += ps;
        for (uint32_t d = 0; d < model->domain_count; d++)
            m->cycles[d] +=
                (uint64_t)((unsigned __int128)ps * model->domains[d].hz / 1000000000000u);
        add_stats(sums, json_object_get(kernel, "components"));
    }
    add_components(m, arena, model, sums);
    speak_for_components(m, model);
    json_decref(sums);
}
