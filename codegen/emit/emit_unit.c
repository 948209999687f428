/* The wrapper file of a unit: what the component's author wrote, compiled for one set of parameters
 * (or for all), and the descriptor by which the runtime knows it.
 *
 * A slot's table of functions is a constant where only one part can fill it, so that its calls
 * become direct; otherwise the part's kind selects it. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "dsl/compiler_bug.h"
#include "dsl/message_layout.h"
#include "dsl/source.h"

#include "emitters.h"
#include "input.h"
#include "names.h"

static const char *quoted(struct emit *e, const char *text)
{
    struct emit q;
    emit_init(&q, e->region);
    emit(&q, "\"");
    for (; *text; text++)
        if (*text == '\n' || *text == '\t')
            emit(&q, " ");
        else
            emit(&q, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    emit(&q, "\"");
    return q.text;
}

static void emit_constants(struct emit *e, const struct model_type *type,
                           const struct model_param *params, uint32_t count)
{
    if (count == 0)
        return;
    emit(e, "#define %s_CONSTANTS \\\n    { \\\n", name_upper(e->region, type->name));
    for (uint32_t i = 0; i < count; i++) {
        const struct model_param_decl *decl = params[i].decl;
        const struct model_value *value = &params[i].value;
        emit(e, "        .%s = ", name_c(e->region, decl->name));
        if (decl->choice && value->integer >= 0 && value->integer < decl->choice->count)
            emit(e, "%s_%s",
                 name_upper(e->region, name_enum(e->region, decl->choice, type->name, decl->name)),
                 name_upper(e->region, decl->choice->names[value->integer]));
        else
            emit(e, "%" PRId64, value->dimension == MODEL_DIM_STRING ? 0 : value->integer);
        emit(e, ", \\\n");
    }
    emit(e, "    }\n");
}

/* Contents of the messages of an `any` port, where all instances of the unit agree on the protocol.
 */
static void emit_messages_constant(struct emit *e, const struct model_type *type,
                                   const struct model_port_decl *port, const char *direction,
                                   const struct model_message *messages, uint32_t count)
{
    if (count == 0)
        return;
    emit(e, "#define %s_%s_%s \\\n    { \\\n", name_upper(e->region, type->name),
         name_upper(e->region, port->name), direction);
    for (uint32_t i = 0; i < count; i++)
        emit(e, "        { .wire_bytes = %u, .awaited = %d, .payload_bytes = %u }, /* %s */ \\\n",
             message_wire_bytes(e->region, &messages[i]),
             !messages[i].is_reply && messages[i].has_reply,
             message_payload_bytes(e->region, &messages[i]), messages[i].name);
    emit(e, "    }\n");
}

static void emit_any_constants(struct emit *e, const struct layout_unit *unit)
{
    for (uint32_t g = 0; g < unit->first->port_group_count; g++) {
        const struct model_port_group *group = &unit->first->port_groups[g];
        const struct model_protocol *protocol = group->count ? group->ports[0].protocol : NULL;
        if (!group->decl->is_any || !protocol)
            continue;
        if (group->decl->is_in)
            emit_messages_constant(e, unit->type, group->decl, "REPLIES", protocol->replies,
                                   protocol->reply_count);
        else
            emit_messages_constant(e, unit->type, group->decl, "REQUESTS", protocol->requests,
                                   protocol->request_count);
    }
}

/* The part that the parts of a slot are told apart by. */
static uint32_t kind_of(const struct layout_unit *unit, const struct model_type *type)
{
    for (uint32_t i = 0; i < unit->parts.count; i++)
        if (unit->parts.items[i].type == type)
            return i;
    compiler_bug("part type %s is not in unit %s", type->name, unit->symbol);
}

static void emit_slot(struct emit *e, const struct layout_unit *unit,
                      const struct layout_slot *slot)
{
    const char *ops = region_printf(e->region, "struct %s_ops", slot->decl->interface->name);
    const char *macro =
        region_printf(e->region, "%s_%s_OPS", name_upper(e->region, slot->owner->name),
                      name_upper(e->region, slot->decl->name));
    if (slot->fillers.count == 0) {
        emit(e, "#define %s(part) ((void)(part), (const %s *)NULL)\n", macro, ops);
        return;
    }
    if (slot->fillers.count == 1) {
        const char *filler = name_c(e->region, slot->fillers.items[0]->name);
        emit(e,
             slot->may_be_empty ? "#define %s(part) ((part) ? &%s_ops : NULL)\n"
                                : "#define %s(part) ((void)(part), &%s_ops)\n",
             macro, filler);
        return;
    }
    const char *table = region_printf(e->region, "%s_%s_kinds",
                                      name_c(e->region, slot->owner->name), slot->decl->name);
    emit(e, "static const %s *const %s[] = {\n", ops, table);
    for (uint32_t i = 0; i < slot->fillers.count; i++)
        emit(e, "    [%u] = &%s_ops,\n", kind_of(unit, slot->fillers.items[i]),
             name_c(e->region, slot->fillers.items[i]->name));
    emit(e, "};\n");
    emit(e,
         slot->may_be_empty ? "#define %s(part) ((part) ? %s[(part)->kind] : NULL)\n"
                            : "#define %s(part) (%s[(part)->kind])\n",
         macro, table);
}

