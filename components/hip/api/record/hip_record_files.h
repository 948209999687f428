/* The folder of a recording: data files and, last of all, the trace, by whose name `heddle run`
 * knows that the recording is complete. For hip_record.c. */
#ifndef HEDDLE_COMPONENTS_HIP_API_RECORD_HIP_RECORD_FILES_H
#define HEDDLE_COMPONENTS_HIP_API_RECORD_HIP_RECORD_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/traces/api_trace/api_trace.h"

/* Memory for the recording, zero, which stays until the process ends. It is no part of the
 * program's heap: kernels may see addresses there, so a recording must not change them.
 * HIP_RECORD_MAKE_ROOM(): room for one more in a list of it. */
void *hip_record_keep(size_t size);
#define HIP_RECORD_MAKE_ROOM(list, count, capacity)                                                \
    ((list) = hip_record_make_room(list, count, &(capacity), sizeof *(list)))
void *hip_record_make_room(void *list, size_t count, size_t *capacity, size_t element_bytes);
/* Claims the folder for this process. False: another has it, or it cannot be written; the
 * reason was written to stderr. */
bool hip_record_files_open(const char *folder);
/* A file with `rows` rows of `size` bytes, `pitch` bytes apart; one that is there already if there
 * is one. The name is relative to the folder and stays. */
const char *hip_record_data(const void *bytes, uint64_t size, uint64_t rows, uint64_t pitch);
/* Writes the trace. */
void hip_record_files_close(const struct api_trace *trace, const struct api_trace_sink *sink);

#endif
