/* Strings of JSON from any bytes. */
#include "json_from_text.h"

#include <string.h>

#include "base/region.h"

json_t *json_from_bytes(const char *text, size_t size)
{
    json_t *made = json_stringn(text, size);
    if (made)
        return made;
    struct region region;
    region_init(&region, "a description");
    char *plain = region_strndup(&region, text, size);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)plain[i] >= 0x80)
            plain[i] = '?';
    made = json_stringn(plain, size);
    region_release(&region);
    return made;
}

json_t *json_from_text(const char *text)
{
    return text ? json_from_bytes(text, strlen(text)) : json_string("");
}
