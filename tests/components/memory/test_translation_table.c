/* The entries of a TLB against sets that are arrays in order of use. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/memory/tlb/translation_table.c"
#include "components/memory/tlb/translation_table.h"

enum { SETS_MAX = 16384, WAYS_MAX = 64, STEPS = 60000, PAGES = 4096 };

/* ---- the model ---- */

struct model_page {
    bool valid, writable;
    uint32_t pid, bits;
    uint64_t first, physical;
};

struct model_set {
    struct model_page way[WAYS_MAX]; /* the most recent first; those that were dropped stay */
    uint32_t taken;
};

static struct model_set *model;
static uint32_t model_sets, model_ways;

static uint64_t page_of(uint64_t address, uint32_t bits)
{
    return address >> bits << bits;
}

static struct model_set *set_of(uint64_t address, uint32_t bits)
{
    return &model[(address >> bits) % model_sets];
}

static struct model_page *model_find(uint32_t pid, uint64_t address, uint32_t bits)
{
    struct model_set *s = set_of(address, bits);
    for (uint32_t i = 0; i < s->taken; i++)
        if (s->way[i].valid && s->way[i].pid == pid && s->way[i].bits == bits
            && s->way[i].first == page_of(address, bits))
            return &s->way[i];
    return NULL;
}

static void model_touch(struct model_page *page, uint64_t address)
{
    struct model_set *s = set_of(address, page->bits);
    struct model_page moved = *page;
    memmove(&s->way[1], &s->way[0], (size_t)(page - s->way) * sizeof *page);
    s->way[0] = moved;
}

static void model_enter(struct model_page page)
{
    struct model_set *s = set_of(page.first, page.bits);
    s->taken += s->taken < model_ways;
    memmove(&s->way[1], &s->way[0], (s->taken - 1) * sizeof s->way[0]);
    s->way[0] = page;
}

static uint32_t model_forget(uint32_t pid, uint64_t start, uint64_t end)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < model_sets; n++)
        for (uint32_t i = 0; i < model[n].taken; i++) {
            struct model_page *p = &model[n].way[i];
            bool hit = p->valid && (pid == UINT32_MAX || p->pid == pid) && p->first < end
                       && p->first + ((uint64_t)1 << p->bits) > start;
            p->valid = p->valid && !hit;
            count += hit;
        }
    return count;
}

/* ---- both side by side ---- */

struct shape {
    uint32_t sets, ways, pending;
    bool fragments;
};

/* A page of 4 KiB or, with fragments, in another part of the address space, of 64 KiB. */
static struct model_page random_page(const struct shape *shape)
{
    bool large = shape->fragments && rand() % 3 == 0;
    uint32_t bits = large ? 16 : 12;
    uint64_t number = (uint64_t)(rand() % PAGES);
    number = rand() % 4 ? number : number % 64;
    return (struct model_page){.valid = true,
                               .writable = rand() % 2,
                               .pid = 1 + (uint32_t)rand() % 2,
                               .bits = bits,
                               .first = ((uint64_t)large << 40) + (number << bits),
                               .physical = (uint64_t)rand() << bits};
}

static void check_find(struct translation_table *t, const struct model_page *page)
{
    uint64_t address = page->first + (uint64_t)rand() % (1u << page->bits);
    struct model_page *expected = model_find(page->pid, address, page->bits);
    uint32_t found = translation_find(t, page->pid, address);
    cr_assert_eq(found != TRANSLATION_NONE, expected != NULL);
    if (!expected)
        return;
    const struct translation_entry *e = translation_entry(t, found);
    cr_assert_eq(e->physical, expected->physical);
    cr_assert_eq(page_may_be_written(e->traits), expected->writable);
    cr_assert_eq(translation_bits(e), expected->bits);
    if (rand() % 2) {
        translation_touch(t, found);
        model_touch(expected, address);
    }
}

static struct translated_page translated(const struct model_page *page)
{
    return (struct translated_page){page->physical, 12, (uint8_t)page->bits,
                                    page_traits(page->writable, MEM_COARSE)};
}

/* A page is asked for, others too, and it comes. */
static void check_walk(struct translation_table *t, const struct model_page *page)
{
    if (model_find(page->pid, page->first, page->bits) || !translation_can_ask(t))
        return;
    uint32_t number = translation_ask(t, page->pid, page->first);
    uint32_t found = translation_find(t, page->pid, page->first);
    cr_assert(translation_is_pending(t, found));
    cr_assert_eq(translation_pending_number(t, found), number);
    bool valid = rand() % 8 != 0;
    struct translated_page answer = translated(page);
    translation_fill(t, number, &answer, valid);
    if (valid)
        model_enter(*page);
}

static void check_enter(struct translation_table *t, const struct model_page *page)
{
    if (model_find(page->pid, page->first, page->bits))
        return;
    struct translated_page found = translated(page);
    translation_enter(t, page->pid, page->first, &found);
    model_enter(*page);
}

static void check_forget(struct translation_table *t, const struct model_page *page)
{
    uint32_t pid = rand() % 2 ? UINT32_MAX : page->pid;
    uint64_t bytes = (uint64_t)(1 + rand() % 40) << 12;
    cr_assert_eq(translation_forget(t, pid, page->first, page->first + bytes),
                 model_forget(pid, page->first, page->first + bytes));
}

static void play(const struct shape *shape)
{
    struct translation_table t;
    arena_open();
    model = calloc(shape->sets, sizeof *model);
    model_sets = shape->sets;
    model_ways = shape->ways;
    translation_table_init(&t, shape->sets, shape->ways, shape->pending, shape->fragments);
    for (int step = 0; step < STEPS; step++) {
        struct model_page page = random_page(shape);
        int what = rand() % 100;
        if (what < 50)
            check_find(&t, &page);
        else if (what < 75)
            check_walk(&t, &page);
        else if (what < 98)
            check_enter(&t, &page);
        else if (what == 98 && step % 8 == 0)
            check_forget(&t, &page);
        else if (what == 99 && step % 64 == 0) {
            translation_table_flush(&t);
            model_forget(UINT32_MAX, 0, UINT64_MAX);
        }
    }
    free(model);
    arena_close();
}

Test(translation_table, finds_and_forgets_what_sets_in_order_of_use_do)
{
    static const struct shape shapes[] = {
        {1, 1, 1, false},    {1, 64, 4, false},       {16, 4, 8, false},
        {64, 64, 32, false}, {100, 3, 8, false},      {1, 64, 4, true},
        {512, 16, 32, true}, {SETS_MAX, 1, 8, false}, {4096, 8, 64, false}};
    srand(11);
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        play(&shapes[i]);
}

/* So a table for all pages of a device takes little memory for a program of few. */
Test(translation_table, buckets_and_ways_are_used_from_the_first_one_on)
{
    struct translation_table t;
    arena_open();
    translation_table_init(&t, SETS_MAX, WAYS_MAX, 64, false);
    for (uint64_t page = 0; page < PAGES; page++) {
        struct translated_page found = {page << 12, 12, 12, page_traits(true, MEM_COARSE)};
        translation_enter(&t, 1, page << 12, &found);
        cr_assert_lt(translation_find(&t, 1, page << 12), SETS_MAX);
    }
    cr_expect_lt(t.bucket_mask, 4 * PAGES);
    cr_expect_geq(t.bucket_mask, PAGES);
    for (uint64_t page = 0; page < PAGES; page++)
        cr_expect_neq(translation_find(&t, 1, page << 12), TRANSLATION_NONE);
    arena_close();
}
