/* Rows of the tests of instructions by which threads reach memory and each other. A row is a
 * kernel; 64 threads of it, of one block or of a cluster of two, are a case: their operands, what
 * becomes of them, and memory of their own. What the manual says of it is in C. */
#ifndef HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_ROWS_GROUP_H
#define HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_ROWS_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GROUP = 64, GROUP_BYTES = 8192 };

/* Where the memory is, and what "#" in a row's text becomes; blocks of IN_CLUSTER have half of it
 * in shared memory each. */
enum group_place { IN_GLOBAL, IN_SHARED, IN_GENERIC, IN_GENERIC_SHARED, IN_CLUSTER, PLACES };

struct group {
    uint64_t a[GROUP], b[GROUP], c[GROUP], d[GROUP];
    uint8_t memory[GROUP_BYTES]; /* as the row's address names it */
    uint8_t global[GROUP_BYTES]; /* as %g names it; of other places than global a copy */
};

/* In the text: %d, %a, %b, %c the thread's operands, %m the warp's half of the memory, %g that of
 * the global memory, %i, %l and %w the numbers of thread, lane and warp. */
struct group_row {
    char text[3000];
    const char *d, *a, *b, *c;
    enum group_place place;
    void (*expected)(struct group *g, const struct group_row *row);
    void (*prepare)(struct group *g, const struct group_row *row); /* or NULL: all is random */
    int x, y, z; /* what the row is about, for the two functions */
};

/* Functions that rows call, before the kernels. */
extern const char group_functions[];

size_t group_rows(struct group_row *rows, size_t most);

/* The lists, each behind the one before; `types` are those of %d, %a, %b and %c. */
struct group_row *group_add(enum group_place place, const char *types, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void group_add_memory(void);
void group_add_lanes(void);
void group_add_blocks(void);
void group_add_matrices(void);
void group_add_textures(void);
void group_add_types(void);
void group_add_comparisons(void);
void group_add_atomics(void);
void group_add_fragments(void);
void group_add_video(void);

/* ---- in the oracles ---- */

/* Bytes as a number, little end first, and back. */
uint64_t bytes_at(const uint8_t *from, unsigned bytes);
void put_bytes(uint8_t *to, uint64_t value, unsigned bytes);
/* A format of so many bits of fraction and exponent: the value of its bits, and the nearest bits
 * to a value. NaNs are all ones but the sign. */
double decode(uint64_t bits, int fraction, int exponent);
uint64_t encode(double value, int fraction, int exponent);

#endif
