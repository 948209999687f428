/* Host memory of the trace readers. Running out of it ends the program with a message. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_MEMORY_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_MEMORY_H

#include <stddef.h>

#define ITRACE_MEMORY "a trace of instructions" /* what memory is for: base/grow.h */

/* `count` zeroed items of `size` bytes. */
void *itrace_allocate(size_t count, size_t size);
char *itrace_copy_text(const char *text, size_t size);
void itrace_free(void *items);

#endif
