/* Checksums of what the cache holds: a disk that was full, a crash or a stray write must not become
 * a platform. They tell damage, not malice; cache_is_safe() sees to that.
 *
 * Objects and libraries have theirs after their last byte, where no linker looks. */
#ifndef HEDDLE_CODEGEN_BUILD_SEAL_H
#define HEDDLE_CODEGEN_BUILD_SEAL_H

#include <stdbool.h>
#include <stdint.h>

/* Size and checksum of a whole file. False: the file cannot be read. */
bool seal_sum_file(const char *path, uint64_t *size, uint64_t *sum);

/* Appends the checksum. False: it could not be written (errno). */
bool seal_put(const char *path);
/* True if the file has a seal that is right. */
bool seal_holds(const char *path);

#endif
