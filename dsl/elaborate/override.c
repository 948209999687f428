/* --set PATH=VALUE. A path is segments joined by '.', the last one a parameter; a segment may hold
 * '*' and '?', and an index "[3]", "[*]" or "[0..7]" may follow; an array without an index means
 * all its elements. The segment "**" stands for any number of segments. The last matching override
 * wins. */
#include <string.h>

#include "dsl/suggest.h"

#include "elaborate.h"

struct override_segment {
    const char *glob;
    bool has_index;
    uint32_t low, high; /* inclusive */
    struct span span;
};

static bool is_path_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9')
           || ch == '_' || ch == '*' || ch == '?';
}

static bool parse_number(const char **at, uint32_t *value)
{
    uint64_t sum = 0;
    const char *from = *at;
    while (**at >= '0' && **at <= '9') {
        sum = sum * 10 + (uint64_t)(**at - '0');
        if (sum > UINT32_MAX)
            return false;
        ++*at;
    }
    *value = (uint32_t)sum;
    return *at > from;
}

/* "[3]", "[*]", "[0..7]", behind the '['. */
static bool parse_index(const char **at, struct override_segment *segment)
{
    segment->has_index = true;
    if (**at == '*') {
        segment->high = UINT32_MAX;
        ++*at;
    } else {
        if (!parse_number(at, &segment->low))
            return false;
        segment->high = segment->low;
        if (strncmp(*at, "..", 2) == 0) {
            *at += 2;
            if (!parse_number(at, &segment->high))
                return false;
        }
    }
    if (**at != ']')
        return false;
    ++*at;
    return true;
}

static bool parse_path(struct elaboration *e, struct override *override, const char *end)
{
    VECTOR(struct override_segment) segments = {0};
    const char *at = override->text;
    for (;;) {
        const char *from = at;
        while (at < end && is_path_char(*at))
            at++;
        if (at == from)
            return false;
        struct override_segment segment = {
            .glob = region_strndup(e->region, from, (size_t)(at - from))};
        if (*at == '[') {
            at++;
            if (!parse_index(&at, &segment))
                return false;
        }
        segment.span.begin = override->source->base + (uint32_t)(from - override->text);
        segment.span.end = override->source->base + (uint32_t)(at - override->text);
        vector_push(e->region, &segments, segment);
        if (at == end)
            break;
        if (*at != '.')
            return false;
        at++;
    }
    override->segments = segments.items;
    override->segment_count = segments.count;
    return true;
}

static void parse_one(struct elaboration *e, const char *text)
{
    struct override *override = region_take(e->region, sizeof *override);
    override->source = source_add(e->program->sources, "--set", text, strlen(text));
    if (!override->source)
        return;
    override->source->is_virtual = true;
    override->text = override->source->text;
    override->span =
        (struct span){override->source->base, override->source->base + override->source->size};
    const char *equals = strchr(override->text, '=');
    const char *end = equals ? equals : override->text + override->source->size;
    while (end > override->text && end[-1] == ' ')
        end--;
    if (!equals || !parse_path(e, override, end)) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, E0602, override->span,
                                              "'%s' is not PATH=VALUE", override->text);
        diagnostic_help(e->diagnostics, d,
                        "for example --set gpu.l2.size=256KiB or --set 'gpu[0].sa[*].cus=2'");
        return;
    }
    /* The value is parsed from a copy with the path blanked out, so that its columns are those of
     * the argument. */
    char *blanked = region_strdup(e->region, override->text);
    memset(blanked, ' ', (size_t)(equals - override->text) + 1);
    struct source_file *source = source_add(e->program->sources, "--set", blanked, strlen(blanked));
    if (!source)
        return;
    source->is_virtual = true;
    override->value = ast_parse_expression(e->region, e->diagnostics, source);
    if (override->value) /* show the whole argument in diagnostics */
        memcpy(blanked, override->text, strlen(blanked));
    vector_push(e->region, &e->overrides, override);
}

void overrides_parse(struct elaboration *e)
{
    const struct compile_options *options = e->program->options;
    for (size_t i = 0; i < options->override_count; i++)
        parse_one(e, options->overrides[i]);
}

