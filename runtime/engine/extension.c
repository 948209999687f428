/* The list of extensions; see extension.h. There are few, and none is ever removed. */
#include "extension.h"

#include <stddef.h>

#include "base/number.h"

#include "bug.h"
#include "engine.h"

enum { EXTENSIONS_MAX = 8 };

static const struct extension *extensions[EXTENSIONS_MAX];
static unsigned extension_count;

void extension_register(const struct extension *extension)
{
    if (extension_count == EXTENSIONS_MAX)
        bug("more than %d extensions", EXTENSIONS_MAX);
    extensions[extension_count++] = extension;
}

bool extensions_start(void)
{
    for (unsigned i = 0; i < extension_count; i++)
        if (extensions[i]->start && !extensions[i]->start())
            return false;
    return true;
}

void extensions_build(const struct platform_table *table)
{
    for (unsigned i = 0; i < extension_count; i++)
        if (extensions[i]->build)
            extensions[i]->build(table);
}

void extensions_open_stats(void)
{
    for (unsigned i = 0; i < extension_count; i++)
        if (extensions[i]->open_stats)
            extensions[i]->open_stats();
}

void extensions_settle(uint64_t end_ps)
{
    for (unsigned i = 0; i < extension_count; i++)
        if (extensions[i]->settle)
            extensions[i]->settle(end_ps);
}

uint64_t extensions_find_unsettled(uint64_t from_ps)
{
    uint64_t first_ps = ENGINE_NEVER;
    for (unsigned i = 0; i < extension_count; i++)
        if (extensions[i]->find_unsettled)
            first_ps = min(extensions[i]->find_unsettled(from_ps), first_ps);
    return first_ps;
}

void extensions_write_stats(struct json *out)
{
    for (unsigned i = 0; i < extension_count; i++)
        if (extensions[i]->write_stats)
            extensions[i]->write_stats(out);
}

void extensions_progress(struct run_counts *counts)
{
    *counts = (struct run_counts){0};
    for (unsigned i = 0; i < extension_count && !counts->launches; i++)
        if (extensions[i]->progress)
            extensions[i]->progress(counts);
}

void extensions_cut(void)
{
    for (unsigned i = 0; i < extension_count; i++)
        if (extensions[i]->cut)
            extensions[i]->cut();
}

enum extension_end extensions_finish(void)
{
    enum extension_end worst = EXTENSION_DONE;
    for (unsigned i = 0; i < extension_count; i++) {
        enum extension_end end = extensions[i]->finish ? extensions[i]->finish() : EXTENSION_DONE;
        worst = max(end, worst);
    }
    return worst;
}
