/* Locations of the toolkit's own files. No path is compiled in: the command starts from where it
 * stands itself.
 *
 * - Installed: PREFIX/bin/heddle, PREFIX/share/heddle/ with components/, python/, docs/ and
 *   tests/programs/ as in a checkout, PREFIX/share/heddle/compiled/objects/,
 *   PREFIX/include/heddle/runtime/, and the libraries in PREFIX/lib (or its multiarch folder):
 * libheddle_runtime.a, heddle/libisa.a, heddle/libfunctional.a, heddle/libamdhip64.so.5.
 * - Build tree: `heddle.home` beside the command says where the sources and the libraries are.
 *
 * HEDDLE_HOME names another installation prefix, or a folder with a `heddle.home`. */
#ifndef HEDDLE_CODEGEN_BUILD_TOOLKIT_H
#define HEDDLE_CODEGEN_BUILD_TOOLKIT_H

#include <stdbool.h>

#include "base/region.h"

struct toolkit {
    const char *home;       /* the checkout, or what is like it: $HEDDLE of the guide */
    const char *library;    /* folder of NAME/NAME.heddle */
    const char *include[3]; /* folders below which "runtime/..." and "components/..." are found;
                               NULL-terminated */
    VECTOR(const char *) archives; /* static libraries that platforms are linked with */
    const char *not_built; /* one of them, which only some platforms need; NULL: all are there */
    VECTOR(const char *) libraries; /* "-lelf": what the archives need */
    const char *python;             /* folder of the package `heddle` of Python */
    const char *hip_folder;         /* has libamdhip64.so.5; NULL: not there */
    const char *opencl_library;     /* libheddle_opencl.so; NULL: not there */
    const char *cuda_folder;        /* has libcudart.so.12 and .13; NULL: not there */
    const char *kfd_library;        /* libheddle_kfd.so; NULL: not there */
    const char *mpi_folder;         /* has heddle_mpi_NAME.so; NULL: built without MPI */
    const char *objects; /* units compiled with the toolkit, as in a cache; may be missing */
};

/* False: message on stderr that says what was searched. */
bool toolkit_find(struct region *region, struct toolkit *toolkit);

#endif
