/* Graphviz source of a diagram, one function an output construct, in the order of the output.
 *
 * Nodes are named n0, n1, ... by their place in the graph; cells of ports p0, p1, ... by their
 * place in the type. Left to right, requests flow from left to right where the machine allows;
 * replies are not drawn, they return the same way. */
#include <inttypes.h>
#include <string.h>

#include "codegen/views/docs_text.h"
#include "codegen/views/dot.h"
#include "codegen/views/params_value.h"

#define FONT           "Helvetica,Arial,sans-serif"
#define SUMMARY_PARAMS 3 /* settings shown inside a node; the others are in its tooltip */

static const char *const traffic_colours[] = {
    [DOT_MEMORY] = "#2B4C6F",
    [DOT_TRANSLATION] = "#A0447A",
    [DOT_CONTROL] = "#8A6100",
};
static const char *const traffic_words[] = {
    [DOT_MEMORY] = "memory",
    [DOT_TRANSLATION] = "translation",
    [DOT_CONTROL] = "control",
};

/* Text inside a quoted string, whose line ends become \n. */
static void write_quoted(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        if (*text == '\n')
            fputs("\\n", out);
        else
            putc(*text, out);
    }
}

/* " ×4", " ×2..4", or nothing for a single one. */
static void write_times(FILE *out, uint32_t low, uint32_t high)
{
    if (low != high)
        fprintf(out, " ×%" PRIu32 "..%" PRIu32, low, high);
    else if (high > 1)
        fprintf(out, " ×%" PRIu32, high);
}

static void write_title(FILE *out, const struct dot_node *node)
{
    docs_write_html(out, node->label);
    write_times(out, node->per_parent_min, node->per_parent_max);
}

/* Every parameter, one a line: for the tooltip. */
static void write_tooltip(FILE *out, const struct dot_node *node)
{
    char buffer[2 * PARAMS_VALUE_MAX + 8];
    write_quoted(out, node->path);
    fputs(" : ", out);
    write_quoted(out, node->type->name);
    if (node->instance_count > 1)
        fprintf(out, "\\n%" PRIu32 " instances", node->instance_count);
    for (uint32_t i = 0; i < node->type->param_count; i++) {
        fputs("\\n", out);
        write_quoted(out, node->type->params[i].name);
        fputs(" = ", out);
        write_quoted(out, params_group_text(node->instances, node->instance_count, i, buffer));
    }
}

static void write_kind_row(FILE *out, const struct dot_node *node)
{
    const struct dot_kind_style *style = dot_kind_style(node->kind);
    fprintf(out,
            "<TR><TD COLSPAN=\"3\" BGCOLOR=\"%s\"><FONT POINT-SIZE=\"9\" "
            "COLOR=\"%s\">%s</FONT></TD></TR>\n",
            style->strong, style->ink, style->word);
}

static bool port_is_shown(const struct dot_node *node, uint32_t port, enum view_only only)
{
    return node->port_used[port] || (only == VIEW_ONLY_ALL && node->port_counts[port] > 0);
}

static void write_port_cell(FILE *out, const struct dot_node *node, uint32_t port)
{
    const struct model_port_decl *decl = &node->type->ports[port];
    bool used = node->port_used[port];
    fprintf(out, "<TR><TD PORT=\"p%" PRIu32 "\" ALIGN=\"%s\"><FONT POINT-SIZE=\"9\" COLOR=\"%s\">",
            port, decl->is_in ? "LEFT" : "RIGHT", used ? "#222222" : "#999999");
    docs_write_html(out, decl->name);
    if (node->port_counts[port] != 1)
        write_times(out, node->port_counts[port], node->port_counts[port]);
    fputs("</FONT></TD></TR>", out);
}

/* One side's ports, a table in the cell so that both sides spread over the node's height by
 * themselves. */
