/* kernelslist and kernelslist.g: what an application did, one command a line. */
#ifndef HEDDLE_COMPONENTS_SASS_LIST_H
#define HEDDLE_COMPONENTS_SASS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/sass_trace/sass_trace.h"

struct sass_command {
    char *name;              /* of a kernel: as in the list; NULL: a copy from host to device */
    char *path;              /* of a kernel: as the list lies */
    uint64_t address, bytes; /* of a copy */
    uint64_t line;
};

struct sass_list {
    struct sass_command *commands;
    size_t count, capacity;
};

/* Reads the list. A path that is a trace itself gives a list of it alone, so that tools take
 * either. Lines that are neither are warnings with their numbers. false: reported; release it all
 * the same. */
bool sass_list_read(struct sass_list *list, const char *path, sass_report *report, void *context);
void sass_list_release(struct sass_list *list);

#endif
