/* Writes the fields of a message into the timeline, as its layout describes them.
 * timeline_internal.h has the interface. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_internal.h"

/* Writes choice `value` of "back|through" up to `end`. False: there is none. */
static bool write_choice(struct json *out, const char *key, const char *names, const char *end,
                         uint64_t value)
{
    char text[64];
    for (; value && names < end; value--) {
        const char *bar = memchr(names, '|', (size_t)(end - names));
        names = bar ? bar + 1 : end;
    }
    size_t n = strcspn(names, "|,");
    if (names >= end || n >= sizeof text)
        return false;
    memcpy(text, names, n);
    text[n] = '\0';
    json_text(out, key, text);
    return true;
}

static void write_field(struct json *out, const char *name, char kind, uint64_t value,
                        const char *choices, const char *end)
{
    if (kind == 'e' && write_choice(out, name, choices, end, value))
        return;
    json_key(out, name);
    if (kind == 'a')
        json_print(out, "\"0x%" PRIx64 "\"", value);
    else if (kind == 'b')
        json_print(out, "%s", value ? "true" : "false");
    else if (kind == 'i')
        json_print(out, "%" PRId64, (int64_t)value);
    else
        json_print(out, "%" PRIu64, value);
}

void timeline_write_fields(struct json *out, const char *layout, const uint8_t *fields)
{
    char name[64];
    while (*layout) {
        const char *end = layout + strcspn(layout, ",");
        size_t n = strcspn(layout, ":");
        char kind = layout[n + 1];
        size_t bytes = (size_t)(layout[n + 2] - '0');
        uint64_t value = 0;
        memcpy(&value, fields, bytes);
        if (kind == 'i' && bytes == 4)
            value = (uint64_t)(int64_t)(int32_t)value;
        snprintf(name, sizeof name, "%.*s", (int)n, layout);
        write_field(out, name, kind, value, layout + n + 4, end);
        fields += bytes;
        layout = *end ? end + 1 : end;
    }
}
