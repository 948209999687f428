/* The tables of names.h: symbols by the offset that declares them, occurrences sorted. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

struct declared {
    uint64_t offset;
    struct name_symbol *symbol;
};

static const struct hash_kind declared_kind = HASH_KIND(struct declared, offset, "the names");

struct name_symbol *names_declared(const struct names *names, uint32_t offset)
{
    const struct declared *entry =
        hash_table_find(&names->symbol_at, &declared_kind, &(uint64_t){offset});
    return entry ? entry->symbol : NULL;
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
    const struct source_file *file = source_of(names->program->sources, name.span.begin);
    symbol = region_take(names->region, sizeof *symbol);
    *symbol = (struct name_symbol){
        .shown = {kind, name.text, names_place(names, name.span), owner ? owner->model.name : "",
                  file && file->is_library},
        .span = name.span,
        .item = item,
        .owner = owner,
    };
    vector_push(names->region, &names->symbols, symbol);
    uint64_t offset = name.span.begin;
    struct declared *entry = hash_table_add(&names->symbol_at, &declared_kind, &offset);
    entry->symbol = symbol;
    return symbol;
}

void names_add(struct names *names, struct span span, struct name_symbol *symbol)
{
    if (span.begin == 0 || span.end <= span.begin)
        return;
    struct name_occurrence occurrence = {span, symbol, span.begin == symbol->span.begin, 0};
    vector_push(names->region, &names->occurrences, occurrence);
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
    const struct name_occurrence *occurrence = &names->occurrences.items[low - 1];
    return offset <= occurrence->span.end ? occurrence : NULL;
}
