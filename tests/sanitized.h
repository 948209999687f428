/* Whether this is a build with a sanitizer, which is several times slower, and how much of what
 * they repeat with many seeds tests do: all of it with HEDDLE_FULL in the environment. */
#ifndef HEDDLE_TESTS_SANITIZED_H
#define HEDDLE_TESTS_SANITIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

static inline bool tests_are_full(void)
{
    const char *full = getenv("HEDDLE_FULL"); /* set and empty without --full */
    return full && full[0] != '\0';
}

/* `all` with --full and in no sanitized build, otherwise the one for this build. */
static inline size_t tests_amount(size_t all, size_t usual, size_t sanitized)
{
    return SANITIZED ? sanitized : tests_are_full() ? all : usual;
}

#endif
