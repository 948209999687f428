/* Breakpoints and watchpoints of a debugged process, and which instructions they hold for. Private
 * to components/checks. */
#ifndef HEDDLE_COMPONENTS_CHECKS_DEBUGGER_DEBUG_BREAKPOINTS_H
#define HEDDLE_COMPONENTS_CHECKS_DEBUGGER_DEBUG_BREAKPOINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "debug_channel.h"

/* The bytes that each lane of the mask accesses. */
struct debug_access {
    bool writes, reads;
    unsigned count;      /* pieces of the access */
    uint64_t base[2];    /* offset of each piece from the lane's address */
    uint64_t span;       /* bytes of a piece */
    uint64_t mask;       /* lanes */
    const void *address; /* each lane's: uint64_t, or uint32_t with `is_short` */
    bool is_short;
};

void debug_breakpoints_clear(void);
/* False: there are too many. */
bool debug_breakpoints_add(const struct debug_rule *rule);
bool debug_breakpoints_break(uint64_t pc);
bool debug_breakpoints_any(void);
/* True if some of the bytes are watched, which are written to `at`. */
bool debug_breakpoints_access(const struct debug_access *access, struct debug_stopped *at);

#endif
