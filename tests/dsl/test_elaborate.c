/* Elaboration through the public API: the example of the language, and the construct that each case
 * names. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "dsl/compile.h"

#include "fixtures.h"

static struct compilation *compilation;

static const struct model *compile_file(const char *name, const char *const *sets, size_t set_count)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", fixture_root(), name);
    struct compile_options options = {
        .library_root = fixture_library(), .overrides = sets, .override_count = set_count};
    compilation = compile_open(&options);
    const struct model *model = compile_platform(compilation, path, NULL);
    if (!model)
        compile_print_diagnostics(compilation, stderr, false);
    cr_assert_not_null(model);
    return model;
}

/* The platform's body, with the components of the fixtures to use. */
static const struct model *compile_body(const char *declarations, const char *body)
{
    static char text[8192], path[600];
    snprintf(text, sizeof text, "import \"lib/parts\";\n%s\nplatform p { clock core = 1GHz; %s }\n",
             declarations, body);
    snprintf(path, sizeof path, "%s/text.heddle", fixture_root());
    compilation = compile_open(NULL);
    const struct model *model = compile_text(compilation, path, text, strlen(text), NULL);
    if (!model)
        compile_print_diagnostics(compilation, stderr, false);
    cr_assert_not_null(model);
    return model;
}

static const struct model_instance *find(const struct model *model, const char *path)
{
    for (uint32_t i = 0; i < model->instance_count; i++)
        if (strcmp(model->instances[i]->path, path) == 0)
            return model->instances[i];
    cr_assert(false, "no instance %s", path);
    abort();
}

static const struct model_param *param(const struct model_instance *instance, const char *name)
{
    for (uint32_t i = 0; i < instance->param_count; i++)
        if (strcmp(instance->params[i].decl->name, name) == 0)
            return &instance->params[i];
    cr_assert(false, "%s has no %s", instance->path, name);
    abort();
}

static const struct model_port *port(const struct model_instance *instance, const char *name,
                                     uint32_t element)
{
    for (uint32_t i = 0; i < instance->port_group_count; i++)
        if (strcmp(instance->port_groups[i].decl->name, name) == 0) {
            cr_assert_lt(element, instance->port_groups[i].count, "%s.%s[%u]", instance->path, name,
                         element);
            return &instance->port_groups[i].ports[element];
        }
    cr_assert(false, "%s has no port %s", instance->path, name);
    abort();
}

static const char *peer(const struct model_port *from)
{
    static char text[200];
    const struct model_port *to =
        from->connection->from == from ? from->connection->to : from->connection->from;
    snprintf(text, sizeof text, "%s.%s[%u]", to->owner->path, to->decl->name, to->element);
    return text;
}

Test(elaborate, the_example_becomes_a_ring)
{
    const struct model *m = compile_file("good/ring4.heddle", NULL, 0);
    cr_expect_str_eq(m->name, "ring4");
    cr_expect_eq(find(m, "gpu[3]")->array_count, 4);
    cr_expect_str_eq(peer(port(find(m, "gpu[3].rdma"), "remote", 0)), "gpu[0].rdma.peer[0]");
    const struct model_connection *ring = port(find(m, "gpu[3].rdma"), "remote", 0)->connection;
    cr_expect_str_eq(ring->link->name, "xgmi");
    cr_expect_eq(ring->link->latency_ps, 120000);
    cr_expect_eq(ring->link->bandwidth_bytes_per_s, 50000000000);
    cr_expect_str_eq(find(m, "gpu[1].sa[2].l1v[3]")->type->name, "cache");
    cr_expect_eq(param(find(m, "gpu[1].l2[0]"), "write")->value.integer, 0);
    cr_expect_eq(param(find(m, "gpu[1].dram[5]"), "size")->value.integer, INT64_C(4) << 30 >> 4);
    compile_close(compilation);
}

