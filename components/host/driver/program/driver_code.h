/* Loaded code, and kernels that must not be launched. See driver_code.c. */
#ifndef HEDDLE_DRIVER_CODE_H
#define HEDDLE_DRIVER_CODE_H

#include "components/host/driver/driver_state.h"

struct code_module {
    struct code_module *next;
    uint64_t address, size;
    uint8_t *bytes;
    bool launched;
    char name[256];
};

/* A kernel that must not be launched. */
struct code_lack {
    struct code_lack *next;
    uint64_t entry;
    char text[512];
};

/* The instructions that a kernel reaches lie in [start, end). */
struct code_extent {
    struct code_extent *next;
    uint64_t entry, start, end;
    bool meets; /* its wavefronts meet at the global wave sync, and do not set its counters */
};

static void *code_new(size_t bytes);
static void code_add(const char *name, uint64_t address, const void *bytes, uint64_t size);
static bool code_remove(uint64_t address);
static const struct code_module *code_find(uint64_t address);

/* Is this the first launch of a kernel of the module that holds `entry`? */
static bool code_first_launch(uint64_t entry);

static const struct code_lack *code_find_lack(uint64_t entry);
/* Where the instructions of a kernel lie. NULL: the kernel was not registered. */
static const struct code_extent *code_find_extent(uint64_t entry);
static bool code_meets(uint64_t entry);

/* Decodes what the kernel reaches; says and remembers what is missing. False: the entry is in no
 * module. */
static bool code_check_kernel(enum isa_target target, const char *name, uint64_t entry);

#endif
