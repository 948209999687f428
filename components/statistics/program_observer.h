/* Observes what the driver does for the simulated program: for its checks (`heddle run --check`)
 * and its debugger.
 *
 * The driver reports with its lock held. An observer must change nothing that is simulated.
 * Addresses are those of program_name(). */
#ifndef HEDDLE_COMPONENTS_STATISTICS_PROGRAM_OBSERVER_H
#define HEDDLE_COMPONENTS_STATISTICS_PROGRAM_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

struct driver_call;
struct page_table;
struct program_table;

/* A copy or a fill that is done. */
struct observed_move {
    uint64_t ticket;
    uint64_t to, from; /* 0: not memory of the GPUs, or a fill */
    uint64_t bytes;
    const struct program_table *program;
};

struct program_observer {
    /* Before anything is executed, on a platform of so many instances. */
    void (*open)(uint32_t instances, const struct page_table *pages);
    /* Memory that the program has allocated, or that is to be written. */
    void (*memory_allocated)(uint64_t address, uint64_t size);
    void (*memory_written)(uint64_t address, uint64_t size);
    /* The ELF file of code that lies at `address`; it is not needed any more after the call. */
    void (*code_loaded)(uint64_t address, const void *file, uint64_t size);
    void (*code_unloaded)(uint64_t address);
    /* A variable that only the host changes. */
    void (*constant_loaded)(uint64_t address, uint64_t size);
    /* The program has given command `ticket` to the queue; `awaited`: the ticket that it waits for,
     * or 0. Tickets rise. */
    void (*command_enqueued)(uint32_t queue, uint64_t ticket, uint64_t awaited);
    /* True if the call of each copy or fill is to be reported. */
    bool (*needs_calls)(void);
    void (*move_called)(uint64_t ticket, const struct driver_call *call);
    void (*move_done)(const struct observed_move *move);
    /* A launch goes to a GPU: the next one there. */
    void (*launch_started)(uint32_t gpu, uint64_t ticket);
    /* The program has seen that the command, or all of the queue, is over. */
    void (*command_awaited)(uint64_t ticket);
    void (*queue_awaited)(uint32_t queue);
    /* A mistake in the program's calls, of enum driver_mistake. */
    void (*mistake_made)(uint32_t kind, const struct driver_call *calls, uint32_t count,
                         uint64_t address, const char *text);
};

/* A constructor of components/checks sets it, which is linked into all platforms. */
extern const struct program_observer *program_observer __attribute__((visibility("hidden")));

#endif
