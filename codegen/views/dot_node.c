/* Nodes, clusters and stubs as Graphviz source, one function an output construct, in the order of
 * the output. A node is a table: its kind on top, its name and summary in the middle, the ports
 * where requests come in on one side, and the ports where requests leave on the other. */
#include <inttypes.h>
#include <string.h>

#include "dot_heat.h"
#include "dot_pen.h"
#include "escape.h"
#include "params_value.h"

void dot_write_quoted(FILE *out, const char *text)
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

void dot_write_times(FILE *out, uint32_t low, uint32_t high)
{
    if (low != high)
        fprintf(out, " ×%" PRIu32 "..%" PRIu32, low, high);
    else if (high > 1)
        fprintf(out, " ×%" PRIu32, high);
}

/* "cu ×4", and for compute units how many that makes in all. */
static void write_title(const struct dot_pen *pen, const struct dot_node *node)
{
    uint32_t scopes = pen->graph->scope->instance_count;
    uint32_t total = scopes ? node->instance_count / scopes : 0;
    fputs("<B>", pen->out);
    escape_html(pen->out, node->label);
    dot_write_times(pen->out, node->per_parent_min, node->per_parent_max);
    fputs("</B>", pen->out);
    if (node->kind == DOT_KIND_COMPUTE && total > node->per_parent_max)
        fprintf(pen->out, " (%" PRIu32 " in all)", total);
}

/* Every parameter, one a line: for the tooltip. */
static void write_tooltip(const struct dot_pen *pen, const struct dot_node *node)
{
    char buffer[2 * PARAMS_VALUE_MAX + 8];
    FILE *out = pen->out;
    dot_write_quoted(out, node->path);
    fputs(" : ", out);
    dot_write_quoted(out, node->type->name);
    if (node->instance_count > 1)
        fprintf(out, "\\n%" PRIu32 " instances", node->instance_count);
    if (pen->look.heat)
        dot_heat_tooltip(pen, node);
    for (uint32_t i = 0; i < node->type->param_count; i++) {
        fputs("\\n", out);
        dot_write_quoted(out, node->type->params[i].name);
        fputs(" = ", out);
        dot_write_quoted(out, params_group_text(node->instances, node->instance_count, i, buffer));
    }
}

static bool is_column(const struct dot_pen *pen)
{
    return pen->graph->layout == VIEW_LAYOUT_COLUMN;
}

/* The colours of a node: of its kind, or of what was measured. */
struct paint {
    char colour[DOT_HEAT_COLOUR];
    const char *fill, *ink;
};

static void paint_measured(struct paint *paint, const struct dot_pen *pen,
                           const struct dot_node *node)
{
    const struct view_heat *heat = pen->look.heat;
    struct view_share share =
        dot_heat_fullest(heat, heat->measure, node->instances, node->instance_count);
    if (share.whole <= 0)
        share = dot_heat_share(heat, heat->measure, node->instances, node->instance_count);
    paint->fill = dot_heat_colour(heat, &share, paint->colour);
    paint->ink = dot_heat_ink(heat, &share);
}

static void write_kind_row(const struct dot_pen *pen, const struct dot_node *node)
{
    const struct dot_kind_style *style = dot_kind_style(node->kind);
    struct paint paint = {.fill = style->strong, .ink = style->ink};
    if (pen->look.heat)
        paint_measured(&paint, pen, node);
    fprintf(pen->out,
            "<TR><TD%s BGCOLOR=\"%s\"><FONT POINT-SIZE=\"9\" COLOR=\"%s\">%s</FONT></TD></TR>\n",
            pen->graph->is_overview || is_column(pen) ? "" : " COLSPAN=\"3\"", paint.fill,
            paint.ink, style->word);
}

static bool port_is_shown(const struct dot_pen *pen, const struct dot_node *node, uint32_t port)
{
    return node->port_used[port] || (pen->graph->shows_open_ports && node->port_counts[port] > 0);
}

