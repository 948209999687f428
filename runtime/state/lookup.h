/* Finds things of the platform that was built last, for the runtime's own files. Strings, parts and
 * units stay as long as the platform. */
#ifndef HEDDLE_RUNTIME_STATE_LOOKUP_H
#define HEDDLE_RUNTIME_STATE_LOOKUP_H

#include "platform.h"

const char *platform_string(uint32_t offset);
void *platform_part_at(uint32_t number);
/* The name of a part in its unit's table, which has other parts in a generic build: out of the
 * state, and back. */
void platform_hide_kinds(void);
void platform_show_kinds(void);
const struct unit_type *platform_unit_of(uint32_t leaf);
/* Index of the part's type in its unit. */
uint32_t platform_kind_of_part(uint32_t number);
const void *platform_driver(void);
/* Complaints about a table go to stderr as "heddle: platform tables: ..."; false if there were any.
 */
bool platform_check(const struct platform_table *table);

#endif