Test(elaborate, an_override_changes_the_structure)
{
    static const char *const sets[] = {"topology=full", "gpu.arrays=2", "gpu[0].l2.ways=8"};
    const struct model *m = compile_file("good/ring4.heddle", sets, 3);
    const struct model_instance *x = find(m, "fabric_switch");
    cr_expect(x->is_interconnect);
    cr_expect_eq(port(x, "from", 3)->connection->link->latency_ps, 120000);
    cr_expect_str_eq(peer(port(x, "to", 2)), "gpu[2].rdma.peer[0]");
    cr_expect_eq(param(find(m, "gpu[0].l2[15]"), "ways")->value.integer, 8);
    cr_expect_eq(param(find(m, "gpu[0].l2[15]"), "ways")->source, MODEL_FROM_OVERRIDE);
    cr_expect_eq(param(find(m, "gpu[1].l2[15]"), "ways")->value.integer, 16);
    cr_expect_eq(param(find(m, "gpu[1].l2[15]"), "ways")->source, MODEL_FROM_BODY);
    compile_close(compilation);
}

Test(elaborate, arrays_are_flattened_row_major)
{
    const struct model *m = compile_file("good/ring4.heddle", NULL, 0);
    cr_expect_str_eq(peer(port(find(m, "gpu[2].cp"), "work", 0)), "gpu[2].sa[0].cu[0].work[0]");
    cr_expect_str_eq(peer(port(find(m, "gpu[2].cp"), "work", 5)), "gpu[2].sa[1].cu[1].work[0]");
    cr_expect_eq(port(find(m, "gpu[2].cp"), "work", 63)->connection->latency_cy, 10);
    cr_expect_str_eq(peer(port(find(m, "gpu[0].memory_xbar"), "from", 6)),
                     "gpu[0].sa[1].l1v[2].bottom[0]");
    compile_close(compilation);
}

Test(elaborate, a_space_routes_and_is_mapped_once)
{
    const struct model *m = compile_file("good/ring4.heddle", NULL, 0);
    const struct model_instance *x = find(m, "gpu[2].memory_xbar");
    cr_assert_not_null(x->route.space);
    cr_expect_str_eq(x->route.space->path, "gpu[2].local");
    cr_expect_eq(x->route.else_output, 16);
    cr_expect_str_eq(peer(port(x, "to", 16)), "gpu[2].rdma.local[0]");
    cr_expect_str_eq(port(x, "to", 0)->protocol->name, "mem");
    cr_expect_eq(port(x, "to", 0)->protocol->arguments[0], 64);
    cr_expect_eq(m->spaces[2]->base, UINT64_C(8) << 30);
    cr_expect_eq(m->spaces[2]->interleave_bytes, 128);
    cr_expect_eq(m->spaces[2]->target_count, 16);
    compile_close(compilation);
}

Test(elaborate, partitions_pair_and_the_window_is_the_least_latency)
{
    const struct model *m = compile_file("good/ring4.heddle", NULL, 0);
    cr_expect_eq(m->partition_count, 1 + 4 * (16 + 16));
    cr_expect_eq(find(m, "gpu[0].l2[3]")->partition, find(m, "gpu[0].dram[3]")->partition);
    cr_expect_neq(find(m, "gpu[0].l2[3]")->partition, find(m, "gpu[0].l2[4]")->partition);
    cr_expect_eq(find(m, "gpu[0].sa[1].cu[0]")->partition, find(m, "gpu[0].sa[1]")->partition);
    cr_expect_eq(find(m, "driver")->partition, 0);
    cr_expect_eq(m->window_ps, 1000);
    compile_close(compilation);
}

