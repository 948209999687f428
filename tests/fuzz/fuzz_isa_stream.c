/* libFuzzer target of the instruction sets: any bytes, as the code of any target, run until they
 * end or for some hundred steps, and can be printed. */
#include "components/amd/isa/isa.h"
#include "tests/components/amd/isa/stream.h"

#include <stdlib.h>

enum { STEPS = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Each word once more as the beginning of an instruction to print: no text is longer than said. */
static void print_all(enum isa_target target, const uint8_t *code, size_t size)
{
    for (size_t at = 0; at + 4 <= size; at += 4) {
        struct isa_inst inst;
        char text[ISA_MAX_TEXT];
        if (isa_decode(target, code + at, size - at, &inst) > 0
            && isa_format(&inst, at, text, sizeof text) >= sizeof text) {
            abort();
        }
    }
}

/* The first byte is the target, the second the registers; code is aligned as it is in memory. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct stream stream;
    static _Alignas(64) uint8_t code[STREAM_CODE];
    if (size < 6) {
        return 0;
    }
    enum isa_target target = (enum isa_target)(bytes[0] % ISA_TARGET_COUNT);
    size_t length = size - 2 < sizeof code ? (size - 2) & ~(size_t)3 : sizeof code;
    memcpy(code, bytes + 2, length);
    print_all(target, code, length);
    stream_init(&stream, bytes[1]);
    stream_run(&stream, target, code, length, STEPS);
    if (stream.steps > STEPS) {
        abort();
    }
    return 0;
}