static void write_port_cell(FILE *out, const struct dot_node *node, uint32_t port,
                            const char *align)
{
    const struct model_port_decl *decl = &node->type->ports[port];
    bool used = node->port_used[port];
    fprintf(out, "<TD PORT=\"p%" PRIu32 "\" ALIGN=\"%s\"><FONT POINT-SIZE=\"9\" COLOR=\"%s\">",
            port, align, used ? "#222222" : "#999999");
    escape_html(out, decl->name);
    if (node->port_counts[port] != 1)
        dot_write_times(out, node->port_counts[port], node->port_counts[port]);
    fputs("</FONT></TD>", out);
}

#define PORT_TABLE "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"3\">"

/* One side's ports, a table in the cell so that both sides spread over the node's height (or, in a
 * column, width) by themselves. */
static void write_ports(const struct dot_pen *pen, const struct dot_node *node, bool in)
{
    bool any = false, across = is_column(pen);
    const char *align = across ? "CENTER" : in ? "LEFT" : "RIGHT";
    for (uint32_t i = 0; i < node->type->port_count; i++) {
        if (node->type->ports[i].is_in != in || !port_is_shown(pen, node, i))
            continue;
        if (!any)
            fputs(across ? "<TD BORDER=\"0\" CELLPADDING=\"0\">" PORT_TABLE "<TR>"
                         : "<TD BORDER=\"0\" CELLPADDING=\"0\">" PORT_TABLE,
                  pen->out);
        any = true;
        fputs(across ? "" : "<TR>", pen->out);
        write_port_cell(pen->out, node, i, align);
        fputs(across ? "" : "</TR>", pen->out);
    }
    if (any)
        fputs(across ? "</TR></TABLE></TD>" : "</TABLE></TD>", pen->out);
    else
        fputs("<TD BORDER=\"0\" CELLPADDING=\"0\"></TD>", pen->out);
}

static void write_names(const struct dot_pen *pen, const struct dot_node *node)
{
    write_title(pen, node);
    if (strcmp(node->type->name, node->label) == 0)
        return;
    fputs("<BR/><FONT POINT-SIZE=\"10\">", pen->out);
    escape_html(pen->out, node->type->name);
    fputs("</FONT>", pen->out);
}

/* Name and number on the colour of the measured share. If a single element is much fuller than the
 * others, its share decides the colour. The summary is in the tooltip. */
static void write_measured(const struct dot_pen *pen, const struct dot_node *node)
{
    char text[16];
    struct paint paint;
    const struct view_heat *heat = pen->look.heat;
    struct view_share share =
        dot_heat_share(heat, heat->measure, node->instances, node->instance_count);
    paint_measured(&paint, pen, node);
    fprintf(pen->out, "<TD BGCOLOR=\"%s\" CELLPADDING=\"5\"><FONT COLOR=\"%s\">", paint.fill,
            paint.ink);
    write_names(pen, node);
    fprintf(pen->out, "<BR/>%s", *dot_heat_text(&share, text) ? text : " ");
    share = dot_heat_fullest(heat, heat->measure, node->instances, node->instance_count);
    if (share.whole > 0)
        fprintf(pen->out, ", one %s", dot_heat_text(&share, text));
    fputs("</FONT></TD>", pen->out);
}

static void write_middle(const struct dot_pen *pen, const struct dot_node *node)
{
    if (pen->look.heat && node->kind != DOT_KIND_COMPOSITE) {
        write_measured(pen, node);
        return;
    }
    fprintf(pen->out, "<TD BGCOLOR=\"%s\" CELLPADDING=\"5\">",
            pen->look.heat ? "#FFFFFF" : dot_kind_style(node->kind)->pale);
    if (node->kind == DOT_KIND_COMPOSITE) {
        fputs("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"0\"><TR><TD>",
              pen->out);
        write_names(pen, node);
        fputs("</TD></TR>", pen->out);
        dot_write_contents(pen, node);
        fputs("</TABLE>", pen->out);
    } else {
        write_names(pen, node);
        dot_write_summary(pen, node);
    }
    fputs("</TD>", pen->out);
}