Test(elaborate, parts_are_shared_inside_their_owner)
{
    const struct model *m = compile_file("good/ring4.heddle", NULL, 0);
    const struct model_instance *cp = find(m, "gpu[0].cp");
    cr_assert_eq(cp->type->part_count, 2);
    cr_expect_eq(cp->places[1].count, 8);
    const struct model_part *pool = cp->places[0].parts[0];
    cr_expect_str_eq(pool->path, "gpu[0].cp.pool");
    for (uint32_t i = 0; i < 8; i++) {
        const struct model_part *dispatcher = cp->places[1].parts[i];
        cr_expect_eq(dispatcher->element, i);
        cr_expect_eq(dispatcher->places[0].parts[0], pool);
        cr_expect(dispatcher->places[0].is_shared);
    }
    cr_expect_not(cp->places[0].is_shared);
    compile_close(compilation);
}

Test(elaborate, a_slot_takes_its_default_the_body_or_an_override)
{
    static const char *const sets[] = {"b.policy=newest", "b.policy.age=7"};
    char path[600];
    snprintf(path, sizeof path, "%s/text.heddle", fixture_root());
    struct compile_options options = {.overrides = sets, .override_count = 2};
    const char *text =
        "import \"lib/parts\";\nplatform p { clock core = 1GHz; r[3] : requester; a : memory;\n"
        "b : memory; d : memory { policy = newest { age = 4; }; };\n"
        "r[*].mem -> s.top[*]; s : spread; s.to[0] -> a.top; s.to[1] -> b.top; s.to[2] -> d.top; "
        "}\n"
        "component spread { in top[] : any; out to[] : any; }\n";
    compilation = compile_open(&options);
    const struct model *m = compile_text(compilation, path, text, strlen(text), NULL);
    if (!m)
        compile_print_diagnostics(compilation, stderr, false);
    cr_assert_not_null(m);
    cr_expect_str_eq(find(m, "a")->places[0].parts[0]->type->name, "oldest");
    cr_expect_str_eq(find(m, "b")->places[0].parts[0]->type->name, "newest");
    cr_expect_eq(find(m, "b")->places[0].parts[0]->params[0].value.integer, 7);
    cr_expect_eq(find(m, "d")->places[0].parts[0]->params[0].value.integer, 4);
    cr_expect_str_eq(find(m, "d")->places[0].parts[0]->path, "d.policy");
    compile_close(compilation);
}

/* The number of the first parameter of the part that fills the first slot. */
static int64_t part_value(const struct model *m, const char *path)
{
    const struct model_part *part = find(m, path)->places[0].parts[0];
    return part->param_count > 0 ? part->params[0].value.integer : 0;
}

Test(elaborate, a_composite_hands_its_slots_down)
{
    static const char *const sets[] = {"b.policy=newest", "b.policy.age=7"};
    const struct model *m = compile_file("good/E0209-handed.heddle", sets, 2);
    cr_expect_eq(part_value(m, "a.inner.m[0]"), 3);
    cr_expect_eq(part_value(m, "a.inner.m[1]"), 3);
    cr_expect_eq(part_value(m, "b.inner.m[0]"), 7);
    cr_expect_eq(part_value(m, "b.inner.m[1]"), 7);
    cr_expect_eq(part_value(m, "c.inner.m[1]"), 5);
    const struct model_part_place *handed = &find(m, "a")->places[0];
    cr_expect_eq(handed->parts[0], find(m, "a.inner.m[0]")->places[0].parts[0]);
    cr_expect(handed->is_shared);
    cr_expect_str_eq(handed->parts[0]->path, "a.inner.m[0].policy");
    cr_expect_neq(find(m, "a.inner.m[1]")->places[0].parts[0], handed->parts[0]);
    cr_expect_eq(find(m, "a.inner.o")->places[0].count, 0);
    compile_close(compilation);
}

