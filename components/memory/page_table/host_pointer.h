/* Pointers of the host in the place of device pointers, by the map of this process. Called for the
 * words of a fault. */
#ifndef HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_HOST_POINTER_H
#define HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_HOST_POINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "a pointer of the host, to its stack". False: nothing of this process is at the address. */
bool host_pointer_describe(uint64_t address, char *text, size_t size);

#endif
