/* See estimate_account.h. The laws stand here as text and in estimate.c and estimate_trace.c as C;
 * tests/system/test_sampling.py evaluates the text and compares. */
#include "codegen/report/estimate_account.h"

#include <ctype.h>
#include <string.h>

static void term(struct estimate_account *a, const char *name, double value)
{
    a->terms[a->count++] = (struct estimate_term){name, value};
}

void estimate_account_formula(struct estimate_account *a, const struct estimate_input *in)
{
    *a = (struct estimate_account){
        .law = "cycles - accesses / (controllers * line) * reuse * (dram - l2)"};
    term(a, "cycles", in->cycles);
    term(a, "accesses", in->unique_reads);
    term(a, "controllers", in->controllers);
    term(a, "line", in->line);
    term(a, "reuse", in->reuse);
    term(a, "dram", in->dram);
    term(a, "l2", in->l2);
}

static void misses_and_walks(struct estimate_account *a, const struct estimate_input *in)
{
    term(a, "dram_reads", in->dram_reads);
    term(a, "warm_reads", in->warm_reads);
    term(a, "walks", in->walks);
    term(a, "warm_walks", in->warm_walks);
}

static void account_retimed(struct estimate_account *a, const struct estimate_input *in)
{
    a->law = "h = max(0, 1 - warm_reads / dram_reads); p = max(0, 1 - warm_walks / walks); "
             "cycles - max(0, min(cycles, "
             "h * (1 - p) * lines + p * (1 - h) * pages + h * p * both))";
    term(a, "cycles", in->cycles);
    term(a, "lines", in->saved_lines);
    term(a, "pages", in->saved_pages);
    term(a, "both", in->saved_both);
    misses_and_walks(a, in);
}

static void account_waits(struct estimate_account *a, const struct estimate_input *in)
{
    a->law =
        "misses = vector_misses + scalar_misses + code_misses; "
        "line = max(0, 1 - warm_reads / dram_reads) * (dram - l2) * min(1, dram_reads / misses); "
        "page = max(0, 1 - warm_walks / walks) * walk * walked; "
        "mean = vector_cycles / vector_instructions; "
        "paged = min(1, vector_pages / vector_instructions); "
        "vector = max(0, min(paged * page + line, mean - hit)) / mean; "
        "other = (page + line) / (page + line + hit); "
        "saved = (wait_vector * vector + (wait_scalar + wait_code) * other) / (held / active); "
        "cycles - max(0, min(saved, active, cycles))";
    term(a, "cycles", in->cycles);
    misses_and_walks(a, in);
    term(a, "dram", in->dram);
    term(a, "l2", in->l2);
    term(a, "walk", in->walk);
    term(a, "walked", in->walked);
    term(a, "hit", in->hit);
    term(a, "vector_cycles", in->vector_cycles);
    term(a, "vector_instructions", in->vector_instructions);
    term(a, "vector_pages", in->vector_pages);
    term(a, "vector_misses", in->vector_misses);
    term(a, "scalar_misses", in->scalar_misses);
    term(a, "code_misses", in->code_misses);
    term(a, "wait_vector", in->wait_vector);
    term(a, "wait_scalar", in->wait_scalar);
    term(a, "wait_code", in->wait_code);
    term(a, "held", in->held);
    term(a, "active", in->active);
}

void estimate_account_cold(struct estimate_account *a, const struct estimate_input *in)
{
    *a = (struct estimate_account){.law = "cycles - max(0, min(both, cycles))"};
    if (!in->retimed) {
        account_waits(a, in);
    } else if (!in->kept) {
        account_retimed(a, in);
    } else {
        term(a, "cycles", in->cycles);
        term(a, "both", in->saved_both);
    }
}

void estimate_account_trace_formula(struct estimate_account *a, const struct estimate_trace *in)
{
    *a = (struct estimate_account){.law =
                                       "cycles - accesses / (controllers * line) * reuse * extra"};
    term(a, "cycles", in->cycles);
    term(a, "accesses", in->unique_reads);
    term(a, "controllers", in->controllers);
    term(a, "line", ESTIMATE_TRACE_LINE);
    term(a, "reuse", in->reuse);
    term(a, "extra", in->extra);
}