Test(elaborate, settings_with_a_path_reach_inside_and_the_outermost_wins)
{
    static const char *const sets[] = {"b.inner.m[1].banks=9"};
    const struct model *m = compile_file("good/E0205-setting.heddle", sets, 1);
    cr_expect_eq(param(find(m, "a.inner.m[0]"), "latency")->value.integer, 30);
    cr_expect_eq(param(find(m, "b.inner.m[0]"), "latency")->value.integer, 9);
    cr_expect_eq(param(find(m, "a.inner.m[0]"), "banks")->value.integer, 5);
    cr_expect_eq(param(find(m, "a.inner.m[1]"), "banks")->value.integer, 6);
    cr_expect_eq(param(find(m, "b.inner.m[1]"), "banks")->value.integer, 9);
    cr_expect_eq(param(find(m, "b.inner.m[1]"), "banks")->source, MODEL_FROM_OVERRIDE);
    cr_expect_eq(param(find(m, "a.inner.m[1]"), "latency")->source, MODEL_FROM_BODY);
    cr_expect_eq(param(find(m, "a.inner.m[1]"), "latency")->place.line, 23);
    cr_expect_eq(part_value(m, "a.inner.m[1]"), 4);
    cr_expect_eq(part_value(m, "b.inner.m[1]"), 1);
    cr_expect_eq(part_value(m, "c.inner.m[0]"), 2);
    cr_expect_eq(part_value(m, "c.inner.m[1]"), 3);
    compile_close(compilation);
}

Test(elaborate, several_connections_share_an_interconnect)
{
    const struct model *m =
        compile_body("", "a[2] : requester; b : requester; m[2] : memory;"
                         "a[*].mem -> m[*].top via x = crossbar { latency = 5cy; };"
                         "b.mem -> m[*].top via x;");
    const struct model_instance *x = find(m, "x");
    cr_expect_eq(x->port_groups[0].count, 3);
    cr_expect_eq(x->port_groups[1].count, 2);
    cr_expect_str_eq(peer(port(x, "from", 2)), "b.mem[0]");
    cr_expect_eq(param(x, "latency")->value.integer, 5);
    compile_close(compilation);
}

Test(elaborate, boundaries_are_aliases_and_the_latency_is_on_one_connection)
{
    const struct model *m =
        compile_body("component inner { in top : mem(64B); m : memory; top -> m.top; }\n"
                     "component outer { in top : mem(64B); i : inner; top -> i.top latency 3cy; }",
                     "r : requester; o : outer; r.mem -> o.top;");
    const struct model_port *boundary = port(find(m, "o"), "top", 0);
    cr_expect_str_eq(boundary->alias->owner->path, "o.i");
    cr_expect_str_eq(boundary->alias->alias->owner->path, "o.i.m");
    cr_expect_null(boundary->alias->alias->alias);
    cr_expect_eq(m->connection_count, 1);
    cr_expect_eq(m->connections[0]->latency_cy, 3);
    cr_expect_str_eq(m->connections[0]->written_in->path, "o");
    compile_close(compilation);
}

Test(elaborate, the_first_boundary_with_a_latency_has_it_where_no_connection_does)
{
    static const unsigned cycles[] = {5, 2};
    const struct model *m = compile_file("good/E0410-two-latencies.heddle", NULL, 0);
    cr_assert_eq(m->connection_count, 3);
    for (unsigned i = 0; i < 2; i++)
        cr_expect_eq(m->connections[i]->latency_cy, cycles[i], "%u", i);
    cr_expect_str_eq(m->connections[2]->link->name, "slow");
    compile_close(compilation);
}

Test(elaborate, seconds_become_cycles_of_the_receiver_rounded_up)
{
    const struct model *m = compile_body(
        "", "r : requester; m : memory { latency = 2.5ns; }; r.mem -> m.top latency 1.2ns;");
    cr_expect_eq(m->connections[0]->latency_cy, 2);
    cr_expect_eq(param(find(m, "m"), "latency")->value.integer, 3);
    compile_close(compilation);
}

Test(elaborate, a_named_link_has_its_own_values)
{
    const struct model *m =
        compile_body("", "r[2] : requester; m[2] : memory;"
                         "r[0].mem -> m[0].top via wire;"
                         "r[1].mem -> m[1].top via far = wire { latency = 1us; };");
    cr_expect_str_eq(m->connections[0]->link->name, "wire");
    cr_expect_str_eq(m->connections[1]->link->name, "far");
    cr_expect_eq(m->connections[1]->link->latency_ps, 1000000);
    cr_expect_eq(m->connections[1]->link->bandwidth_bytes_per_s, 1000000000);
    compile_close(compilation);
}

