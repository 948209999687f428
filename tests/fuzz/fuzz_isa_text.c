/* libFuzzer target of the decoder and the disassembler: any bytes, as the code of any target. Each
 * word is the beginning of an instruction. */
#include <stdlib.h>

#include "components/amd/isa/isa.h"
#include "components/amd/isa/isa_uses.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The first byte is the target. No text is longer than said, and no instruction has more uses. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    for (size_t at = 1; at + 4 <= size; at += 4) {
        struct isa_inst inst;
        struct isa_use uses[ISA_USES_MAX];
        char text[ISA_TEXT_MAX];
        enum isa_target target = (enum isa_target)(bytes[0] % ISA_TARGET_COUNT);
        if (isa_decode(target, bytes + at, size - at, &inst) > 0
            && (isa_format(&inst, at, text, sizeof text) >= sizeof text
                || isa_uses(&inst, uses) > ISA_USES_MAX))
            abort();
    }
    return 0;
}
