/* The PTX modules that a program has loaded, and launches of their kernels.
 *
 * One table a process, in host memory, outside of the simulation's state: the driver adds a module
 * when the program loads it, and parses and prepares the text by itself. The driver (functional
 * mode) and the trace player (timing) find kernels here by the address of their first instruction.
 * Modules are added and removed while no component ticks. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_CODE_H
#define HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/memory/page_table/host_view.h"
#include "components/nvidia/warp/warp.h"
#include "components/protocols/command/aql_packet.h"

struct ptx_code {
    struct ptx_code *next;
    uint64_t address, size; /* the module's image */
    struct ptx_module *module;
    struct warp_code *code;
};

/* ---- launches ---- */

struct ptx_order {
    const struct program_table *program;
    const struct page_table *pages;
    const struct aql_packet *packet; /* arguments are in the device's memory */
    uint64_t entry;
    const char *title; /* name of the kernel in messages; stays while the launch runs */
    uint64_t key;      /* tells launches apart that are under way on the GPU */
    uint64_t number;   /* launch of the program, from 1 */
    uint32_t pid, gpu, sms, resident;
};

/* A launch that is being executed. Where it is kept, it stays. */
struct ptx_call {
    struct warp_launch launch;
    struct host_view view;
    const struct ptx_code *code;
    uint32_t gpu;
    uint64_t key;
    void *parameters;
};

/* False: `error` has the reason. */
bool ptx_call_begin(struct ptx_call *call, const struct ptx_order *order, char *error,
                    size_t error_size);
/* Frees the call's memory. Printed text is kept. */
void ptx_call_end(struct ptx_call *call);

/* Passes on what the launch has printed since the last call; `print` NULL: to the standard output.
 */
void ptx_output_give(uint32_t gpu, uint64_t key, void (*print)(const char *text, size_t size));
/* Passes on what all launches have printed: the run has ended. */
void ptx_output_give_all(void (*print)(const char *text, size_t size));

/* The kind of fault by which a kernel ended the simulation. */
void ptx_fault_set(enum warp_fault_kind kind);
enum warp_fault_kind ptx_fault(void);

/* ---- malloc() in kernels ---- */

/* The memory of the GPU's process that its kernels allocate from. */
void ptx_heap_set(uint32_t gpu, uint32_t pid, uint64_t address, uint64_t bytes);
bool ptx_heap_has(uint32_t gpu, uint32_t pid);
bool ptx_heap_exists(void); /* true if any process has one */
/* Forgets the heaps of a process; 0: those of all. */
void ptx_heap_drop(uint32_t pid);

#endif
