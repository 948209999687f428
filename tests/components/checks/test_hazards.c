/* Waits that are missing, one state or one wait at a time: each pair of hazard_pairs.tab is clean
 * with the states that it needs, and named with one fewer; each wait of hazard_waits.tab is needed,
 * and enough. */
#include <criterion/criterion.h>

#include "base/number.h"
#include "components/checks/hazards/hazard_wave.h"

enum { WORDS = 16 };
#define ARG(...) __VA_ARGS__

struct pair {
    enum isa_target target;
    unsigned states;
    const char *text[2];
    uint32_t words[2][4];
};

static const struct pair pairs[] = {
#define PAIR(target, states, first, second, a, b)                                                  \
    {ISA_##target, states, {first, second}, {{a}, {b}}},
#include "hazard_pairs.tab"
#undef PAIR
};

struct wait {
    enum isa_target target;
    enum hazard_kind kind;
    const char *text[3];
    uint32_t words[3][WORDS];
};

static const struct wait waits[] = {
#define WAIT(target, kind, before, wait, after, a, b, c)                                           \
    {ISA_##target, HAZARD_##kind, {before, wait, after}, {{a}, {b}, {c}}},
#include "hazard_waits.tab"
#undef WAIT
};

struct run {
    enum isa_target target;
    struct hazard_wave wave;
    uint64_t pc;
    uint64_t exec;
    bool lds, is_alone;
    unsigned found;
    struct hazard last;
};

static void note(void *context, const struct hazard *what)
{
    struct run *r = context;
    r->last = *what;
    r->found++;
}

static void begin(struct run *r, enum isa_target target)
{
    *r = (struct run){.target = target, .exec = ~UINT64_C(0)};
    hazard_wave_begin(&r->wave);
}

/* Executes the instructions of the words up to a 0, which none of them begins with. */
static void execute(struct run *r, const uint32_t *words, size_t most)
{
    for (size_t at = 0; at < most && words[at];) {
        struct isa_inst inst;
        struct isa_hazard_code code;
        int size = isa_decode(r->target, &words[at], (most - at) * 4, &inst);
        cr_assert_gt(size, 0, "%s: %08x", isa_target_name(r->target), words[at]);
        isa_hazard_make(&inst, &code);
        const struct hazard_step step = {.pc = r->pc,
                                         .exec = r->exec,
                                         .reaches_memory = !r->lds,
                                         .reaches_lds = r->lds,
                                         .is_alone = r->is_alone};
        hazard_wave_step(&r->wave, &code, &step, note, r);
        r->pc += (uint64_t)size;
        at += (size_t)size / 4;
    }
}

static void execute_nops(struct run *r, unsigned count)
{
    const uint32_t nop = 0xbf800000;
    for (unsigned i = 0; i < count; i++)
        execute(r, &nop, 1);
}

Test(hazards, name_each_wait_state_that_is_missing)
{
    static struct run r;
    for (size_t i = 0; i < ARRAY_COUNT(pairs); i++) {
        const struct pair *p = &pairs[i];
        for (unsigned states = 0; states <= p->states; states++) {
            bool enough = states == p->states;
            begin(&r, p->target);
            execute(&r, p->words[0], 4);
            execute_nops(&r, states);
            execute(&r, p->words[1], 4);
            cr_expect_eq(r.found, !enough, "%s: %u states between '%s' and '%s': %u findings",
                         isa_target_name(p->target), states, p->text[0], p->text[1], r.found);
            cr_expect(enough
                          || (r.last.kind == HAZARD_WAIT_STATES && r.last.needed == p->states
                              && r.last.present == states),
                      "%s: '%s' and '%s': %u needed, not %u", isa_target_name(p->target),
                      p->text[0], p->text[1], p->states, r.last.needed);
        }
    }
}

Test(hazards, count_the_states_of_a_nop)
{
    static struct run r;
    const struct pair *p = &pairs[0]; /* 5 states */
    const uint32_t nop_3 = 0xbf800003, nop_4 = 0xbf800004;
    begin(&r, p->target);
    execute(&r, p->words[0], 4);
    execute(&r, &nop_4, 1);
    execute(&r, p->words[1], 4);
    cr_assert_eq(r.found, 0);
    begin(&r, p->target);
    execute(&r, p->words[0], 4);
    execute(&r, &nop_3, 1);
    execute(&r, p->words[1], 4);
    cr_assert_eq(r.found, 1);
}

Test(hazards, name_each_wait_that_is_missing)
{
    static struct run r;
    for (size_t i = 0; i < ARRAY_COUNT(waits); i++) {
        const struct wait *w = &waits[i];
        for (unsigned waited = 0; waited < 2; waited++) {
            begin(&r, w->target);
            execute(&r, w->words[0], WORDS);
            execute_nops(&r, ISA_HAZARD_STATES_MAX);
            execute(&r, w->words[1], waited ? WORDS : 0);
            execute(&r, w->words[2], WORDS);
            cr_expect_eq(r.found, !waited, "%s: '%s' %s '%s' '%s': %u findings",
                         isa_target_name(w->target), w->text[0], waited ? "with" : "without",
                         w->text[1], w->text[2], r.found);
            cr_expect(waited || r.last.kind == w->kind, "%s: '%s', '%s': %d",
                      isa_target_name(w->target), w->text[0], w->text[2], r.last.kind);
        }
    }
}

/* gfx906: global_load_dword v2, v[0:1], off; v_mov_b32 v3, v2; v_mov_b32 v2, v3;
 * ds_write_b32 v0, v1; s_barrier; s_waitcnt lgkmcnt(1) and vmcnt(1); s_load_dword s0, s[4:5], 0;
 * s_mov_b32 s1, s0; flat_load_dword v2, v[0:1] */
static const uint32_t load[] = {0xdc508000, 0x027f0000}, use = 0x7e060302, overwrite = 0x7e040303,
                      store_lds[] = {0xd81a0000, 0x00000100}, barrier = 0xbf8a0000,
                      wait_lgkm_1 = 0xbf8cc17f, wait_vm_1 = 0xbf8c0f71,
                      load_scalar[] = {0xc0020002, 0}, use_scalar = 0xbe810000,
                      load_flat[] = {0xdc500000, 0x02000000};

Test(hazards, look_at_lanes)
{
    static struct run r;
    begin(&r, ISA_GFX906);
    r.exec = 0xff;
    execute(&r, load, 2);
    r.exec = 0xff00;
    execute(&r, &use, 1);
    execute(&r, &overwrite, 1);
    cr_assert_eq(r.found, 0, "other lanes are not concerned");
    r.exec = 0x180;
    execute(&r, &use, 1);
    cr_assert_eq(r.found, 1);
}

Test(hazards, prove_nothing_of_scalar_loads_by_a_count)
{
    static struct run r;
    begin(&r, ISA_GFX906);
    execute(&r, load_scalar, 2);
    execute(&r, load_scalar, 2);
    cr_assert_eq(r.found, 1, "the second overwrites what the first may bring later");
    execute(&r, &wait_lgkm_1, 1);
    execute(&r, &use_scalar, 1);
    cr_assert_eq(r.found, 2, "one is done, but which?");
}

/* The order of flat accesses is known only where all lanes fall into memory. */
Test(hazards, know_where_flat_accesses_fall)
{
    static struct run r;
    for (unsigned lds = 0; lds < 2; lds++) {
        begin(&r, ISA_GFX906);
        r.lds = lds;
        execute(&r, load_flat, 2);
        execute(&r, load, 2);
        execute(&r, &wait_vm_1, 1);
        execute(&r, &wait_vm_1, 1);
        cr_assert_eq(r.found, lds, "a load into the same register is in order or not");
    }
}

Test(hazards, need_no_wait_before_a_barrier_of_one_wavefront)
{
    static struct run r;
    begin(&r, ISA_GFX906);
    r.is_alone = true;
    execute(&r, store_lds, 2);
    execute(&r, &barrier, 1);
    cr_assert_eq(r.found, 0);
}

/* The counters are as long as the targets have them: what does not fit is not issued. */
Test(hazards, know_the_ends_of_counters)
{
    static struct run r;
    begin(&r, ISA_GFX803);
    const uint32_t other[] = {0xdc500000, 0x05000000}, first[] = {0xdc500000, 0x02000000};
    execute(&r, first, 2); /* flat_load_dword v2; then v5, fifteen times */
    for (unsigned i = 0; i < 14; i++)
        execute(&r, other, 2);
    execute(&r, &use, 1);
    cr_assert_eq(r.found, 1);
    begin(&r, ISA_GFX803);
    execute(&r, first, 2);
    for (unsigned i = 0; i < 15; i++)
        execute(&r, other, 2);
    execute(&r, &use, 1);
    cr_assert_eq(r.found, 0, "vmcnt ends at 15");
}
