/* Hints for branches of hot paths: which way the compiler lays out as the straight one. A hint
 * needs a measured gain. */
#ifndef HEDDLE_BASE_LIKELY_H
#define HEDDLE_BASE_LIKELY_H

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

#endif
