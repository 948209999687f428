/* Memory of the program, by addresses that it has given: a wrong one is an answer and no crash, as
 * with a kernel. Any thread. false: not all of it is there, with EFAULT in errno. */
#ifndef HEDDLE_KFD_PROGRAM_MEMORY_H
#define HEDDLE_KFD_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* From now on, the memory of that process; 0: of this one. */
void program_memory_use(pid_t process);
bool program_read(void *to, uint64_t address, size_t size);
/* Is something mapped at all of [start, end)? */
bool program_has(uint64_t start, uint64_t end);
bool program_write(uint64_t address, const void *from, size_t size);
/* Memory of another process than that. */
bool program_read_of(pid_t process, void *to, uint64_t address, size_t size);
bool program_write_of(pid_t process, uint64_t address, const void *from, size_t size);

#endif
