/* Memory of a process, by addresses that it has given: a wrong one is an answer and no crash, as
 * with a kernel. Process 0 is this one. Any thread. False: not all of it is there, with EFAULT in
 * errno. */
#ifndef HEDDLE_COMPONENTS_KFD_CHANNEL_PROGRAM_MEMORY_H
#define HEDDLE_COMPONENTS_KFD_CHANNEL_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

bool program_read(pid_t process, void *to, uint64_t address, size_t size);
bool program_write(pid_t process, uint64_t address, const void *from, size_t size);
/* True if all of [start, end) is mapped. */
bool program_has(pid_t process, uint64_t start, uint64_t end);

#endif
