/* Graphviz source of a picture: the head, the legend, the graph, and the insets. Nodes are in
 * dot_node.c, edges in dot_edge.c. */
#include <inttypes.h>
#include <string.h>

#include "dot_heat.h"
#include "dot_pen.h"
#include "escape.h"
#include "params_value.h"

/* The widest that are usual first: boxes are laid out for it, so text fits in what a viewer has. */
#define FONT "DejaVu Sans,Verdana,Helvetica,Arial,sans-serif"

/* Kinds of nodes and of traffic in a picture's graphs, which its legend explains. */
struct legend {
    bool kinds[DOT_KIND_COUNT];
    bool traffic[DOT_TRAFFIC_COUNT];
    bool bold;
};

static void add_to_legend(struct legend *legend, const struct dot_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct dot_node *n = graph->nodes[i];
        if (!n->is_stub && !n->is_open && n->is_shown)
            legend->kinds[n->kind] = true;
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        if (!graph->is_overview || !graph->edges[i].is_wire)
            legend->traffic[graph->edges[i].traffic] = true;
        legend->bold |= graph->edges[i].all_to_all && !graph->is_overview;
    }
}

/* "core 1GHz": all clocks of the platform. */
static void write_clocks(FILE *out, const struct model *model)
{
    char buffer[PARAMS_VALUE_MAX];
    for (uint32_t i = 0; i < model->domain_count; i++) {
        fputs(i ? ", " : "<TD><FONT COLOR=\"#555555\">", out);
        escape_html(out, model->domains[i].name);
        fprintf(out, " %s", params_hz_text(model->domains[i].hz, buffer));
    }
    fputs(model->domain_count ? "</FONT></TD>" : "", out);
}

/* Links whose edges go without labels: those between the elements of a mesh. */
static void write_mesh_links(FILE *out, const struct dot_graph *graph)
{
    char bandwidth[PARAMS_VALUE_MAX], latency[PARAMS_VALUE_MAX];
    const struct model_link_type *last = NULL;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct dot_edge *e = &graph->edges[i];
        if (!e->from->in_mesh || !e->to->in_mesh || !e->link || e->link == last)
            continue;
        last = e->link;
        fprintf(out, "<TD><FONT COLOR=\"%s\"><B>↔</B> ", dot_traffic_colours[e->traffic]);
        escape_html(out, last->name);
        fprintf(out, " %s %s</FONT></TD>",
                params_bandwidth_text(last->bandwidth_bytes_per_s, bandwidth),
                params_time_text(last->latency_ps, latency));
    }
}

static void write_kinds(FILE *out, const struct legend *legend)
{
    for (unsigned k = 0; k < DOT_KIND_COUNT; k++)
        if (legend->kinds[k] && k != DOT_KIND_COMPOSITE)
            fprintf(out, "<TD BGCOLOR=\"%s\"><FONT COLOR=\"%s\">%s</FONT></TD>",
                    dot_kind_style(k)->strong, dot_kind_style(k)->ink, dot_kind_style(k)->word);
}

static void write_lines(FILE *out, const struct legend *legend)
{
    for (unsigned t = 0; t < DOT_TRAFFIC_COUNT; t++)
        if (legend->traffic[t])
            fprintf(out, "<TD><FONT COLOR=\"%s\"><B>→</B> %s</FONT></TD>", dot_traffic_colours[t],
                    dot_traffic_words[t]);
    if (legend->bold)
        fputs("<TD>━▶ all to all</TD>", out);
}

#define LEGEND_ROW                                                                                 \
    "<TR><TD ALIGN=\"LEFT\"><TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"4\" "               \
    "CELLPADDING=\"3\"><TR>"
#define LEGEND_ROW_END "</TR></TABLE></TD></TR>"

/* One row, or in a column three. */
static void write_legend(FILE *out, const struct dot_picture *picture, const struct view_heat *heat)
{
    struct legend legend = {.bold = false};
    const struct dot_graph *graph = &picture->main;
    const char *next = graph->layout == VIEW_LAYOUT_COLUMN ? LEGEND_ROW_END "\n" LEGEND_ROW : "";
    add_to_legend(&legend, graph);
    for (uint32_t i = 0; i < picture->inset_count; i++)
        add_to_legend(&legend, &picture->insets[i]);
    fputs("label=<<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" "
          "CELLPADDING=\"0\">" LEGEND_ROW "<TD><B>",
          out);
    escape_html(out, *graph->scope->path ? graph->scope->path : graph->model->name);
    fputs("</B></TD>", out);
    write_clocks(out, graph->model);
    fputs(next, out);
    if (heat)
        dot_heat_legend(heat, out);
    else
        write_kinds(out, &legend);
    fputs(next, out);
    write_lines(out, &legend);
    write_mesh_links(out, graph);
    fputs(LEGEND_ROW_END "</TABLE>>; labelloc=b; labeljust=l;\n", out);
}

