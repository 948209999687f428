/* The lines that each launch accesses, each once for reading and once for writing, as a table:
 *
 *   launch,address,access
 *   1,0x200000000040,read
 *
 * in the order of their first accesses. A profile of memory finds the first accesses and adds them;
 * nothing is kept here, so memory does not grow with the list. */
#ifndef HEDDLE_COMPONENTS_STATISTICS_ADDRESS_LIST_H
#define HEDDLE_COMPONENTS_STATISTICS_ADDRESS_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum { ADDRESS_READ = 1, ADDRESS_WRITTEN = 2 };

/* Before a run. `path` NULL: no list is asked for. Prints why and returns false when the list
 * cannot be written. */
bool address_list_open(const char *path);
/* The list appears under its name. Prints why and returns false when it does not. */
bool address_list_close(void);

bool address_list_is_wanted(void);
/* All that is added from here on belongs to this launch. */
void address_list_launch(uint64_t launch);
/* The line that begins at `address`; `access`: ADDRESS_READ, ADDRESS_WRITTEN, or both. */
void address_list_add(uint64_t address, unsigned access);

#endif
