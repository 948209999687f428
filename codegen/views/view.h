/* Everything people look at, made from the elaborated model: diagrams, the JSON dump, of which
 * Python makes pages, and the parameters. Called by the commands of `heddle` (command).
 *
 * Nothing here changes the model or keeps anything between calls. A function returns true on
 * success; on failure it returns false with one line (lower case, no full stop, no "heddle:" in
 * front) in `error->text`, and may have written part of its output: the caller that opened `out`
 * writes to a temporary file or discards it.
 */
#ifndef HEDDLE_CODEGEN_VIEWS_VIEW_H
#define HEDDLE_CODEGEN_VIEWS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "dsl/model.h"

struct view_error {
    char text[1024];
};

/* How deep a diagram opens composites.
 * platform: only the platform's own instances, without ports: the overview. gpu (default): one
 * level more, and whatever compute units lie in. full: everything down to the leaves, control wires
 * included. Arrays stay collapsed (x64), but for those of up to 8 elements directly in the
 * platform: these are drawn out in the overview, and level gpu adds a picture of the inside of one.
 */
enum view_level { VIEW_LEVEL_PLATFORM, VIEW_LEVEL_GPU, VIEW_LEVEL_FULL };

/* Which connections (and the instances they touch) a diagram shows: those whose requests carry
 * addresses or data blocks (memory), or all the others (control). */
enum view_only { VIEW_ONLY_ALL, VIEW_ONLY_MEMORY, VIEW_ONLY_CONTROL };

/* Which way requests run on the page: from left to right, or down, for a column of a paper. */
enum view_layout { VIEW_LAYOUT_WIDE, VIEW_LAYOUT_COLUMN };

/* A measured share; with whole 0 nothing was measured. */
struct view_share {
    double part, whole;
};

/* The colours of a diagram: the shares of one measure, by instance and by connection, and those of
 * all for tooltips. */
struct view_heat {
    enum model_measure_kind measure;
    double top;                            /* the share that has the darkest colour */
    struct view_share *const *instances;   /* by measure */
    struct view_share *const *connections; /* by measure */
    const char *title;
};

/* From the least share that makes a scale to `share`: 1, 2, 5, 10, 20, 50 or 100 %. */
double view_heat_top(double share);

struct view_options {
    const struct view_heat *heat; /* NULL: kinds have colours */
    enum view_level level;
    enum view_only only;
    enum view_layout layout;
    bool controls; /* wires that only empty others, too; always with level full */
    const char *const
        *expand; /* instance paths to open beyond `level`; an array without index means all of it,
                    one element ("gpu.sa[3]") is drawn apart from its siblings */
    size_t expand_count;
};

/* Default options: level gpu, all connections, nothing expanded. */
struct view_options view_options_default(void);

/* Graphviz source of the platform's diagram. An `expand` path that matches nothing is an error. */
bool view_dot(const struct model *model, const struct view_options *options, FILE *out,
              struct view_error *error);

/* Writes the diagram as SVG, laid out by Graphviz' `dot` program, which must be on the PATH. */
bool view_svg(const struct model *model, const struct view_options *options, FILE *out,
              struct view_error *error);

/* The model as JSON; schema in docs/reference/dump.md. `only` is NULL (all of a platform),
 * "measures" (of a platform), "reference", or "diagrams" (of a platform; needs `dot`). `hashes`
 * are what statistics call the model (`stamp.model`), of a platform built as usual and one built
 * with --generic; the last two do without. */
bool view_json(const struct model *model, const char *only, const char *const hashes[2], FILE *out,
               struct view_error *error);

/* Every parameter as JSON: path, value with unit, where it comes from, documentation. Equal ones of
 * an array are one row. Then each slot, and what it takes. */
bool view_params(const struct model *model, FILE *out, struct view_error *error);

/* Takes one file of several; false ends the rest. */
struct view_files {
    bool (*put)(void *context, const char *path, const char *text);
    void *context;
};

/* Files that the kernel driver of a machine with the platform's GPUs shows below
 * VIEW_TOPOLOGY_FOLDER, and with `whole` the other files that AMD's runtime reads, by their paths.
 * A platform without GPUs of AMD is an error; that `put` failed is not said. */
#define VIEW_TOPOLOGY_FOLDER "/sys/devices/virtual/kfd/kfd/topology/"
bool view_topology(const struct model *model, const struct view_files *files, bool whole,
                   struct view_error *error);
/* Where each property comes from, a line each: kind of file, name, source. */
void view_topology_sources(FILE *out);

#endif