#define DUPLEX                                                                                     \
    "component both { out mem : mem(64B); in top : mem(64B); }"                                    \
    "link slow { bandwidth = 1GB/s; latency = 20ns; }"

Test(elaborate, wires_are_shared_and_lead_to_one_instance)
{
    const struct model *model =
        compile_body(DUPLEX, "a[2] : requester; c[2] : both; m[2] : memory;"
                             "a[*].mem -> c[*].top via hop[*]; c[*].mem -> m[*].top via hop[*];"
                             "hop[2] : slow { bandwidth = 3GB/s; }");
    cr_assert_eq(model->wire_count, 2);
    cr_assert_eq(model->connection_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct model_connection *c = model->connections[i];
        const struct model_wire *wire = &model->wires[c->wire - 1];
        bool asks = strcmp(c->from->owner->type->name, "requester") == 0;
        cr_expect_str_eq(wire->path, wire == model->wires ? "hop[0]" : "hop[1]");
        cr_expect_eq(wire->end, asks ? c->to->owner : c->from->owner);
        cr_expect_eq(c->is_reversed, !asks);
        cr_expect_eq(c->link, wire->link);
        cr_expect_eq(c->link->bandwidth_bytes_per_s, 3000000000);
        cr_expect_eq(c->link->latency_ps, 20000);
    }
    compile_close(compilation);
}

Test(elaborate, wires_that_are_not_shared_are_links)
{
    const struct model *model =
        compile_body(DUPLEX, "a : requester; c : both; m : memory; hop : slow { shared = false; }"
                             "a.mem -> c.top via hop; c.mem -> m.top via hop;");
    cr_assert_eq(model->wire_count, 0);
    for (uint32_t i = 0; i < 2; i++) {
        cr_expect_eq(model->connections[i]->wire, 0);
        cr_expect_str_eq(model->connections[i]->link->name, "slow");
    }
    compile_close(compilation);
}

/* Two connections inside of two partitions: no message crosses, but who goes first concerns both.
 */
Test(elaborate, a_wire_between_partitions_bounds_the_window)
{
    static const char box[] = DUPLEX "component box { in top[2] : mem(64B); m[2] : memory;"
                                     " top[*] -> m[*].top; }";
    const struct model *model =
        compile_body(box, "a[2] : requester; b : box; hop : slow; partition a[*], b.m[*];"
                          "a[*].mem -> b.top[*] via hop;");
    cr_expect_not(model->connections[0]->crosses || model->connections[1]->crosses);
    cr_expect_eq(model->window_ps, 20000);
    compile_close(compilation);
    model = compile_body(box, "a[2] : requester; b : box; hop[2] : slow; partition a[*], b.m[*];"
                              "a[*].mem -> b.top[*] via hop[*];");
    cr_expect_eq(model->window_ps, 0);
    compile_close(compilation);
}

Test(elaborate, a_count_follows_from_the_connection)
{
    const struct model *m =
        compile_body("component many { out o[] : work; let n = count(o); }\n"
                     "component takes { in i : work; }\n"
                     "component shell { in i[] : work; t[3] : takes; i[*] -> t[*].i; }",
                     "x : many; y : many; s : shell; t[2] : takes;"
                     "x.o[*] -> s.i[*]; for k in 0 .. 1 { y.o[k] -> t[k].i; }");
    cr_expect_eq(param(find(m, "x"), "n")->value.integer, 3);
    cr_expect_eq(param(find(m, "y"), "n")->value.integer, 2);
    compile_close(compilation);
}

