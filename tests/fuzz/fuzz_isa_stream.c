/* libFuzzer target of the instruction sets: any bytes, as the code of any target, run until they
 * end or for some hundred steps. */
#include <stdlib.h>

#include "components/amd/isa/isa.h"
#include "tests/components/amd/isa/stream.h"

enum { STEPS = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The first byte is the target, the second the registers; code is aligned as it is in memory. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct stream stream;
    static _Alignas(64) uint8_t code[STREAM_CODE];
    if (size < 6)
        return 0;
    enum isa_target target = (enum isa_target)(bytes[0] % ISA_TARGET_COUNT);
    size_t length = size - 2 < sizeof code ? (size - 2) & ~(size_t)3 : sizeof code;
    memcpy(code, bytes + 2, length);
    stream_init(&stream, bytes[1]);
    stream_run(&stream, target, code, length, STEPS);
    if (stream.steps > STEPS)
        abort();
    return 0;
}
