/* Types of memory, which a driver gives to pages: what a cache that writes back keeps of them,
 * apart from scopes. A translation brings the type of its page (std/translate). The cache that has
 * translated an address sends the type below above the number of the process, in `pid` of the
 * protocol mem. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_MEM_MEM_TYPES_H
#define HEDDLE_COMPONENTS_PROTOCOLS_MEM_MEM_TYPES_H

#include <stdint.h>

/* MEM_FINE: others see what is written before the kernel ends (fine-grained). MEM_UNCACHED: no
 * cache that writes back holds it. */
enum mem_type { MEM_COARSE, MEM_FINE, MEM_UNCACHED };
enum { MEM_TYPE_SHIFT = 12 }; /* PAGE_TABLE_PIDS processes are below */

static inline uint32_t mem_typed_pid(uint32_t pid, enum mem_type type)
{
    return pid | (uint32_t)type << MEM_TYPE_SHIFT;
}

static inline enum mem_type mem_type_of(uint32_t pid)
{
    uint32_t type = pid >> MEM_TYPE_SHIFT;
    return type <= MEM_UNCACHED ? (enum mem_type)type
                                : MEM_COARSE; /* a die's number: probe_die.h */
}

#endif
