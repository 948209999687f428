/* The check that each TLB of a platform learns of changed mappings. */
#include "tlb_shootdown.h"

#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"

static bool tlb_has_control(const struct platform_table *table, uint32_t leaf)
{
    for (uint32_t r = 0; r < table->ring_count; r++)
        if (table->rings[r].receiver == leaf && !table->rings[r].is_reply
            && !strcmp(table->strings + table->protocols[table->rings[r].protocol].name,
                       "tlb_control"))
            return true;
    return false;
}

static const char *tlb_without_shootdown(void)
{
    const struct platform_table *table = engine_base.platform;
    for (uint32_t i = 0; i < table->instance_count; i++)
        if (!strcmp(table->strings + table->instances[i].type, "tlb") && !tlb_has_control(table, i))
            return table->strings + table->instances[i].path;
    return NULL;
}
