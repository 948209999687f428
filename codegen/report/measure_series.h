/* Measures over time: those of measure.h in each interval of a time series (heddle run --series),
 * of all elements of an array together. */
#ifndef HEDDLE_CODEGEN_MEASURE_SERIES_H
#define HEDDLE_CODEGEN_MEASURE_SERIES_H

#include "codegen/report/measure.h"

/* At most so many intervals are told; of more, neighbours are put together. */
#define MEASURE_SERIES_MOST 200

struct measure_series_asked {
    const char *path;            /* of the series */
    const char *const *counters; /* of components, by name: "instructions" */
    size_t counter_count;
};

/* Reads the series `in` of the run whose statistics `root` are, and writes a line
 * for each interval, place and measure: from_ps, to_ps, path, type, kind, measure, part, whole, and
 * the share of the fullest element. Then the counters that are asked for: what they grew
 * by, and the cycles of all their elements; of an average or a histogram its sum, and its count.
 * One that counts cycles (by its name) may do so late: then they are told where they were.
 * false: it is no series of this run, said on standard error. */
bool measure_series_print(struct arena *arena, const struct model *model, json_t *root,
                          const struct measure_series_asked *asked, FILE *in, FILE *out);

#endif
