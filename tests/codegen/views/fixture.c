/* See fixture.h. Bottom-up: declarations as tables, then instances, aliases and connections as the
 * front end would make them. */
#include "fixture.h"

#include <string.h>

#include "base/number.h"

enum { P_MEM, P_COMMAND, P_WORK, P_ANY = -1 };

static const char *line_name[] = {"line"};
static const int64_t line_64[] = {64};
static const struct model_field read_fields[] = {
    {.name = "address", .doc = "", .kind = MODEL_FIELD_ADDR, .size = 8, .size_argument = -1},
    {.name = "size", .doc = "", .kind = MODEL_FIELD_U32, .size = 4, .size_argument = -1},
};
static const struct model_field data_fields[] = {
    {.name = "data", .doc = "", .kind = MODEL_FIELD_BYTES, .size = 64, .size_argument = 0},
};
static const struct model_message mem_requests[] = {
    {.name = "read",
     .doc = "Bytes of `one` line.",
     .fields = read_fields,
     .field_count = 2,
     .has_reply = true},
};
static const struct model_message mem_replies[] = {
    {.name = "data",
     .doc = "",
     .fields = data_fields,
     .field_count = 1,
     .is_reply = true,
     .answers = 1},
};
static const struct model_message command_requests[] = {
    {.name = "copy", .doc = "", .fields = read_fields, .field_count = 2, .has_reply = true},
};
static const struct model_field work_fields[] = {
    {.name = "group", .doc = "", .kind = MODEL_FIELD_U32, .size = 4, .size_argument = -1},
};
static const struct model_message work_requests[] = {
    {.name = "map", .doc = "", .fields = work_fields, .field_count = 1, .has_reply = true},
};
static const struct model_message finished_replies[] = {
    {.name = "finished",
     .doc = "",
     .fields = work_fields,
     .field_count = 1,
     .is_reply = true,
     .answers = 1},
};
static const struct model_message done_replies[] = {
    {.name = "done", .doc = "", .is_reply = true, .answers = 1},
};
static const struct model_protocol protocols[] = {
    [P_MEM] = {.name = "mem",
               .doc = "Loads & stores.",
               .param_names = line_name,
               .arguments = line_64,
               .argument_count = 1,
               .requests = mem_requests,
               .request_count = 1,
               .replies = mem_replies,
               .reply_count = 1},
    [P_COMMAND] = {.name = "command",
                   .doc = "",
                   .requests = command_requests,
                   .request_count = 1,
                   .replies = done_replies,
                   .reply_count = 1},
    [P_WORK] = {.name = "work",
                .doc = "",
                .requests = work_requests,
                .request_count = 1,
                .replies = finished_replies,
                .reply_count = 1},
};
static const struct model_param_decl pcie_decls[] = {
    {.name = "bandwidth", .doc = "", .range_text = "", .dimension = MODEL_DIM_BYTES_PER_S},
    {.name = "latency", .doc = "", .range_text = "", .dimension = MODEL_DIM_SECONDS},
};

static const struct model_link_type pcie = {.name = "pcie",
                                            .doc = "The host's bus.",
                                            .bandwidth_bytes_per_s = 32000000000,
                                            .latency_ps = 140000,
                                            .settings = {
                                                {.decl = &pcie_decls[0], .doc = ""},
                                                {.decl = &pcie_decls[1], .doc = ""},
                                            }};

struct port_row {
    const char *name;
    int protocol;
    bool is_in, is_array, is_optional;
};

struct type_row {
    const char *name;
    bool composite;
    struct port_row ports[8];
    const char *size_param; /* one parameter in bytes, or NULL */
};

enum { T_PLATFORM, T_DRIVER, T_CP, T_CU, T_CACHE, T_DRAM, T_CROSSBAR, T_ARRAY, T_GPU, T_COUNT };

