/* Paths of files as URIs, and back. */
#include "uri.h"

#include <string.h>

static int digit(char ch)
{
    return ch >= '0' && ch <= '9'   ? ch - '0'
           : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
           : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                    : -1;
}

const char *uri_path(struct region *region, const char *uri)
{
    static const char scheme[] = "file://";
    if (strncmp(uri, scheme, sizeof scheme - 1) != 0)
        return region_strdup(region, uri);
    const char *path = uri + sizeof scheme - 1;
    if (strncmp(path, "localhost/", 10) == 0)
        path += 9;
    if (path[0] != '/')
        return region_strdup(region, uri);
    char *out = region_strdup(region, path);
    size_t n = 0;
    for (size_t i = 0; path[i] != '\0'; i++) {
        bool is_escape = path[i] == '%' && digit(path[i + 1]) >= 0 && digit(path[i + 2]) >= 0;
        int byte = is_escape ? digit(path[i + 1]) * 16 + digit(path[i + 2]) : path[i];
        if (byte != 0)
            out[n++] = (char)byte;
        i += is_escape ? 2 : 0;
    }
    out[n] = '\0';
    return out;
}

const char *uri_of_path(struct region *region, const char *path)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    static const char hex[] = "0123456789ABCDEF";
    if (path[0] != '/')
        return region_strdup(region, path);
    char *out = region_take(region, 3 * strlen(path) + 8);
    size_t n = 7;
    memcpy(out, "file://", 7);
    for (const char *p = path; *p != '\0'; p++) {
        unsigned char byte = (unsigned char)*p;
        if (strchr(plain, byte)) {
            out[n++] = *p;
            continue;
        }
        out[n++] = '%';
        out[n++] = hex[byte >> 4];
        out[n++] = hex[byte & 15];
    }
    return out;
}
