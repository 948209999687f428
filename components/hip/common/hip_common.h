/* Helpers for all rooms of the HIP library: messages and host memory. This header includes none of
 * them. */
#ifndef HEDDLE_HIP_COMMON_H
#define HEDDLE_HIP_COMMON_H

#include <stddef.h>

/* A line on stderr, "heddle: " in front. The same line is written once, and after a number of them
 * the rest is left out; hip_say_repeats() says at the end of the program how many those were. */
__attribute__((format(printf, 1, 2))) void hip_say(const char *format, ...);
void hip_say_repeats(void);

/* What the calling thread does: a function of HIP, or a step of the library that has a name of its
 * own. hip_set_step() sets it and returns what it was before. hip_complain() says a line with it in
 * front, "hipMemcpy: "; hip_complain_always() says one that is never left out, for what ends the
 * program's use of the device. */
const char *hip_set_step(const char *what);
/* The function of a second interface (CUDA) by which the program has called the functions of HIP
 * that the thread is in: messages name it in their place. NULL: there is none. hip_set_outer_call()
 * sets it and returns what it was before. */
const char *hip_set_outer_call(const char *function);
const char *hip_outer_call(void);
__attribute__((format(printf, 1, 2))) void hip_complain(const char *format, ...);
void hip_complain_always(const char *text);

/* Host memory, zeroed; the program ends when there is none. hip_grow() is realloc(). */
void *hip_allocate(size_t size);
void *hip_grow(void *old, size_t size);
/* Makes room in `list`, which has `count` elements and memory for `room`, for one more. */
#define HIP_MAKE_ROOM(list, count, room)                                                           \
    ((list) = hip_make_room(list, count, &(room), sizeof *(list)))
void *hip_make_room(void *list, size_t count, size_t *room, size_t element_bytes);
void hip_release(void *memory);

#endif
