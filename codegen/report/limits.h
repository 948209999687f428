/* What limits a kernel, from where its wavefronts' cycles went (report_words.c) and from what every
 * component measured (measure.h): address translation, one hot channel of many, bandwidth, or the
 * latency of memory with room everywhere. Sentences that claim something about memory need a third
 * of the wavefronts' cycles to wait for it. */
#ifndef HEDDLE_CODEGEN_LIMITS_H
#define HEDDLE_CODEGEN_LIMITS_H

#include "codegen/report/measure.h"
#include "codegen/report/report.h"

struct limits {
    struct arena *arena;
    const struct model *model;
    const struct report_kernel *kernel;
    const struct measured *of_kernel, *of_run;
};

/* A sentence a line, `indent` in front. */
void limits_print(const struct limits *l, const char *indent, FILE *out);

#endif