static const struct type_row type_rows[T_COUNT] = {
    [T_PLATFORM] = {.name = "small", .composite = true},
    [T_DRIVER] = {.name = "driver", .ports = {{"gpu", P_COMMAND, false, true, false}}},
    [T_CP] = {.name = "command_processor",
              .ports = {{"host", P_COMMAND, true, false, false},
                        {"work", P_WORK, false, true, false}}},
    [T_CU] = {.name = "compute_unit",
              .ports = {{"work", P_WORK, true, false, false},
                        {"vmem", P_MEM, false, false, false}}},
    [T_CACHE] = {.name = "cache",
                 .size_param = "size",
                 .ports = {{"top", P_MEM, true, false, false},
                           {"bottom", P_MEM, false, false, false},
                           {"control", P_WORK, true, false, true}}},
    [T_DRAM] = {.name = "dram",
                .size_param = "size",
                .ports = {{"top", P_MEM, true, false, false}}},
    [T_CROSSBAR] = {.name = "crossbar",
                    .ports = {{"from", P_ANY, true, true, false},
                              {"to", P_ANY, false, true, false}}},
    [T_ARRAY] = {.name = "shader_array",
                 .composite = true,
                 .ports = {{"work", P_WORK, true, true, false},
                           {"mem", P_MEM, false, true, false}}},
    [T_GPU] = {.name = "gpu_type",
               .composite = true,
               .ports = {{"host", P_COMMAND, true, false, false}}},
};

struct fixture {
    struct region *region;
    struct model *model;
    struct model_type types[T_COUNT];
    struct model_port ***ports; /* [instance id][port declaration] */
    struct model_instance **mutable_instances;
    VECTOR(const struct model_connection *) connections;
};

static void declare_type(struct fixture *f, unsigned t)
{
    const struct type_row *row = &type_rows[t];
    struct model_type *type = &f->types[t];
    *type = (struct model_type){.name = row->name,
                                .doc = "Does what `it` does.",
                                .is_composite = row->composite,
                                .is_platform = t == T_PLATFORM,
                                .folder = "",
                                .place = {"small.heddle", 1 + t, 1}};
    struct model_port_decl *ports = region_take(f->region, 8 * sizeof *ports);
    for (; type->port_count < 8 && row->ports[type->port_count].name; type->port_count++) {
        const struct port_row *p = &row->ports[type->port_count];
        ports[type->port_count] = (struct model_port_decl){
            .name = p->name,
            .doc = "",
            .is_in = p->is_in,
            .is_optional = p->is_optional,
            .is_array = p->is_array,
            .is_any = p->protocol == P_ANY,
            .protocol = p->protocol == P_ANY ? NULL : &protocols[p->protocol],
            .protocol_text = p->protocol == P_ANY ? "any" : protocols[p->protocol].name,
        };
    }
    type->ports = ports;
    if (!row->size_param)
        return;
    struct model_param_decl *params = region_take(f->region, sizeof *params);
    *params = (struct model_param_decl){.name = row->size_param,
                                        .doc = "How much it holds.",
                                        .dimension = MODEL_DIM_BYTES,
                                        .has_default = true,
                                        .default_text = "16KiB",
                                        .range_text = "1KiB .. 4GiB"};
    type->params = params;
    static const struct model_check_decl checks[] = {
        {"sets >= 1 ||\n      empty", "smaller than a set"},
    };
    type->checks = checks;
    type->check_count = 1;
    type->param_count = 1;
}

static const struct model_param *params_of(struct fixture *f, unsigned t)
{
    const struct model_type *type = &f->types[t];
    struct model_param *params = region_take(f->region, type->param_count * sizeof *params);
    for (uint32_t p = 0; p < type->param_count; p++)
        params[p] = (struct model_param){
            .decl = &type->params[p],
            .source = MODEL_FROM_BODY,
            .value = {.dimension = MODEL_DIM_BYTES, .integer = t == T_DRAM ? 1 << 28 : 16384},
            .place = {"small.heddle", 20, 5},
            .doc = ""};
    return params;
}