static void write_tree(const struct dot_pen *pen, const struct dot_node *node)
{
    if (!node->is_shown)
        return;
    if (!node->is_open) {
        dot_write_node(pen, node);
        return;
    }
    if (node->parent)
        dot_write_cluster_head(pen, node);
    for (uint32_t i = 0; i < node->child_count; i++)
        write_tree(pen, node->children[i]);
    dot_write_edge_labels(pen, node);
    if (node->parent)
        fputs("}\n", pen->out);
}

/* Writes the points where wires come in, and where they leave. */
static void write_stubs(const struct dot_pen *pen, bool in, bool ranked)
{
    bool any = false;
    for (uint32_t i = 0; i < pen->graph->node_count; i++) {
        const struct dot_node *n = pen->graph->nodes[i];
        if (!n->is_stub || !n->is_shown || n->stub_port->is_in != in)
            continue;
        if (!any && ranked)
            fprintf(pen->out, "{ rank=%s;\n", in ? "source" : "sink");
        any = true;
        dot_write_stub(pen, n);
    }
    if (any && ranked)
        fputs("}\n", pen->out);
}

static void write_inset(const struct dot_picture *picture, uint32_t index, struct dot_look look,
                        FILE *out)
{
    char prefix[16];
    snprintf(prefix, sizeof prefix, "i%" PRIu32 "_", index);
    const struct dot_pen pen = {out, &picture->insets[index], look, prefix};
    dot_write_cluster_head(&pen, pen.graph->scope);
    write_stubs(&pen, true, false);
    write_tree(&pen, pen.graph->scope);
    write_stubs(&pen, false, false);
    dot_write_wires(&pen);
    fputs("}\n", out);
    dot_write_edges(&pen);
}

/* In a column an inset hangs below the overview by invisible lines. */
static void write_below(const struct dot_picture *picture, uint32_t index, FILE *out)
{
    const struct dot_graph *inset = &picture->insets[index];
    const struct dot_node *scope = inset->scope, *top = scope->children[0];
    for (uint32_t i = 0; i < inset->node_count; i++)
        if (inset->nodes[i]->is_stub && inset->nodes[i]->is_shown
            && inset->nodes[i]->stub_port->is_in && !top->is_stub)
            top = inset->nodes[i];
    for (uint32_t i = 0; i < picture->main.scope->child_count; i++)
        fprintf(out, "n%" PRIu32 " -> i%" PRIu32 "_n%" PRIu32 " [style=invis];\n",
                picture->main.scope->children[i]->id, index, top->id);
}

void dot_write(const struct dot_picture *picture, struct dot_look look, FILE *out)
{
    const struct dot_graph *graph = &picture->main;
    const struct dot_pen pen = {out, graph, look, ""};
    fputs("digraph \"", out);
    dot_write_quoted(out, graph->model->name);
    fprintf(out,
            "\" {\nrankdir=%s; bgcolor=\"#FFFFFF\"; nodesep=0.22; ranksep=0.3; fontname=\"" FONT
            "\"; fontsize=12;\n"
            "node [shape=plain, fontname=\"" FONT "\", fontsize=12];\n"
            "edge [arrowsize=0.7];\n",
            graph->layout == VIEW_LAYOUT_COLUMN ? "TB" : "LR");
    if (look.legend)
        write_legend(out, picture, look.heat);
    bool column = graph->layout == VIEW_LAYOUT_COLUMN;
    /* `dot` stacks what is not connected, from below */
    for (uint32_t i = 0; !column && i < picture->inset_count; i++)
        write_inset(picture, i, look, out);
    write_stubs(&pen, true, true);
    write_tree(&pen, graph->scope);
    write_stubs(&pen, false, true);
    dot_write_wires(&pen);
    dot_write_edges(&pen);
    for (uint32_t i = 0; column && i < picture->inset_count; i++) {
        write_inset(picture, i, look, out);
        write_below(picture, i, out);
    }
    fputs("}\n", out);
}
