/* The other views: JSON, parameters, skeletons. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"
#include "codegen/views/params_value.h"
#include "codegen/views/view.h"

#include "fixture.h"
#include "scratch.h"

static struct region region;
static const struct model *model;
static struct view_error failure;

static void set_up(void)
{
    region_init(&region, "a test");
    model = fixture_gpu(&region, (struct fixture_shape){.arrays = 2, .cus = 3, .banks = 2});
}

static void tear_down(void)
{
    region_release(&region);
}

TestSuite(views, .init = set_up, .fini = tear_down);

Test(views, values_have_the_largest_unit_that_divides_them)
{
    static const struct {
        enum model_dimension dimension;
        int64_t value;
        const char *text;
    } cases[] = {
        {MODEL_DIM_NONE, -3, "-3"},
        {MODEL_DIM_BOOL, 1, "true"},
        {MODEL_DIM_BYTES, 0, "0B"},
        {MODEL_DIM_BYTES, 1000, "1000B"},
        {MODEL_DIM_BYTES, 131072, "128KiB"},
        {MODEL_DIM_BYTES, (int64_t)4 << 30, "4GiB"},
        {MODEL_DIM_CYCLES, 10, "10cy"},
        {MODEL_DIM_HZ, 1132000000, "1132MHz"},
        {MODEL_DIM_SECONDS, 140000, "140ns"},
        {MODEL_DIM_BYTES_PER_S, 32000000000, "32GB/s"},
        {MODEL_DIM_BYTES_PER_S, 1 << 30, "1GiB/s"},
        {MODEL_DIM_BYTES_PER_CY, 64, "64B/cy"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char buffer[PARAMS_VALUE_MAX];
        const struct model_value value = {.dimension = cases[i].dimension,
                                          .integer = cases[i].value};
        cr_assert_str_eq(params_value_text(&value, buffer), cases[i].text);
    }
}

static json_t *dump(const char *only)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(view_json(model, only, (const char *const[2]){"a", "b"}, out, &failure), "%s",
              failure.text);
    fclose(out);
    json_error_t where;
    json_t *root = json_loads(text, 0, &where);
    cr_assert_not_null(root, "%s at line %d", where.text, where.line);
    free(text);
    return root;
}

Test(views, the_dump_holds_every_instance_and_connection)
{
    json_t *root = dump(NULL);
    cr_assert_eq(json_array_size(json_object_get(root, "instances")), model->instance_count);
    cr_assert_eq(json_array_size(json_object_get(root, "connections")), model->connection_count);
    cr_assert_eq(json_array_size(json_object_get(root, "links")), 1u);
    const json_t *last =
        json_array_get(json_object_get(root, "connections"), model->connection_count - 1);
    cr_assert_str_eq(json_string_value(json_object_get(last, "from")), "driver.gpu[0]");
    cr_assert_str_eq(json_string_value(json_object_get(last, "to")), "gpu.cp.host");
    cr_assert_str_eq(json_string_value(json_object_get(last, "link")), "pcie");
    json_decref(root);
}

Test(views, parents_in_the_dump_stand_before_children)
{
    json_t *root = dump(NULL);
    const json_t *instances = json_object_get(root, "instances");
    for (size_t i = 1; i < json_array_size(instances); i++) {
        const char *parent =
            json_string_value(json_object_get(json_array_get(instances, i), "parent"));
        bool found = false;
        for (size_t k = 0; k < i && !found; k++)
            found = strcmp(parent,
                           json_string_value(json_object_get(json_array_get(instances, k), "path")))
                    == 0;
        cr_assert(found, "%s", parent);
    }
    json_decref(root);
}

static const char *string_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* The item of a list that has the name. */
static const json_t *named(const json_t *object, const char *list, const char *name)
{
    const json_t *items = json_object_get(object, list);
    const json_t *found = NULL;
    for (size_t i = 0; !found && i < json_array_size(items); i++)
        if (strcmp(string_at(json_array_get(items, i), "name"), name) == 0)
            found = json_array_get(items, i);
    cr_assert_not_null(found, "no '%s' in %s", name, list);
    return found;
}

Test(views, the_facts_of_the_reference_are_those_of_the_declarations)
{
    json_t *root = dump("reference");
    const json_t *cache = named(root, "types", "cache"), *size = named(cache, "params", "size");
    cr_expect_str_eq(string_at(size, "default"), "16KiB");
    cr_expect_str_eq(string_at(size, "range"), "1KiB .. 4GiB");
    cr_expect_str_eq(string_at(json_array_get(json_object_get(cache, "checks"), 0), "otherwise"),
                     "smaller than a set");
    const json_t *mem = named(root, "protocols", "mem"), *reply = named(mem, "replies", "data");
    cr_expect_str_eq(string_at(named(reply, "fields", "data"), "argument"), "line");
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(reply, "answers"), 0)),
                     "read");
    cr_expect_str_eq(string_at(named(root, "links", "pcie"), "latency"), "140ns");
    cr_expect_eq(scratch_count(string_at(root, "svg"), "<svg "), 1u);
    json_decref(root);
}

/* Composites with their pictures below `node`, and ends of links into the page. */
static void count_tree(const json_t *node, unsigned *composites, unsigned *leaves, unsigned *links)
{
    const json_t *inside = json_object_get(node, "inside");
    *composites += inside != NULL;
    *leaves += !inside;
    cr_expect_eq(scratch_count(string_at(node, "svg"), "<svg "), inside != NULL);
    *links += scratch_count(string_at(node, "svg"), "xlink:href=\"#");
    for (size_t i = 0; i < json_array_size(inside); i++)
        count_tree(json_array_get(inside, i), composites, leaves, links);
}

Test(views, each_composite_of_the_tree_has_a_picture_that_leads_to_what_is_inside)
{
    unsigned composites = 0, leaves = 0, links = 0;
    json_t *root = dump("diagrams"), *tree = json_object_get(root, "tree");
    count_tree(tree, &composites, &leaves, &links);
    cr_expect_eq(composites, 3u);
    cr_expect_eq(links, composites + leaves - 1); /* all but the platform */
    const json_t *arrays = named(named(tree, "inside", "gpu"), "inside", "sa");
    cr_expect_eq(json_integer_value(json_object_get(arrays, "each")), 2);
    const json_t *caches = named(arrays, "inside", "l1v");
    cr_expect_str_eq(string_at(json_object_get(caches, "params"), "size"), "16KiB");
    cr_expect_eq(json_integer_value(json_object_get(caches, "instances")), 6);
    json_decref(root);
}

Test(views, equal_parameters_of_an_array_are_one_row)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(view_params(model, out, &failure), "%s", failure.text);
    fclose(out);
    json_t *rows = json_loads(text, 0, NULL), *first = json_array_get(rows, 2);
    cr_assert_eq(json_array_size(rows), 5u, "%s", text);
    cr_expect_str_eq(string_at(json_array_get(rows, 0), "parameter"), "pcie.bandwidth");
    cr_expect_str_eq(string_at(json_array_get(rows, 1), "parameter"), "pcie.latency");
    cr_expect_str_eq(string_at(first, "parameter"), "gpu.sa[*].l1v[*].size");
    cr_expect_eq(json_integer_value(json_object_get(first, "members")), 6);
    cr_expect_str_eq(string_at(first, "place"), "small.heddle:20:5");
    json_decref(rows);
    free(text);
}
