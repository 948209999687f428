/* Edges, their labels, and shared wires as Graphviz source. Left to right (or down), requests flow
 * along the page where the machine allows; replies are not drawn, they return the same way. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"

#include "dot_heat.h"
#include "dot_pen.h"
#include "escape.h"
#include "params_value.h"

const char *const dot_traffic_colours[DOT_TRAFFIC_COUNT] = {
    [DOT_MEMORY] = "#2B4C6F",
    [DOT_TRANSLATION] = "#A0447A",
    [DOT_WORK] = "#8A6100",
    [DOT_CONTROL] = "#8C8C8C",
};
const char *const dot_traffic_words[DOT_TRAFFIC_COUNT] = {
    [DOT_MEMORY] = "memory",
    [DOT_TRANSLATION] = "translation",
    [DOT_WORK] = "work",
    [DOT_CONTROL] = "control",
};
#define WIRE_COLOUR "#444444"

static bool in_column(const struct dot_node *a, const struct dot_node *b)
{
    return a->grid_column && a->grid_column == b->grid_column;
}

/* Elements of one column that others stand between: the line goes round them, without a label. */
static bool goes_round(const struct dot_edge *e)
{
    uint32_t a = e->from->grid_row, b = e->to->grid_row;
    return in_column(e->from, e->to) && (a > b ? a - b : b - a) > 1;
}

/* Connections of one direction inside one instance of what is around. */
static uint32_t shown_count(const struct dot_edge *e)
{
    return e->two_way ? divide_up(e->per_scope, 2) : e->per_scope;
}

static bool has_label(const struct dot_pen *pen, const struct dot_edge *e)
{
    if (e->is_wire || goes_round(e) || (e->from->in_mesh && e->to->in_mesh))
        return false;
    if (pen->graph->is_overview)
        return e->link || e->latency_cy > 1;
    return e->link || e->latency_cy > 1 || e->per_scope > 1;
}

/* "×64 10cy", "pcie 32GB/s 140ns". */
static void write_label(const struct dot_pen *pen, uint32_t index)
{
    char bandwidth[PARAMS_VALUE_MAX], latency[PARAMS_VALUE_MAX];
    const struct dot_edge *e = &pen->graph->edges[index];
    uint32_t count = pen->graph->is_overview && !e->link ? 1 : shown_count(e);
    fprintf(pen->out, "%sl%" PRIu32 " [label=<<FONT POINT-SIZE=\"9\" COLOR=\"%s\">", pen->prefix,
            index, dot_traffic_colours[e->traffic]);
    if (count > 1)
        fprintf(pen->out, "×%" PRIu32 " ", count);
    if (e->link) {
        escape_html(pen->out, e->link->name);
        fprintf(pen->out, "<BR/>%s<BR/>%s",
                params_bandwidth_text(e->link->bandwidth_bytes_per_s, bandwidth),
                params_time_text(e->link->latency_ps, latency));
    } else if (e->latency_cy > 1 || count <= 1) {
        fprintf(pen->out, "%" PRIu32 "cy", e->latency_cy);
    }
    fputs("</FONT>>, margin=0];\n", pen->out);
}

/* The smallest open node around both. A stub is in the scope. */
static const struct dot_node *around_both(const struct dot_pen *pen, const struct dot_node *a,
                                          const struct dot_node *b)
{
    if (a->is_stub || b->is_stub)
        return pen->graph->scope;
    a = a->parent ? a->parent : a;
    b = b->parent ? b->parent : b;
    while (a != b)
        if (a->depth >= b->depth)
            a = a->parent;
        else
            b = b->parent;
    return a;
}

void dot_write_edge_labels(const struct dot_pen *pen, const struct dot_node *around)
{
    for (uint32_t i = 0; i < pen->graph->edge_count; i++) {
        const struct dot_edge *e = &pen->graph->edges[i];
        if (has_label(pen, e) && around_both(pen, e->from, e->to) == around)
            write_label(pen, i);
    }
}

