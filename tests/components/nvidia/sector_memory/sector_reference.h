/* A sectored cache after its description alone, one request after the other and without time: the
 * oracle of test_sector_cache.c. */
#ifndef HEDDLE_TESTS_COMPONENTS_NVIDIA_SECTOR_MEMORY_SECTOR_REFERENCE_H
#define HEDDLE_TESTS_COMPONENTS_NVIDIA_SECTOR_MEMORY_SECTOR_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#define REFERENCE_LINES 4096

enum reference_index { REFERENCE_PLAIN, REFERENCE_FOLDED, REFERENCE_POLYNOMIAL };

struct reference_shape {
    unsigned sets, ways;
    enum reference_index index;
    unsigned slices, interleave;
    bool back;    /* else through */
    bool places;  /* stores that miss get a place */
    bool fetches; /* and what they write in part is fetched */
    bool atomics_here;
};

enum reference_sector { ABSENT, PART, WHOLE };

struct reference_line {
    bool used;
    uint64_t number, time;
    enum reference_sector sector[4];
    bool dirty[4];
};

struct reference_counts {
    uint64_t hits, sector_misses, misses, evictions, writebacks, fetches, passed, dirty_partial;
};

struct reference {
    struct reference_shape shape;
    struct reference_line lines[REFERENCE_LINES]; /* a set's ways side by side */
    uint64_t time;
    struct reference_counts counts;
};

void reference_start(struct reference *r, struct reference_shape shape);
unsigned reference_set(const struct reference_shape *s, uint64_t number);
void reference_load(struct reference *r, uint64_t number, unsigned sectors);
void reference_store(struct reference *r, uint64_t number, unsigned sectors, unsigned partial);
void reference_atomic(struct reference *r, uint64_t number, unsigned sectors);
void reference_fill(struct reference *r, uint64_t number, unsigned sectors);
/* Everything dirty goes below. */
void reference_flush(struct reference *r);

#endif
