/* The rank of each partition. The list is made by codegen/place, which sees the description; here
 * it is only compared with the platform. */
#include "rank_placement.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"

static uint32_t partition_count(const struct platform_table *table)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < table->instance_count; i++)
        most = max(table->instances[i].partition, most);
    return most + 1;
}

const char *placement_text(void)
{
    const char *text = getenv(PLACEMENT_ENVIRONMENT);
    return text ? text : "";
}

bool placement_of_partitions(const struct platform_table *table, uint32_t rank_count,
                             uint8_t *rank_of)
{
    const char *text = placement_text();
    uint32_t count = partition_count(table);
    for (uint32_t i = 0; i < count; i++) {
        char *end;
        unsigned long rank = strtoul(text, &end, 10);
        bool is_last = i == count - 1;
        if (end == text || rank >= rank_count || (i == 0 && rank)
            || *end != (is_last ? '\0' : ',')) {
            fprintf(stderr,
                    "heddle: %s does not say which of %u ranks runs which of %u partitions\n",
                    PLACEMENT_ENVIRONMENT, rank_count, count);
            return false;
        }
        rank_of[i] = (uint8_t)rank;
        text = end + !is_last;
    }
    return true;
}
