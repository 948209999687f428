/* The fixtures of the diagnostics: descriptions with the expectation in comments beside the line
 * that trips.
 *
 *     // expect: E0401 at 5:9      this code at this line and column; 0:0 for a diagnostic without
 * a place
 *     // set: m.banks=2            compiled with this --set
 *     // platform: p               this platform of the file
 *     // reads: NAME               the file that is compiled is this one
 */
#ifndef HEDDLE_TESTS_DSL_FIXTURES_H
#define HEDDLE_TESTS_DSL_FIXTURES_H

#include <stdbool.h>
#include <stddef.h>

#include "dsl/compile.h"

#define FIXTURE_MAX 32

struct fixture {
    char path[512];
    char target[512]; /* what is compiled */
    char text[16384];
    char sets[FIXTURE_MAX][128];
    size_t set_count;
    char platform[64];
    struct fixture_expectation {
        char code[8];
        unsigned line, column;
    } expected[FIXTURE_MAX];
    size_t expected_count;
};

/* The folder of the fixtures, and the library: from the environment that meson sets. */
const char *fixture_root(void);
const char *fixture_library(void);
void fixture_read(struct fixture *fixture, const char *path);
/* Compiles it; the caller closes. */
struct compilation *fixture_compile(const struct fixture *fixture);
/* Whether the diagnostics are exactly the expected ones; prints the difference. */
bool fixture_matches(const struct fixture *fixture, const struct compilation *c);
/* Names of the .heddle files in a folder of the root, sorted; the result is static. */
size_t fixture_list(const char *folder, const char *(**names));

#endif
