/* How much of the process' processor time is the program's own: what no thread of it spends inside
 * of this library. For the section `host` of statistics alone.
 *
 * Each stay inside is measured by the clock of its thread, which costs two system calls, half a
 * microsecond. Stays that have not ended, of threads that wait in a call, or of the simulator's own
 * threads, which never leave, are known in a table and read at the end. */
#ifndef HEDDLE_HIP_CPU_H
#define HEDDLE_HIP_CPU_H

#include <stdint.h>

/* The calling thread goes inside, and comes out again. Also in a signal handler; does not nest. */
void hip_cpu_enter(void);
void hip_cpu_leave(void);
/* The platform is opened by this process; not `wanted`: nothing is measured any more. */
void hip_cpu_open(_Bool wanted);
/* So far. Loading the process counts as the simulator's, if that is known to be all that came
 * before this library: if the program itself is linked with it. */
uint64_t hip_cpu_program_ns(void);

#endif
