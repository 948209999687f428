/* Paths of --set, one step at a time, for shells that complete them: of "gpu.sa.l1" the members of
 * `gpu.sa`, of "gpu.isa=" its choices. Indices are left out, as --set allows. */
#include <string.h>

#include "codegen/views/view.h"
#include "dsl/arena.h"

/* An instance or part: what both have in common. */
struct place {
    const struct model_instance *instance; /* NULL: a part */
    const struct model_part *part;
};

struct paths {
    struct arena arena;
    const char *before; /* what is complete of the prefix, with its '.' */
    FILE *out;
    VECTOR(const char *) shown;
};

static void show(struct paths *p, const char *name, const char *end)
{
    const char *text = arena_printf(&p->arena, "%s%s%s", p->before, name, end);
    for (uint32_t i = 0; i < p->shown.count; i++)
        if (strcmp(p->shown.items[i], text) == 0)
            return;
    vector_push(&p->arena, &p->shown, text);
    fprintf(p->out, "%s\n", text);
}

static const struct model_type *type_of(struct place at)
{
    return at.instance != NULL ? at.instance->type : at.part->type;
}

static struct place member(struct place at, const char *name, size_t length)
{
    for (uint32_t i = 0; at.instance != NULL && i < at.instance->child_count; i++) {
        const struct model_instance *child = at.instance->children[i];
        if (strlen(child->name) == length && strncmp(child->name, name, length) == 0)
            return (struct place){child, NULL};
    }
    const struct model_type *type = type_of(at);
    for (uint32_t i = 0; i < type->part_count; i++) {
        const struct model_part_place *place =
            at.instance != NULL ? &at.instance->places[i] : &at.part->places[i];
        const char *part = type->parts[i].name;
        if (place->count > 0 && strlen(part) == length && strncmp(part, name, length) == 0)
            return (struct place){NULL, place->parts[0]};
    }
    return (struct place){NULL, NULL};
}

static void show_members(struct paths *p, struct place at)
{
    const struct model_type *type = type_of(at);
    for (uint32_t i = 0; i < type->param_count; i++)
        if (!type->params[i].is_let)
            show(p, type->params[i].name, "=");
    for (uint32_t i = 0; at.instance != NULL && i < at.instance->child_count; i++)
        show(p, at.instance->children[i]->name, ".");
    for (uint32_t i = 0; i < type->part_count; i++) {
        const struct model_part_place *place =
            at.instance != NULL ? &at.instance->places[i] : &at.part->places[i];
        if (place->count > 0)
            show(p, type->parts[i].name, ".");
    }
}

static void show_values(struct paths *p, struct place at, const char *name, size_t length)
{
    const struct model_type *type = type_of(at);
    for (uint32_t i = 0; i < type->param_count; i++) {
        const struct model_param_decl *param = &type->params[i];
        if (strlen(param->name) != length || strncmp(param->name, name, length) != 0)
            continue;
        p->before = arena_printf(&p->arena, "%s%s=", p->before, param->name);
        if (param->dimension == MODEL_DIM_BOOL) {
            show(p, "true", "");
            show(p, "false", "");
        }
        for (uint32_t k = 0; param->choice != NULL && k < param->choice->count; k++)
            show(p, param->choice->names[k], "");
    }
}

static void show_clocks(struct paths *p, const struct model *model, struct place at)
{
    for (uint32_t i = 0; at.instance != NULL && i < model->domain_count; i++)
        if (model->domains[i].path && strcmp(model->domains[i].path, at.instance->path) == 0)
            show(p, model->domains[i].setting.decl->name, "=");
}

static void show_links(struct paths *p, const struct model *model, const char *link, size_t length)
{
    for (uint32_t i = 0; i < model->link_count; i++) {
        const char *name = model->links[i]->name;
        if (link == NULL) {
            show(p, name, ".");
        } else if (strlen(name) == length && strncmp(name, link, length) == 0) {
            show(p, "bandwidth", "=");
            show(p, "latency", "=");
        }
    }
}

void view_param_paths(const struct model *model, const char *prefix, FILE *out)
{
    struct paths p = {.before = "", .out = out};
    struct place at = {model->root, NULL};
    const char *rest = prefix;
    arena_init(&p.arena);
    size_t length = strcspn(rest, ".[=");
    for (; rest[length] == '.' || rest[length] == '['; length = strcspn(rest, ".[=")) {
        size_t step = length;
        if (rest[length] == '[')
            step += strcspn(rest + length, ".=");
        struct place next = member(at, rest, length);
        if (rest[step] != '.')
            break;
        p.before = arena_strndup(&p.arena, prefix, (size_t)(rest - prefix) + step + 1);
        if (rest == prefix)
            show_links(&p, model, rest, length);
        at = next;
        rest += step + 1;
        if (at.instance == NULL && at.part == NULL)
            break;
    }
    bool is_known = at.instance != NULL || at.part != NULL;
    if (is_known && rest[length] == '=') {
        show_values(&p, at, rest, length);
    } else if (is_known) {
        show_members(&p, at);
        show_clocks(&p, model, at);
        if (rest == prefix)
            show_links(&p, model, NULL, 0);
    }
    arena_release(&p.arena);
}
