/* Whether this is a build with a sanitizer, which is several times slower: tests that repeat
 * something with many seeds do it with fewer then. The plain build runs them all. */
#ifndef HEDDLE_TESTS_SANITIZED_H
#define HEDDLE_TESTS_SANITIZED_H

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

#endif