static void write_port_column(FILE *out, const struct dot_node *node, bool in, enum view_only only)
{
    bool any = false;
    fputs("<TD BORDER=\"0\" CELLPADDING=\"0\">", out);
    for (uint32_t i = 0; i < node->type->port_count; i++) {
        if (node->type->ports[i].is_in != in || !port_is_shown(node, i, only))
            continue;
        if (!any)
            fputs("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"3\">", out);
        any = true;
        write_port_cell(out, node, i);
    }
    fputs(any ? "</TABLE></TD>" : "</TD>", out);
}

static const char small_text[] = "<FONT POINT-SIZE=\"9\" COLOR=\"#555555\">";

/* What a closed composite holds, each with the colour of its kind: cu ×4, l1v ×4, l1s. */
static void write_contents(FILE *out, const struct dot_node *node)
{
    const struct model_instance *sample = node->instances[0];
    for (uint32_t i = 0; i < sample->child_count; i++) {
        const struct model_instance *child = sample->children[i];
        if ((child->in_array && child->element > 0) || child->is_interconnect)
            continue;
        fprintf(out, "<TR><TD ALIGN=\"LEFT\">%s<FONT COLOR=\"%s\">■</FONT> ", small_text,
                dot_kind_style(dot_kind_of(child->type))->strong);
        docs_write_html(out, child->name);
        if (child->in_array)
            write_times(out, child->array_count, child->array_count);
        fputs("</FONT></TD></TR>", out);
    }
}

/* The first settings that differ from the defaults: what makes this cache this cache. */
static void write_settings(FILE *out, const struct dot_node *node)
{
    char buffer[2 * PARAMS_VALUE_MAX + 8];
    const struct model_instance *sample = node->instances[0];
    unsigned shown = 0;
    for (uint32_t i = 0; i < sample->param_count && shown < SUMMARY_PARAMS; i++) {
        const struct model_param *p = &sample->params[i];
        if (p->decl->is_let || p->source == MODEL_FROM_DEFAULT
            || p->value.dimension == MODEL_DIM_ENUM)
            continue;
        fprintf(out, "<BR/>%s", small_text);
        docs_write_html(out, p->decl->name);
        putc(' ', out);
        docs_write_html(out, params_group_text(node->instances, node->instance_count, i, buffer));
        fputs("</FONT>", out);
        shown++;
    }
}

static void write_names(FILE *out, const struct dot_node *node)
{
    fputs("<B>", out);
    write_title(out, node);
    fputs("</B>", out);
    if (strcmp(node->type->name, node->label) == 0)
        return;
    fputs("<BR/><FONT POINT-SIZE=\"10\">", out);
    docs_write_html(out, node->type->name);
    fputs("</FONT>", out);
}

static void write_middle(FILE *out, const struct dot_node *node)
{
    fprintf(out, "<TD BGCOLOR=\"%s\" CELLPADDING=\"5\">", dot_kind_style(node->kind)->pale);
    if (node->kind == DOT_KIND_COMPOSITE) {
        fputs("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"0\"><TR><TD>",
              out);
        write_names(out, node);
        fputs("</TD></TR>", out);
        write_contents(out, node);
        fputs("</TABLE>", out);
    } else {
        write_names(out, node);
        write_settings(out, node);
    }
    fputs("</TD>", out);
}

void dot_write_id(const struct dot_node *node, FILE *out)
{
    fprintf(out, "%c-%s:%s", node->kind == DOT_KIND_COMPOSITE ? 'v' : 'd', node->path,
            node->type->name);
}

static void write_node(FILE *out, const struct dot_node *node, struct dot_look look,
                       enum view_only only)
{
    bool composite = node->kind == DOT_KIND_COMPOSITE;
    fprintf(out, "n%" PRIu32 " [tooltip=\"", node->id);
    write_tooltip(out, node);
    putc('"', out);
    if (look.links) {
        fputs(", target=\"_self\", URL=\"#", out);
        dot_write_id(node, out);
        putc('"', out);
    }
    fprintf(out,
            ", label=<<TABLE BORDER=\"%d\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"2\" "
            "COLOR=\"%s\" "
            "BGCOLOR=\"#FFFFFF\">\n",
            composite ? 2 : 1, composite ? "#777777" : dot_kind_style(node->kind)->strong);
    write_kind_row(out, node);
    fputs("<TR>", out);
    write_port_column(out, node, true, only);
    write_middle(out, node);
    write_port_column(out, node, false, only);
    fputs("</TR></TABLE>>];\n", out);
}

