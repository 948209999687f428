/* Memory for the check of values that were never written (uninitialised.c), as the driver reports
 * it. */
#ifndef HEDDLE_COMPONENTS_CHECKS_UNINITIALISED_UNINITIALISED_H
#define HEDDLE_COMPONENTS_CHECKS_UNINITIALISED_UNINITIALISED_H

#include <stdbool.h>
#include <stdint.h>

/* Device memory that the program has allocated, and that it, or the driver, writes or copies. */
void check_memory_new(uint64_t address, uint64_t size);
void check_memory_written(uint64_t address, uint64_t size);
/* True if nothing has written any of the bytes, at most 64. */
bool check_memory_is_undefined(uint64_t address, uint32_t bytes);
void check_memory_copied(uint64_t to, uint64_t from, uint64_t size);

#endif
