#ifndef HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_H
#define HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_H

/* PTX, NVIDIA's documented virtual instruction set, as a tree: ptx_parse() makes a module of a text
 * in which every name is resolved and every form of an instruction is checked, ptx_layout() gives
 * its variables and instructions their places in an image, ptx_image() writes the image's bytes.
 * The source is the manual "Parallel Thread Execution ISA", versions 3.2 to 8.8; section numbers in
 * this folder are those of version 8.x.
 *
 * Everything of a module is one tree in host memory, which ptx_free() frees. Nothing changes after
 * ptx_layout(). Things refer to each other by index, so the order is that of the text. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx_names.h"

#define PTX_NONE UINT32_MAX

enum {
    PTX_TYPES_MAX = 5,
    PTX_MODIFIERS_MAX = 14,
    PTX_SELECTOR_MAX = 6,
    PTX_ERROR_BYTES = 4096,
    PTX_INSTRUCTION_BYTES = 16 /* an instruction's share of the image's addresses */
};

enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_REG,
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_SHARED,
    PTX_SPACE_TEX
};

enum ptx_linkage { PTX_PRIVATE, PTX_VISIBLE, PTX_EXTERN, PTX_WEAK, PTX_COMMON };

/* The kinds of thing that a symbol, or the base of an address, refers to. */
enum ptx_base {
    PTX_BASE_NONE,     /* an address that is a number */
    PTX_BASE_REGISTER, /* index: of function->registers */
    PTX_BASE_VARIABLE, /* index: of module->variables */
    PTX_BASE_LOCAL,    /* index: of function->variables (.local, .shared, .param of calls) */
    PTX_BASE_PARAM,    /* index: of function->params */
    PTX_BASE_RESULT,   /* index: of function->results */
    PTX_BASE_FUNCTION  /* index: of module->functions */
};

enum ptx_operand_kind {
    PTX_OPERAND_NONE,     /* absent, where others may follow */
    PTX_OPERAND_REGISTER, /* index; negated where "!p" was written */
    PTX_OPERAND_INTEGER,  /* bits: 64, sign extended */
    PTX_OPERAND_F32,      /* bits: those of a float (0f3F800000) */
    PTX_OPERAND_F64,      /* bits: those of a double (0d..., 1.5) */
    PTX_OPERAND_SPECIAL,  /* index: enum ptx_special */
    PTX_OPERAND_ADDRESS,  /* [base index + offset] */
    PTX_OPERAND_SYMBOL,   /* base index + offset without brackets: an address as a value */
    PTX_OPERAND_LABEL,    /* index: of function->instructions (may be one past the last) */
    PTX_OPERAND_TABLE,    /* index: of function->tables */
    PTX_OPERAND_VECTOR,   /* {elements} */
    PTX_OPERAND_PAIR,     /* elements[0] | elements[1]: two destinations, either may be a sink */
    PTX_OPERAND_LIST,     /* (elements): results or arguments of a call */
    PTX_OPERAND_INDEXED,  /* [elements[0], elements[1], ...]: textures, surfaces, tensors */
    PTX_OPERAND_SINK      /* _ */
};

struct ptx_operand {
    uint8_t kind;                    /* enum ptx_operand_kind */
    uint8_t base;                    /* enum ptx_base, of addresses and symbols */
    bool negated;                    /* "!p", and "-a" of registers where the form has it */
    bool generic;                    /* symbol: generic(x) was written */
    char selector[PTX_SELECTOR_MAX]; /* "b0", "h10", "b3210" of video instructions, or "" */
    uint32_t index;
    uint32_t element_count;
    union {
        int64_t offset; /* bytes */
        uint64_t bits;
        struct ptx_operand *elements;
    };
};

