/* The places of the arguments that a kernel finds in registers, for the senders of launch commands;
 * see aql_preload.h. */
#ifndef HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_AQL_PRELOAD_PAGES_H
#define HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_AQL_PRELOAD_PAGES_H

#include "components/protocols/command/aql_preload.h"

#include "page_table.h"

static inline bool aql_find_page(const struct page_table *table, uint32_t pid, uint64_t address,
                                 uint64_t *physical)
{
    bool writable;
    if (!page_table_find(table, pid, address, physical, &writable))
        return false;
    *physical += address & (((uint64_t)1 << table->page_bits) - 1);
    return true;
}

/* Sets the addresses for a launch command with arguments at `kernarg`. False: these are not
 * mapped. */
static inline bool aql_set_preload(struct aql_descriptor *descriptor,
                                   const struct page_table *table, uint32_t pid, uint64_t kernarg)
{
    uint64_t at = kernarg + aql_preload_offset(descriptor), first = 0, rest = 0;
    uint64_t end = at + aql_preload_dwords(descriptor) * (uint64_t)4;
    uint64_t next = (at / AQL_PRELOAD_PAGE + 1) * AQL_PRELOAD_PAGE;
    if (!aql_preload_dwords(descriptor))
        return true;
    if (!aql_find_page(table, pid, at, &first)
        || (end > next && !aql_find_page(table, pid, next, &rest)))
        return false;
    descriptor->preload_low = (uint32_t)first;
    descriptor->preload_high = (uint32_t)(first >> 32);
    descriptor->preload_page = (uint32_t)(rest / AQL_PRELOAD_PAGE);
    return true;
}

#endif
