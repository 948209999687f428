/* Arguments that a kernel finds in registers (kernarg_preload of its descriptor): where they are in
 * memory, for the command processor, which knows no page table.
 *
 * The sender of a launch command looks the addresses up. They are of the first dword, and of the
 * page of 4 KiB, the smallest, on which the rest lies when the first ends. */
#ifndef HEDDLE_COMMAND_AQL_PRELOAD_H
#define HEDDLE_COMMAND_AQL_PRELOAD_H

#include "aql_packet.h"
#include "components/memory/page_table/page_table.h"

enum { AQL_PRELOAD_PAGE = 4096 };

static inline uint32_t aql_preload_dwords(const struct aql_descriptor *descriptor)
{
    return descriptor->preload & 0x7f;
}

static inline uint32_t aql_preload_offset(const struct aql_descriptor *descriptor)
{
    return (uint32_t)(descriptor->preload >> 7) * 4;
}

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

/* Dwords `from` and after: the physical address of what lies on one page, and how many of `count`
 * that are. */
static inline uint32_t aql_preload_part(const struct aql_descriptor *descriptor, uint32_t from,
                                        uint32_t count, uint64_t *physical)
{
    uint64_t first = descriptor->preload_low | (uint64_t)descriptor->preload_high << 32;
    uint32_t room = (uint32_t)(AQL_PRELOAD_PAGE - first % AQL_PRELOAD_PAGE) / 4;
    uint64_t rest = (uint64_t)descriptor->preload_page * AQL_PRELOAD_PAGE;
    *physical = from < room ? first + from * 4u : rest + (from - room) * 4u;
    return from < room && count > room - from ? room - from : count;
}

#endif