void estimate_account_trace_chain(struct estimate_account *a, const struct estimate_trace *in)
{
    double saved = (in->trips_cold - in->trips) * in->extra;
    bool applies = saved > 0 && saved < in->cycles;
    *a = (struct estimate_account){.law = applies ? "cycles - (trips_cold - trips) * extra"
                                                  : "cycles"};
    term(a, "cycles", in->cycles);
    term(a, "trips_cold", in->trips_cold);
    term(a, "trips", in->trips);
    term(a, "extra", in->extra);
}

const char *estimate_term_meaning(const char *name)
{
    static const struct {
        const char *name, *meaning;
    } meanings[] = {
        {"cycles", "cycles, simulated cold"},
        {"accesses", "unique accesses to DRAM: lines, of traces sectors"},
        {"controllers", "memory controllers in use: reads of all / reads of the busiest"},
        {"line", "bytes of a cache line"},
        {"reuse", "share of the lines of the launch before that this launch accesses, too"},
        {"dram", "cycles of a read that misses in the L2"},
        {"l2", "cycles of a read that hits in the L2"},
        {"extra", "what a read that misses in the L2 takes longer than one that hits, cycles"},
        {"lines", "cycles that the cold run would be shorter by if no read missed in L2s"},
        {"pages", "the same, if no lookup missed in shared TLBs"},
        {"both", "the same, for what is missed without need: cold, and not behind the launches "
                 "before; of a run that does not know what they left, for all misses"},
        {"dram_reads", "reads of DRAM, cold"},
        {"warm_reads", "reads of DRAM behind the launches before, by the profile"},
        {"walks", "page walks, cold"},
        {"warm_walks", "page walks behind the launches before, by the profile"},
        {"walk", "cycles of a page walk"},
        {"walked", "share of the first-level TLBs' misses that waited for a walk"},
        {"hit", "cycles of a line that comes from the L2"},
        {"vector_cycles", "cycles of all vector memory instructions, summed"},
        {"vector_instructions", "vector memory instructions"},
        {"vector_pages", "their requests that waited for a translation"},
        {"vector_misses", "misses of vector caches"},
        {"scalar_misses", "misses of scalar caches"},
        {"code_misses", "misses of instruction caches"},
        {"wait_vector", "slot-cycles in which wavefronts waited for vector memory"},
        {"wait_scalar", "the same, for scalar memory"},
        {"wait_code", "the same, for code"},
        {"held", "slot-cycles with a wavefront"},
        {"active", "cycles in which the longest compute unit had wavefronts"},
        {"trips_cold", "longest chain of waits for memory, cold"},
        {"trips", "the same, behind the launches before, by the profile"}};
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (!strcmp(meanings[i].name, name))
            return meanings[i].meaning;
    return "";
}

void estimate_account_write(FILE *out, const struct estimate_account *a)
{
    for (unsigned i = 0; i < a->count; i++)
        fprintf(out, "%s%s=%.15g", i ? " " : "", a->terms[i].name, a->terms[i].value);
}

static const struct estimate_term *term_called(const struct estimate_account *a, const char *name,
                                               size_t size)
{
    for (unsigned i = 0; i < a->count; i++)
        if (strlen(a->terms[i].name) == size && !memcmp(a->terms[i].name, name, size))
            return &a->terms[i];
    return NULL;
}

void estimate_account_write_filled(FILE *out, const struct estimate_account *a)
{
    for (const char *at = a->law; *at;) {
        size_t size = 0;
        while (islower((unsigned char)at[size]) || at[size] == '_'
               || (size && isdigit((unsigned char)at[size])))
            size++;
        const struct estimate_term *t = size ? term_called(a, at, size) : NULL;
        if (t)
            fprintf(out, "%.15g", t->value);
        else
            fprintf(out, "%.*s", size ? (int)size : 1, at);
        at += size ? size : 1;
    }
}
