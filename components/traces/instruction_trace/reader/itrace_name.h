/* Names of kernels as people call them. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_NAME_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_NAME_H

#include <stddef.h>

/* The name without arguments of what a trace calls `symbol`: "_Z6KernelP4Node" -> "Kernel",
 * "_ZN5solve3lowEv" -> "solve::low", "_Z6reduceILj512EEvPi" -> "reduce" (Itanium C++ ABI, 5.1.2 and
 * 5.1.3: source names, nested names). Anything else is its own name. Cut off at `size`. */
void itrace_name_plain(const char *symbol, char *name, size_t size);

#endif