/* Columns of a grid, labels between neighbours included: equal ranks. */
static void write_columns(const struct dot_pen *pen)
{
    for (unsigned column = 1; column <= 2; column++) {
        bool any = false;
        for (uint32_t i = 0; i < pen->graph->node_count; i++) {
            const struct dot_node *n = pen->graph->nodes[i];
            if (n->grid_column != column)
                continue;
            fprintf(pen->out, "%s%sn%" PRIu32 ";", any ? " " : "{ rank=same; ", pen->prefix, n->id);
            any = true;
        }
        for (uint32_t i = 0; any && i < pen->graph->edge_count; i++) {
            const struct dot_edge *e = &pen->graph->edges[i];
            if (e->from->grid_column == column && in_column(e->from, e->to) && has_label(pen, e))
                fprintf(pen->out, " %sl%" PRIu32 ";", pen->prefix, i);
        }
        fputs(any ? " }\n" : "", pen->out);
    }
}

static void write_end(const struct dot_pen *pen, const struct dot_node *node, uint32_t port)
{
    bool across = pen->graph->layout == VIEW_LAYOUT_COLUMN;
    fprintf(pen->out, "%sn%" PRIu32, pen->prefix, node->id);
    if (!node->is_stub && port != DOT_PORT_NONE)
        fprintf(pen->out, ":p%" PRIu32 ":%s", port,
                node->type->ports[port].is_in ? across ? "n" : "w"
                : across                      ? "s"
                                              : "e");
}

static void write_label_end(const struct dot_pen *pen, uint32_t index, bool far)
{
    bool across = pen->graph->layout == VIEW_LAYOUT_COLUMN;
    const struct dot_edge *e = &pen->graph->edges[index];
    fprintf(pen->out, "%sl%" PRIu32, pen->prefix, index);
    if (!in_column(e->from, e->to))
        fprintf(pen->out, ":%s", far ? across ? "s" : "e" : across ? "n" : "w");
}

static void write_end_name(FILE *out, const struct dot_node *node, uint32_t port)
{
    dot_write_quoted(out, *node->path ? node->path : node->label);
    if (node->is_stub || port == DOT_PORT_NONE)
        return;
    putc('.', out);
    dot_write_quoted(out, node->type->ports[port].name);
}

static void write_protocol(FILE *out, const struct model_protocol *protocol)
{
    dot_write_quoted(out, protocol->name);
    for (uint32_t i = 0; i < protocol->argument_count; i++)
        fprintf(out, "%s%" PRId64 "%s", i ? ", " : "(", protocol->arguments[i],
                i + 1 == protocol->argument_count ? ")" : "");
}

static void write_attributes(const struct dot_pen *pen, const struct dot_edge *e, const char *dir)
{
    fputs(" [tooltip=\"", pen->out);
    write_end_name(pen->out, e->from, e->from_port);
    fputs(" -> ", pen->out);
    write_end_name(pen->out, e->to, e->to_port);
    fputs("\\n", pen->out);
    write_protocol(pen->out, e->protocol);
    fprintf(pen->out, "\\n%" PRIu32 " connection%s, %" PRIu32 " messages deep", e->count,
            e->count == 1 ? "" : "s", e->depth);
    if (pen->look.heat)
        dot_heat_edge_tooltip(pen, e);
    fprintf(pen->out, "\", color=\"%s\"", dot_traffic_colours[e->traffic]);
    if (pen->look.heat)
        fprintf(pen->out, ", penwidth=%.2f", dot_heat_width(pen, e));
    else if (e->traffic == DOT_CONTROL)
        fputs(", penwidth=0.6, arrowsize=0.5", pen->out);
    else if (e->all_to_all && !pen->graph->is_overview)
        fputs(", penwidth=2.4", pen->out);
    if (in_column(e->from, e->to))
        fputs(", weight=20", pen->out);
    if (strcmp(dir, "forward") != 0)
        fprintf(pen->out, ", dir=%s", dir);
    fputs("];\n", pen->out);
}