static bool implements_slot(const struct layout_unit *unit, const struct model_type *part)
{
    for (uint32_t s = 0; s < unit->slots.count; s++)
        for (uint32_t f = 0; f < unit->slots.items[s].fillers.count; f++)
            if (unit->slots.items[s].fillers.items[f] == part)
                return true;
    return false;
}

static void emit_slots(struct emit *e, const struct layout_unit *unit)
{
    for (uint32_t s = 0; s < unit->slots.count; s++) {
        uint32_t before = 0;
        while (unit->slots.items[before].decl->interface != unit->slots.items[s].decl->interface)
            before++;
        if (before == s)
            emit(e, "#include \"%s.h\"\n", unit->slots.items[s].decl->interface->name);
    }
    for (uint32_t i = 0; i < unit->parts.count; i++)
        if (unit->parts.items[i]
                .type->interface && implements_slot(unit, unit->parts.items[i].type))
            emit(e, "static const struct %s_ops %s_ops; /* defined by the part's C file */\n",
                 unit->parts.items[i].type->interface->name,
                 name_c(e->region, unit->parts.items[i].type->name));
    for (uint32_t s = 0; s < unit->slots.count; s++)
        emit_slot(e, unit, &unit->slots.items[s]);
    if (unit->slots.count > 0)
        emit(e, "\n");
}

static bool has_source(const struct model_type *type, const char *file)
{
    for (uint32_t i = 0; i < type->behaviour_count; i++)
        if (strcmp(type->behaviour[i], file) == 0)
            return true;
    return false;
}

/* True if the name is a word of the text. */
static bool has_word(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (begins && !isalnum((unsigned char)at[length]) && at[length] != '_')
            return true;
    }
    return false;
}

/* NAME_init is the author's where one of the C files has the word; what is zero needs none. */
static bool has_init(struct emit *e, const struct model_type *type)
{
    const char *init = region_printf(e->region, "%s_init", name_c(e->region, type->name));
    bool names_init = false;
    for (uint32_t i = 0; i < type->behaviour_count && !names_init; i++) {
        size_t size;
        const char *text = input_read(e->region, type->behaviour[i], &size);
        names_init = !text || has_word(text, init);
    }
    return names_init;
}

static void emit_empty_init(struct emit *e, const struct model_type *type)
{
    const char *name = name_c(e->region, type->name);
    if (!has_init(e, type))
        emit(e, "static void %s_init(struct %s *self)\n{\n    (void)self;\n}\n\n", name, name);
}

/* The authors' C files, each once, parts before their owners. */
static void emit_sources(struct emit *e, const struct layout_unit *unit)
{
    for (uint32_t i = 0; i < unit->parts.count; i++) {
        const struct model_type *part = unit->parts.items[i].type;
        for (uint32_t f = 0; f < part->behaviour_count; f++) {
            uint32_t before = 0;
            while (!has_source(unit->parts.items[before].type, part->behaviour[f]))
                before++;
            if (before == i && !has_source(unit->type, part->behaviour[f]))
                emit(e, "#include \"%s\"\n", source_base_name(part->behaviour[f]));
        }
    }
    for (uint32_t f = 0; f < unit->type->behaviour_count; f++)
        emit(e, "#include \"%s\"\n", source_base_name(unit->type->behaviour[f]));
    emit(e, "\n");
    for (uint32_t i = 0; i < unit->parts.count; i++)
        emit_empty_init(e, unit->parts.items[i].type);
    emit_empty_init(e, unit->type);
}

static bool is_use(const struct model_type *type, const char *stat)
{
    for (uint32_t i = 0; i < type->measure_count; i++) {
        const struct model_measure_decl *m = &type->measures[i];
        if ((m->kind == MODEL_MEASURE_UTILISATION || m->kind == MODEL_MEASURE_BANDWIDTH)
            && has_word(m->part_text, stat))
            return true;
    }
    return false;
}

static void emit_stats(struct emit *e, const struct model_type *type)
{
    static const char *const kinds[] = {
        [MODEL_STAT_COUNTER] = "STAT_COUNTER", [MODEL_STAT_HISTOGRAM] = "STAT_HISTOGRAM"};
    if (type->stat_count == 0)
        return;
    const char *name = name_c(e->region, type->name);
    emit(e, "static const struct stat_descriptor %s_stat_list[] = {\n", name);
    for (uint32_t i = 0; i < type->stat_count; i++)
        emit(e, "    { \"%s\", %s, %s, offsetof(struct %s_stats, %s), %d },\n", type->stats[i].name,
             quoted(e, type->stats[i].doc ? type->stats[i].doc : ""), kinds[type->stats[i].kind],
             name, name_c(e->region, type->stats[i].name), is_use(type, type->stats[i].name));
    emit(e, "};\n\n");
}

