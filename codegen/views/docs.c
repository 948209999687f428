/* `heddle doc`: the reference, from documentation comments.
 *
 * Pages: index; component-NAME for each component; parts (with interfaces); protocols (with
 * enumerations); links; platform-NAME with its diagram. Each page exists as .md and .html.
 */
#include <inttypes.h>
#include <string.h>

#include "codegen/views/docs_list.h"
#include "codegen/views/docs_page.h"
#include "codegen/views/docs_text.h"
#include "codegen/views/dot_kind.h"
#include "codegen/views/params_value.h"

#define COLUMNS(...)     ((const char *const[]){__VA_ARGS__})
#define COUNT(...)       (sizeof COLUMNS(__VA_ARGS__) / sizeof(const char *))
#define TABLE(page, ...) docs_page_table_begin(page, COLUMNS(__VA_ARGS__), COUNT(__VA_ARGS__))
#define ROW(page, ...)   docs_page_row(page, COLUMNS(__VA_ARGS__), COUNT(__VA_ARGS__))

static const char *code(struct arena *arena, const char *text)
{
    return text && *text ? arena_printf(arena, "`%s`", text) : "";
}

static const char *number(struct arena *arena, uint64_t value)
{
    return arena_printf(arena, "%" PRIu64, value);
}

/* Text from a source that may go over several lines. */
static const char *one_line(struct arena *arena, const char *text)
{
    const char *line = "";
    for (const char *word = text; *word; word += strspn(word, " \n\t")) {
        size_t length = strcspn(word, " \n\t");
        line = arena_printf(arena, "%s%s%.*s", line, *line ? " " : "", (int)length, word);
        word += length;
    }
    return line;
}

/* ---- components and parts ---- */

