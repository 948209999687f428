/* Diagrams: what is drawn, how often, and how wide Graphviz lays it out. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "codegen/views/dot.h"

#include "fixture.h"
#include "scratch.h"

static struct region region;
static const struct model *model;
static struct view_error failure;

static void set_up(void)
{
    region_init(&region, "a test");
    model = fixture_gpu(&region, (struct fixture_shape){.arrays = 16, .cus = 4, .banks = 16});
}

static void tear_down(void)
{
    region_release(&region);
}

TestSuite(dot, .init = set_up, .fini = tear_down);

static struct dot_graph graph_of(struct view_options options)
{
    struct dot_graph graph;
    cr_assert(dot_graph_build(&graph, &region, model, &model->root, 1, &options, &failure), "%s",
              failure.text);
    return graph;
}

static const struct dot_node *node_of(const struct dot_graph *graph, const char *path)
{
    for (uint32_t i = 0; i < graph->node_count; i++)
        if (!graph->nodes[i]->is_stub && strcmp(graph->nodes[i]->path, path) == 0)
            return graph->nodes[i];
    return NULL;
}

static const struct dot_edge *edge_between(const struct dot_graph *graph, const char *from,
                                           const char *to)
{
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (strcmp(graph->edges[i].from->path, from) == 0
            && strcmp(graph->edges[i].to->path, to) == 0)
            return &graph->edges[i];
    return NULL;
}

static char *source_of(struct view_options options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(view_dot(model, &options, out, &failure), "%s", failure.text);
    fclose(out);
    return text;
}

Test(dot, the_default_level_opens_what_has_compute_units)
{
    struct dot_graph graph = graph_of(view_options_default());
    const struct dot_node *arrays = node_of(&graph, "gpu.sa");
    cr_assert_not_null(arrays);
    cr_assert(arrays->is_open);
    cr_assert_eq(arrays->per_parent_max, 16u);
    cr_assert_not_null(node_of(&graph, "gpu.sa.cu"));
    const struct dot_edge *legs = edge_between(&graph, "gpu.sa.l1v", "gpu.memory_xbar");
    cr_assert_not_null(legs);
    cr_assert_eq(legs->per_scope, 64u);
    cr_assert(legs->all_to_all);
}

Test(dot, the_platform_level_shows_two_boxes_and_their_link)
{
    struct dot_graph graph = graph_of((struct view_options){.level = VIEW_LEVEL_PLATFORM});
    cr_assert_eq(graph.edge_count, 1u);
    cr_assert_str_eq(graph.edges[0].link->name, "pcie");
    cr_assert(graph.is_overview);
    cr_assert_eq(graph.edges[0].to_port, DOT_PORT_NONE);
}

Test(dot, counts_inside_an_array_are_those_of_one_element)
{
    struct dot_graph graph = graph_of((struct view_options){.level = VIEW_LEVEL_FULL});
    const struct dot_edge *inside = edge_between(&graph, "gpu.sa.cu", "gpu.sa.l1v");
    cr_assert_not_null(inside);
    cr_assert_eq(inside->count, 64u);
    cr_assert_eq(inside->per_scope, 4u);
}

Test(dot, every_connection_outside_closed_boxes_is_in_one_edge)
{
    struct dot_graph graph = graph_of((struct view_options){.level = VIEW_LEVEL_FULL});
    uint32_t total = 0;
    for (uint32_t i = 0; i < graph.edge_count; i++)
        total += graph.edges[i].count;
    cr_assert_eq(total, model->connection_count);
}

Test(dot, an_element_is_drawn_apart_and_opened)
{
    const char *const expand[] = {"gpu.sa[3]"};
    struct dot_graph graph = graph_of(
        (struct view_options){.level = VIEW_LEVEL_GPU, .expand = expand, .expand_count = 1});
    cr_assert(node_of(&graph, "gpu.sa[3]")->is_open);
    cr_assert_eq(node_of(&graph, "gpu.sa")->instance_count, 15u);
    cr_assert_not(node_of(&graph, "gpu.sa")->is_open);
    cr_assert_eq(edge_between(&graph, "gpu.cp", "gpu.sa[3].cu")->count, 4u);
}

Test(dot, expanding_an_array_of_leaves_draws_each)
{
    const char *const expand[] = {"gpu.dram"};
    struct dot_graph graph = graph_of(
        (struct view_options){.level = VIEW_LEVEL_GPU, .expand = expand, .expand_count = 1});
    cr_assert_not_null(node_of(&graph, "gpu.dram[0]"));
    cr_assert_not_null(node_of(&graph, "gpu.dram[15]"));
}

Test(dot, a_path_that_matches_nothing_is_an_error)
{
    static const char *const paths[] = {"gpu.nothing", "gpu.sa[16]", "", "gpu.sa.cu.vmem"};
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        const struct view_options options = {
            .level = VIEW_LEVEL_GPU, .expand = &paths[i], .expand_count = 1};
        struct dot_graph graph;
        failure.text[0] = '\0';
        cr_assert_not(dot_graph_build(&graph, &region, model, &model->root, 1, &options, &failure));
        cr_assert_neq(failure.text[0], '\0');
    }
}

Test(dot, filters_split_the_connections)
{
    struct dot_graph all = graph_of((struct view_options){.level = VIEW_LEVEL_FULL});
    struct dot_graph memory =
        graph_of((struct view_options){.level = VIEW_LEVEL_FULL, .only = VIEW_ONLY_MEMORY});
    struct dot_graph control =
        graph_of((struct view_options){.level = VIEW_LEVEL_FULL, .only = VIEW_ONLY_CONTROL});
    cr_assert_eq(memory.edge_count + control.edge_count, all.edge_count);
    cr_assert_not(node_of(&memory, "gpu.cp")->is_shown);
    cr_assert_not(node_of(&control, "gpu.dram")->is_shown);
    cr_assert(node_of(&control, "gpu.cp")->is_shown);
}

Test(dot, kinds_come_from_ports)
{
    static const struct {
        const char *path;
        enum dot_kind kind;
    } cases[] = {
        {"driver", DOT_KIND_HOST},
        {"gpu.cp", DOT_KIND_CONTROL},
        {"gpu.sa.cu", DOT_KIND_COMPUTE},
        {"gpu.sa.l1v", DOT_KIND_CACHE},
        {"gpu.memory_xbar", DOT_KIND_INTERCONNECT},
        {"gpu.dram", DOT_KIND_MEMORY},
        {"gpu", DOT_KIND_COMPOSITE},
    };
    struct dot_graph graph = graph_of((struct view_options){.level = VIEW_LEVEL_FULL});
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        cr_assert_eq(node_of(&graph, cases[i].path)->kind, cases[i].kind, "%s", cases[i].path);
}

Test(dot, the_inside_of_a_composite_ends_at_its_ports)
{
    struct dot_graph whole = graph_of((struct view_options){.level = VIEW_LEVEL_FULL});
    const struct dot_node *arrays = node_of(&whole, "gpu.sa");
    const struct view_options options = {.level = VIEW_LEVEL_PLATFORM};
    struct dot_graph graph;
    cr_assert(dot_graph_build(&graph, &region, model, arrays->instances, arrays->instance_count,
                              &options, &failure));
    cr_assert_eq(graph.edge_count, 3u);
    for (uint32_t i = 0; i < graph.edge_count; i++)
        cr_assert_eq(graph.edges[i].per_scope, 4u);
}

Test(dot, the_same_model_gives_the_same_bytes)
{
    char *first = source_of(view_options_default());
    char *second = source_of(view_options_default());
    cr_assert_str_eq(first, second);
    free(first);
    free(second);
}

Test(dot, the_smallest_picture_is_golden)
{
    char *text = source_of((struct view_options){.level = VIEW_LEVEL_PLATFORM});
    cr_assert(scratch_is_golden("platform.dot", text), "UPDATE_GOLDEN=1 accepts:\n%s", text);
    free(text);
}

Test(dot, source_says_bold_and_dashed_and_names_kinds)
{
    char *text = source_of(view_options_default());
    cr_assert_neq(scratch_count(text, "penwidth=2.4"), 0u);
    cr_assert_eq(scratch_count(text, "rankdir=LR"), 1u);
    cr_assert_neq(scratch_count(text, ">cache<"), 0u);
    cr_assert_neq(scratch_count(text, "size = 16KiB"), 0u);
    cr_assert_neq(scratch_count(text, "<B>sa ×16</B>"), 0u);
    cr_assert_neq(scratch_count(text, "pcie<BR/>32GB/s<BR/>140ns"), 0u);
    cr_assert_neq(scratch_count(text, "<B>cu ×4</B> (64 in all)"), 0u);
    cr_assert_neq(scratch_count(text, "size 256MiB (4GiB in 16)"), 0u);
    cr_assert_neq(scratch_count(text, "core 1GHz"), 0u);
    free(text);
}

Test(dot, wires_that_only_empty_caches_are_drawn_when_asked_for)
{
    struct view_options options = view_options_default();
    struct dot_graph plain = graph_of(options);
    options.controls = true;
    struct dot_graph with = graph_of(options);
    for (uint32_t i = 0; i < plain.edge_count; i++)
        cr_assert_neq(plain.edges[i].traffic, DOT_CONTROL);
    cr_assert_geq(with.edge_count, plain.edge_count);
}

Test(dot, a_gpu_of_64_compute_units_fits_a_screen)
{
    static const enum view_level levels[] = {VIEW_LEVEL_GPU, VIEW_LEVEL_FULL};
    for (size_t i = 0; i < 2; i++) {
        struct view_options options = {.level = levels[i]};
        char *svg = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&svg, &size);
        cr_assert(view_svg(model, &options, out, &failure), "%s", failure.text);
        fclose(out);
        const char *width = strstr(svg, "width=\"");
        cr_assert_not_null(width);
        cr_assert_lt(strtol(width + 7, NULL, 10), 2500);
        cr_assert_gt(strtol(width + 7, NULL, 10), 200);
        cr_assert_eq(scratch_count(svg, "xlink:title"), 0u);
        free(svg);
    }
}

Test(dot, missing_graphviz_is_said)
{
    struct view_options options = view_options_default();
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    setenv("PATH", "/nowhere", 1);
    cr_assert_not(view_svg(model, &options, out, &failure));
    cr_assert_not_null(strstr(failure.text, "install Graphviz"));
    fclose(out);
    free(text);
}
