/* Finds the PTX of a CUDA program in its fat binaries. */
#include "disasm_ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "components/cuda/fatbin/cuda_fatbin.h"

#include "command_say.h"

enum { ALIGNMENT = 8 }; /* a fat binary's, in its section */

static bool is_wanted(const struct cuda_fatbin_entry *entry, const char *mcpu)
{
    char name[16];
    snprintf(name, sizeof name, "sm_%u", entry->sm);
    return !mcpu || strcmp(mcpu, name) == 0;
}

static bool print_entry(FILE *out, struct cuda_fatbin *fatbin,
                        const struct cuda_fatbin_entry *entry)
{
    size_t length;
    char *text = cuda_fatbin_unpack(fatbin, entry, &length);
    if (!text) {
        command_say("%s", fatbin->error);
        return false;
    }
    fprintf(out, "# PTX of sm_%u\n", entry->sm);
    fwrite(text, 1, length, out);
    free(text);
    return true;
}

bool disasm_ptx(FILE *out, const uint8_t *bytes, size_t size, const char *mcpu, bool *any)
{
    struct cuda_fatbin *fatbin = grow_memory(NULL, sizeof *fatbin, "a CUDA program");
    bool ok = true, damaged = false;
    for (size_t at = 0; ok && at < size; at += ALIGNMENT) {
        if (!cuda_fatbin_recognise(bytes + at, size - at))
            continue;
        if (!cuda_fatbin_read(fatbin, bytes + at, size - at)) {
            damaged = true; /* a word of the program may look like one, too */
            continue;
        }
        for (size_t i = 0; ok && i < fatbin->count; i++) {
            const struct cuda_fatbin_entry *entry = &fatbin->entries[i];
            if (!is_wanted(entry, mcpu))
                continue;
            *any = true;
            if (entry->kind == CUDA_FATBIN_PTX)
                ok = print_entry(out, fatbin, entry);
            else
                fprintf(out, "# machine code of sm_%u: not shown\n", entry->sm);
        }
    }
    if (ok && damaged && !*any)
        command_say("%s", fatbin->error);
    free(fatbin);
    return ok;
}
