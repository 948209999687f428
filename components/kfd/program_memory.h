/* Memory of the program, by addresses that it has given: a wrong one is an answer and no crash, as
 * with a kernel. Any thread. false: not all of it is there, with EFAULT in errno. */
#ifndef HEDDLE_KFD_PROGRAM_MEMORY_H
#define HEDDLE_KFD_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool program_read(void *to, uint64_t address, size_t size);
bool program_write(uint64_t address, const void *from, size_t size);

#endif
