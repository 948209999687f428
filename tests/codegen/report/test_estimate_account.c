/* The laws that are printed compute what the C functions compute, on random inputs. */
#include "codegen/report/estimate_account.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An evaluator of laws: recursive descent over the text, names looked up in the account and among
 * the law's own assignments. */
struct reader {
    const char *at;
    struct estimate_term known[2 * ESTIMATE_TERMS];
    unsigned count;
};

static double sum(struct reader *r);

static void skip(struct reader *r, const char *text)
{
    cr_assert_eq(strncmp(r->at, text, strlen(text)), 0, "'%s' stands before '%s'", text, r->at);
    r->at += strlen(text);
}

static double call(struct reader *r, bool most)
{
    skip(r, "(");
    double value = sum(r);
    while (*r->at == ',') {
        skip(r, ", ");
        double other = sum(r);
        value = most ? fmax(value, other) : fmin(value, other);
    }
    skip(r, ")");
    return value;
}

static double factor(struct reader *r)
{
    char *end;
    if (*r->at == '(')
        return call(r, true);
    if (isdigit((unsigned char)*r->at)) {
        double value = strtod(r->at, &end);
        r->at = end;
        return value;
    }
    size_t size = strspn(r->at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    const char *name = r->at;
    r->at += size;
    if (*r->at == '(')
        return call(r, !strncmp(name, "max", 3));
    for (unsigned i = 0; i < r->count; i++)
        if (strlen(r->known[i].name) == size && !strncmp(r->known[i].name, name, size))
            return r->known[i].value;
    cr_assert_fail("a term is missing: %s", name);
    return 0;
}

static double product(struct reader *r)
{
    double value = factor(r);
    while (!strncmp(r->at, " * ", 3) || !strncmp(r->at, " / ", 3)) {
        bool times = r->at[1] == '*';
        r->at += 3;
        double other = factor(r);
        value = times ? value * other : value == 0 && other == 0 ? 0 : value / other;
    }
    return value;
}

static double sum(struct reader *r)
{
    double value = product(r);
    while (!strncmp(r->at, " + ", 3) || !strncmp(r->at, " - ", 3)) {
        bool plus = r->at[1] == '+';
        r->at += 3;
        double other = product(r);
        value = plus ? value + other : value - other;
    }
    return value;
}

static double evaluate(const struct estimate_account *a)
{
    static char names[ESTIMATE_TERMS][24];
    struct reader r = {.at = a->law, .count = a->count};
    memcpy(r.known, a->terms, sizeof a->terms);
    for (unsigned i = 0;; i++) {
        const char *assignment = strstr(r.at, " = ");
        if (!assignment)
            return sum(&r);
        snprintf(names[i], sizeof names[i], "%.*s", (int)(assignment - r.at), r.at);
        r.at = assignment + 3;
        double value = sum(&r);
        cr_assert_lt(r.count, 2 * ESTIMATE_TERMS);
        r.known[r.count++] = (struct estimate_term){names[i], value};
        skip(&r, "; ");
    }
}

static double random_number(double most)
{
    static uint64_t state = 7;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 40) / (1 << 24) * most;
}

static struct estimate_input random_input(void)
{
    return (struct estimate_input){.cycles = 100 + random_number(10000),
                                   .saved_lines = random_number(3000),
                                   .saved_pages = random_number(3000),
                                   .saved_both = random_number(12000),
                                   .dram_reads = 1 + random_number(500),
                                   .unique_reads = random_number(500),
                                   .controllers = 1 + random_number(7),
                                   .line = 64,
                                   .reuse = random_number(1),
                                   .dram = 300 + random_number(100),
                                   .l2 = 50 + random_number(100),
                                   .walks = 1 + random_number(20),
                                   .walk = random_number(400),
                                   .warm_reads = random_number(400),
                                   .warm_walks = random_number(20),
                                   .wait_vector = random_number(1e6),
                                   .wait_scalar = random_number(1e5),
                                   .wait_code = random_number(1e5),
                                   .held = 1 + random_number(1e6),
                                   .active = 1 + random_number(10000),
                                   .vector_instructions = 1 + random_number(1000),
                                   .vector_cycles = 1000 + random_number(500000),
                                   .hit = 100 + random_number(100),
                                   .vector_pages = random_number(1000),
                                   .vector_misses = random_number(1000),
                                   .scalar_misses = random_number(100),
                                   .code_misses = 1 + random_number(100),
                                   .walked = random_number(1)};
}

Test(estimate_account, laws_compute_what_is_corrected)
{
    struct estimate_account account;
    for (unsigned i = 0; i < 200; i++) {
        struct estimate_input in = random_input();
        estimate_account_formula(&account, &in);
        cr_expect_float_eq(evaluate(&account), estimate_formula(&in), 1e-6);
        for (unsigned kind = 0; kind < 3; kind++) {
            in.retimed = kind > 0;
            in.kept = kind > 1;
            estimate_account_cold(&account, &in);
            cr_expect_float_eq(evaluate(&account), estimate_cold(&in), 1e-6, "kind %u", kind);
        }
        struct estimate_trace trace = {.cycles = 1 + random_number(10000),
                                       .unique_reads = random_number(500),
                                       .controllers = 1 + random_number(7),
                                       .reuse = random_number(1),
                                       .extra = random_number(400),
                                       .trips_cold = random_number(40),
                                       .trips = random_number(30)};
        estimate_account_trace_formula(&account, &trace);
        cr_expect_float_eq(evaluate(&account), estimate_trace_formula(&trace), 1e-6);
        estimate_account_trace_chain(&account, &trace);
        cr_expect_float_eq(evaluate(&account), estimate_trace_chain(&trace), 1e-6);
    }
}

/* Each input has a word for the reader, and its digits are all there. */
Test(estimate_account, inputs_are_printed_with_meaning_and_digits)
{
    char text[512];
    struct estimate_account account;
    struct estimate_input in = random_input();
    for (unsigned kind = 0; kind < 3; kind++) {
        in.retimed = kind > 0;
        in.kept = kind > 1;
        estimate_account_cold(&account, &in);
        for (unsigned i = 0; i < account.count; i++)
            cr_expect_gt(strlen(estimate_term_meaning(account.terms[i].name)), 5, "%s",
                         account.terms[i].name);
    }
    const struct estimate_trace trace = {
        .cycles = 100, .unique_reads = 1. / 3, .controllers = 2, .reuse = 0.5, .extra = 7};
    estimate_account_trace_formula(&account, &trace);
    FILE *out = fmemopen(text, sizeof text, "w");
    estimate_account_write(out, &account);
    fputc('\n', out);
    estimate_account_write_filled(out, &account);
    fclose(out);
    cr_expect_str_eq(text, "cycles=100 accesses=0.333333333333333 controllers=2 line=128 reuse=0.5 "
                           "extra=7\n100 - 0.333333333333333 / (2 * 128) * 0.5 * 7");
}
