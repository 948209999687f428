/* What a kernel of a list does, for --kernels auto: its instructions by address, and what its loads
 * and stores may find in caches. Equal instructions on data that no kernel has touched before take
 * longer than on data that the last one has left, so both belong to what makes kernels alike.
 *
 * Every VECTOR_SAMPLE-th line (by a hash of its number) is followed: when it was last touched,
 * counted in touches of such lines. The distance back is a bound of its reuse distance, and so of
 * what a cache must hold for a hit. Host memory: a run that chooses is never continued. */
#include "trace_player_state.h"

#include <math.h>
#include <string.h>

#include "runtime/engine/hash.h"

enum {
    VECTOR_INSTS = 56, /* buckets of instructions; behind them: */
    VECTOR_REQUESTS = VECTOR_INSTS,
    VECTOR_NEW, /* lines that no kernel has touched */
    VECTOR_FAR, /* and such as were touched, 2^18 touches ago and more; then 2^16, ... 2^10, less */
    VECTOR_SAMPLE = 8,
    VECTOR_CLASSES = 256,
    VECTOR_SPLIT = 8,  /* classes of a kernel until the tolerance doubles */
    VECTOR_LATEST = 8, /* kernels of which it is known whether their like has been there twice, */
    VECTOR_KNOWN = 3   /* and as many as must have been for a choice to pay */
};

/* What a line counts beside an instruction, roughly in cycles of an SM: only to what differs more
 * attention is paid to. */
static const uint8_t weights[SAMPLER_VECTOR - VECTOR_INSTS] = {1, 16, 16, 12, 8, 4, 2, 1};
#define VECTOR_TOLERANCE 0.02
#define VECTOR_WIDEST    0.16

struct vector_class {
    uint32_t symbol; /* number of the kernel's name */
    uint32_t launches;
    uint64_t vector[SAMPLER_VECTOR];
};

static struct {
    struct itrace_set lines; /* by line: touches when it was touched last */
    uint64_t touches;
    struct vector_class class[VECTOR_CLASSES];
    uint32_t classes;
    uint32_t launches;
    uint32_t known; /* bits of the latest launches, newest lowest */
} vectors;

static void vector_close(void)
{
    itrace_set_release(&vectors.lines);
    vectors.touches = 0;
    vectors.classes = vectors.launches = vectors.known = 0;
}

/* Where each kernel is another one, all are simulated, and none is read beforehand. Only what has
 * been read of those that were tells whether it begins to pay again. */
static bool vector_pays(void)
{
    unsigned known = (unsigned)__builtin_popcount(vectors.known & ((1u << VECTOR_LATEST) - 1));
    return vectors.launches < VECTOR_LATEST / 2 || known >= VECTOR_KNOWN
           || (vectors.launches < VECTOR_LATEST && vectors.classes <= vectors.launches / 2);
}

/* A line of a single access. */
static void vector_line(uint64_t vector[SAMPLER_VECTOR], uint64_t line)
{
    vector[VECTOR_REQUESTS]++;
    if (hash_multiply(line) >> 61)
        return;
    uint64_t *last = itrace_set_add(&vectors.lines, line), now = ++vectors.touches;
    unsigned bucket = VECTOR_NEW;
    if (*last) {
        uint64_t distance = (now - *last) * VECTOR_SAMPLE;
        unsigned bits = 64 - (unsigned)__builtin_clzll(distance | 1); /* 11: from 2^10 on */
        bucket = bits > 18   ? VECTOR_FAR
                 : bits < 11 ? SAMPLER_VECTOR - 1
                             : VECTOR_FAR + 1 + (18 - bits) / 2;
    }
    *last = now;
    vector[bucket < SAMPLER_VECTOR ? bucket : SAMPLER_VECTOR - 1] += VECTOR_SAMPLE;
}

/* Neighbours in one line are one access. */
static void vector_step(uint64_t vector[SAMPLER_VECTOR], const struct itrace *trace)
{
    const struct itrace_step *step = &trace->step;
    uint64_t before = UINT64_MAX;
    if (step->count && itrace_space(trace, step->inst, step->address[0]) != ITRACE_SPACE_GLOBAL)
        return;
    for (unsigned i = 0; i < step->count; i++) {
        uint64_t line = step->address[i] / 128;
        if (line != before)
            vector_line(vector, line);
        before = line;
    }
}

static void vector_end(uint64_t vector[SAMPLER_VECTOR], const struct itrace *trace)
{
    for (size_t i = 0; i < trace->program.count; i++) {
        const struct itrace_inst *inst = trace->program.insts[i];
        vector[sampler_bucket(inst->pc) % VECTOR_INSTS] += inst->steps;
    }
    for (unsigned i = VECTOR_INSTS; i < SAMPLER_VECTOR; i++)
        vector[i] *= weights[i - VECTOR_INSTS];
}

/* How far what two kernels may find in caches is apart, as a share of all they do. */
static double vector_distance(const uint64_t *a, const uint64_t *b)
{
    double difference = 0, sum = 0;
    for (unsigned i = 0; i < SAMPLER_VECTOR; i++) {
        sum += (double)a[i] + (double)b[i];
        if (i >= VECTOR_INSTS)
            difference += fabs((double)a[i] - (double)b[i]);
    }
    return sum > 0 ? difference / sum : 0;
}

/* The class of a kernel by what it may find: of one name, those that differ little. Where there are
 * many, more is little. */
static uint32_t vector_find_class(uint32_t symbol, const uint64_t vector[SAMPLER_VECTOR])
{
    uint32_t same = 0, best = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i < vectors.classes; i++) {
        const struct vector_class *c = &vectors.class[i];
        if (c->symbol != symbol)
            continue;
        double here = vector_distance(c->vector, vector);
        best = here < least ? i : best;
        least = fmin(here, least);
        same++;
    }
    if (least <= fmin(VECTOR_WIDEST, ldexp(VECTOR_TOLERANCE, (int)(same / VECTOR_SPLIT)))
        || vectors.classes == VECTOR_CLASSES)
        return best;
    struct vector_class *c = &vectors.class[vectors.classes];
    *c = (struct vector_class){.symbol = symbol};
    memcpy(c->vector, vector, sizeof c->vector);
    return vectors.classes++;
}

static uint32_t vector_class_of(uint32_t symbol, const uint64_t vector[SAMPLER_VECTOR])
{
    uint32_t class = vector_find_class(symbol, vector);
    vectors.launches++;
    vectors.known = vectors.known << 1 | (vectors.class[class].launches++ >= 2);
    return class;
}
