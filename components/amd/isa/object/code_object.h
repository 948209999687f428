/* Reader of AMD GPU code objects (the ELF files that clang writes for amdgcn-amd-amdhsa), versions
 * 2 to 6.
 *
 * Source: LLVM's "User Guide for AMDGPU Backend" (sections Code Object, Code Object Metadata,
 * Kernel Descriptor, Relocation Records, ELF header flags) and, for version 2, the
 * amd_kernel_code_t of the HSA code-object headers. The input is not trusted: every offset, count
 * and address is checked, and what is not sound is an error with a message. The bytes are copied;
 * nothing refers to the caller's memory afterwards.
 *
 * Life cycle: code_object_read() then code_object_release(), also when reading failed. Everything
 * that is reachable from the struct lives until the release. Used by the HIP front end, by `heddle
 * disasm`, and by whatever loads kernels. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_OBJECT_CODE_OBJECT_H
#define HEDDLE_COMPONENTS_AMD_ISA_OBJECT_CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "components/amd/isa/kernel_registers.h"

enum {
    CODE_OBJECT_PAGE = 4096,            /* a loaded object starts at a multiple of this */
    CODE_OBJECT_SPAN_MAX = 1 << 30,     /* bytes of address space that one object may ask for */
    CODE_OBJECT_KERNARG_MAX = 64 << 10, /* bytes of arguments; compilers stop at 4 KiB */
    CODE_OBJECT_KERNELS_MAX = 1 << 16,
    /* Bytes a work-item for what a dynamic stack needs beyond private_size. ROCm's runtime takes
     * the larger of both (rocclr, StackSize and its default). */
    CODE_OBJECT_STACK = 1024,
};

/* Purpose of an argument: name here, in metadata of version 3 and later, and of version 2. */
#define CODE_OBJECT_VALUE_KINDS(X)                                                                 \
    X(BY_VALUE, "by_value", "ByValue")                                                             \
    X(GLOBAL_BUFFER, "global_buffer", "GlobalBuffer")                                              \
    X(DYNAMIC_SHARED_POINTER, "dynamic_shared_pointer", "DynamicSharedPointer")                    \
    X(SAMPLER, "sampler", "Sampler")                                                               \
    X(IMAGE, "image", "Image")                                                                     \
    X(PIPE, "pipe", "Pipe")                                                                        \
    X(QUEUE, "queue", "Queue")                                                                     \
    X(HIDDEN_NONE, "hidden_none", "HiddenNone")                                                    \
    X(HIDDEN_GLOBAL_OFFSET_X, "hidden_global_offset_x", "HiddenGlobalOffsetX")                     \
    X(HIDDEN_GLOBAL_OFFSET_Y, "hidden_global_offset_y", "HiddenGlobalOffsetY")                     \
    X(HIDDEN_GLOBAL_OFFSET_Z, "hidden_global_offset_z", "HiddenGlobalOffsetZ")                     \
    X(HIDDEN_PRINTF_BUFFER, "hidden_printf_buffer", "HiddenPrintfBuffer")                          \
    X(HIDDEN_HOSTCALL_BUFFER, "hidden_hostcall_buffer", "HiddenHostcallBuffer")                    \
    X(HIDDEN_DEFAULT_QUEUE, "hidden_default_queue", "HiddenDefaultQueue")                          \
    X(HIDDEN_COMPLETION_ACTION, "hidden_completion_action", "HiddenCompletionAction")              \
    X(HIDDEN_MULTIGRID_SYNC, "hidden_multigrid_sync_arg", "HiddenMultiGridSyncArg")                \
    X(HIDDEN_BLOCK_COUNT_X, "hidden_block_count_x", "")                                            \
    X(HIDDEN_BLOCK_COUNT_Y, "hidden_block_count_y", "")                                            \
    X(HIDDEN_BLOCK_COUNT_Z, "hidden_block_count_z", "")                                            \
    X(HIDDEN_GROUP_SIZE_X, "hidden_group_size_x", "")                                              \
    X(HIDDEN_GROUP_SIZE_Y, "hidden_group_size_y", "")                                              \
    X(HIDDEN_GROUP_SIZE_Z, "hidden_group_size_z", "")                                              \
    X(HIDDEN_REMAINDER_X, "hidden_remainder_x", "")                                                \
    X(HIDDEN_REMAINDER_Y, "hidden_remainder_y", "")                                                \
    X(HIDDEN_REMAINDER_Z, "hidden_remainder_z", "")                                                \
    X(HIDDEN_GRID_DIMS, "hidden_grid_dims", "")                                                    \
    X(HIDDEN_HEAP_V1, "hidden_heap_v1", "")                                                        \
    X(HIDDEN_DYNAMIC_LDS_SIZE, "hidden_dynamic_lds_size", "")                                      \
    X(HIDDEN_PRIVATE_BASE, "hidden_private_base", "")                                              \
    X(HIDDEN_SHARED_BASE, "hidden_shared_base", "")                                                \
    X(HIDDEN_QUEUE_PTR, "hidden_queue_ptr", "")

enum code_object_value_kind {
#define X(name, v3, v2) CODE_OBJECT_VALUE_##name,
    CODE_OBJECT_VALUE_KINDS(X)
#undef X
        CODE_OBJECT_VALUE_UNKNOWN
};

enum code_object_feature {
    CODE_OBJECT_FEATURE_UNSUPPORTED,
    CODE_OBJECT_FEATURE_ANY,
    CODE_OBJECT_FEATURE_OFF,
    CODE_OBJECT_FEATURE_ON
};

