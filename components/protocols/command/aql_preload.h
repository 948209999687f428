/* Arguments that a kernel finds in registers (kernarg_preload of its descriptor): where they are in
 * memory, for the command processor, which knows no page table.
 *
 * The sender of a launch command looks the addresses up (components/memory/page_table/
 * aql_preload_pages.h). They are of the first dword, and of the page of 4 KiB, the smallest, on
 * which the rest lies when the first ends. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_COMMAND_AQL_PRELOAD_H
#define HEDDLE_COMPONENTS_PROTOCOLS_COMMAND_AQL_PRELOAD_H

#include "aql_packet.h"

enum { AQL_PRELOAD_PAGE = 4096 };

static inline uint32_t aql_preload_dwords(const struct aql_descriptor *descriptor)
{
    return descriptor->preload & 0x7f;
}

static inline uint32_t aql_preload_offset(const struct aql_descriptor *descriptor)
{
    return (uint32_t)(descriptor->preload >> 7) * 4;
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
