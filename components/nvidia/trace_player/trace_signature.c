/* --kernels auto: finds kernels of a list that are alike without reading them whole: by the header,
 * by the size of the file, and by the text that is read ahead with the header. A kernel with the
 * text of an earlier kernel begins on the same data. The amount of text between the two bounds what
 * caches still hold; equal instructions on data that no kernel has accessed take longer.
 * Differences that the signature misses show as scatter of the simulated kernels, and widen the
 * interval.
 *
 * Host memory: a run that chooses is never continued. */
#include <string.h>

#include "base/hash.h"
#include "base/number.h"

#include "trace_player_state.h"

static struct {
    struct itrace_set begins; /* by the beginning of the text: `text` after the latest such file */
    uint64_t text;            /* bytes of all files so far */
} signatures;

static void signature_close(void)
{
    itrace_set_release(&signatures.begins);
    memset(&signatures, 0, sizeof signatures);
}

/* A hash of the text after the header, as far as it has been read. */
static uint64_t signature_begin_of(const struct itrace *trace)
{
    const char *text = trace->has_line ? trace->line : "";
    size_t size = trace->has_line ? (size_t)(trace->input.text + trace->input.end - text) : 0;
    return hash_bytes(0, text, round_down(size, sizeof(uint64_t))) >> 1;
}

/* The distance to the last kernel that began alike, in doublings, in steps of two. 0: none did. */
static uint32_t signature_age(const struct itrace *trace)
{
    uint64_t *last = itrace_set_add(&signatures.begins, signature_begin_of(trace));
    uint64_t distance = signatures.text + 1 - *last;
    uint32_t age = *last ? 1 + (63 - (uint32_t)__builtin_clzll(distance | 1)) / 2 : 0;
    signatures.text += trace->input.size;
    *last = signatures.text + 1;
    return age;
}
