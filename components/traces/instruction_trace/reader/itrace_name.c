/* Takes the source name of a kernel out of its mangled one, without parameters and templates. */
#include "itrace_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A source name: its length in digits, then itself. Returns what is after it; NULL: there is
 * none. */
static const char *source_name(const char *at, const char **name, size_t *length)
{
    size_t n = 0;
    for (; *at >= '0' && *at <= '9' && n < 4096; at++)
        n = n * 10 + (size_t)(*at - '0');
    *name = at;
    *length = n;
    return n && strnlen(at, n) == n ? at + n : NULL;
}

void itrace_name_plain(const char *symbol, char *name, size_t size)
{
    const char *part, *at = symbol;
    size_t length, used = 0;
    snprintf(name, size, "%s", symbol);
    if (strncmp(at, "_Z", 2) != 0)
        return;
    at += 2;
    bool nested = *at == 'N';
    at += nested;
    while ((at = source_name(at, &part, &length)) && used + length + 3 < size) {
        used += (size_t)snprintf(name + used, size - used, "%s%.*s", used ? "::" : "", (int)length,
                                 part);
        if (!nested)
            break;
    }
}
