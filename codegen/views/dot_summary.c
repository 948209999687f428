/* The summary inside a node, below its name: the parameters that tell this cache from others, with
 * totals beside shares. A cache's or memory's parameter `size` is its capacity. The parameter
 * `bandwidth` of the component, or rather of one of its parts, is its bandwidth. */
#include <inttypes.h>
#include <string.h>

#include "dot_heat.h"
#include "dot_pen.h"
#include "escape.h"
#include "params_value.h"

#define SUMMARY_ROWS  4  /* the other settings are in the tooltip */
#define CONTENTS_ROWS 12 /* groups in a closed composite */
#define SMALL         "<FONT POINT-SIZE=\"9\" COLOR=\"#555555\">"

static const struct model_param *find_param(const struct model_param *params, uint32_t count,
                                            const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(params[i].decl->name, name) == 0)
            return &params[i];
    return NULL;
}

/* The parameter that is the capacity. NULL: there is none, or the instance is neither cache nor
 * memory. */
static const struct model_param *capacity_of(const struct model_instance *instance)
{
    enum dot_kind kind = dot_kind_of(instance->type);
    const struct model_param *size =
        kind == DOT_KIND_CACHE || kind == DOT_KIND_MEMORY
            ? find_param(instance->params, instance->param_count, "size")
            : NULL;
    return size && size->value.dimension == MODEL_DIM_BYTES ? size : NULL;
}

static const struct model_param *bandwidth_of(const struct model_instance *instance)
{
    if (dot_kind_of(instance->type) != DOT_KIND_MEMORY)
        return NULL;
    for (uint32_t i = 0; i < instance->type->part_count; i++)
        for (uint32_t k = 0; k < instance->places[i].count; k++) {
            const struct model_part *part = instance->places[i].parts[k];
            const struct model_param *param =
                find_param(part->params, part->param_count, "bandwidth");
            if (param)
                return param;
        }
    return find_param(instance->params, instance->param_count, "bandwidth");
}

/* 0: not a bandwidth. */
static uint64_t bytes_per_second(const struct model *model, const struct model_instance *instance,
                                 const struct model_value *value)
{
    if (value->dimension == MODEL_DIM_BYTES_PER_S)
        return (uint64_t)value->integer;
    if (value->dimension == MODEL_DIM_BYTES_PER_CY)
        return (uint64_t)value->integer * model->domains[instance->domain].hz;
    return 0;
}

/* Three digits, as in a data sheet: "512 GB/s". */
static const char *rate_text(uint64_t bytes_per_s, char buffer[static PARAMS_VALUE_MAX])
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"KB/s", 1e3}};
    size_t u = 0;
    while (u < 3 && (double)bytes_per_s < units[u].factor)
        u++;
    snprintf(buffer, PARAMS_VALUE_MAX, "%.3g%s", (double)bytes_per_s / units[u].factor,
             units[u].name);
    return buffer;
}

static bool same_in_all(const struct dot_node *node, const struct model_param *first)
{
    for (uint32_t i = 1; i < node->instance_count; i++) {
        const struct model_instance *m = node->instances[i];
        const struct model_param *p = find_param(m->params, m->param_count, first->decl->name);
        if (p && !params_value_equal(&p->value, &first->value))
            return false;
    }
    return true;
}

/* Instances of the node in one instance of the picture's scope. */
static uint32_t count_in_scope(const struct dot_pen *pen, const struct dot_node *node)
{
    uint32_t scopes = pen->graph->scope->instance_count;
    return scopes && node->instance_count % scopes == 0 ? node->instance_count / scopes
                                                        : node->instance_count;
}

static void write_total(FILE *out, const char *total, uint32_t count)
{
    if (count > 1)
        fprintf(out, " (%s in %" PRIu32 ")", total, count);
    fputs("</FONT>", out);
}

