/* Colours, numbers and widths of a diagram that shows a run's measures. */
#include "dot_heat.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"

#include "escape.h"

#define ANCHORS 9
static const unsigned char anchors[ANCHORS][3] = {
    {255, 255, 217}, {237, 248, 177}, {199, 233, 180}, {127, 205, 187}, {65, 182, 196},
    {29, 145, 192},  {34, 94, 168},   {37, 52, 148},   {8, 29, 88},
};
/* From here on white text is easier to read than black: luminance 0.18 and contrast 4.5 to both. */
#define DARK 0.56

static double position(const struct view_heat *heat, const struct view_share *share)
{
    double at = share->whole > 0 ? share->part / share->whole / heat->top : 0;
    return at < 0 ? 0 : at > 1 ? 1 : at;
}

static const char *colour_at(double at, char colour[static DOT_HEAT_COLOUR])
{
    double place = at * (ANCHORS - 1);
    unsigned low = place >= ANCHORS - 1 ? ANCHORS - 2 : (unsigned)place;
    unsigned rgb[3];
    for (unsigned i = 0; i < 3; i++)
        rgb[i] = (unsigned)((double)anchors[low][i]
                            + (place - low) * ((double)anchors[low + 1][i] - anchors[low][i]) + 0.5)
                 & 255;
    snprintf(colour, DOT_HEAT_COLOUR, "#%02X%02X%02X", rgb[0], rgb[1], rgb[2]);
    return colour;
}

double view_heat_top(double share)
{
    static const double tops[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
    for (size_t i = 0; i < ARRAY_COUNT(tops); i++)
        if (share <= tops[i])
            return tops[i];
    return 1;
}

struct view_share dot_heat_share(const struct view_heat *heat, enum model_measure_kind kind,
                                 const struct model_instance *const *instances, uint32_t count)
{
    struct view_share sum = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        sum.part += heat->instances[kind][instances[i]->id].part;
        sum.whole += heat->instances[kind][instances[i]->id].whole;
    }
    return sum;
}

struct view_share dot_heat_fullest(const struct view_heat *heat, enum model_measure_kind kind,
                                   const struct model_instance *const *instances, uint32_t count)
{
    struct view_share fullest = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        const struct view_share *s = &heat->instances[kind][instances[i]->id];
        if (s->whole > 0
            && (fullest.whole <= 0 || s->part * fullest.whole > fullest.part * s->whole))
            fullest = *s;
    }
    struct view_share sum = dot_heat_share(heat, kind, instances, count);
    bool stands_out = fullest.part * sum.whole > 2 * sum.part * fullest.whole;
    return stands_out && kind != MODEL_MEASURE_HIT_RATE ? fullest : (struct view_share){0, 0};
}

const char *dot_heat_colour(const struct view_heat *heat, const struct view_share *share,
                            char colour[static DOT_HEAT_COLOUR])
{
    return share->whole > 0 ? colour_at(position(heat, share), colour) : "#FFFFFF";
}

const char *dot_heat_ink(const struct view_heat *heat, const struct view_share *share)
{
    return position(heat, share) > DARK ? "#FFFFFF" : "#111111";
}

const char *dot_heat_text(const struct view_share *share, char text[static 16])
{
    double percent = share->whole > 0 ? share->part / share->whole * 100 : -1;
    text[0] = '\0';
    if (percent >= 0)
        snprintf(text, 16, "%.*f %%",
                 percent >= 1 || percent == 0 ? 1
                 : percent >= 0.1             ? 2
                                              : 3,
                 percent);
    return text;
}

static void write_range(const struct dot_pen *pen, const struct dot_node *node, unsigned kind)
{
    double least = 2, most = -1;
    const char *fullest = "";
    for (uint32_t i = 0; i < node->instance_count; i++) {
        const struct view_share *s = &pen->look.heat->instances[kind][node->instances[i]->id];
        double share = s->whole > 0 ? s->part / s->whole : 0;
        least = min(share, least);
        if (share > most) {
            most = share;
            fullest = node->instances[i]->path;
        }
    }
    if (most > least) {
        fprintf(pen->out, "; %.1f to %.1f %%, most in ", least * 100, most * 100);
        dot_write_quoted(pen->out, fullest);
    }
}

