/* Fits the size of launches by least squares over moments, so that no launch has to be kept.
 * launch_size.h defines a size. */
#include "launch_size.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sampling_thresholds.h"

static void terms_of(uint64_t instructions, uint64_t longest, double term[SIZE_TERMS])
{
    term[SIZE_INSTRUCTIONS] = (double)instructions;
    term[SIZE_LONGEST] = (double)longest;
    term[SIZE_LAUNCH] = 1;
}

void size_learn(struct size_moments *m, uint64_t instructions, uint64_t longest, double amount)
{
    double term[SIZE_TERMS];
    if (amount <= 0)
        return;
    terms_of(instructions, longest, term);
    if (!m->count++) {
        memcpy(m->unit, term, sizeof term);
        m->unit_amount = amount;
    }
    for (unsigned i = 0; i < SIZE_TERMS; i++)
        term[i] *= m->unit_amount / (m->unit[i] * amount);
    for (unsigned i = 0; i < SIZE_TERMS; i++) {
        m->sum[i] += term[i];
        for (unsigned j = 0; j < SIZE_TERMS; j++)
            m->product[i][j] += term[i] * term[j];
    }
}

/* Solves the normal equations of the terms in `used` by elimination; others are 0. False: one is
 * negative. */
static bool solve(const double product[SIZE_TERMS][SIZE_TERMS], const double *sum, unsigned used,
                  double *weight)
{
    double row[SIZE_TERMS][SIZE_TERMS + 1];
    for (unsigned i = 0; i < SIZE_TERMS; i++) {
        bool in = used >> i & 1;
        for (unsigned j = 0; j < SIZE_TERMS; j++)
            row[i][j] = in && used >> j & 1 ? product[i][j] : i == j;
        row[i][SIZE_TERMS] = in ? sum[i] : 0;
    }
    for (unsigned i = 0; i < SIZE_TERMS; i++)
        for (unsigned k = 0; k < SIZE_TERMS; k++) {
            double factor = k == i ? 0 : row[k][i] / row[i][i];
            for (unsigned j = i; j <= SIZE_TERMS; j++)
                row[k][j] -= factor * row[i][j];
        }
    bool good = true;
    for (unsigned i = 0; i < SIZE_TERMS; i++) {
        weight[i] = row[i][SIZE_TERMS] / row[i][i];
        good &= weight[i] >= 0;
    }
    return good;
}

/* Least squares of relative errors, no weight negative: of all choices of terms the one that
 * explains most. Amounts are taken to be in proportion to instructions at first, give or take as
 * much in each term, and to scatter by SAMPLING_UNMEASURED: launches that hardly differ
 * do not tell weights (ridge regression: Hoerl and Kennard, 1970). */
struct size_fit size_fit(const struct size_moments *m)
{
    const double prior = SAMPLING_UNMEASURED * SAMPLING_UNMEASURED;
    struct size_fit fit = {.weight = {[SIZE_INSTRUCTIONS] = 1}};
    double product[SIZE_TERMS][SIZE_TERMS], sum[SIZE_TERMS], most = 0;
    if (!m->count)
        return fit;
    memcpy(product, m->product, sizeof product);
    memcpy(sum, m->sum, sizeof sum);
    sum[SIZE_INSTRUCTIONS] += prior;
    for (unsigned i = 0; i < SIZE_TERMS; i++)
        product[i][i] += prior;
    for (unsigned used = 1; used < 1 << SIZE_TERMS; used++) {
        double weight[SIZE_TERMS], explained = 0;
        if (!solve(product, sum, used, weight))
            continue;
        for (unsigned i = 0; i < SIZE_TERMS; i++)
            explained += weight[i] * sum[i];
        if (explained > most)
            memcpy(fit.weight, weight, sizeof weight);
        most = fmax(explained, most);
    }
    for (unsigned i = 0; i < SIZE_TERMS; i++)
        fit.weight[i] /= m->unit[i];
    return fit;
}

double size_of(const struct size_fit *fit, uint64_t instructions, uint64_t longest)
{
    double term[SIZE_TERMS], size = 0;
    terms_of(instructions, longest, term);
    for (unsigned i = 0; i < SIZE_TERMS; i++)
        size += fit->weight[i] * term[i];
    return size;
}
