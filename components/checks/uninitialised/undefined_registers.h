/* Registers of AMD's wavefronts: what they hold that nothing has written, and how instructions move
 * it. Private to uninitialised.c, which sets the context and follows memory. */
#ifndef HEDDLE_COMPONENTS_CHECKS_UNINITIALISED_UNDEFINED_REGISTERS_H
#define HEDDLE_COMPONENTS_CHECKS_UNINITIALISED_UNDEFINED_REGISTERS_H

#include "components/amd/isa/isa.h"
#include "components/amd/isa/isa_uses.h"
#include "components/checks/checks.h"

enum { UNDEFINED_VECTORS = 1024, UNDEFINED_SCALARS = 128 };

/* Facts about an instruction, from the first time that it was seen. Its address alone does not tell
 * it: code is loaded where other code was, and processes have theirs at one address. */
struct undefined_facts {
    struct isa_inst inst;
    struct isa_use use[ISA_USES_MAX];
    uint8_t uses, effect; /* enum isa_effect */
    bool saves_exec, reads_scc;
};

struct undefined_wave {
    uint64_t vector[UNDEFINED_VECTORS];   /* lanes that are undefined */
    uint64_t computed[UNDEFINED_VECTORS]; /* those that are no copies of memory */
    uint32_t scalar[UNDEFINED_SCALARS];   /* bits */
    /* The instructions that have read what is undefined; 0: none has. */
    uint32_t vector_origin[UNDEFINED_VECTORS], scalar_origin[UNDEFINED_SCALARS], scc_origin;
    bool scc;
};

/* The lanes that several registers leave undefined. */
struct undefined_sum {
    uint64_t lanes, computed;
    uint32_t from;
};

/* The instruction that is about to be executed. */
extern struct undefined_context {
    const struct check_wave *wave;
    const struct observed_instruction *step;
    struct undefined_wave *state;
    const struct undefined_facts *facts;
} undefined_context __attribute__((visibility("hidden")));

static inline bool undefined_is_scalar(const struct isa_use *u)
{
    return u->code < UNDEFINED_SCALARS;
}

static inline unsigned undefined_vector_at(const struct isa_use *u, unsigned i)
{
    return (isa_register(undefined_context.step->context, u->code) + i) % UNDEFINED_VECTORS;
}

void undefined_add(struct undefined_sum *sum, const struct isa_use *u);
/* Lanes of the i-th register of a destination become undefined, or defined. */
void undefined_put(const struct isa_use *u, unsigned i, uint64_t lanes, uint64_t undefined,
                   uint64_t computed, uint32_t from);
/* Reports the use of a value that was read at `from`. */
void undefined_use(enum finding_kind kind, uint32_t from, unsigned lane);

/* Executes the instruction of a scalar unit, of a vector unit. */
void undefined_scalar_unit(void);
void undefined_vector_unit(void);

#endif