/* Against the order of a grid, or away from the compute units: drawn from the other end. */
static bool is_drawn_backwards(const struct dot_edge *e)
{
    const struct dot_node *a = e->from, *b = e->to;
    if (!a->grid_column || !b->grid_column)
        return e->two_way && a->distance < b->distance;
    return a->grid_column != b->grid_column ? a->grid_column > b->grid_column
                                            : a->grid_row > b->grid_row;
}

static void write_edge(const struct dot_pen *pen, uint32_t index)
{
    const struct dot_edge *e = &pen->graph->edges[index];
    bool swap = is_drawn_backwards(e);
    bool at_head = e->two_way || !swap, at_tail = e->two_way || swap;
    const struct dot_node *first = swap ? e->to : e->from, *last = swap ? e->from : e->to;
    write_end(pen, first, swap ? e->to_port : e->from_port);
    fputs(" -> ", pen->out);
    if (has_label(pen, e)) {
        write_label_end(pen, index, false);
        write_attributes(pen, e, at_tail ? "back" : "none");
        write_label_end(pen, index, true);
        fputs(" -> ", pen->out);
    }
    write_end(pen, last, swap ? e->from_port : e->to_port);
    if (has_label(pen, e))
        write_attributes(pen, e, at_head ? "forward" : "none");
    else
        write_attributes(pen, e, at_head && at_tail ? "both" : at_head ? "forward" : "back");
}

/* The place of the first edge over a wire: its box is written there. */
static bool is_first_over(const struct dot_graph *graph, uint32_t edge)
{
    for (uint32_t i = 0; i < edge; i++)
        if (graph->edges[i].is_wire && graph->edges[i].wire == graph->edges[edge].wire)
            return false;
    return graph->edges[edge].is_wire;
}

static uint32_t wires_in_box(const struct dot_graph *graph, uint32_t box)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i <= graph->model->wire_count; i++)
        count += dot_wire_box(graph, i) == box;
    if (graph->scope->instance_count && count % graph->scope->instance_count == 0)
        count /= graph->scope->instance_count;
    return count;
}

/* "gpu.walks", inside a label. */
static void write_end_text(FILE *out, const struct dot_node *node, uint32_t port)
{
    escape_html(out, node->label);
    if (node->is_stub || port == DOT_PORT_NONE)
        return;
    putc('.', out);
    escape_html(out, node->type->ports[port].name);
}

static void write_wire_rows(const struct dot_pen *pen, uint32_t box)
{
    for (uint32_t i = 0; i < pen->graph->edge_count; i++) {
        const struct dot_edge *e = &pen->graph->edges[i];
        if (!e->is_wire || e->wire != box)
            continue;
        fprintf(pen->out,
                "<TR><TD PORT=\"e%" PRIu32 "\" ALIGN=\"LEFT\"><FONT POINT-SIZE=\"9\" "
                "COLOR=\"%s\">",
                i, dot_traffic_colours[e->traffic]);
        write_end_text(pen->out, e->from, e->from_port);
        fputs(" → ", pen->out);
        write_end_text(pen->out, e->to, e->to_port);
        dot_write_times(pen->out, e->per_scope, e->per_scope);
        fputs("</FONT></TD></TR>\n", pen->out);
    }
}

/* The measure of the wires, on its colour. */
static void write_wire_share(const struct dot_pen *pen, uint32_t box)
{
    char colour[DOT_HEAT_COLOUR], percent[16];
    struct view_share share = dot_heat_wires(pen, box);
    if (share.whole > 0)
        fprintf(pen->out, "<TR><TD BGCOLOR=\"%s\"><FONT COLOR=\"%s\">%s</FONT></TD></TR>\n",
                dot_heat_colour(pen->look.heat, &share, colour),
                dot_heat_ink(pen->look.heat, &share), dot_heat_text(&share, percent));
}