static unsigned write_capacity(const struct dot_pen *pen, const struct dot_node *node,
                               const struct model_param *size)
{
    char each[2 * PARAMS_VALUE_MAX + 8], total[PARAMS_VALUE_MAX];
    uint32_t count = count_in_scope(pen, node);
    if (!size || !same_in_all(node, size))
        return 0;
    fprintf(pen->out, "<BR/>" SMALL "size %s", params_value_text(&size->value, each));
    write_total(pen->out, params_bytes_text((uint64_t)size->value.integer * count, total), count);
    return 1;
}

static unsigned write_bandwidth(const struct dot_pen *pen, const struct dot_node *node)
{
    char each[PARAMS_VALUE_MAX], total[PARAMS_VALUE_MAX];
    const struct model_instance *sample = node->instances[0];
    const struct model_param *bandwidth = bandwidth_of(sample);
    uint64_t rate = bandwidth ? bytes_per_second(pen->graph->model, sample, &bandwidth->value) : 0;
    uint32_t count = count_in_scope(pen, node);
    if (!rate)
        return 0;
    fprintf(pen->out, "<BR/>" SMALL "%s", rate_text(rate, each));
    write_total(pen->out, rate_text(rate * count, total), count);
    return 1;
}

/* Writes the parts of a memory that hold some of it, as a cache in front of it. */
static unsigned write_parts(const struct dot_pen *pen, const struct dot_node *node)
{
    char each[2 * PARAMS_VALUE_MAX + 8], total[PARAMS_VALUE_MAX];
    const struct model_instance *sample = node->instances[0];
    uint32_t count = count_in_scope(pen, node);
    unsigned shown = 0;
    if (dot_kind_of(sample->type) != DOT_KIND_MEMORY)
        return 0;
    for (uint32_t i = 0; i < sample->type->part_count; i++)
        for (uint32_t k = 0; k < sample->places[i].count; k++) {
            const struct model_part *part = sample->places[i].parts[k];
            const struct model_param *size = find_param(part->params, part->param_count, "size");
            if (!size || size->value.dimension != MODEL_DIM_BYTES)
                continue;
            fprintf(pen->out, "<BR/>" SMALL "%s %s", part->type->name,
                    params_value_text(&size->value, each));
            write_total(pen->out, params_bytes_text((uint64_t)size->value.integer * count, total),
                        count);
            shown++;
        }
    return shown;
}

/* Writes the clock if it differs from the clock of the surrounding component. */
static void write_clock(const struct dot_pen *pen, const struct dot_node *node)
{
    char buffer[PARAMS_VALUE_MAX];
    const struct model_instance *sample = node->instances[0];
    const struct model_domain *domain = &pen->graph->model->domains[sample->domain];
    if (pen->graph->model->domain_count < 2)
        return;
    fputs("<BR/>" SMALL, pen->out);
    escape_html(pen->out, domain->name);
    fprintf(pen->out, " %s</FONT>", params_hz_text(domain->hz, buffer));
}

void dot_write_summary(const struct dot_pen *pen, const struct dot_node *node)
{
    char buffer[2 * PARAMS_VALUE_MAX + 8];
    const struct model_instance *sample = node->instances[0];
    const struct model_param *size = capacity_of(sample);
    unsigned shown = write_capacity(pen, node, size);
    shown += write_bandwidth(pen, node);
    shown += write_parts(pen, node);
    for (uint32_t i = 0; i < sample->param_count && shown < SUMMARY_ROWS; i++) {
        const struct model_param *p = &sample->params[i];
        if (p->decl->is_let || p->source == MODEL_FROM_DEFAULT || p == size
            || p->value.dimension == MODEL_DIM_ENUM)
            continue;
        fputs("<BR/>" SMALL, pen->out);
        escape_html(pen->out, p->decl->name);
        putc(' ', pen->out);
        escape_html(pen->out, params_group_text(node->instances, node->instance_count, i, buffer));
        fputs("</FONT>", pen->out);
        shown++;
    }
    write_clock(pen, node);
}

