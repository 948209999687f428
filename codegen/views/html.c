/* `heddle dot --html DIR`: the platform as one page to walk through.
 *
 * One section for each composite, with its picture (everything inside it closed), its documentation
 * and parameters, and what it holds. All elements of an array share a section. A click on a
 * composite leads to its section, a click on a leaf to its details below the picture; breadcrumbs
 * lead up. */
#include <inttypes.h>
#include <string.h>

#include "codegen/views/docs_text.h"
#include "codegen/views/dot.h"
#include "codegen/views/html_page.h"
#include "codegen/views/params_value.h"

struct page {
    const struct model *model;
    FILE *out;
    struct view_error *error;
    uint32_t section_count;
    const struct dot_node *trail[32]; /* scopes from the platform to the current one */
    uint32_t depth;
};

static void write_name(FILE *out, const struct dot_node *node)
{
    docs_write_html(out, node->label);
    if (node->per_parent_max > 1)
        fprintf(out, " ×%" PRIu32, node->per_parent_max);
}

static void write_breadcrumbs(const struct page *page)
{
    fputs("<nav>", page->out);
    for (uint32_t i = 0; i <= page->depth; i++) {
        fputs(i ? " › " : "", page->out);
        if (i < page->depth) {
            fputs("<a href=\"#", page->out);
            dot_write_id(page->trail[i], page->out);
            fputs("\">", page->out);
        }
        docs_write_html(page->out, page->trail[i]->label);
        fputs(i < page->depth ? "</a>" : "", page->out);
    }
    fputs("</nav>\n", page->out);
}