struct ptx_instruction {
    uint16_t opcode; /* enum ptx_opcode */
    uint8_t type_count;
    uint8_t modifier_count;
    uint8_t operand_count;
    bool guard_negated;           /* @!p */
    uint8_t types[PTX_TYPES_MAX]; /* enum ptx_type, in the order written */
    uint8_t unused;
    uint16_t modifiers[PTX_MODIFIERS_MAX]; /* enum ptx_modifier, in the order written */
    uint32_t guard;                        /* register, or PTX_NONE */
    uint32_t file;                         /* source: index of module->files, or PTX_NONE */
    uint32_t line;                         /* line of the source, by .loc; 0: unknown */
    uint32_t ptx_line;
    /* call: always four operands: LIST of results, target (SYMBOL of a function, or REGISTER), LIST
     * of arguments, TABLE (prototype or call targets) or NONE. */
    struct ptx_operand *operands;
};

/* A register. A register vector (.reg .v4) is as many registers in a row. */
struct ptx_register {
    const char *name;
    uint8_t type; /* enum ptx_type; PTX_PRED for predicates */
};

/* A place in a variable's initial bytes where an address belongs. */
struct ptx_relocation {
    uint64_t offset; /* in the variable */
    uint8_t bytes;   /* 1, 2, 4 or 8 */
    uint8_t shift;   /* mask 0xff00(x): the address is shifted right by so many bits */
    bool generic;
    bool to_function;
    uint32_t target; /* index of module->variables or module->functions */
    int64_t addend;
};

struct ptx_variable {
    const char *name;
    uint8_t space;   /* enum ptx_space */
    uint8_t linkage; /* enum ptx_linkage */
    uint8_t type;    /* enum ptx_type of an element */
    bool is_dynamic; /* extern shared of unknown size: begins at the kernel's shared_bytes */
    bool is_managed; /* .attribute(.managed) */
    uint32_t alignment;
    uint64_t count; /* elements; each one of a vector or an inner dimension counts */
    uint64_t bytes;
    /* In the image (.global, .const), frame (.local), block (.shared) or parameter block (.param of
     * the function); 0 for the .param of a call; the register of a .reg parameter. */
    uint64_t offset;
    uint8_t *initial; /* initial_bytes bytes, or NULL; the rest are zeros */
    uint64_t initial_bytes;
    struct ptx_relocation *relocations;
    uint32_t relocation_count;
    uint32_t line; /* line of the PTX */
};

/* .branchtargets (instruction indices), .calltargets (function indices), .callprototype. */
enum ptx_table_kind { PTX_BRANCH_TARGETS, PTX_CALL_TARGETS, PTX_CALL_PROTOTYPE };

struct ptx_table {
    uint8_t kind;
    const char *name;
    uint32_t count;
    uint32_t *targets;
    struct ptx_variable *params; /* prototype: laid out as a function's */
    struct ptx_variable *results;
    uint32_t param_count;
    uint32_t result_count;
    uint32_t line;
};

struct ptx_function {
    const char *name; /* as in the PTX: mangled */
    bool is_entry;
    bool is_defined; /* has a body; vprintf, malloc, free, __assertfail have none */
    uint8_t linkage;
    struct ptx_variable *params;
    struct ptx_variable *results;
    uint32_t param_count;
    uint32_t result_count;
    struct ptx_variable *variables; /* .local, .shared, .param of calls, .const and .global */
    uint32_t variable_count;
    struct ptx_register *registers;
    uint32_t register_count;
    struct ptx_instruction *instructions;
    uint32_t instruction_count;
    struct ptx_table *tables;
    uint32_t table_count;
    uint32_t first_instruction; /* number in the module: instruction i is first_instruction + i */
    uint32_t param_bytes;       /* size of the parameter block */
    uint32_t local_bytes;       /* size of the .local variables of one call */
    /* Static shared memory of an entry and its callees; dynamic shared memory begins there. */
    uint32_t shared_bytes;
    uint64_t offset;     /* in the image: that of its first instruction */
    uint32_t maxntid[3]; /* 0: not given */
    uint32_t reqntid[3];
    uint32_t minnctapersm;
    uint32_t maxnctapersm;
    uint32_t maxnreg;
    uint32_t cluster[3]; /* .reqnctapercluster; 0: not given */
    uint32_t line;
};

