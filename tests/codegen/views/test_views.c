/* The other views: JSON, parameters, the browsable page, the reference, skeletons. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codegen/views/params_value.h"
#include "codegen/views/view.h"
#include "tests/codegen/views/fixture.h"
#include "tests/codegen/views/scratch.h"

static struct arena arena;
static const struct model *model;
static struct view_error failure;

static void set_up(void)
{
    arena_init(&arena);
    model = fixture_gpu(&arena, (struct fixture_shape){.arrays = 2, .cus = 3, .banks = 2});
}

static void tear_down(void)
{
    arena_release(&arena);
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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buffer[PARAMS_VALUE_MAX];
        const struct model_value value = {.dimension = cases[i].dimension,
                                          .integer = cases[i].value};
        cr_assert_str_eq(params_value_text(&value, buffer), cases[i].text);
    }
}

static json_t *dump(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(view_json(model, (const char *const[2]){"a", "b"}, false, out, &failure));
    fclose(out);
    json_error_t where;
    json_t *root = json_loads(text, 0, &where);
    cr_assert_not_null(root, "%s at line %d", where.text, where.line);
    free(text);
    return root;
}

Test(views, the_dump_holds_every_instance_and_connection)
{
    json_t *root = dump();
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
    json_t *root = dump();
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

static char *params(enum view_params_format format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(view_params(model, format, out, &failure));
    fclose(out);
    return text;
}

Test(views, equal_parameters_of_an_array_are_one_row)
{
    char *text = params(VIEW_PARAMS_TABLE);
    cr_assert_eq(scratch_count(text, "\n"), 4u, "%s", text);
    cr_assert_eq(scratch_count(text, "gpu.sa[*].l1v[*].size"), 1u);
    cr_assert_neq(scratch_count(text, "body small.heddle:20"), 0u);
    free(text);
}

Test(views, the_table_of_parameters_is_golden)
{
    char *text = params(VIEW_PARAMS_TABLE);
    cr_assert(scratch_is_golden("params.txt", text), "UPDATE_GOLDEN=1 accepts:\n%s", text);
    free(text);
}

Test(views, every_format_of_parameters_has_the_same_rows)
{
    char *csv = params(VIEW_PARAMS_CSV), *text = params(VIEW_PARAMS_JSON);
    json_t *rows = json_loads(text, 0, NULL);
    cr_assert_eq(scratch_count(csv, "\n"), 1 + json_array_size(rows));
    cr_assert_eq(json_integer_value(json_object_get(json_array_get(rows, 0), "members")), 6);
    json_decref(rows);
    free(csv);
    free(text);
}

/* Every href="#..." has its id, and no id occurs twice. */
static void check_links(const char *page)
{
    for (const char *link = page; (link = strstr(link, "href=\"#")) != NULL;) {
        link += strlen("href=\"#");
        char id[512];
        snprintf(id, sizeof id, " id=\"%.*s\"", (int)strcspn(link, "\""), link);
        cr_assert_eq(scratch_count(page, id), 1u, "%s", id);
    }
    for (const char *at = page; (at = strstr(at, " id=\"")) != NULL; at++) {
        char id[512];
        snprintf(id, sizeof id, "%.*s", (int)strcspn(at + 5, "\"") + 6, at);
        cr_assert_eq(scratch_count(page, id), 1u, "%s", id);
    }
}

Test(views, the_page_has_a_section_for_each_composite_and_no_dead_link)
{
    const char *dir = scratch_make();
    cr_assert(view_html(model, dir, &failure), "%s", failure.text);
    char *page = scratch_read(dir, "index.html");
    cr_assert_not_null(page);
    cr_assert_eq(scratch_count(page, "<section "), 3u);
    cr_assert_eq(scratch_count(page, "</section>"), 3u);
    cr_assert_eq(scratch_count(page, "<svg "), 3u);
    cr_assert_eq(scratch_count(page, "<!DOCTYPE"), 1u);
    cr_assert_eq(scratch_count(page, "src="), 0u);
    cr_assert_neq(scratch_count(page, "Does what <code>it</code> does."), 0u);
    check_links(page);
    free(page);
    scratch_remove(dir);
}

Test(views, the_page_needs_a_folder_it_can_write)
{
    cr_assert_not(view_html(model, "/proc/nothing", &failure));
    cr_assert_neq(failure.text[0], '\0');
}

Test(views, the_reference_has_a_page_for_each_component_and_no_dead_link)
{
    const char *dir = scratch_make();
    cr_assert(view_docs(&model, 1, dir, &failure), "%s", failure.text);
    char *index = scratch_read(dir, "index.html");
    cr_assert_not_null(index);
    for (const char *link = index; (link = strstr(link, "href=\"")) != NULL;) {
        link += strlen("href=\"");
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(link, "\""), link);
        char *page = scratch_read(dir, name);
        cr_assert_not_null(page, "%s", name);
        free(page);
    }
    char *cache = scratch_read(dir, "component-cache.md");
    cr_assert_not_null(cache);
    cr_assert_not_null(
        strstr(cache, "| `size` | bytes | `16KiB` | `1KiB .. 4GiB` | How much it holds. |"));
    cr_assert_not_null(strstr(cache, "| `sets >= 1 \\|\\| empty` | smaller than a set |"), "%s",
                       cache);
    char *protocols = scratch_read(dir, "protocols.md");
    cr_assert_not_null(strstr(protocols, "| `data` | `bytes[line]` | line |"));
    cr_assert_not_null(strstr(protocols, "Answers `read`."));
    char *platform = scratch_read(dir, "platform-small.html");
    cr_assert_not_null(platform);
    cr_assert_not_null(strstr(platform, "src=\"platform-small.svg\""));
    free(index);
    free(cache);
    free(protocols);
    free(platform);
    scratch_remove(dir);
}

Test(views, a_new_component_is_three_files_and_overwrites_nothing)
{
    const char *dir = scratch_make();
    char *said = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&said, &size);
    cr_assert(view_new("component", "my_filter", dir, out, &failure), "%s", failure.text);
    static const char *const files[] = {"my_filter.heddle", "my_filter.c", "my_filter_test.heddle"};
    for (size_t i = 0; i < 3; i++) {
        char *text = scratch_read(dir, files[i]);
        cr_assert_not_null(text, "%s", files[i]);
        cr_assert_neq(scratch_count(text, "my_filter"), 0u);
        cr_assert_eq(scratch_count(text, "@"), 0u);
        free(text);
    }
    cr_assert_not(view_new("component", "my_filter", dir, out, &failure));
    cr_assert_not_null(strstr(failure.text, "is there already"));
    fclose(out);
    cr_assert_not_null(strstr(said, "heddle run"));
    free(said);
    scratch_remove(dir);
}

Test(views, names_that_cannot_be_C_are_refused)
{
    static const char *const names[] = {"",       "2fast", "a-b",  "Filter", "struct",
                                        "tester", "a/b",   "../x", "_x"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        failure.text[0] = '\0';
        cr_assert_not(view_new("component", names[i], "/tmp", stdout, &failure), "'%s'", names[i]);
        cr_assert_neq(failure.text[0], '\0');
        cr_assert_not(view_new("platform", names[i], "/tmp", stdout, &failure), "'%s'", names[i]);
        cr_assert_not(view_new("part", names[i], "/tmp", stdout, &failure), "'%s'", names[i]);
    }
}