static void write_params(FILE *out, const struct dot_node *node)
{
    char buffer[2 * PARAMS_VALUE_MAX + 8];
    if (node->type->param_count == 0)
        return;
    fputs(
        "<table><thead><tr><th>parameter</th><th>value</th><th>meaning</th></tr></thead><tbody>\n",
        out);
    for (uint32_t i = 0; i < node->type->param_count; i++) {
        fputs("<tr><td>", out);
        docs_write_html(out, node->type->params[i].name);
        fputs("</td><td class=\"value\">", out);
        docs_write_html(out, params_group_text(node->instances, node->instance_count, i, buffer));
        fputs("</td><td>", out);
        docs_write_html_inline(out, node->type->params[i].doc);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

static void write_ports(FILE *out, const struct dot_node *node)
{
    if (node->type->port_count == 0)
        return;
    fputs("<table><thead><tr><th>port</th><th></th><th>protocol</th><th>count</th></tr></"
          "thead><tbody>\n",
          out);
    for (uint32_t i = 0; i < node->type->port_count; i++) {
        const struct model_port_decl *p = &node->type->ports[i];
        fputs("<tr><td>", out);
        docs_write_html(out, p->name);
        fprintf(out, "</td><td>%s%s</td><td>", p->is_in ? "in" : "out",
                p->optional ? ", optional" : "");
        docs_write_html(out, p->protocol_text);
        fprintf(out, "</td><td>%" PRIu32 "</td></tr>\n", node->port_counts[i]);
    }
    fputs("</tbody></table>\n", out);
}

/* "ways = 64, latency = 1cy": all of them, a part has few. */
static void write_part_params(FILE *out, const struct model_part *part)
{
    char buffer[PARAMS_VALUE_MAX];
    for (uint32_t i = 0; i < part->param_count; i++) {
        fprintf(out, "%s%s = ", i ? ", " : "", part->params[i].decl->name);
        docs_write_html(out, params_value_text(&part->params[i].value, buffer));
    }
}

/* What fills the slots and sub-parts of the first member. */
static void write_parts(FILE *out, const struct dot_node *node)
{
    const struct model_type *type = node->type;
    if (type->part_count == 0)
        return;
    fputs("<table><thead><tr><th>part</th><th>type</th><th>parameters</th></tr></thead><tbody>\n",
          out);
    for (uint32_t i = 0; i < type->part_count; i++) {
        const struct model_part_place *place = &node->instances[0]->places[i];
        fputs("<tr><td>", out);
        docs_write_html(out, type->parts[i].name);
        if (place->count > 1)
            fprintf(out, " ×%" PRIu32, place->count);
        fputs("</td><td>", out);
        docs_write_html(out, place->count ? place->parts[0]->type->name : "none");
        fputs("</td><td>", out);
        if (place->count)
            write_part_params(out, place->parts[0]);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

static void write_kind(FILE *out, enum dot_kind kind)
{
    const struct dot_kind_style *style = dot_kind_style(kind);
    fprintf(out, "<span class=\"kind\" style=\"background:%s;color:%s\">%s</span>", style->strong,
            style->ink, style->word);
}

static void write_leaf(FILE *out, const struct dot_node *node)
{
    fputs("<details id=\"", out);
    dot_write_id(node, out);
    fputs("\"><summary><strong>", out);
    write_name(out, node);
    fputs("</strong> <span class=\"type\">", out);
    docs_write_html(out, node->type->name);
    fputs("</span> ", out);
    write_kind(out, node->kind);
    fputs("</summary>\n", out);
    docs_write_html_paragraphs(out, node->type->doc ? node->type->doc : "");
    write_params(out, node);
    write_ports(out, node);
    write_parts(out, node);
    fputs("</details>\n", out);
}

static void write_composite_entry(FILE *out, const struct dot_node *node)
{
    fputs("<p><a href=\"#", out);
    dot_write_id(node, out);
    fputs("\"><strong>", out);
    write_name(out, node);
    fputs("</strong></a> <span class=\"type\">", out);
    docs_write_html(out, node->type->name);
    fputs("</span></p>\n", out);
}

static void write_aside(FILE *out, const struct dot_node *scope)
{
    fputs("<aside>\n", out);
    docs_write_html_paragraphs(out, scope->type->doc ? scope->type->doc : "");
    write_params(out, scope);
    fputs("<h2>Inside</h2>\n", out);
    for (uint32_t i = 0; i < scope->child_count; i++)
        if (scope->children[i]->kind == DOT_KIND_COMPOSITE)
            write_composite_entry(out, scope->children[i]);
    for (uint32_t i = 0; i < scope->child_count; i++)
        if (scope->children[i]->kind != DOT_KIND_COMPOSITE)
            write_leaf(out, scope->children[i]);
    fputs("</aside>\n", out);
}

static bool write_section(struct page *page, const struct dot_picture *picture,
                          const struct dot_node *scope)
{
    char prefix[32];
    snprintf(prefix, sizeof prefix, "s%" PRIu32 "-", page->section_count++);
    fputs("<section id=\"", page->out);
    dot_write_id(scope, page->out);
    fputs("\">\n", page->out);
    write_breadcrumbs(page);
    fputs("<h1>", page->out);
    docs_write_html(page->out, *scope->path ? scope->path : scope->label);
    if (scope->instance_count > 1)
        fprintf(page->out, " ×%" PRIu32, scope->instance_count);
    fputs(" <span class=\"type\">", page->out);
    docs_write_html(page->out, scope->type->name);
    fputs("</span></h1>\n<div class=\"view\">\n<div class=\"picture\">\n", page->out);
    if (!dot_draw_svg(picture, (struct dot_look){.links = true, .legend = true}, prefix, page->out,
                      page->error))
        return false;
    fputs("</div>\n", page->out);
    write_aside(page->out, scope);
    fputs("</div>\n</section>\n", page->out);
    return true;
}

/* The section of one composite, then those of the composites inside it. */
static bool write_composite(struct page *page, const struct model_instance *const *instances,
                            uint32_t count)
{
    const struct view_options options = {.level = VIEW_LEVEL_PLATFORM, .controls = true};
    struct view_options folded = options;
    folded.collapse = true; /* a section for all elements of an array, however they are drawn */
    struct arena arena;
    struct dot_picture picture = {.inset_count = 0};
    struct dot_graph graph;
    arena_init(&arena);
    bool good =
        dot_graph_build(&picture.main, &arena, page->model, instances, count, &options, page->error)
        && dot_graph_build(&graph, &arena, page->model, instances, count, &folded, page->error);
    page->trail[page->depth] = graph.scope;
    good = good && write_section(page, &picture, graph.scope);
    bool deeper = page->depth + 1 < sizeof page->trail / sizeof page->trail[0];
    for (uint32_t i = 0; good && deeper && i < graph.scope->child_count; i++) {
        const struct dot_node *child = graph.scope->children[i];
        if (child->kind != DOT_KIND_COMPOSITE)
            continue;
        page->depth++;
        good = write_composite(page, child->instances, child->instance_count);
        page->depth--;
    }
    arena_release(&arena);
    return good;
}

bool view_html(const struct model *model, const char *dir, struct view_error *error)
{
    if (!docs_make_directory(dir, error))
        return false;
    FILE *out = docs_open(dir, "index.html", error);
    if (!out)
        return false;
    struct page page = {.model = model, .out = out, .error = error};
    html_write_head(out, model->name);
    html_write_tools(out);
    bool good = write_composite(&page, &model->root, 1);
    html_write_script(out);
    fputs("</body>\n</html>\n", out);
    if (good)
        return docs_close(out, dir, "index.html", error);
    docs_discard(out, dir, "index.html");
    return false;
}