static bool glob_matches(const char *glob, const char *name)
{
    const char *star = NULL, *retry = NULL;
    while (*name != '\0') {
        if (*glob == '*') {
            star = glob++;
            retry = name;
        } else if (*glob == '?' || *glob == *name) {
            glob++;
            name++;
        } else if (star) {
            glob = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == '\0';
}

static bool segment_matches(const struct override_segment *segment, const struct object *object)
{
    if (!glob_matches(segment->glob, object->name))
        return false;
    if (!segment->has_index)
        return true;
    return object->is_in_array && object->element >= segment->low
           && object->element <= segment->high;
}

/* True if the first `count` segments name `object`. Walks from its end towards the root. */
static bool path_matches(const struct override *override, uint32_t count,
                         const struct object *object)
{
    bool is_root = !object->owner;
    if (count == 0)
        return is_root;
    const struct override_segment *last = &override->segments[count - 1];
    if (strcmp(last->glob, "**") == 0) {
        for (; object; object = object->owner)
            if (path_matches(override, count - 1, object))
                return true;
        return false;
    }
    if (!is_root && segment_matches(last, object)
        && path_matches(override, count - 1, object->owner))
        return true;
    for (const struct handed *slot = object->handed; slot; slot = slot->before)
        if (!last->has_index && glob_matches(last->glob, slot->name)
            && path_matches(override, count - 1, slot->owner))
            return true;
    return false;
}

static struct override *pick(struct elaboration *e, struct override *before, struct override *next)
{
    next->matches++;
    if (!before || !before->value || !next->value)
        return next;
    struct diagnostic *d = diagnostic_add(e->diagnostics, W0603, before->span,
                                          "'%s' is partly or wholly covered", before->text);
    diagnostic_note(e->diagnostics, d, next->span, "by this one, which comes later and wins");
    return next;
}

struct override *override_find(struct elaboration *e, const struct object *object, const char *name)
{
    struct override *chosen = NULL;
    for (uint32_t i = 0; i < e->overrides.count; i++) {
        struct override *override = e->overrides.items[i];
        const struct override_segment *last = &override->segments[override->segment_count - 1];
        if (!last->has_index && glob_matches(last->glob, name)
            && path_matches(override, override->segment_count - 1, object))
            chosen = pick(e, chosen, override);
    }
    return chosen;
}

struct override *override_find_link(struct elaboration *e, const char *link, const char *name)
{
    struct override *chosen = NULL;
    for (uint32_t i = 0; i < e->overrides.count; i++) {
        struct override *override = e->overrides.items[i];
        if (override->segment_count == 2 && !override->segments[0].has_index
            && !override->segments[1].has_index && strcmp(override->segments[0].glob, link) == 0
            && strcmp(override->segments[1].glob, name) == 0)
            chosen = pick(e, chosen, override);
    }
    return chosen;
}

static bool slot_matches(const struct override_segment *segment, const struct object *part,
                         const struct object *owner)
{
    for (const struct handed *slot = part->handed; slot; slot = slot->before)
        if (slot->owner == owner && !segment->has_index && glob_matches(segment->glob, slot->name))
            return true;
    return false;
}

static void try_children(struct elaboration *e, const struct override_segment *segment,
                         const struct object *object, struct suggestion *suggestion, bool *found)
{
    for (uint32_t i = 0; i < e->nodes.count; i++) {
        const struct object *child = &e->nodes.items[i]->object;
        if (child->owner != object)
            continue;
        suggestion_try(suggestion, child->name);
        *found |= segment_matches(segment, child);
    }
    for (uint32_t i = 0; i < e->parts.count; i++) {
        const struct object *child = &e->parts.items[i]->object;
        *found |= slot_matches(segment, child, object);
        if (child->owner != object)
            continue;
        suggestion_try(suggestion, child->name);
        *found |= segment_matches(segment, child);
    }
}

/* Finds the first segment that names nothing, from the root on. */
static bool explain_segment(struct elaboration *e, struct override *override, uint32_t index)
{
    const struct override_segment *segment = &override->segments[index];
    struct suggestion suggestion = suggestion_for(segment->glob);
    bool found = false, any = false;
    const char *parent = NULL;
    for (uint32_t i = 0; i < e->nodes.count + e->parts.count; i++) {
        const struct object *object = i < e->nodes.count
                                          ? &e->nodes.items[i]->object
                                          : &e->parts.items[i - e->nodes.count]->object;
        if (!path_matches(override, index, object))
            continue;
        any = true;
        if (!parent)
            parent = object->path[0] != '\0' ? object->path : object->type->model.name;
        if (index + 1 < override->segment_count) {
            try_children(e, segment, object, &suggestion, &found);
            continue;
        }
        for (uint32_t k = 0; k < object->type->params.v.count; k++) {
            const struct ast_item *item = object->type->params.v.items[k];
            if (item->kind == AST_LET && strcmp(item->name.text, segment->glob) == 0) {
                diagnostic_add(e->diagnostics, E0207, segment->span,
                               "'%s' is derived, it cannot be set", segment->glob);
                return true;
            }
            if (item->kind == AST_PARAM)
                suggestion_try(&suggestion, item->name.text);
        }
        for (uint32_t k = 0; k < object->type->parts.v.count; k++)
            suggestion_try(&suggestion, object->type->parts.v.items[k]->name.text);
    }
    if (found || !any)
        return false;
    struct diagnostic *d =
        diagnostic_add(e->diagnostics, E0601, segment->span,
                       index + 1 < override->segment_count ? "'%s' has nothing called '%s'"
                                                           : "'%s' has no parameter '%s'",
                       parent, segment->glob);
    diagnostic_suggest(e->diagnostics, d, suggestion.best);
    return true;
}

void overrides_finish(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->overrides.count; i++) {
        struct override *override = e->overrides.items[i];
        bool explained = false;
        for (uint32_t k = 0; override->matches == 0 && !explained && k < override->segment_count;
             k++)
            explained = explain_segment(e, override, k);
        if (override->matches == 0 && !explained)
            diagnostic_add(e->diagnostics, E0601, override->span, "'%s' matches nothing",
                           override->text);
    }
}
