/* Writes details that components add to a kernel: numbers and words in nested groups, members of
 * the kernel's JSON object. */
#include <string.h>

#include "runtime/engine/bug.h"
#include "runtime/observe/json.h"

#include "kernel_records.h"
#include "kernel_stats.h"

/* Length of the whole names that two paths begin with alike. */
static size_t common_names(const char *a, const char *b)
{
    size_t i = 0, names = 0;
    while (a[i] && a[i] == b[i]) {
        i++;
        if ((!a[i] || a[i] == '.') && (!b[i] || b[i] == '.'))
            names = i;
    }
    return names;
}

static unsigned count_names(const char *path)
{
    unsigned names = *path != '\0';
    for (; *path; path++)
        names += *path == '.';
    return names;
}

/* Closes and opens objects, so that the next member is in `to` instead of `from`. */
static void move_to_group(struct json *out, const char *from, const char *to)
{
    char name[64];
    size_t common = common_names(from, to);
    for (unsigned n = count_names(from + common + (from[common] == '.')); n > 0; n--)
        json_close(out, '}');
    for (to += common + (to[common] == '.'); *to;) {
        size_t size = strcspn(to, ".");
        if (size >= sizeof name)
            bug("detail of a kernel: group '%s' has a name that is too long", to);
        memcpy(name, to, size);
        name[size] = '\0';
        json_open(out, name, '{');
        to += size + (to[size] == '.');
    }
}

struct stats_text kernel_details_write(const struct kernel_detail *details, uint32_t number)
{
    const char *group = "";
    struct json *out = stats_spool_begin(true);
    for (uint32_t i = 0; i < number; i++) {
        const char *wanted = details[i].group ? details[i].group : "";
        move_to_group(out, group, wanted);
        group = wanted;
        if (details[i].text)
            json_text(out, details[i].name, details[i].text);
        else
            json_uint(out, details[i].name, details[i].value);
    }
    move_to_group(out, group, "");
    return stats_spool_end();
}