Test(elaborate, depth_is_what_full_speed_needs_unless_it_is_stated)
{
    const struct model *m =
        compile_body("component deep { in top : mem(64B) depth 7 width 2; }",
                     "r[3] : requester; m : memory; n : memory; d : deep;"
                     "r[0].mem -> m.top; r[1].mem -> n.top latency 20cy; r[2].mem -> d.top;");
    cr_expect_eq(m->connections[0]->depth, 4);
    cr_expect_eq(m->connections[1]->depth, 40);
    cr_expect_eq(m->connections[2]->depth, 7);
    cr_expect_eq(m->connections[2]->width, 2);
    compile_close(compilation);
}

Test(elaborate, protocols_pair_requests_and_replies)
{
    const struct model *m = compile_body("", "r : requester; m : memory; r.mem -> m.top;");
    const struct model_protocol *mem = m->connections[0]->protocol;
    cr_assert_eq(mem->request_count, 2);
    cr_expect_eq(mem->replies[0].answers, 1);
    cr_expect_eq(mem->replies[1].answers, 2);
    cr_expect(mem->requests[0].has_reply);
    cr_expect_eq(mem->requests[1].fields[1].kind, MODEL_FIELD_BITS);
    cr_expect_eq(mem->requests[1].fields[2].size, 64);
    cr_expect_eq(mem->requests[1].fields[2].size_argument, 0);
    compile_close(compilation);
}

Test(elaborate, instances_come_parents_first_and_ids_are_indices)
{
    const struct model *m = compile_file("good/ring4.heddle", NULL, 0);
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < m->instance_count; i++) {
        const struct model_instance *x = m->instances[i];
        cr_expect_eq(x->id, i);
        cr_expect(!x->parent ? i == 0 : x->parent->id < i);
        if (!x->type->is_composite) {
            cr_expect_eq(x->leaf_id, leaves);
            cr_expect_eq(m->leaves[leaves++], x);
        }
    }
    cr_expect_eq(leaves, m->leaf_count);
    compile_close(compilation);
}

Test(elaborate, documentation_is_attached)
{
    const struct model *m = compile_body(
        "/// A box.\n/// Two lines.\ncomponent box {\n/// How many.\nparam n : int = 1;\n"
        "param k : int = 2;   /// Behind.\n/// Hits.\nstat a, b : counter; }",
        "\n/// This one.\nb : box;");
    const struct model_type *box = find(m, "b")->type;
    cr_expect_str_eq(box->doc, "A box.\nTwo lines.");
    cr_expect_str_eq(box->params[0].doc, "How many.");
    cr_expect_str_eq(box->params[1].doc, "Behind.");
    cr_expect_str_eq(box->stats[1].doc, "Hits.");
    cr_expect_str_eq(find(m, "b")->doc, "This one.");
    compile_close(compilation);
}

Test(elaborate, numbers_are_signed_where_their_form_admits_negative_values)
{
    static const struct {
        const char *name;
        bool may_be_negative;
    } cases[] = {
        {"n", false},  {"free", true},  {"below", true},    {"size", false},
        {"on", false}, {"kind", false}, {"product", false}, {"less", true},
        {"of", true},  {"later", true}, {"last", false},
    };
    const struct model *m =
        compile_body("component box {\nparam n : int = 1 in 0 .. 9;\nparam free : int = 1;\n"
                     "param below : int = 1 in -4 .. 9;\nparam size : bytes = 4KiB pow2;\n"
                     "param on : bool = true;\nparam kind : enum { a, b } = a;\n"
                     "let product = on ? n * size / 2 : size;\nlet less = n - 1;\n"
                     "let of = free * 2;\nlet later = last + 1;\nlet last = n;\n}\n"
                     "component outer { inner : box; let member = inner.below; }",
                     "b : box;  o : outer;");
    const struct model_type *box = find(m, "b")->type;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        cr_assert_str_eq(box->params[i].name, cases[i].name);
        cr_expect_eq(box->params[i].may_be_negative, cases[i].may_be_negative, "%s", cases[i].name);
    }
    cr_expect(find(m, "o")->type->params[0].may_be_negative);
    compile_close(compilation);
}