static void write_wire(const struct dot_pen *pen, uint32_t box)
{
    char bandwidth[PARAMS_VALUE_MAX], latency[PARAMS_VALUE_MAX];
    const struct model_wire *wire = &pen->graph->model->wires[box - 1];
    uint32_t count = wires_in_box(pen->graph, box);
    fprintf(pen->out,
            "%sw%" PRIu32 " [tooltip=\"shared wire: requests and replies take turns, each way\", "
            "label=<<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"2\" "
            "COLOR=\"" WIRE_COLOUR "\" BGCOLOR=\"#FFFFFF\">\n<TR><TD BGCOLOR=\"" WIRE_COLOUR
            "\"><FONT POINT-SIZE=\"9\" COLOR=\"#FFFFFF\">shared wire</FONT></TD></TR>\n<TR><TD>"
            "<B>",
            pen->prefix, box);
    escape_html(pen->out, pen->graph->is_overview ? wire->path : wire->link->name);
    dot_write_times(pen->out, count, count);
    fprintf(pen->out, "</B><BR/><FONT POINT-SIZE=\"9\" COLOR=\"#555555\">%s  %s</FONT></TD></TR>\n",
            params_bandwidth_text(wire->link->bandwidth_bytes_per_s, bandwidth),
            params_time_text(wire->link->latency_ps, latency));
    if (pen->look.heat)
        write_wire_share(pen, box);
    if (!pen->graph->is_overview)
        write_wire_rows(pen, box);
    fputs("</TABLE>>];\n", pen->out);
}

void dot_write_wires(const struct dot_pen *pen)
{
    for (uint32_t i = 0; i < pen->graph->edge_count; i++)
        if (is_first_over(pen->graph, i))
            write_wire(pen, pen->graph->edges[i].wire);
}

static bool touched_before(const struct dot_graph *graph, uint32_t edge,
                           const struct dot_node *node)
{
    for (uint32_t i = 0; i < edge; i++) {
        const struct dot_edge *e = &graph->edges[i];
        if (e->is_wire && e->wire == graph->edges[edge].wire && (e->from == node || e->to == node))
            return true;
    }
    return false;
}

/* Writes a wire of an overview: one line from each node to the box; the wire's own end is
 * after it. */
static void write_wire_in_overview(const struct dot_pen *pen, uint32_t index)
{
    const struct dot_edge *e = &pen->graph->edges[index];
    const struct dot_node *ends[] = {e->from, e->to};
    const struct model_instance *end = pen->graph->model->wires[e->wire - 1].end;
    for (unsigned k = 0; k < 2; k++) {
        if (touched_before(pen->graph, index, ends[k]))
            continue;
        const char *p = pen->prefix;
        if (dot_node_holds(ends[k], end))
            fprintf(pen->out, "%sw%" PRIu32 " -> %sn%" PRIu32, p, e->wire, p, ends[k]->id);
        else
            fprintf(pen->out, "%sn%" PRIu32 " -> %sw%" PRIu32, p, ends[k]->id, p, e->wire);
        fputs(" [dir=none, penwidth=1.6, color=\"" WIRE_COLOUR "\"];\n", pen->out);
    }
}

static void write_over_wire(const struct dot_pen *pen, uint32_t index)
{
    const struct dot_edge *e = &pen->graph->edges[index];
    bool across = pen->graph->layout == VIEW_LAYOUT_COLUMN;
    write_end(pen, e->from, e->from_port);
    fprintf(pen->out, " -> %sw%" PRIu32 ":e%" PRIu32 ":%s", pen->prefix, e->wire, index,
            across ? "n" : "w");
    write_attributes(pen, e, "none");
    fprintf(pen->out, "%sw%" PRIu32 ":e%" PRIu32 ":%s -> ", pen->prefix, e->wire, index,
            across ? "s" : "e");
    write_end(pen, e->to, e->to_port);
    write_attributes(pen, e, "forward");
}

void dot_write_edges(const struct dot_pen *pen)
{
    write_columns(pen);
    for (uint32_t i = 0; i < pen->graph->edge_count; i++)
        if (!pen->graph->edges[i].is_wire)
            write_edge(pen, i);
        else if (pen->graph->is_overview)
            write_wire_in_overview(pen, i);
        else
            write_over_wire(pen, i);
}