void dot_heat_tooltip(const struct dot_pen *pen, const struct dot_node *node)
{
    for (unsigned kind = 0; kind < MODEL_MEASURE_COUNT; kind++) {
        struct view_share sum =
            dot_heat_share(pen->look.heat, kind, node->instances, node->instance_count);
        if (sum.whole <= 0)
            continue;
        fprintf(pen->out, "\\n%s %.1f %%: %.0f of %.0f", model_measure_names[kind],
                sum.part / sum.whole * 100, sum.part, sum.whole);
        write_range(pen, node, kind);
    }
}

static bool at_port(const struct dot_node *node, uint32_t port, const struct model_port *end)
{
    bool is_own = !node->is_stub && port != DOT_PORT_NONE && end->owner->type == node->type;
    return !is_own || strcmp(node->type->ports[port].name, end->decl->name) == 0;
}

/* True if this connection belongs to the edge: its ends are inside the nodes. */
static bool edge_has_connection(const struct dot_edge *e, const struct model_connection *c)
{
    return (e->from->is_stub || dot_node_holds(e->from, c->from->owner))
           && (e->to->is_stub || dot_node_holds(e->to, c->to->owner))
           && (e->from->is_stub || at_port(e->from, e->from_port, c->from))
           && (e->to->is_stub || at_port(e->to, e->to_port, c->to)) && c->link == e->link;
}

static struct view_share edge_share(const struct dot_pen *pen, const struct dot_edge *e,
                                    unsigned kind)
{
    struct view_share sum = {0, 0};
    const struct model *model = pen->graph->model;
    if (e->from->is_stub && e->to->is_stub)
        return sum;
    for (uint32_t i = 0; i < model->connection_count; i++) {
        const struct view_share *s = &pen->look.heat->connections[kind][i];
        if (s->whole <= 0 || !edge_has_connection(e, model->connections[i]))
            continue;
        sum.part += s->part;
        sum.whole += s->whole;
    }
    return sum;
}

#define LINE_LEAST 0.8
#define LINE_MAX   7.0

double dot_heat_width(const struct dot_pen *pen, const struct dot_edge *e)
{
    enum model_measure_kind kind = pen->look.heat->measure;
    struct view_share sum = edge_share(pen, e, kind);
    return LINE_LEAST + (LINE_MAX - LINE_LEAST) * position(pen->look.heat, &sum);
}

void dot_heat_edge_tooltip(const struct dot_pen *pen, const struct dot_edge *e)
{
    for (unsigned kind = 0; kind < MODEL_MEASURE_COUNT; kind++) {
        struct view_share sum = edge_share(pen, e, kind);
        if (sum.whole > 0)
            fprintf(pen->out, "\\n%s %.1f %%: %.0f of %.0f", model_measure_names[kind],
                    sum.part / sum.whole * 100, sum.part, sum.whole);
    }
}

struct view_share dot_heat_wires(const struct dot_pen *pen, uint32_t box)
{
    struct view_share sum = {0, 0};
    const struct model *model = pen->graph->model;
    for (uint32_t wire = 1; wire <= model->wire_count; wire++)
        for (uint32_t i = 0; i < model->connection_count; i++) {
            if (model->connections[i]->wire != wire || dot_wire_box(pen->graph, wire) != box)
                continue;
            const struct view_share *share =
                &pen->look.heat->connections[pen->look.heat->measure][i];
            sum.part += share->part; /* all connections of a wire have what the wire has */
            sum.whole += share->whole;
            break;
        }
    return sum;
}

void dot_heat_legend(const struct view_heat *heat, FILE *out)
{
    char colour[DOT_HEAT_COLOUR];
    enum { STEPS = 11 };
    fputs("<TD><B>", out);
    escape_html(out, model_measure_names[heat->measure]);
    fputs("</B>&#160;", out);
    escape_html(out, heat->title);
    fputs("</TD><TD>0 %</TD>", out);
    for (unsigned i = 0; i < STEPS; i++)
        fprintf(out, "<TD BGCOLOR=\"%s\">   </TD>", colour_at((double)i / (STEPS - 1), colour));
    fprintf(out, "<TD>%.0f %%</TD><TD BORDER=\"1\" COLOR=\"#999999\">not measured</TD>",
            heat->top * 100);
    if (heat->measure == MODEL_MEASURE_UTILISATION || heat->measure == MODEL_MEASURE_BANDWIDTH)
        fprintf(out, "<TD>width of lines: 0 to %.0f %%</TD>", heat->top * 100);
}
