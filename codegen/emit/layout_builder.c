/* State and functions that layout.c and layout_wires.c share. */
#include "layout_builder.h"

#include <string.h>

uint32_t layout_add_string(struct builder *b, const char *text)
{
    if (!text)
        text = "";
    const struct intern_entry *known = intern_find(&b->string_offsets, text);
    if (known)
        return known->value;
    uint32_t offset = (uint32_t)b->strings.size;
    emit_bytes(&b->strings, text, strlen(text) + 1);
    intern_add(&b->string_offsets, region_strdup(b->region, text), offset);
    return offset;
}

struct builder *layout_builder_new(struct layout *layout)
{
    struct builder *b = region_take(layout->region, sizeof *b);
    b->layout = layout;
    b->region = layout->region;
    b->model = layout->model;
    emit_init(&b->strings, b->region);
    intern_init(&b->string_offsets, b->region);
    intern_init(&b->param_blocks, b->region);
    layout_add_string(b, "");
    return b;
}