static void emit_stats_members(struct emit *e, const struct model_type *type)
{
    const char *name = name_c(e->region, type->name);
    if (type->stat_count > 0)
        emit(e,
             "    .stats_offset = offsetof(struct %s, io.stats),\n    .stat_count = %u,\n    "
             ".stats = %s_stat_list,\n",
             name, type->stat_count, name);
}

static void emit_part_type(struct emit *e, const struct model_type *type)
{
    const char *name = name_c(e->region, type->name);
    emit_stats(e, type);
    emit(e, "static void %s_init_part(void *part)\n{\n    %s_init(part);\n}\n\n", name, name);
    emit(e, "static const struct unit_part_type %s_part = {\n", name);
    emit(e, "    .name = \"%s\",\n    .instance_bytes = sizeof(struct %s),\n", type->name, name);
    emit_stats_members(e, type);
    emit(e, "    .init = %s_init_part,\n};\n\n", name);
}

static void emit_lists(struct emit *e, const struct layout_unit *unit, uint32_t stores)
{
    if (unit->parts.count > 0) {
        emit(e, "static const struct unit_part_type *const part_types[] = {\n");
        for (uint32_t i = 0; i < unit->parts.count; i++)
            emit(e, "    &%s_part,\n", name_c(e->region, unit->parts.items[i].type->name));
        emit(e, "};\n\n");
    }
    if (stores > 0) {
        emit(e, "static const uint32_t store_sizes[] = {\n");
        for (uint32_t i = 0; i < unit->type->store_count; i++)
            if (unit->type->stores[i].is_writer)
                emit(e, "    sizeof(struct %s),\n", unit->type->stores[i].type);
        emit(e, "};\n\n");
    }
}

static void emit_descriptor(struct emit *e, const struct layout_unit *unit)
{
    const struct model_type *type = unit->type;
    const char *name = name_c(e->region, type->name);
    uint32_t stores = 0;
    for (uint32_t i = 0; i < type->store_count; i++)
        stores += type->stores[i].is_writer;
    emit_lists(e, unit, stores);
    emit(e, "UNIT_DEFINE_WALK(%s)\n\n", name);
    emit(e, "extern const struct unit_type %s;\nconst struct unit_type %s = {\n", unit->symbol,
         unit->symbol);
    emit(e, "    .name = \"%s\",\n    .source = \"%s\",\n", type->name,
         source_base_name(type->behaviour[type->behaviour_count - 1]));
    emit(e,
         "    .instance_bytes = sizeof(struct %s),\n    .io_words_offset = sizeof(struct "
         "component),\n",
         name);
    emit_stats_members(e, type);
    if (unit->parts.count > 0)
        emit(e, "    .parts = part_types,\n    .part_count = %u,\n", unit->parts.count);
    if (stores > 0)
        emit(e, "    .store_bytes = store_sizes,\n    .store_count = %u,\n", stores);
    emit(e,
         "    .init = %s_init_one,\n    .tick = %s_tick_one,\n    .walk = %s_walk,\n    "
         ".outstanding = %s_outstanding_one,\n",
         name, name, name, name);
    emit(e, "};\n");
}

void emit_unit(struct emit *e, const struct layout_unit *unit)
{
    if (unit->generic)
        emit(e, "/* Component %s for any parameters: %s. Generated by heddle. */\n",
             unit->type->name, name_place(e->region, unit->type->place));
    else
        emit(e, "/* Component %s with the parameters of %s: %s. Generated by heddle. */\n",
             unit->type->name, unit->first->path, name_place(e->region, unit->first->place));
    emit(e, "#define UNIT_CODE\n#include \"runtime/engine/unit.h\"\n\n");
    if (!unit->generic) {
        emit_constants(e, unit->type, unit->first->params, unit->first->param_count);
        for (uint32_t i = 0; i < unit->parts.count; i++)
            if (unit->parts.items[i].uniform)
                emit_constants(e, unit->parts.items[i].type, unit->parts.items[i].first->params,
                               unit->parts.items[i].first->param_count);
        emit_any_constants(e, unit);
        emit(e, "\n");
    }
    emit_slots(e, unit);
    emit_sources(e, unit);
    for (uint32_t i = 0; i < unit->parts.count; i++)
        emit_part_type(e, unit->parts.items[i].type);
    emit_stats(e, unit->type);
    emit_descriptor(e, unit);
}
