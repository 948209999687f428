/* The side of a debugged process (`heddle debug`): its threads, which are wavefronts or warps, and
 * where it stops. Nothing that is simulated can be changed.
 *
 * An executor reports a thread's beginning, each instruction before it is executed (the event), the
 * instruction's accesses, and the thread's end. A thread lies in the executor's memory. The
 * executor answers further questions by its struct debug_kind. One thread of the host calls. */
#ifndef HEDDLE_COMPONENTS_CHECKS_DEBUGGER_DEBUGGER_H
#define HEDDLE_COMPONENTS_CHECKS_DEBUGGER_DEBUGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debug_breakpoints.h"
#include "debug_channel.h"

struct check;
struct debug_thread;
struct page_table;
struct program_table;

/* The place of bytes, as a lane of a thread sees them. */
struct debug_place {
    const void *at;  /* NULL: the bytes are in global memory */
    uint64_t global; /* their address in global memory */
    uint64_t bytes;  /* that follow each other there; 0: there is nothing */
};

struct debug_kind {
    size_t bytes; /* size of the executor's record of a thread, which begins with this struct */
    uint32_t end_bytes; /* size of the instruction that ends a thread */
    uint64_t (*pc)(const struct debug_thread *thread); /* where it is by now */
    struct debug_place (*place)(const struct debug_thread *thread, unsigned lane, uint64_t address);
    /* Fills in the registers that there are; *vectors stay until the thread continues. */
    void (*registers)(const struct debug_thread *thread, struct debug_registers *registers,
                      const uint32_t **vectors);
    /* Register by register, by name: from 0 on, until false. NULL: they have none. */
    bool (*named)(const struct debug_thread *thread, uint32_t number, struct debug_named *name);
    /* The size of the instruction, in bytes, and its text; 0: there is none. NULL: the other side
     * has the text. */
    uint64_t (*disassemble)(const struct debug_thread *thread, uint64_t address, char *text,
                            size_t size);
};

struct debug_thread {
    struct debug_thread *next; /* in the order of their beginnings */
    const struct debug_kind *kind;
    struct debug_wavefront identity; /* the executor fills in what it is */
    const struct program_table *program;
    uint32_t pid;
    bool has_come;   /* to an event */
    bool is_watched; /* its last access was to watched bytes: */
    struct debug_stopped access;
};

/* True if this process is debugged. */
bool debugger_is_open(void);
void debugger_begin(struct debug_thread *thread, const char *kernel);
/* The thread is about to execute what is at `pc`. cycle 0: without timing. */
void debugger_event(struct debug_thread *thread, uint64_t pc, uint64_t cycle);
/* The thread's last event accesses memory, is about to or has just done so. */
void debugger_access(struct debug_thread *thread, const struct debug_access *access);
void debugger_end(struct debug_thread *thread);

/* A copy or a fill of the program has written memory. */
void debugger_written(uint64_t address, uint64_t size);
/* The program has waited for the GPU: what it may see has come to memory. */
void debugger_waited(void);
/* Code has been loaded: `file` is kept for the other side as "KIND-ADDRESS". */
void debugger_code(const char *kind, uint64_t address, const void *file, size_t size);

/* Before anything is executed. False: this process is not debugged. */
bool debugger_open(const struct page_table *pages);
/* Events of AMD's wavefronts, which checks.c passes on (debug_wave.c). */
extern const struct check check_debugger;

#endif