static struct model_instance *instance(struct fixture *f, struct model_instance *parent, unsigned t,
                                       const char *name, int64_t element, uint32_t array_count,
                                       const uint32_t *port_counts)
{
    struct model_instance *i = region_take(f->region, sizeof *i);
    struct model_type *type = &f->types[t];
    i->type = type;
    i->parent = parent;
    i->name = name;
    i->doc = "";
    i->is_in_array = element >= 0;
    i->element = element >= 0 ? (uint32_t)element : 0;
    i->array_count = array_count;
    i->is_interconnect = t == T_CROSSBAR;
    const char *dot = parent && *parent->path ? "." : "";
    const char *above = parent ? parent->path : "";
    i->path = !parent        ? ""
              : element >= 0 ? region_printf(f->region, "%s%s%s[%u]", above, dot, name, i->element)
                             : region_printf(f->region, "%s%s%s", above, dot, name);
    i->id = f->model->instance_count++;
    f->model->instances[i->id] = i;
    f->mutable_instances[i->id] = i;
    i->leaf_id = UINT32_MAX;
    if (!type->is_composite) {
        i->leaf_id = f->model->leaf_count++;
        f->model->leaves[i->leaf_id] = i;
    }
    struct model_port_group *groups = region_take(f->region, type->port_count * sizeof *groups);
    f->ports[i->id] = region_take(f->region, type->port_count * sizeof(struct model_port *));
    for (uint32_t g = 0; g < type->port_count; g++) {
        uint32_t n = type->ports[g].is_array && port_counts ? port_counts[g] : 1;
        struct model_port *ports = region_take(f->region, n * sizeof *ports);
        for (uint32_t e = 0; e < n; e++)
            ports[e] = (struct model_port){.decl = &type->ports[g],
                                           .owner = i,
                                           .element = e,
                                           .depth = 4,
                                           .width = 1,
                                           .protocol = type->ports[g].protocol};
        f->ports[i->id][g] = ports;
        groups[g] = (struct model_port_group){.decl = &type->ports[g], .ports = ports, .count = n};
    }
    i->port_groups = groups;
    i->port_group_count = type->port_count;
    i->params = params_of(f, t);
    i->param_count = type->param_count;
    if (parent) {
        const struct model_instance **children =
            region_take(f->region, (parent->child_count + 1) * sizeof *children);
        if (parent->child_count)
            memcpy(children, parent->children, parent->child_count * sizeof *children);
        children[parent->child_count++] = i;
        parent->children = children;
    }
    return i;
}

static struct model_port *port(struct fixture *f, const struct model_instance *i, unsigned decl,
                               uint32_t element)
{
    return &f->ports[i->id][decl][element];
}

static void connect(struct fixture *f, struct model_port *from, struct model_port *to,
                    unsigned protocol, uint32_t latency_cy, const struct model_link_type *link)
{
    while (from->alias)
        from = port(f, from->alias->owner,
                    (unsigned)(from->alias->decl - from->alias->owner->type->ports),
                    from->alias->element);
    while (to->alias)
        to = port(f, to->alias->owner, (unsigned)(to->alias->decl - to->alias->owner->type->ports),
                  to->alias->element);
    struct model_connection *c = region_take(f->region, sizeof *c);
    *c = (struct model_connection){.id = f->connections.count,
                                   .from = from,
                                   .to = to,
                                   .protocol = &protocols[protocol],
                                   .latency_cy = latency_cy,
                                   .depth = 4,
                                   .reply_depth = 4,
                                   .width = 1,
                                   .link = link,
                                   .place = {"small.heddle", 30, 5}};
    from->connection = to->connection = c;
    from->protocol = to->protocol = c->protocol;
    vector_push(f->region, &f->connections, c);
}

static void build_array(struct fixture *f, struct model_instance *array, uint32_t cus)
{
    struct model_instance **units = region_take(f->region, cus * sizeof *units);
    for (uint32_t i = 0; i < cus; i++)
        units[i] = instance(f, array, T_CU, "cu", i, cus, NULL);
    for (uint32_t i = 0; i < cus; i++) {
        struct model_instance *l1 = instance(f, array, T_CACHE, "l1v", i, cus, NULL);
        port(f, array, 0, i)->alias = port(f, units[i], 0, 0);
        port(f, array, 1, i)->alias = port(f, l1, 1, 0);
        connect(f, port(f, units[i], 1, 0), port(f, l1, 0, 0), P_MEM, 1, NULL);
    }
}

