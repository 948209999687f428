/* Helpers for all rooms of the HIP library: messages and host memory. This header includes none of
 * them. */
#ifndef HEDDLE_COMPONENTS_HIP_COMMON_HIP_COMMON_H
#define HEDDLE_COMPONENTS_HIP_COMMON_HIP_COMMON_H

#include <stdarg.h>
#include <stddef.h>

/* Messages are lines on stderr that begin with "heddle: ". Writing one decides nothing; the caller
 * goes one of three ways:
 *
 *   - a warning: the call continues;
 *   - an error of the API: hip_fail() writes the message and returns the hipError_t that the call
 *     returns, and the program decides;
 *   - a lost device: hip_status() keeps the error, which all later calls return. The program itself
 *     ends only when host memory runs out (below) or by a signal (hip_process.h).
 *
 * hip_say() writes the line as it is. hip_say_call() puts the thread's call or step in front, for
 * mistakes that a call shows: "hipMemcpy: ". Both write the same line once, and leave lines out
 * when there are too many; hip_say_repeats() counts these at the end of the program.
 * hip_say_lost() leaves nothing out: the device is lost. */
__attribute__((format(printf, 1, 2))) void hip_say(const char *format, ...);
__attribute__((format(printf, 1, 2))) void hip_say_call(const char *format, ...);
void hip_say_call_list(const char *format, va_list arguments);
void hip_say_lost(const char *text);
void hip_say_repeats(void);

/* Sets the function of HIP that the calling thread is in, or a step of the library that has a name
 * of its own. Returns the one before. */
const char *hip_set_step(const char *step);
/* Sets the function of a second interface (CUDA) by which the program has called the functions of
 * HIP that the thread is in: messages name it in their place. NULL: there is none. Returns the one
 * before. */
const char *hip_set_outer_call(const char *function);
const char *hip_outer_call(void);
#define HIP_LIBRARY "the HIP library" /* what memory is for: base/grow.h */

/* Host memory, zeroed; the program ends when there is none. */
void *hip_allocate(size_t size);
void hip_release(void *memory);

#endif