static void write_stub(FILE *out, const struct dot_node *stub, uint32_t count)
{
    fprintf(out, "n%" PRIu32 " [label=<<FONT POINT-SIZE=\"10\" COLOR=\"#555555\">", stub->id);
    fputs(stub->stub_port->is_in ? "<I>" : "▸ <I>", out);
    docs_write_html(out, stub->label);
    write_times(out, count, count);
    fputs(stub->stub_port->is_in ? "</I> ▸" : "</I>", out);
    fprintf(out, "</FONT>>, tooltip=\"%s port ", stub->stub_port->is_in ? "in" : "out");
    write_quoted(out, stub->label);
    fputs(" : ", out);
    write_quoted(out, stub->stub_port->protocol_text);
    fputs("\"];\n", out);
}

static void write_cluster_head(FILE *out, const struct dot_node *node)
{
    fprintf(out, "subgraph cluster_%" PRIu32 " {\nlabel=<<B>", node->id);
    write_title(out, node);
    fputs("</B>", out);
    if (strcmp(node->type->name, node->label) != 0) {
        fputs("  <FONT POINT-SIZE=\"10\">", out);
        docs_write_html(out, node->type->name);
        fputs("</FONT>", out);
    }
    fputs(">;\ntooltip=\"", out);
    write_tooltip(out, node);
    fprintf(out,
            "\"; labelloc=t; labeljust=l; style=\"rounded,filled\"; color=\"#9A9A9A\"; "
            "fillcolor=\"%s\"; margin=12;\n",
            node->depth % 2 ? "#F6F6F4" : "#FFFFFF");
}

static void write_tree(FILE *out, const struct dot_graph *graph, const struct dot_node *node,
                       struct dot_look look, enum view_only only)
{
    if (!node->is_shown)
        return;
    if (!node->is_open) {
        write_node(out, node, look, only);
        return;
    }
    if (node->parent)
        write_cluster_head(out, node);
    for (uint32_t i = 0; i < node->child_count; i++)
        write_tree(out, graph, node->children[i], look, only);
    if (node->parent)
        fputs("}\n", out);
}

/* "×64 10cy", "pcie 32GB/s 140ns". */
static void write_edge_label(FILE *out, const struct dot_edge *e)
{
    char bandwidth[PARAMS_VALUE_MAX], latency[PARAMS_VALUE_MAX];
    if (e->per_scope > 1)
        fprintf(out, "×%" PRIu32 " ", e->per_scope);
    if (!e->link) {
        fprintf(out, "%" PRIu32 "cy", e->latency_cy);
        return;
    }
    fputs(e->is_bus ? "shared " : "", out);
    write_quoted(out, e->link->name);
    fprintf(out, "\\n%s\\n%s", params_bandwidth_text(e->link->bandwidth_bytes_per_s, bandwidth),
            params_time_text(e->link->latency_ps, latency));
}

static void write_end(FILE *out, const struct dot_node *node, uint32_t port)
{
    fprintf(out, "n%" PRIu32, node->id);
    if (!node->is_stub && port != DOT_NO_PORT)
        fprintf(out, ":p%" PRIu32 ":%s", port, node->type->ports[port].is_in ? "w" : "e");
}

static void write_end_name(FILE *out, const struct dot_node *node, uint32_t port)
{
    if (*node->path) {
        write_quoted(out, node->path);
        putc('.', out);
    }
    write_quoted(out, node->is_stub         ? node->label
                      : port == DOT_NO_PORT ? "?"
                                            : node->type->ports[port].name);
}

/* "gpu.walks", inside a label. */
static void write_end_text(FILE *out, const struct dot_node *node, uint32_t port)
{
    docs_write_html(out, node->label);
    if (node->is_stub || port == DOT_NO_PORT)
        return;
    putc('.', out);
    docs_write_html(out, node->type->ports[port].name);
}

