/* Hints to the compiler for hot paths: which way of a branch is laid out as the straight one, and
 * which functions are merged into their callers or kept apart from them. A hint needs a measured
 * gain. */
#ifndef HEDDLE_BASE_LIKELY_H
#define HEDDLE_BASE_LIKELY_H

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define OUT_OF_LINE   __attribute__((noinline))

#endif