/* As in json_diagrams.h; elements of an array share theirs. */
static void write_id(const struct dot_node *node, FILE *out)
{
    bool inside = false;
    fprintf(out, "%c-", node->kind == DOT_KIND_COMPOSITE ? 'v' : 'd');
    for (const char *p = node->path; *p; p++) {
        inside |= *p == '[';
        if (!inside)
            putc(*p, out);
        inside &= *p != ']';
    }
    fprintf(out, ":%s", node->type->name);
}

static void write_table(const struct dot_pen *pen, const struct dot_node *node)
{
    if (pen->graph->is_overview) {
        write_kind_row(pen, node);
        fputs("<TR>", pen->out);
        write_middle(pen, node);
        fputs("</TR>", pen->out);
        return;
    }
    if (!is_column(pen))
        write_kind_row(pen, node);
    fputs("<TR>", pen->out);
    write_ports(pen, node, true);
    if (is_column(pen)) {
        fputs("</TR>\n", pen->out);
        write_kind_row(pen, node);
        fputs("<TR>", pen->out);
    }
    write_middle(pen, node);
    fputs(is_column(pen) ? "</TR>\n<TR>" : "", pen->out);
    write_ports(pen, node, false);
    fputs("</TR>", pen->out);
}

void dot_write_node(const struct dot_pen *pen, const struct dot_node *node)
{
    bool composite = node->kind == DOT_KIND_COMPOSITE;
    fprintf(pen->out, "%sn%" PRIu32 " [tooltip=\"", pen->prefix, node->id);
    write_tooltip(pen, node);
    putc('"', pen->out);
    if (pen->look.links) {
        fputs(", target=\"_self\", URL=\"#", pen->out);
        write_id(node, pen->out);
        putc('"', pen->out);
    }
    fprintf(pen->out,
            ", label=<<TABLE BORDER=\"%d\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"2\" "
            "COLOR=\"%s\" BGCOLOR=\"#FFFFFF\">\n",
            composite ? 2 : 1,
            composite || pen->look.heat ? "#777777" : dot_kind_style(node->kind)->strong);
    write_table(pen, node);
    fputs("</TABLE>>];\n", pen->out);
}

void dot_write_stub(const struct dot_pen *pen, const struct dot_node *stub)
{
    FILE *out = pen->out;
    const char *arrow = is_column(pen) ? "▾" : "▸";
    fprintf(out, "%sn%" PRIu32 " [label=<<FONT POINT-SIZE=\"10\" COLOR=\"#555555\">", pen->prefix,
            stub->id);
    if (!stub->stub_port->is_in)
        fprintf(out, "%s ", arrow);
    fputs("<I>", out);
    escape_html(out, stub->label);
    dot_write_times(out, stub->per_parent_max, stub->per_parent_max);
    fputs("</I>", out);
    if (stub->stub_port->is_in)
        fprintf(out, " %s", arrow);
    fprintf(out, "</FONT>>, tooltip=\"%s port ", stub->stub_port->is_in ? "in" : "out");
    dot_write_quoted(out, stub->label);
    fputs(" : ", out);
    dot_write_quoted(out, stub->stub_port->protocol_text);
    fputs("\"];\n", out);
}

void dot_write_cluster_head(const struct dot_pen *pen, const struct dot_node *node)
{
    FILE *out = pen->out;
    fprintf(out, "subgraph cluster_%s%" PRIu32 " {\nlabel=<", pen->prefix, node->id);
    if (node == pen->graph->scope)
        fputs("inside each ", out);
    write_title(pen, node);
    if (strcmp(node->type->name, node->label) != 0) {
        fputs("  <FONT POINT-SIZE=\"10\">", out);
        escape_html(out, node->type->name);
        fputs("</FONT>", out);
    }
    fputs(">;\ntooltip=\"", out);
    write_tooltip(pen, node);
    fprintf(out,
            "\"; labelloc=t; labeljust=l; style=\"rounded,filled\"; color=\"#9A9A9A\"; "
            "fillcolor=\"%s\"; margin=12;\n",
            node->depth % 2 ? "#F6F6F4" : "#FFFFFF");
}
