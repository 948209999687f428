/* Runs any bytes as a program, for tests that nothing crashes, hangs or depends on the
 * host-CPU variant. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_STREAM_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_STREAM_H

#include "components/amd/isa/isa.h"

enum {
    STREAM_VGPRS = 48,
    STREAM_AGPRS = 16,
    STREAM_LDS = 2048,
    STREAM_MEMORY = 1 << 16, /* all addresses are taken modulo this */
    STREAM_CODE = 4096
};

enum stream_end { STREAM_ENDED, STREAM_STEPS, STREAM_LEFT, STREAM_ILLEGAL };

struct stream {
    _Alignas(64) uint32_t vgpr[(STREAM_VGPRS + STREAM_AGPRS) * 64];
    uint8_t lds[STREAM_LDS];
    uint8_t memory[STREAM_MEMORY + 64];
    struct isa_context ctx;
    struct isa_wave wave;
    enum stream_end end;
    unsigned steps;   /* executed, refused ones among them */
    unsigned refused; /* statuses other than ISA_OK and ISA_TRAPPED */
};

/* Registers and memory from a seed; pc 0 is the first byte of the code. */
void stream_init(struct stream *s, uint64_t seed);

/* Executes at most `steps` instructions of `size` bytes of code, goes past those with a status
 * other than ISA_OK and ISA_TRAPPED, and says how it ended: an s_endpgm, that many steps, a pc
 * outside, bytes that are no instruction or one that does not execute. */
void stream_run(struct stream *s, enum isa_target target, const uint8_t *code, size_t size,
                unsigned steps);

/* NULL, or what two runs differ in. */
const char *stream_difference(const struct stream *a, const struct stream *b);

#endif
