/* The tables of names.h: symbols by a hash of the offset that declares them, occurrences sorted. */
#include "dsl/service/names.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static uint32_t slot_of(const struct names *names, uint32_t offset)
{
    uint32_t at = hash_multiply_32(offset) & (names->table_size - 1);
    while (names->table[at] != 0
           && names->symbols.items[names->table[at] - 1]->span.begin != offset)
        at = (at + 1) & (names->table_size - 1);
    return at;
}

static void make_room(struct names *names)
{
    if (names->table_size > 2 * (names->symbols.count + 1))
        return;
    names->table_size = names->table_size == 0 ? 1024 : 2 * names->table_size;
    names->table = region_take(names->region, names->table_size * sizeof *names->table);
    for (uint32_t i = 0; i < names->symbols.count; i++)
        names->table[slot_of(names, names->symbols.items[i]->span.begin)] = i + 1;
}

struct name_symbol *names_declared(const struct names *names, uint32_t offset)
{
    uint32_t number = names->table_size > 0 ? names->table[slot_of(names, offset)] : 0;
    return number != 0 ? names->symbols.items[number - 1] : NULL;
}

struct service_place names_place(const struct names *names, struct span span)
{
    const struct source_file *file = source_of(names->program->sources, span.begin);
    if (!file)
        return (struct service_place){"", "", 0, 0, 0};
    return (struct service_place){file->name, file->text, file->size, span.begin - file->base,
                                  span.end - file->base};
}

struct name_symbol *names_symbol(struct names *names, enum service_kind kind, struct ast_name name,
                                 const struct ast_item *item, const struct type_info *owner)
{
    struct name_symbol *symbol = names_declared(names, name.span.begin);
    if (symbol)
        return symbol;
    make_room(names);
    const struct source_file *file = source_of(names->program->sources, name.span.begin);
    symbol = region_take(names->region, sizeof *symbol);
    *symbol = (struct name_symbol){
        .shown = {kind, name.text, names_place(names, name.span), owner ? owner->model.name : "",
                  file && file->is_library},
        .span = name.span,
        .item = item,
        .owner = owner,
    };
    uint32_t slot = slot_of(names, name.span.begin);
    vector_push(names->region, &names->symbols, symbol);
    names->table[slot] = names->symbols.count;
    return symbol;
}

void names_add(struct names *names, struct span span, struct name_symbol *symbol)
{
    if (span.begin == 0 || span.end <= span.begin)
        return;
    struct name_occurrence one = {span, symbol, span.begin == symbol->span.begin, 0};
    vector_push(names->region, &names->occurrences, one);
}

const struct name_occurrence *names_at(const struct names *names, uint32_t offset)
{
    uint32_t low = 0, high = names->occurrences.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (names->occurrences.items[middle].span.begin <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct name_occurrence *one = &names->occurrences.items[low - 1];
    return offset <= one->span.end ? one : NULL;
}