static void write_protocol(FILE *out, const struct model_protocol *protocol)
{
    write_quoted(out, protocol->name);
    for (uint32_t i = 0; i < protocol->argument_count; i++)
        fprintf(out, "%s%" PRId64 "%s", i ? ", " : "(", protocol->arguments[i],
                i + 1 == protocol->argument_count ? ")" : "");
}

/* The box of a shared wire: what goes over it, one line a kind of connection, which edges lead to
 * and from. Its node is named after the first of them. */
static uint32_t first_over(const struct dot_graph *graph, uint32_t edge)
{
    uint32_t first = 0;
    while (!graph->edges[first].is_wire || graph->edges[first].link != graph->edges[edge].link)
        first++;
    return first;
}

static uint32_t wires_of(const struct dot_graph *graph, const struct model_link_type *link)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->model->wire_count; i++)
        count += graph->model->wires[i].link == link;
    return count;
}

static void write_wire_rows(FILE *out, const struct dot_graph *graph, uint32_t first)
{
    for (uint32_t i = first; i < graph->edge_count; i++) {
        const struct dot_edge *e = &graph->edges[i];
        if (!e->is_wire || first_over(graph, i) != first)
            continue;
        fprintf(out,
                "<TR><TD PORT=\"e%" PRIu32 "\" ALIGN=\"LEFT\"><FONT POINT-SIZE=\"9\" "
                "COLOR=\"%s\">",
                i, traffic_colours[dot_traffic_of(e->protocol)]);
        write_end_text(out, e->from, e->from_port);
        fputs(" → ", out);
        write_end_text(out, e->to, e->to_port);
        write_times(out, e->per_scope, e->per_scope);
        fputs("</FONT></TD></TR>\n", out);
    }
}

static void write_wires(FILE *out, const struct dot_graph *graph)
{
    char bandwidth[PARAMS_VALUE_MAX], latency[PARAMS_VALUE_MAX];
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const struct model_link_type *link = graph->edges[i].link;
        if (!graph->edges[i].is_wire || first_over(graph, i) != i)
            continue;
        uint32_t count = wires_of(graph, link);
        fprintf(out,
                "w%" PRIu32 " [tooltip=\"shared wire: requests and replies take turns, each way\", "
                "label=<<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"2\" "
                "COLOR=\"#444444\" BGCOLOR=\"#FFFFFF\">\n<TR><TD BGCOLOR=\"#444444\"><FONT "
                "POINT-SIZE=\"9\" COLOR=\"#FFFFFF\">shared wire</FONT></TD></TR>\n<TR><TD><B>",
                i);
        docs_write_html(out, link->name);
        write_times(out, count, count);
        fprintf(out, "</B><BR/>%s%s  %s</FONT></TD></TR>\n", small_text,
                params_bandwidth_text(link->bandwidth_bytes_per_s, bandwidth),
                params_time_text(link->latency_ps, latency));
        write_wire_rows(out, graph, i);
        fputs("</TABLE>>];\n", out);
    }
}

/* An edge, or with `half` the way to the box of a shared wire (1) or from it (2). */
static void write_edge(FILE *out, const struct dot_graph *graph, uint32_t index, int half)
{
    const struct dot_edge *e = &graph->edges[index];
    if (half == 2)
        fprintf(out, "w%" PRIu32 ":e%" PRIu32 ":e", first_over(graph, index), index);
    else
        write_end(out, e->from, e->from_port);
    fputs(" -> ", out);
    if (half == 1)
        fprintf(out, "w%" PRIu32 ":e%" PRIu32 ":w", first_over(graph, index), index);
    else
        write_end(out, e->to, e->to_port);
    fputs(" [label=\"", out);
    if (half == 0)
        write_edge_label(out, e);
    fputs("\", tooltip=\"", out);
    write_end_name(out, e->from, e->from_port);
    fputs(" -> ", out);
    write_end_name(out, e->to, e->to_port);
    fputs("\\n", out);
    write_protocol(out, e->protocol);
    fprintf(out, "\\n%" PRIu32 " connection%s, %" PRIu32 " messages deep\", color=\"%s\"", e->count,
            e->count == 1 ? "" : "s", e->depth, traffic_colours[dot_traffic_of(e->protocol)]);
    if (e->all_to_all)
        fputs(", penwidth=3", out);
    if (e->optional)
        fputs(", style=dashed", out);
    fputs(half == 1 ? ", arrowhead=none];\n" : "];\n", out);
}

