/* kernelslist and kernelslist.g: what an application did, one command a line: kernels and copies to
 * the device. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_LIST_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_READER_ITRACE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "itrace.h"

enum itrace_command_kind { ITRACE_COMMAND_KERNEL, ITRACE_COMMAND_WRITE /* from the host */ };

struct itrace_command {
    enum itrace_command_kind kind;
    char *name; /* kernel's name as in the list; NULL: no kernel */
    char *path; /* kernel's file, relative to where the list lies */
    char *text; /* the line; NULL: the list is a trace by itself */
    uint64_t address, bytes;
    uint64_t line;
};

struct itrace_list {
    struct itrace_command *commands;
    size_t count, capacity;
    uint64_t left_out; /* lines that say nothing, and calls that take no time */
    uint64_t calls;    /* such calls */
};

/* Bytes that a command may name at most. */
#define ITRACE_BYTES_MAX (UINT64_C(1) << 40)

struct itrace_list_reader {
    const char *path;
    itrace_report *report;
    void *context;
    bool tolerant; /* lines that say nothing are warnings, and left out; else they are errors */
    const char *remedy; /* how such an error ends; NULL: as it is */
};

/* Reads the list. A path that is a trace itself gives a list of it alone, so that tools take
 * either. False: reported; release it all the same. */
bool itrace_list_read(struct itrace_list *list, const struct itrace_list_reader *reader);
size_t itrace_list_kernels(const struct itrace_list *list);
/* Releases a command that is taken out of its list. */
void itrace_command_release(struct itrace_command *command);
void itrace_list_release(struct itrace_list *list);

#endif
