/* libFuzzer target of the bundle reader: any bytes are read or refused, and what is found lies
 * inside of them. */
#include <stdlib.h>

#include "components/amd/isa/object/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct bundle bundle;
    char text[64];
    unsigned sum = 0;
    if (bundle_read(&bundle, bytes, size)) {
        for (size_t i = 0; i < bundle.entry_count; i++) {
            const struct bundle_entry *entry = &bundle.entries[i];
            for (size_t at = 0; at < entry->size; at += entry->size / 16 + 1)
                sum += entry->code[at];
        }
        bundle_list_targets(&bundle, text, sizeof text);
        sum += bundle_find(&bundle, "gfx906", false, true) != NULL;
    } else if (bundle.error[0] == '\0') {
        abort(); /* a refusal says why */
    }
    bundle_release(&bundle);
    return sum == UINT32_MAX;
}