struct code_object_target {
    char gfx[16]; /* "gfx803", "gfx90a", "gfx9-generic" */
    enum code_object_feature xnack, sramecc;
};

struct code_object_argument {
    const char *name;          /* "" when the metadata has none, as the other texts */
    const char *type_name;     /* "float*" */
    const char *address_space; /* "global", "constant", "local" */
    const char *access;        /* "read_only", "write_only", "read_write" */
    uint32_t offset;           /* bytes from the start of the kernel arguments */
    uint32_t size;             /* bytes */
    uint32_t pointee_align;    /* bytes; 0: not stated */
    enum code_object_value_kind kind;
    bool is_const, is_restrict, is_volatile, is_pipe;
};

enum { CODE_OBJECT_FACTS = 6 }; /* facts of a kernel that metadata and descriptor both state */

struct code_object_kernel {
    const char *name; /* as the program asks for it; mangled for C++ */
    /* Addresses as linked: the load address is to be added. The descriptor has 64 bytes; in version
     * 2 it is amd_kernel_code_t, with 256. */
    uint64_t descriptor_address;
    uint64_t entry_address; /* the first instruction */

    uint32_t kernarg_size;  /* bytes, hidden arguments included */
    uint32_t kernarg_align; /* bytes, a power of two, at least 4 */
    uint32_t group_size;    /* bytes of LDS a work-group, without dynamic LDS */
    uint32_t private_size;  /* bytes of scratch a work-item */
    uint32_t stack_size;    /* more of them, which version 5 and later leave to the runtime */
    /* private_size is not known at compile time (recursion, function pointers). */
    bool has_dynamic_stack;
    uint32_t max_group_threads; /* the compiler's bound of work-items a work-group; 0: none */
    uint32_t wavefront_size;    /* 64 or 32 */

    struct kernel_words words; /* register words of its descriptor */
    struct kernel_registers registers;

    struct code_object_argument *arguments; /* by ascending offset */
    uint32_t argument_count;
    uint32_t explicit_argument_count; /* arguments that are not hidden; they come first */
    uint32_t required_group[3];       /* work-items; zeros: not stated */
    uint32_t group_hint[3];
    const char *vector_hint;            /* "float4"; "": not stated */
    uint32_t stated[CODE_OBJECT_FACTS]; /* values in metadata; the reader refuses contradictions */
};

struct code_object_segment {
    uint64_t address; /* as linked */
    uint64_t memory_size, file_size;
    const uint8_t *bytes; /* file_size of them; the rest of memory_size is zero */
    bool is_executable, is_writable;
};

struct code_object_symbol {
    const char *name;
    uint64_t address; /* as linked */
    uint64_t size;
    bool is_variable; /* a data object (device variable); otherwise a function or kernel */
};

struct code_object_relocation {
    uint64_t address; /* as linked */
    uint32_t type;    /* R_AMDGPU_*; only those that code_object_load() can apply */
    uint64_t value; /* symbol's address as linked, plus addend (for RELATIVE64 the addend alone) */
};

struct code_object {
    uint32_t version; /* 2 to 6 */
    struct code_object_target target;
    struct code_object_kernel *kernels;
    size_t kernel_count;
    struct code_object_segment *segments;
    size_t segment_count;
    uint64_t span; /* bytes from address 0 to the end of the last segment, rounded up to pages */
    struct code_object_symbol
        *symbols; /* defined global symbols, and kernels of v2 also when local */
    size_t symbol_count;
    struct code_object_relocation *relocations;
    size_t relocation_count;
    const char **formats; /* formats of printf, each "number:arguments:bytes:...:text" */
    size_t format_count;

    uint8_t *image; /* our copy of the file */
    size_t image_size;
    struct region memory;
    char error[320]; /* why reading failed, without a full stop */
};

/* True if `bytes` begin as an ELF file does. */
bool code_object_recognise(const void *bytes, size_t size);

/* The size of the ELF file at `bytes` from its headers, at most `limit`: for images in memory that
 * come without a size. 0 when the headers are not sound. */
size_t code_object_image_size(const void *bytes, size_t limit);

/* Reads a code object of `size` bytes. False with object->error set when it is not sound. */
bool code_object_read(struct code_object *object, const void *bytes, size_t size);

/* The kernel of that name, or NULL. */
const struct code_object_kernel *code_object_find_kernel(const struct code_object *object,
                                                         const char *name);

/* Bytes of scratch a work-item that a launch is to have. */
uint32_t code_object_private_bytes(const struct code_object_kernel *kernel);

/* The symbol of that name, or NULL. */
const struct code_object_symbol *code_object_find_symbol(const struct code_object *object,
                                                         const char *name);

/* Writes the object as loaded at `base` (a multiple of CODE_OBJECT_PAGE) into `memory`, which holds
 * object->span bytes: segments copied, gaps zeroed, relocations applied. */
void code_object_load(const struct code_object *object, uint64_t base, uint8_t *memory);

/* "gfx906:sramecc+:xnack-"; features that are not fixed are left out. */
void code_object_target_name(const struct code_object_target *target, char *text, size_t size);

void code_object_release(struct code_object *object);

/* A kernel's symbol as its source has it, or as it is, where it is not mangled. The caller frees
 * it; NULL: out of memory. */
char *code_object_readable_name(const char *symbol);

#endif
