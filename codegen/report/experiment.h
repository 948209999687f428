/* The results of `heddle experiment`, and how they are shown. */
#ifndef HEDDLE_CODEGEN_EXPERIMENT_H
#define HEDDLE_CODEGEN_EXPERIMENT_H

#include <stdint.h>
#include <stdio.h>

#include "codegen/report/estimate_account.h"

/* The ways in which a kernel is simulated or its cycles are corrected; memory:1 .. memory:10 stand
 * together. */
enum experiment_mode {
    EXPERIMENT_PERFECT,
    EXPERIMENT_NONE,
    EXPERIMENT_MEMORY, /* EXPERIMENT_MEMORY + N - 1 is memory:N */
    EXPERIMENT_FULL_MEMORY = EXPERIMENT_MEMORY + 10,
    EXPERIMENT_FUNCTIONAL,
    EXPERIMENT_FORMULA,
    EXPERIMENT_ESTIMATE,
    EXPERIMENT_MODES
};

struct experiment_point {
    double cycles;
    double seconds; /* CPU, of the whole run; of corrections: of the runs that they need */
};

struct experiment_kernel {
    uint64_t launch;
    const char *name;
    double instructions; /* of wavefronts */
    struct experiment_point point[EXPERIMENT_MODES];
    struct estimate_account formula, estimate; /* how these two come about */
};

/* "memory:3"; valid until the next call. */
const char *experiment_mode_name(unsigned mode);
double experiment_ipc(const struct experiment_kernel *k, unsigned mode);
/* Per cent: 100 is the IPC of `perfect`. */
double experiment_accuracy(const struct experiment_kernel *k, unsigned mode);

/* Modes that were not measured, with 0 cycles, are left out. */
void experiment_write_csv(FILE *out, const struct experiment_kernel *kernels, uint32_t count);
/* Corrected cycles, with the law and the inputs that they come from. */
void experiment_write_corrections(FILE *out, const struct experiment_kernel *kernels,
                                  uint32_t count);
/* A panel for each kernel: IPC, or accuracy, over the number of launches warmed up with. */
void experiment_write_svg(FILE *out, const struct experiment_kernel *kernels, uint32_t count,
                          int accuracy);
void experiment_write_html(FILE *out, const char *title, const struct experiment_kernel *kernels,
                           uint32_t count);

#endif
