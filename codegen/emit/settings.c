/* Every setting of a platform as JSON. Elements of arrays that agree are one member, with [*] for
 * each index; where they do not, each has its own. Two passes: the first finds out which agree. */
#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "codegen/views/params_value.h"

#include "emit.h"
#include "intern.h"

struct setting {
    const char *value; /* the first element's value */
    bool differs, written;
};

struct settings {
    struct region *region;
    struct intern index; /* collapsed path -> settings */
    VECTOR(struct setting) list;
    struct emit out;
    bool writes; /* the second pass */
    bool any;
};

static void write_text(struct settings *s, const char *text)
{
    emit(&s->out, "\"");
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            emit(&s->out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            emit(&s->out, "\\u%04x", (unsigned)*text);
        else
            emit(&s->out, "%c", *text);
    emit(&s->out, "\"");
}

static void write_member(struct settings *s, const char *path, const char *value)
{
    emit(&s->out, "%s      ", s->any ? ",\n" : "\n");
    s->any = true;
    write_text(s, path);
    emit(&s->out, ": ");
    write_text(s, value);
}

static void add_setting(struct settings *s, const char *path, const char *value)
{
    const char *collapsed = params_collapse(s->region, path);
    const struct intern_entry *known = intern_find(&s->index, collapsed);
    if (!known) {
        intern_add(&s->index, collapsed, (uint32_t)s->list.count);
        vector_push(s->region, &s->list,
                    ((struct setting){.value = region_strdup(s->region, value)}));
        return;
    }
    struct setting *setting = &s->list.items[known->value];
    if (!s->writes)
        setting->differs |= strcmp(setting->value, value) != 0;
    else if (setting->differs)
        write_member(s, path, value);
    else if (!setting->written)
        write_member(s, collapsed, value);
    setting->written = s->writes;
}

static void add_params(struct settings *s, const char *path, const struct model_param *params,
                       uint32_t count)
{
    char buffer[PARAMS_VALUE_MAX];
    for (uint32_t i = 0; i < count; i++)
        add_setting(
            s, region_printf(s->region, "%s%s%s", path, *path ? "." : "", params[i].decl->name),
            params_value_text(&params[i].value, buffer));
}

static void add_link(struct settings *s, const char *name, const struct model_link_type *link)
{
    char buffer[PARAMS_VALUE_MAX];
    add_setting(s, region_printf(s->region, "link %s.bandwidth", name),
                params_bandwidth_text(link->bandwidth_bytes_per_s, buffer));
    add_setting(s, region_printf(s->region, "link %s.latency", name),
                params_time_text(link->latency_ps, buffer));
}

static void add_all(struct settings *s, const struct model *m)
{
    char buffer[PARAMS_VALUE_MAX];
    for (uint32_t i = 0; i < m->domain_count; i++)
        add_setting(s, region_printf(s->region, "clock %s", m->domains[i].name),
                    params_hz_text(m->domains[i].hz, buffer));
    for (uint32_t i = 0; i < m->link_count; i++)
        add_link(s, m->links[i]->name, m->links[i]);
    for (uint32_t i = 0; i < m->wire_count; i++)
        add_link(s, m->wires[i].path, m->wires[i].link);
    for (uint32_t i = 0; i < m->instance_count; i++)
        add_params(s, m->instances[i]->path, m->instances[i]->params, m->instances[i]->param_count);
    for (uint32_t i = 0; i < m->part_count; i++) {
        add_setting(s, m->parts[i]->path, m->parts[i]->type->name);
        add_params(s, m->parts[i]->path, m->parts[i]->params, m->parts[i]->param_count);
    }
}

const char *settings_text(struct region *region, const struct model *model)
{
    struct settings s = {.region = region};
    intern_init(&s.index, region);
    emit_init(&s.out, region);
    add_all(&s, model);
    s.writes = true;
    emit(&s.out, "{");
    add_all(&s, model);
    emit(&s.out, s.any ? "\n    }" : "}");
    return region_printf(region, "%.*s", (int)s.out.size, s.out.text);
}
