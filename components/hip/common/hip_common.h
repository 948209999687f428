/* What all rooms of the HIP library use: messages and host memory. It includes none of them. */
#ifndef HEDDLE_HIP_COMMON_H
#define HEDDLE_HIP_COMMON_H

#include <stddef.h>

/* A line on stderr, "heddle: " in front. After a number of them the rest is left out. */
__attribute__((format(printf, 1, 2))) void hip_say(const char *format, ...);

/* The same for what ends the program's use of the device: never left out. */
__attribute__((format(printf, 1, 2))) void hip_say_always(const char *format, ...);

/* Host memory, zeroed; the program ends when there is none. hip_grow() is realloc(). */
void *hip_allocate(size_t size);
void *hip_grow(void *old, size_t size);
void hip_release(void *memory);

#endif
