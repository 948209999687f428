/* The steps from sources to a model; elaborate.h explains them. */
#include "pipeline.h"

#include <string.h>

#include "dsl/check/check.h"

#define INSTANCES_DEFAULT 1000000u

static void start_elaboration(struct elaboration *e, struct program *program)
{
    *e = (struct elaboration){.program = program,
                              .region = program->region,
                              .diagnostics = program->diagnostics,
                              .instance_limit = program->options->max_instances > 0
                                                    ? program->options->max_instances
                                                    : INSTANCES_DEFAULT};
}

/* Protocols, depths and widths of all ports, connected or not, so that mistakes in them show. */
static void check_ports(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->nodes.count && !e->must_stop; i++) {
        struct node *node = e->nodes.items[i];
        struct type_info *type = node->object.type;
        for (uint32_t port = 0; port < type->ports.v.count; port++) {
            const struct model_protocol *protocol = protocol_of_port(e, node, port);
            if (!type->port_decls[port].protocol)
                type->port_decls[port].protocol = protocol;
            struct wire_end at = {node, port, 0};
            struct route_path path = {.from = at, .to = at};
            bool is_stated;
            port_depth(e, &at, &is_stated);
            path_width(e, &path);
        }
    }
}

static void elaborate(struct elaboration *e, struct type_info *type)
{
    links_make(e);
    if (!tree_build(e, type) || e->must_stop)
        return;
    check_ports(e);
    connect_all(e);
    if (e->must_stop)
        return;
    paths_trace(e);
    spaces_make(e);
    partitions_apply(e);
    maps_apply(e);
    routes_make(e);
    checks_run(e);
}

struct model *pipeline_platform(struct elaboration *e, struct program *program,
                                struct type_info *platform, bool with_overrides)
{
    uint32_t errors = program->diagnostics->error_count;
    start_elaboration(e, program);
    /* a port's protocol is that of its first instance here, not in a platform looked at before */
    for (uint32_t i = 0; i < program->types.count; i++)
        for (uint32_t port = 0; port < program->types.items[i]->model.port_count; port++)
            program->types.items[i]->port_decls[port].protocol = NULL;
    if (with_overrides)
        overrides_parse(e);
    elaborate(e, platform);
    protocols_check(e);
    if (!e->must_stop && e->root)
        overrides_finish(e);
    return program->diagnostics->error_count == errors ? model_make(e) : NULL;
}

void pipeline_component(struct elaboration *e, struct program *program, struct type_info *type,
                        const struct elaboration *before)
{
    start_elaboration(e, program);
    e->is_standalone = true;
    for (uint32_t i = 0; before && i < before->protocols.count; i++)
        vector_push(e->region, &e->protocols, before->protocols.items[i]);
    uint32_t instances = type->instances;
    elaborate(e, type);
    type->instances = instances;
}
