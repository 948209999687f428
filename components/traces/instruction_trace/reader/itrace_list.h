/* kernelslist and kernelslist.g: what an application did, one command a line. Accel-Sim's lists
 * have kernels and copies to the device; those of AMD programs (docs/reference/traces.md) all that
 * the program asked of the driver. */
#ifndef HEDDLE_COMPONENTS_SASS_LIST_H
#define HEDDLE_COMPONENTS_SASS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/traces/instruction_trace/reader/itrace.h"

enum sass_command_kind {
    SASS_COMMAND_KERNEL,
    SASS_COMMAND_WRITE, /* from the host to address */
    SASS_COMMAND_READ,
    SASS_COMMAND_COPY, /* from source to address */
    SASS_COMMAND_FILL,
    SASS_COMMAND_MALLOC, /* on gpu */
    SASS_COMMAND_FREE,
    SASS_COMMAND_STREAM, /* queue, on gpu */
    SASS_COMMAND_STREAM_END,
    SASS_COMMAND_PEER,  /* gpu may, or may not, access memory of peer */
    SASS_COMMAND_MARK,  /* an event */
    SASS_COMMAND_AFTER, /* what comes later in queue begins when `awaited` is done */
    SASS_COMMAND_WAIT,  /* so does what the host does later */
    SASS_COMMAND_QUERY, /* the host asked whether `awaited` was done, which took time */
    SASS_COMMAND_POLL,  /* its threads asked for something */
    SASS_COMMAND_KINDS
};

struct sass_command {
    enum sass_command_kind kind;
    char *name; /* of a kernel: as in the list; NULL: no kernel */
    char *path; /* of a kernel: as the list lies */
    char *text; /* the line; NULL: the list is a trace by itself */
    uint64_t address, bytes;
    uint64_t source;
    uint32_t queue, gpu, peer;
    bool on, managed;
    uint64_t number;  /* of commands that others may wait for, from 1; else 0 */
    uint64_t awaited; /* such a number */
    uint64_t line;
};

struct sass_list {
    struct sass_command *commands;
    size_t count, capacity;
    uint64_t numbers;  /* of commands that others may wait for */
    uint64_t left_out; /* lines that say nothing */
};

/* Bytes that a command may name at most. */
#define SASS_MOST_BYTES (UINT64_C(1) << 40)

struct sass_list_reader {
    const char *path;
    sass_report *report;
    void *context;
    bool tolerant; /* lines that say nothing are warnings, and left out; else they are errors */
};

/* Reads the list. A path that is a trace itself gives a list of it alone, so that tools take
 * either. false: reported; release it all the same. */
bool sass_list_read(struct sass_list *list, const struct sass_list_reader *reader);
/* Of a command that is taken out of its list. */
void sass_command_release(struct sass_command *command);
void sass_list_release(struct sass_list *list);

#endif