Test(elaborate, a_file_of_components_has_declarations_only)
{
    char path[600];
    snprintf(path, sizeof path, "%s/lib/parts.heddle", fixture_root());
    struct compilation *c = compile_open(NULL);
    const struct model *m = compile_components(c, path);
    cr_assert_not_null(m);
    cr_expect_null(m->root);
    cr_expect_eq(m->instance_count, 0);
    cr_expect_geq(m->type_count, 6);
    for (uint32_t i = 0; i < m->type_count; i++)
        if (strcmp(m->types[i]->name, "memory") == 0) {
            cr_assert_not_null(m->types[i]->ports[0].protocol);
            cr_expect_eq(m->types[i]->ports[0].protocol->arguments[0], 64);
            cr_expect_str_eq(m->types[i]->params[0].range_text, "1KiB .. 1GiB pow2");
        }
    compile_close(c);
}

Test(elaborate, the_platforms_of_the_library_check_clean)
{
    static const char *const names[] = {"tiny", "r9nano"};
    for (size_t i = 0; i < 2; i++) {
        char path[700];
        snprintf(path, sizeof path, "%s/../platforms/%s.heddle", fixture_library(), names[i]);
        struct compile_options options = {.library_root = fixture_library()};
        struct compilation *c = compile_open(&options);
        const struct model *m = compile_platform(c, path, NULL);
        compile_print_diagnostics(c, stderr, false);
        cr_expect_not_null(m, "%s", names[i]);
        cr_expect_eq(compile_diagnostic_count(c), 0, "%s", names[i]);
        compile_close(c);
    }
}

Test(elaborate, imports_may_form_circles_and_are_found_on_include_paths)
{
    char folder[600];
    snprintf(folder, sizeof folder, "%s/lib", fixture_root());
    const char *const includes[] = {"/no/such/folder", folder};
    struct compile_options options = {.include_paths = includes, .include_count = 2};
    static const char text[] = "import \"cycle_a\"; import \"cycle_b.heddle\";\n"
                               "platform first { clock k = 1GHz; a : cycle_a; }\n"
                               "platform second { clock k = 1GHz; a : cycle_a; b : cycle_b; }\n";
    static const char *const names[] = {NULL, "first", "second"};
    static const uint32_t instances[] = {4, 3, 4};
    for (size_t i = 0; i < 3; i++) {
        struct compilation *c = compile_open(&options);
        const struct model *m =
            compile_text(c, "elsewhere/text.heddle", text, strlen(text), names[i]);
        if (!m)
            compile_print_diagnostics(c, stderr, false);
        cr_assert_not_null(m);
        cr_expect_str_eq(m->name, i == 1 ? "first" : "second");
        cr_expect_eq(m->instance_count, instances[i]);
        cr_expect_eq(compile_file_count(c), 3);
        cr_expect_str_eq(compile_file_name(c, 0), "elsewhere/text.heddle");
        compile_close(c);
    }
}

Test(elaborate, two_compilations_give_the_same_model)
{
    struct compilation *kept[2];
    const struct model *models[2];
    for (int i = 0; i < 2; i++) {
        models[i] = compile_file("good/ring4.heddle", NULL, 0);
        kept[i] = compilation;
    }
    cr_assert_eq(models[0]->connection_count, models[1]->connection_count);
    for (uint32_t i = 0; i < models[0]->connection_count; i++) {
        const struct model_connection *a = models[0]->connections[i],
                                      *b = models[1]->connections[i];
        cr_expect_str_eq(a->from->owner->path, b->from->owner->path);
        cr_expect_eq(a->from->element, b->from->element);
        cr_expect_str_eq(a->to->owner->path, b->to->owner->path);
        cr_expect_eq(a->to->element, b->to->element);
    }
    compile_close(kept[0]);
    compile_close(kept[1]);
}