static void write_kind_legend(FILE *out, const struct dot_graph *graph)
{
    bool used[DOT_KIND_COUNT] = {false};
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct dot_node *n = graph->nodes[i];
        if (!n->is_stub && !n->is_open && n->is_shown)
            used[n->kind] = true;
    }
    for (unsigned k = 0; k < DOT_KIND_COUNT; k++) {
        const struct dot_kind_style *style = dot_kind_style(k);
        if (used[k])
            fprintf(out, "<TD BGCOLOR=\"%s\"><FONT COLOR=\"%s\">%s</FONT></TD>", style->strong,
                    style->ink, style->word);
    }
}

static void write_line_legend(FILE *out, const struct dot_graph *graph)
{
    bool used[3] = {false}, bold = false, dashed = false;
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        used[dot_traffic_of(graph->edges[i].protocol)] = true;
        bold |= graph->edges[i].all_to_all;
        dashed |= graph->edges[i].optional;
    }
    for (unsigned t = 0; t < 3; t++)
        if (used[t])
            fprintf(out, "<TD><FONT COLOR=\"%s\"><B>→</B> %s</FONT></TD>", traffic_colours[t],
                    traffic_words[t]);
    if (bold)
        fputs("<TD>━▶ all to all</TD>", out);
    if (dashed)
        fputs("<TD>╌▶ optional</TD>", out);
}

static void write_legend(FILE *out, const struct dot_graph *graph)
{
    fputs("label=<<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"4\" CELLPADDING=\"3\"><TR>",
          out);
    fputs("<TD><B>", out);
    docs_write_html(out, *graph->scope->path ? graph->scope->path : graph->model->name);
    fputs("</B></TD>", out);
    write_kind_legend(out, graph);
    write_line_legend(out, graph);
    fputs("</TR></TABLE>>; labelloc=b; labeljust=l;\n", out);
}

static void write_stubs(FILE *out, const struct dot_graph *graph, bool in)
{
    bool any = false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct dot_node *n = graph->nodes[i];
        if (!n->is_stub || !n->is_shown || n->stub_port->is_in != in)
            continue;
        if (!any)
            fprintf(out, "{ rank=%s;\n", in ? "source" : "sink");
        any = true;
        write_stub(out, n, n->per_parent_max);
    }
    if (any)
        fputs("}\n", out);
}

void dot_write(const struct dot_graph *graph, struct dot_look look, FILE *out)
{
    enum view_only only = graph->only;
    fputs("digraph \"", out);
    write_quoted(out, graph->model->name);
    fputs("\" {\nrankdir=LR; bgcolor=\"#FFFFFF\"; nodesep=0.22; ranksep=0.3; fontname=\"" FONT
          "\"; fontsize=12;\n"
          "node [shape=plain, fontname=\"" FONT "\", fontsize=12];\n"
          "edge [fontname=\"" FONT "\", fontsize=9, fontcolor=\"#333333\", arrowsize=0.7];\n",
          out);
    if (look.legend)
        write_legend(out, graph);
    write_stubs(out, graph, true);
    write_tree(out, graph, graph->scope, look, only);
    write_stubs(out, graph, false);
    write_wires(out, graph);
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        bool is_wire = graph->edges[i].is_wire;
        write_edge(out, graph, i, is_wire ? 1 : 0);
        if (is_wire)
            write_edge(out, graph, i, 2);
    }
    fputs("}\n", out);
}
