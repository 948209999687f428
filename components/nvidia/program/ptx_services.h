/* The table of functions by which the driver reaches the executor of PTX. A platform is linked with
 * the executor only if it has a unit that executes PTX: the trace player, which fills the table.
 * The driver is part of every platform, so it has no other way to the executor. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_SERVICES_H
#define HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_SERVICES_H

#include "ptx_code.h"
#include "sm_occupancy.h"

/* Functions of ptx_code.h and warp.h, whose rules are there; the first ones are the table's own. */
struct code_object;
struct ptx_services {
    /* For units that take modules from elsewhere than the driver: parsed and laid out, with its
     * kernels and variables in `object`. NULL: `error` has the reason, with file and line. */
    struct ptx_module *(*read)(const char *name, const char *text, size_t size,
                               struct code_object *object, char *error, size_t error_size);
    void (*image)(const struct ptx_module *module, uint64_t base, uint8_t *bytes);
    void (*release)(struct ptx_module *module);
    /* False: `error` has the reason, with file and line. Warnings go to stderr. */
    bool (*add)(const char *name, uint64_t address, const char *text, size_t size, char *error,
                size_t error_size);
    /* False: there is none. */
    bool (*remove)(uint64_t address);
    /* The module that has the kernel; NULL: there is none. */
    const struct ptx_code *(*kernel)(uint64_t entry, const struct warp_kernel **kernel);
    bool (*missing)(const struct warp_code *code, uint32_t function, char *text, size_t size);
    /* The number of blocks of the kernel that an SM holds; *limit names what it has too little of
     * for more. 0: one is too large, or there is no such kernel. */
    uint32_t (*blocks)(uint64_t entry, const struct sm_shape *sm, uint32_t threads,
                       uint64_t shared_bytes, const char **limit);
    /* True if its kernels may call malloc(). */
    bool (*allocates)(const struct ptx_code *code);
    bool (*call_begin)(struct ptx_call *call, const struct ptx_order *order, char *error,
                       size_t error_size);
    void (*call_end)(struct ptx_call *call);
    enum warp_end (*grid_run)(struct warp_grid *grid, struct warp_fault *fault);
    void (*output_give)(uint32_t gpu, uint64_t key, void (*print)(const char *text, size_t size));
    void (*output_give_all)(void (*print)(const char *text, size_t size));
    void (*fault_note)(enum warp_fault_kind kind);
    enum warp_fault_kind (*fault)(void);
    void (*heap_set)(uint32_t gpu, uint32_t pid, uint64_t address, uint64_t bytes);
    bool (*heap_has)(uint32_t gpu, uint32_t pid);
    void (*heap_drop)(uint32_t pid);
};

/* Those of ptx_code.c. */
extern const struct ptx_services ptx_code_services;

/* By a unit that executes PTX, at its start. */
void ptx_offer(const struct ptx_services *services);
/* NULL: nothing of the platform executes PTX. */
const struct ptx_services *ptx_services(void);

/* The driver's tables, for units that read no store of it. The driver sets them at its start. */
struct ptx_tables {
    const struct program_table *program;
    const struct page_table *pages;
};

void ptx_tables_set(const struct program_table *program, const struct page_table *pages);
const struct ptx_tables *ptx_tables(void);

#endif
