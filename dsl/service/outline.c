/* The declarations of a file, in its order; members behind what they are in. */
#include "describe.h"
#include "service.h"

struct outline {
    struct service *service;
    VECTOR(struct service_outline) list;
};

static void enter(struct outline *o, const struct ast_item *item, struct ast_name name,
                  uint32_t depth)
{
    struct service *s = o->service;
    uint32_t base = s->file->base;
    struct span span = span_join(item->span, name.span);
    struct service_outline one = {
        .kind = member_kind(item),
        .name = name.text,
        .detail = item->kind == AST_ENUM ? "" : describe_detail(s->region, s->program, item),
        .depth = depth,
        .begin = span.begin - base,
        .end = span.end - base,
        .name_begin = name.span.begin - base,
        .name_end = name.span.end - base,
    };
    vector_push(s->region, &o->list, one);
}

static void enter_body(struct outline *o, const struct ast_items *body, uint32_t depth)
{
    for (uint32_t i = 0; body && i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        bool is_field = item->kind == AST_MESSAGE || item->kind == AST_FIELD;
        struct ast_name name = is_field ? item->name : member_name(item);
        if (item->kind == AST_IF || item->kind == AST_FOR) {
            enter_body(o, item->body, depth);
            enter_body(o, item->otherwise_body, depth);
        } else if (name.text && name.span.end > name.span.begin) {
            enter(o, item, name, depth);
            if (is_field)
                enter_body(o, item->body, depth + 1);
        }
    }
}

const struct service_outline *service_outline(struct service *s, size_t *count)
{
    struct outline o = {.service = s};
    const struct ast_items *items = s->program->files.items[0]->items;
    for (uint32_t i = 0; i < items->v.count; i++) {
        const struct ast_item *item = items->v.items[i];
        if (item->kind == AST_IMPORT || !item->name.text)
            continue;
        enter(&o, item, item->name, 0);
        if (item->kind != AST_LINK)
            enter_body(&o, item->body, 1);
    }
    *count = o.list.count;
    return o.list.items;
}
