/* --kernels auto: which kernels of a list are alike, told without reading them: by the header, by
 * the size of the file, and by the text that is read ahead with the header. Where that text is the
 * one of an earlier kernel, this one begins on the same data. How much text was between them bounds
 * what caches still hold; equal instructions on data that no kernel has accessed take longer. What
 * the signature does not tell shows as scatter of the kernels that are simulated, and widens the
 * interval.
 *
 * Host memory: a run that chooses is never continued. */
#include "trace_player_state.h"

#include <math.h>
#include <string.h>

#include "components/sampling/sampling_thresholds.h"
#include "runtime/engine/hash.h"

enum { SIGNATURE_CLASSES = 256, SIGNATURE_NEW = 0 /* an age: nothing has begun like this */ };

struct signature_class {
    uint32_t symbol; /* number of the kernel's name */
    uint32_t age;
    uint64_t bytes;        /* of the first one's file */
    double steps_per_byte; /* of the latest one that was read */
};

static struct {
    struct itrace_set begins; /* by the beginning of the text: `text` behind the latest such file */
    uint64_t text;            /* bytes of all files so far */
    struct signature_class class[SIGNATURE_CLASSES];
    uint32_t classes;
} signatures;

static void signature_close(void)
{
    itrace_set_release(&signatures.begins);
    memset(&signatures, 0, sizeof signatures);
}

/* Of the text behind the header, as far as it has been read. */
static uint64_t signature_begin_of(const struct itrace *trace)
{
    uint64_t hash = 0, word = 0;
    const char *text = trace->has_line ? trace->line : "";
    size_t size = trace->has_line ? (size_t)(trace->input.text + trace->input.end - text) : 0;
    for (size_t i = 0; i + sizeof word <= size; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        hash = hash_multiply(hash ^ hash >> 32 ^ word);
    }
    return hash >> 1;
}

/* Doublings of the distance since the latest kernel that began alike, in steps of two. */
static uint32_t signature_age(const struct itrace *trace)
{
    uint64_t *last = itrace_set_add(&signatures.begins, signature_begin_of(trace));
    uint64_t distance = signatures.text + 1 - *last;
    uint32_t age = *last ? 1 + (63 - (uint32_t)__builtin_clzll(distance | 1)) / 2 : SIGNATURE_NEW;
    signatures.text += trace->input.size;
    *last = signatures.text + 1;
    return age;
}

/* The class of a kernel: of one name and age, files of about one size. Where there are many, more
 * is about the same, as in components/sampling/stratified_sampler.h. */
static uint32_t signature_class_of(uint32_t symbol, const struct itrace *trace)
{
    uint32_t same = 0, best = 0, age = signature_age(trace);
    double least = INFINITY, bytes = (double)trace->input.size;
    for (uint32_t i = 0; i < signatures.classes; i++) {
        const struct signature_class *c = &signatures.class[i];
        if (c->symbol != symbol || c->age != age)
            continue;
        double here = fabs((double)c->bytes - bytes) / ((double)c->bytes + bytes + 1);
        best = here < least ? i : best;
        least = fmin(here, least);
        same++;
    }
    if (least <= fmin(WIDEST, ldexp(FIRST_TOLERANCE, (int)(same / SAMPLER_SPLIT)))
        || signatures.classes == SIGNATURE_CLASSES)
        return best;
    signatures.class[signatures.classes] =
        (struct signature_class){.symbol = symbol, .age = age, .bytes = trace->input.size};
    return signatures.classes++;
}

/* Instructions of a kernel of the class: those that were `read`, or as many as its file's size lets
 * expect. */
static uint64_t signature_steps(uint32_t class, const struct itrace *trace, bool read)
{
    struct signature_class *c = &signatures.class[class];
    double bytes = (double)trace->input.size + 1;
    if (read)
        c->steps_per_byte = (double)trace->steps / bytes;
    return read ? trace->steps : (uint64_t)(c->steps_per_byte * bytes + 0.5);
}
