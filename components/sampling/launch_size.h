/* The size of a launch: what its cycles, or the bytes that memory moves for it, are in proportion
 * to. Pure.
 *
 * A launch cannot end before its longest wavefront, or before all instructions had their turns, and
 * takes no longer than both one after the other (Brent, "The parallel evaluation of general
 * arithmetic expressions", 1974). So a size is a sum: instructions, those of the longest wavefront,
 * and what each launch takes alike, each with a weight that is not negative. Simulated launches of
 * a kernel give the weights (a regression estimate: Cochran, Sampling Techniques, chapter 7). */
#ifndef HEDDLE_COMPONENTS_SAMPLING_LAUNCH_SIZE_H
#define HEDDLE_COMPONENTS_SAMPLING_LAUNCH_SIZE_H

#include <stdint.h>

enum size_term { SIZE_INSTRUCTIONS, SIZE_LONGEST, SIZE_LAUNCH, SIZE_TERMS };

/* Simulated launches, each as a share of the first of them: its terms over its amount. Sums of
 * those, and of their products. */
struct size_moments {
    uint32_t count;
    double unit[SIZE_TERMS], unit_amount;
    double sum[SIZE_TERMS], product[SIZE_TERMS][SIZE_TERMS];
};

struct size_fit {
    double weight[SIZE_TERMS];
};

/* Takes a launch that was simulated. One whose amount is 0 counts for nothing. */
void size_learn(struct size_moments *m, uint64_t instructions, uint64_t longest, double amount);
struct size_fit size_fit(const struct size_moments *m);
double size_of(const struct size_fit *fit, uint64_t instructions, uint64_t longest);

#endif