static void build_gpu(struct fixture *f, struct model_instance *gpu, struct fixture_shape s)
{
    uint32_t cus = s.arrays * s.cus;
    struct model_instance *cp = instance(f, gpu, T_CP, "cp", -1, 1, (const uint32_t[]){1, cus});
    port(f, gpu, 0, 0)->alias = port(f, cp, 0, 0);
    struct model_instance **arrays = region_take(f->region, s.arrays * sizeof *arrays);
    for (uint32_t a = 0; a < s.arrays; a++) {
        arrays[a] = instance(f, gpu, T_ARRAY, "sa", a, s.arrays, (const uint32_t[]){s.cus, s.cus});
        build_array(f, arrays[a], s.cus);
    }
    struct model_instance *xbar =
        instance(f, gpu, T_CROSSBAR, "memory_xbar", -1, 1, (const uint32_t[]){cus, s.banks});
    for (uint32_t i = 0; i < cus; i++) {
        connect(f, port(f, cp, 1, i), port(f, arrays[i / s.cus], 0, i % s.cus), P_WORK, 10, NULL);
        connect(f, port(f, arrays[i / s.cus], 1, i % s.cus), port(f, xbar, 0, i), P_MEM, 1, NULL);
    }
    for (uint32_t i = 0; i < s.banks; i++) {
        struct model_instance *l2 = instance(f, gpu, T_CACHE, "l2", i, s.banks, NULL);
        connect(f, port(f, xbar, 1, i), port(f, l2, 0, 0), P_MEM, 1, NULL);
        struct model_instance *dram = instance(f, gpu, T_DRAM, "dram", i, s.banks, NULL);
        connect(f, port(f, l2, 1, 0), port(f, dram, 0, 0), P_MEM, 1, NULL);
    }
}

const struct model *fixture_gpu(struct region *region, struct fixture_shape s)
{
    struct fixture f = {.region = region, .model = region_take(region, sizeof(struct model))};
    uint32_t most = 8 + s.arrays * (1 + 2 * s.cus) + 2 * s.banks;
    f.model->instances = region_take(region, most * sizeof *f.model->instances);
    f.model->leaves = region_take(region, most * sizeof *f.model->leaves);
    f.mutable_instances = region_take(region, most * sizeof *f.mutable_instances);
    f.ports = region_take(region, most * sizeof *f.ports);
    struct fixture *kept = region_take(region, sizeof *kept);
    *kept = f;
    const struct model_type **types = region_take(region, T_COUNT * sizeof *types);
    for (unsigned t = 0; t < T_COUNT; t++) {
        declare_type(kept, t);
        types[t] = &kept->types[t];
    }
    struct model *m = kept->model;
    m->name = "small";
    m->doc = "A small GPU.";
    m->place = (struct model_place){"small.heddle", 1, 1};
    struct model_instance *root = instance(kept, NULL, T_PLATFORM, "small", -1, 1, NULL);
    m->root = root;
    struct model_instance *driver =
        instance(kept, root, T_DRIVER, "driver", -1, 1, (const uint32_t[]){1});
    struct model_instance *gpu = instance(kept, root, T_GPU, "gpu", -1, 1, NULL);
    build_gpu(kept, gpu, s);
    connect(kept, port(kept, driver, 0, 0), port(kept, gpu, 0, 0), P_COMMAND, 0, &pcie);
    m->types = types;
    m->type_count = T_COUNT;
    m->connections = kept->connections.items;
    m->connection_count = kept->connections.count;
    const struct model_protocol **used = region_take(region, ARRAY_COUNT(protocols) * sizeof *used);
    for (size_t p = 0; p < ARRAY_COUNT(protocols); p++)
        used[m->protocol_count++] = &protocols[p];
    m->protocols = used;
    const struct model_link_type **links = region_take(region, sizeof *links);
    links[m->link_count++] = &pcie;
    m->links = links;
    struct model_domain *domain = region_take(region, sizeof *domain);
    *domain = (struct model_domain){.name = "core", .hz = 1000000000};
    m->domains = domain;
    m->domain_count = 1;
    struct model_partition *partition = region_take(region, sizeof *partition);
    *partition = (struct model_partition){.name = "main"};
    m->partitions = partition;
    m->partition_count = 1;
    return m;
}