struct ptx_module {
    const char *name;
    uint32_t version;        /* 85 for 8.5 */
    uint32_t target;         /* 80 for sm_80 */
    const char *target_name; /* "sm_90a" */
    const char **files;      /* names of sources by the numbers of .file; gaps are NULL */
    uint32_t file_count;
    struct ptx_variable *variables;
    uint32_t variable_count;
    struct ptx_function *functions;
    uint32_t function_count;
    uint32_t instruction_count; /* instructions of all functions */
    uint64_t image_bytes;       /* set by ptx_layout() */
    char *warnings;             /* lines, or "" */
};

/* All errors that were found, up to ten, a line each: "a.ptx:12: (kernel.cu:7) unknown ...". */
struct ptx_error {
    char text[PTX_ERROR_BYTES];
    uint32_t line; /* where the first one is, in the PTX */
    uint32_t count;
};

/* Parses a text of `size` bytes (a zero byte ends it early). Returns NULL and fills *error if there
 * is any mistake. `name` is the text's name in messages. */
struct ptx_module *ptx_parse(const char *name, const char *text, size_t size,
                             struct ptx_error *error);
void ptx_free(struct ptx_module *module);

/* Places .global and .const variables (offset), then PTX_INSTRUCTION_BYTES for each instruction of
 * each function in order (function->offset), 256 bytes aligned, and sets image_bytes. */
void ptx_layout(struct ptx_module *module);

/* Writes the image as it is when it lies at the device address `base`: image_bytes bytes. */
void ptx_image(const struct ptx_module *module, uint64_t base, uint8_t *bytes);

/* Look-ups by name; NULL if there is none. */
struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name);
struct ptx_variable *ptx_find_variable(const struct ptx_module *module, const char *name);

/* The function in whose instructions the module's instruction `number` lies. */
const struct ptx_function *ptx_function_of(const struct ptx_module *module, uint32_t number);

/* True if the modifier was written. */
bool ptx_has(const struct ptx_instruction *instruction, enum ptx_modifier modifier);

/* The first written modifier of a group (PTX_GROUP_...), or PTX_MODIFIER_NONE. */
enum ptx_modifier ptx_one_of(const struct ptx_instruction *instruction, uint32_t group);

/* The state space written at the instruction; PTX_SPACE_GENERIC if none. */
enum ptx_space ptx_space_of(const struct ptx_instruction *instruction);

/* Elements of .v2, .v4, .v8; 1 without. */
uint32_t ptx_vector_width(const struct ptx_instruction *instruction);

/* A constant operand as bits of the type: integers are cut, floats converted. */
uint64_t ptx_constant(const struct ptx_operand *operand, enum ptx_type type);

/* Names and sizes. ptx_opcode_name() is the stem: "ld", "cp.async", "mbarrier.init". */
const char *ptx_opcode_name(enum ptx_opcode opcode);
const char *ptx_modifier_name(enum ptx_modifier modifier);
const char *ptx_type_name(enum ptx_type type);
uint32_t ptx_type_bits(enum ptx_type type);
bool ptx_type_is_float(enum ptx_type type);
bool ptx_type_is_signed(enum ptx_type type);

/* The instruction as text, for listings, traces and faults: "ld.global.v2.f32". Returns `text`. */
char *ptx_instruction_name(const struct ptx_instruction *instruction, char *text, size_t size);

/* "kernel.cu:7" if the source is known, else "a.ptx:12"; returns `text`. What is inlined from a
 * header of the toolchain has the line of the program's source that is before it. */
char *ptx_place(const struct ptx_module *module, const struct ptx_instruction *instruction,
                char *text, size_t size);

#endif