/* Leaves of one name and type inside a closed composite. */
struct content {
    const struct model_instance *sample;
    uint32_t count;
    uint64_t bytes;
};

struct contents {
    struct content groups[CONTENTS_ROWS];
    uint32_t count;
};

static void gather(struct contents *contents, const struct model_instance *instance)
{
    for (uint32_t i = 0; i < instance->child_count; i++)
        gather(contents, instance->children[i]);
    enum dot_kind kind = dot_kind_of(instance->type);
    if (kind != DOT_KIND_COMPUTE && kind != DOT_KIND_CACHE && kind != DOT_KIND_MEMORY)
        return;
    uint32_t g = 0;
    while (g < contents->count
           && (contents->groups[g].sample->type != instance->type
               || strcmp(contents->groups[g].sample->name, instance->name) != 0))
        g++;
    if (g == CONTENTS_ROWS)
        return;
    if (g == contents->count)
        contents->groups[contents->count++] = (struct content){.sample = instance};
    const struct model_param *size = capacity_of(instance);
    contents->groups[g].count++;
    contents->groups[g].bytes += size ? (uint64_t)size->value.integer : 0;
}

static void add_content_share(const struct view_heat *heat, const struct model_instance *instance,
                              const struct content *content, struct view_share *sum)
{
    for (uint32_t i = 0; i < instance->child_count; i++)
        add_content_share(heat, instance->children[i], content, sum);
    if (instance->type != content->sample->type
        || strcmp(instance->name, content->sample->name) != 0)
        return;
    const struct view_share *share = &heat->instances[heat->measure][instance->id];
    sum->part += share->part;
    sum->whole += share->whole;
}

/* The measure of the leaves of one name and type in all instances of the node. */
static struct view_share content_share(const struct view_heat *heat, const struct dot_node *node,
                                       const struct content *content)
{
    struct view_share sum = {0, 0};
    for (uint32_t i = 0; i < node->instance_count; i++)
        add_content_share(heat, node->instances[i], content, &sum);
    return sum;
}

static void write_content(const struct dot_pen *pen, const struct dot_node *node,
                          const struct content *content, bool bold)
{
    char buffer[PARAMS_VALUE_MAX], colour[DOT_HEAT_COLOUR], percent[16];
    FILE *out = pen->out;
    struct view_share share = {0, 0};
    if (pen->look.heat)
        share = content_share(pen->look.heat, node, content);
    fprintf(out,
            "<TR><TD ALIGN=\"LEFT\"><FONT POINT-SIZE=\"%d\" COLOR=\"#333333\"><FONT "
            "COLOR=\"%s\">■</FONT> %s",
            bold ? 11 : 9,
            pen->look.heat ? dot_heat_colour(pen->look.heat, &share, colour)
                           : dot_kind_style(dot_kind_of(content->sample->type))->strong,
            bold ? "<B>" : "");
    escape_html(out, content->sample->name);
    dot_write_times(out, content->count, content->count);
    fputs(bold ? "</B>" : "", out);
    if (pen->look.heat)
        fprintf(out, "  %s", dot_heat_text(&share, percent));
    else if (content->bytes)
        fprintf(out, "  %s", params_bytes_text(content->bytes, buffer));
    fputs("</FONT></TD></TR>", out);
}

void dot_write_contents(const struct dot_pen *pen, const struct dot_node *node)
{
    static const enum dot_kind order[] = {DOT_KIND_COMPUTE, DOT_KIND_CACHE, DOT_KIND_MEMORY};
    struct contents contents = {.count = 0};
    gather(&contents, node->instances[0]);
    for (unsigned k = 0; k < 3; k++)
        for (uint32_t g = 0; g < contents.count; g++)
            if (dot_kind_of(contents.groups[g].sample->type) == order[k])
                write_content(pen, node, &contents.groups[g], order[k] == DOT_KIND_COMPUTE);
}