/* "bytes", or the names of a choice. */
static const char *param_type(struct arena *arena, const struct model_param_decl *p)
{
    if (p->dimension != MODEL_DIM_ENUM || !p->choice)
        return params_dimension_name(p->dimension);
    if (p->choice->name)
        return p->choice->name;
    const char *text = "";
    for (uint32_t i = 0; i < p->choice->count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", p->choice->names[i]);
    return arena_printf(arena, "one of %s", text);
}

static void write_params(struct docs_page *page, struct arena *arena, const struct model_type *type)
{
    if (type->param_count == 0)
        return;
    docs_page_heading(page, type->is_part ? 3 : 2, "Parameters");
    TABLE(page, "name", "type", "default", "range", "meaning");
    for (uint32_t i = 0; i < type->param_count; i++) {
        const struct model_param_decl *p = &type->params[i];
        ROW(page, code(arena, p->name), param_type(arena, p),
            p->is_let        ? "(derived)"
            : p->has_default ? code(arena, p->default_text)
                             : "required",
            code(arena, p->range_text), p->doc);
    }
    docs_page_table_end(page);
}

/* What parameters must keep to, for each other. */
static void write_checks(struct docs_page *page, struct arena *arena, const struct model_type *type)
{
    if (type->check_count == 0)
        return;
    docs_page_heading(page, type->is_part ? 3 : 2, "Checks");
    TABLE(page, "must hold", "otherwise");
    for (uint32_t i = 0; i < type->check_count; i++)
        ROW(page, code(arena, one_line(arena, type->checks[i].text)), type->checks[i].message);
    docs_page_table_end(page);
}

static void write_ports(struct docs_page *page, const struct docs_list *list,
                        const struct model_type *type)
{
    if (type->port_count == 0)
        return;
    docs_page_heading(page, 2, "Ports");
    TABLE(page, "name", "direction", "protocol", "depth", "meaning");
    for (uint32_t i = 0; i < type->port_count; i++) {
        const struct model_port_decl *p = &type->ports[i];
        const struct model_port *sample = p->is_in ? docs_list_port_sample(list, p) : NULL;
        ROW(page, arena_printf(list->arena, "`%s%s`", p->name, p->is_array ? "[]" : ""),
            arena_printf(list->arena, "%s%s", p->is_in ? "in" : "out",
                         p->optional ? ", optional" : ""),
            code(list->arena, p->protocol_text), sample ? number(list->arena, sample->depth) : "",
            p->doc);
    }
    docs_page_table_end(page);
}

static void write_slots(struct docs_page *page, struct arena *arena, const struct model_type *type)
{
    if (type->part_count == 0)
        return;
    docs_page_heading(page, type->is_part ? 3 : 2, "Parts and slots");
    TABLE(page, "name", "what", "takes", "meaning");
    for (uint32_t i = 0; i < type->part_count; i++) {
        const struct model_part_decl *p = &type->parts[i];
        const char *takes = p->interface   ? p->interface->name
                            : p->part_type ? p->part_type->name
                                           : p->type_name;
        ROW(page, arena_printf(arena, "`%s%s`", p->name, p->is_array ? "[]" : ""),
            p->is_slot ? p->optional ? "slot, optional" : "slot" : "part", code(arena, takes),
            p->doc);
    }
    docs_page_table_end(page);
}

static void write_stores(struct docs_page *page, struct arena *arena, const struct model_type *type)
{
    if (type->store_count == 0)
        return;
    docs_page_heading(page, 2, "Stores");
    TABLE(page, "name", "access", "type", "meaning");
    for (uint32_t i = 0; i < type->store_count; i++)
        ROW(page, code(arena, type->stores[i].name), type->stores[i].is_writer ? "writes" : "reads",
            code(arena, type->stores[i].type), type->stores[i].doc);
    docs_page_table_end(page);
}

static void write_stats(struct docs_page *page, struct arena *arena, const struct model_type *type)
{
    static const char *const kinds[] = {
        [MODEL_STAT_COUNTER] = "counter",
        [MODEL_STAT_AVERAGE] = "average",
        [MODEL_STAT_HISTOGRAM] = "histogram",
    };
    if (type->stat_count == 0)
        return;
    docs_page_heading(page, type->is_part ? 3 : 2, "Statistics");
    TABLE(page, "name", "kind", "meaning");
    for (uint32_t i = 0; i < type->stat_count; i++)
        ROW(page, code(arena, type->stats[i].name), kinds[type->stats[i].kind], type->stats[i].doc);
    docs_page_table_end(page);
}

static void write_measures(struct docs_page *page, struct arena *arena,
                           const struct model_type *type)
{
    if (type->measure_count == 0)
        return;
    docs_page_heading(page, type->is_part ? 3 : 2, "Measures");
    TABLE(page, "name", "part", "of", "meaning");
    for (uint32_t i = 0; i < type->measure_count; i++)
        ROW(page, model_measure_names[type->measures[i].kind],
            code(arena, type->measures[i].part_text), code(arena, type->measures[i].whole_text),
            type->measures[i].doc);
    docs_page_table_end(page);
}

static const char *component_page(struct arena *arena, const struct model_type *type)
{
    return arena_printf(arena, "component-%s", type->name);
}

static bool write_component(const struct docs_list *list, const struct model_type *type,
                            const char *dir, struct view_error *error)
{
    struct docs_page page;
    struct arena *arena = list->arena;
    if (!docs_page_open(&page, dir, component_page(arena, type), type->name, error))
        return false;
    docs_page_text(&page, type->doc);
    const char *word = dot_kind_style(dot_kind_of(type))->word;
    char *declared = arena_printf(arena, "Kind: %s. Declared in `%s`, line %" PRIu32, word,
                                  type->place.file, type->place.line);
    for (uint32_t i = 0; i < type->behaviour_count; i++)
        declared = arena_printf(arena, "%s%s`%s`", declared, i == 0 ? "; behaviour in " : ", ",
                                type->behaviour[i]);
    docs_page_text(&page, arena_printf(arena, "%s.", declared));
    write_ports(&page, list, type);
    write_params(&page, arena, type);
    write_checks(&page, arena, type);
    write_slots(&page, arena, type);
    write_stores(&page, arena, type);
    write_stats(&page, arena, type);
    write_measures(&page, arena, type);
    return docs_page_close(&page);
}

static bool write_parts(const struct docs_list *list, const char *dir, struct view_error *error)
{
    struct docs_page page;
    if (!docs_page_open(&page, dir, "parts", "Interfaces and parts", error))
        return false;
    docs_page_text(
        &page,
        "A part is behaviour without a clock, called by the component or part that owns it. Parts "
        "that implement the same interface fill the same slots.");
    docs_page_list_begin(&page);
    for (uint32_t i = 0; i < list->interfaces.count; i++)
        docs_page_item(&page, list->interfaces.items[i]->name, NULL,
                       list->interfaces.items[i]->doc);
    docs_page_list_end(&page);
    for (uint32_t i = 0; i < list->types.count; i++) {
        const struct model_type *type = list->types.items[i];
        if (!type->is_part)
            continue;
        docs_page_heading(&page, 2, type->name);
        if (type->interface)
            docs_page_text(&page,
                           arena_printf(list->arena, "Implements `%s`.", type->interface->name));
        docs_page_text(&page, type->doc);
        write_params(&page, list->arena, type);
        write_checks(&page, list->arena, type);
        write_slots(&page, list->arena, type);
        write_stats(&page, list->arena, type);
        write_measures(&page, list->arena, type);
    }
    return docs_page_close(&page);
}

/* ---- protocols ---- */

static const char *field_type(struct arena *arena, const struct model_protocol *p,
                              const struct model_field *f)
{
    static const char *const names[] = {
        [MODEL_FIELD_U8] = "u8",     [MODEL_FIELD_U16] = "u16",     [MODEL_FIELD_U32] = "u32",
        [MODEL_FIELD_U64] = "u64",   [MODEL_FIELD_I32] = "i32",     [MODEL_FIELD_I64] = "i64",
        [MODEL_FIELD_BOOL] = "bool", [MODEL_FIELD_ADDR] = "addr",   [MODEL_FIELD_ENUM] = "enum",
        [MODEL_FIELD_BITS] = "bits", [MODEL_FIELD_BYTES] = "bytes",
    };
    if (f->kind == MODEL_FIELD_ENUM && f->choice && f->choice->name)
        return f->choice->name;
    if (f->kind != MODEL_FIELD_BITS && f->kind != MODEL_FIELD_BYTES)
        return names[f->kind];
    if (f->size_argument >= 0)
        return arena_printf(arena, "%s[%s]", names[f->kind], p->param_names[f->size_argument]);
    return arena_printf(arena, "%s[%" PRIu32 "]%s", names[f->kind], f->size,
                        f->length_field ? ", cut to its length on links" : "");
}

static const char *field_bytes(struct arena *arena, const struct model_protocol *p,
                               const struct model_field *f)
{
    uint32_t bytes = f->kind == MODEL_FIELD_BITS ? (f->size + 7) / 8 : f->size;
    if (f->size_argument < 0)
        return number(arena, bytes);
    const char *name = p->param_names[f->size_argument];
    return f->kind == MODEL_FIELD_BITS ? arena_printf(arena, "%s / 8", name) : name;
}

static const char *answered_requests(struct arena *arena, const struct model_protocol *p,
                                     const struct model_message *m)
{
    const char *text = "";
    for (uint32_t i = 0; i < p->request_count; i++)
        if (m->answers >> i & 1)
            text = arena_printf(arena, "%s%s`%s`", text, *text ? ", " : "", p->requests[i].name);
    return text;
}

static void write_message(struct docs_page *page, struct arena *arena,
                          const struct model_protocol *p, const struct model_message *m)
{
    docs_page_heading(page, 3,
                      arena_printf(arena, "%s %s", m->is_reply ? "reply" : "request", m->name));
    docs_page_text(page, m->doc);
    if (m->is_reply)
        docs_page_text(page, arena_printf(arena, "Answers %s.", answered_requests(arena, p, m)));
    else if (!m->has_reply)
        docs_page_text(page, "Not answered.");
    if (m->field_count == 0)
        return;
    TABLE(page, "field", "type", "bytes", "meaning");
    for (uint32_t i = 0; i < m->field_count; i++)
        ROW(page, code(arena, m->fields[i].name), code(arena, field_type(arena, p, &m->fields[i])),
            field_bytes(arena, p, &m->fields[i]), m->fields[i].doc);
    docs_page_table_end(page);
}

static void write_protocol(struct docs_page *page, struct arena *arena,
                           const struct model_protocol *p)
{
    const char *params = "";
    for (uint32_t i = 0; i < p->argument_count; i++)
        params = arena_printf(arena, "%s%s%s", params, i ? ", " : "", p->param_names[i]);
    docs_page_heading(page, 2, *params ? arena_printf(arena, "%s(%s)", p->name, params) : p->name);
    docs_page_text(page, p->doc);
    for (uint32_t i = 0; i < p->request_count; i++)
        write_message(page, arena, p, &p->requests[i]);
    for (uint32_t i = 0; i < p->reply_count; i++)
        write_message(page, arena, p, &p->replies[i]);
}

static void write_enum(struct docs_page *page, struct arena *arena, const struct model_enum *choice)
{
    const char *text = "";
    for (uint32_t i = 0; i < choice->count; i++)
        text = arena_printf(arena, "%s%s`%s`", text, i ? ", " : "", choice->names[i]);
    docs_page_heading(page, 3, choice->name);
    docs_page_text(page, choice->doc);
    docs_page_text(page, text);
}

static bool write_protocols(const struct docs_list *list, const char *dir, struct view_error *error)
{
    struct docs_page page;
    if (!docs_page_open(&page, dir, "protocols", "Protocols", error))
        return false;
    for (uint32_t i = 0; i < list->protocols.count; i++)
        write_protocol(&page, list->arena, list->protocols.items[i]);
    if (list->enums.count > 0)
        docs_page_heading(&page, 2, "Enumerations");
    for (uint32_t i = 0; i < list->enums.count; i++)
        write_enum(&page, list->arena, list->enums.items[i]);
    return docs_page_close(&page);
}

static bool write_links(const struct docs_list *list, const char *dir, struct view_error *error)
{
    struct docs_page page;
    char bandwidth[PARAMS_VALUE_MAX], latency[PARAMS_VALUE_MAX];
    if (!docs_page_open(&page, dir, "links", "Links", error))
        return false;
    TABLE(&page, "name", "bandwidth", "latency", "meaning");
    for (uint32_t i = 0; i < list->links.count; i++) {
        const struct model_link_type *l = list->links.items[i];
        ROW(&page, code(list->arena, l->name),
            params_bandwidth_text(l->bandwidth_bytes_per_s, bandwidth),
            params_time_text(l->latency_ps, latency), l->doc);
    }
    docs_page_table_end(&page);
    return docs_page_close(&page);
}

/* ---- platforms ---- */

static const char *platform_page(struct arena *arena, const struct model *m)
{
    return arena_printf(arena, "platform-%s", m->name);
}

/* The diagram, when Graphviz is there; without it the page says how to get one. */
static bool write_diagram(struct docs_page *page, const struct model *m, const char *dir,
                          struct arena *arena)
{
    const struct view_options options = view_options_default();
    const char *file = arena_printf(arena, "%s.svg", platform_page(arena, m));
    struct view_error unavailable;
    FILE *out = docs_open(dir, file, page->error);
    if (!out)
        return false;
    if (view_svg(m, &options, out, &unavailable)) {
        docs_page_picture(page, file, arena_printf(arena, "diagram of platform %s", m->name));
        return docs_close(out, dir, file, page->error);
    }
    docs_discard(out, dir, file);
    docs_page_text(page, arena_printf(arena, "No diagram: %s.", unavailable.text));
    return true;
}

static void write_platform_tables(struct docs_page *page, const struct model *m,
                                  struct arena *arena)
{
    char hz[PARAMS_VALUE_MAX], each[PARAMS_VALUE_MAX], total[PARAMS_VALUE_MAX];
    TABLE(page, "clock", "frequency");
    for (uint32_t i = 0; i < m->domain_count; i++)
        ROW(page, code(arena, m->domains[i].name), params_hz_text(m->domains[i].hz, hz));
    docs_page_table_end(page);
    if (m->space_count == 0)
        return;
    TABLE(page, "address space", "first address", "size", "interleave");
    for (uint32_t i = 0; i < m->space_count; i++) {
        const struct model_space *s = m->spaces[i];
        ROW(page, code(arena, s->path),
            s->mapped ? arena_printf(arena, "0x%" PRIx64, s->base) : "not mapped",
            params_bytes_text(s->each_bytes * s->target_count, total),
            arena_printf(arena, "%s%s", params_bytes_text(s->interleave_bytes, each),
                         s->hashed ? ", hashed" : ""));
    }
    docs_page_table_end(page);
}

static bool write_platform(const struct docs_list *list, const struct model *m, const char *dir,
                           struct view_error *error)
{
    struct docs_page page;
    struct arena *arena = list->arena;
    if (!docs_page_open(&page, dir, platform_page(arena, m),
                        arena_printf(arena, "Platform %s", m->name), error))
        return false;
    docs_page_text(&page, m->doc);
    if (!write_diagram(&page, m, dir, arena)) {
        docs_page_close(&page);
        return false;
    }
    docs_page_text(&page, arena_printf(arena,
                                       "%" PRIu32 " components, %" PRIu32 " connections, %" PRIu32
                                       " partition%s. Declared in `%s`.",
                                       m->leaf_count, m->connection_count, m->partition_count,
                                       m->partition_count == 1 ? "" : "s", m->place.file));
    write_platform_tables(&page, m, arena);
    write_params(&page, arena, m->root->type);
    return docs_page_close(&page);
}

/* ---- index ---- */

static void write_index_types(struct docs_page *page, const struct docs_list *list, bool composite)
{
    docs_page_list_begin(page);
    for (uint32_t i = 0; i < list->types.count; i++) {
        const struct model_type *type = list->types.items[i];
        if (!type->is_part && !type->is_platform && type->is_composite == composite)
            docs_page_item(page, type->name, component_page(list->arena, type),
                           docs_first_sentence(list->arena, type->doc ? type->doc : ""));
    }
    docs_page_list_end(page);
}

static bool write_index(const struct docs_list *list, const char *dir, struct view_error *error)
{
    struct docs_page page;
    if (!docs_page_open(&page, dir, "index", "Reference", error))
        return false;
    docs_page_heading(&page, 2, "Components");
    write_index_types(&page, list, false);
    docs_page_heading(&page, 2, "Composites");
    write_index_types(&page, list, true);
    docs_page_heading(&page, 2, "What they are made of");
    docs_page_list_begin(&page);
    docs_page_item(&page, "Interfaces and parts", "parts", "behaviour that fills slots");
    docs_page_item(&page, "Protocols", "protocols", "messages, their fields and sizes");
    docs_page_item(&page, "Links", "links", "bandwidth and latency");
    docs_page_list_end(&page);
    if (list->platforms.count > 0)
        docs_page_heading(&page, 2, "Platforms");
    docs_page_list_begin(&page);
    for (uint32_t i = 0; i < list->platforms.count; i++) {
        const struct model *m = list->platforms.items[i];
        docs_page_item(&page, m->name, platform_page(list->arena, m),
                       docs_first_sentence(list->arena, m->doc ? m->doc : ""));
    }
    docs_page_list_end(&page);
    return docs_page_close(&page);
}

static bool write_all(const struct docs_list *list, const char *dir, struct view_error *error)
{
    for (uint32_t i = 0; i < list->types.count; i++) {
        const struct model_type *type = list->types.items[i];
        if (!type->is_part && !type->is_platform && !write_component(list, type, dir, error))
            return false;
    }
    for (uint32_t i = 0; i < list->platforms.count; i++)
        if (!write_platform(list, list->platforms.items[i], dir, error))
            return false;
    return write_parts(list, dir, error) && write_protocols(list, dir, error)
           && write_links(list, dir, error) && write_index(list, dir, error);
}

bool view_docs(const struct model *const *scopes, size_t scope_count, const char *dir,
               struct view_error *error)
{
    struct arena arena;
    struct docs_list list;
    if (!docs_make_directory(dir, error))
        return false;
    arena_init(&arena);
    docs_list_collect(&list, &arena, scopes, scope_count);
    bool good = write_all(&list, dir, error);
    arena_release(&arena);
    return good;
}
