/* base/hash_table.h against an array with an element for each key. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/hash_table.h"
#include "base/splitmix64.h"

enum { KEYS = 3000 };

struct entry {
    uint64_t key, second;
    uint32_t value;
};

static const struct hash_kind single = HASH_KIND(struct entry, key, "a test");
static const struct hash_kind pair = HASH_KIND(struct entry, second, "a test");

/* Neighbours, and numbers that differ only in their upper bits. */
static uint64_t key_of(uint32_t i)
{
    return i % 2 ? i : (uint64_t)i << 44;
}

static uint32_t count_all(const struct hash_table *table, const uint32_t *values)
{
    static uint8_t found[KEYS];
    uint32_t count = 0;
    memset(found, 0, sizeof found);
    struct entry *e;
    for (size_t at = 0; (e = hash_table_next(table, &single, &at)); count++) {
        uint32_t i = (uint32_t)(e->key % 2 ? e->key : e->key >> 44);
        cr_assert_eq(e->value, values[i], "key %u", i);
        cr_assert_not(found[i]++, "key %u twice", i);
    }
    return count;
}

Test(hash_table, holds_what_was_added_and_not_removed)
{
    static uint32_t values[KEYS];
    struct hash_table table = {0};
    uint64_t random = 1;
    uint32_t count = 0;
    cr_assert_null(hash_table_find(&table, &single, &(uint64_t){0}));
    cr_assert_null(hash_table_next(&table, &single, &(size_t){0}));
    for (uint32_t step = 1; step < 30000; step++) {
        uint32_t i = (uint32_t)(splitmix64(&random) % KEYS);
        uint64_t key = key_of(i);
        struct entry *found = hash_table_find(&table, &single, &key);
        cr_assert_eq(found ? found->value : 0, values[i], "key %u", i);
        if (found && step % 3 == 0) {
            hash_table_remove(&table, &single, found);
            values[i] = 0;
            count--;
            continue;
        }
        struct entry *added = hash_table_add(&table, &single, &key);
        cr_assert_eq(added->key, key);
        cr_assert_eq(added->value, values[i], "key %u", i);
        count += !found;
        added->value = values[i] = step;
    }
    cr_expect_eq(table.count, count);
    cr_expect_eq(count_all(&table, values), count);
    for (uint32_t i = 0; i < KEYS; i++) {
        const struct entry *found = hash_table_find(&table, &single, &(uint64_t){key_of(i)});
        cr_assert_eq(found ? found->value : 0, values[i], "key %u", i);
    }
    hash_table_release(&table);
    cr_expect_null(hash_table_find(&table, &single, &(uint64_t){1}));
}

Test(hash_table, compares_both_words_of_a_key)
{
    struct region region = {.contents = "a test"};
    struct hash_table table = {.region = &region};
    for (uint64_t i = 0; i < 40; i++)
        for (uint64_t k = 0; k < 40; k++) {
            const uint64_t key[] = {i, k};
            struct entry *e = hash_table_add(&table, &pair, key);
            e->value = (uint32_t)(100 * i + k);
        }
    cr_expect_eq(table.count, 1600);
    for (uint64_t i = 0; i < 40; i++)
        for (uint64_t k = 0; k < 41; k++) {
            const uint64_t key[] = {i, k};
            const struct entry *e = hash_table_find(&table, &pair, key);
            cr_assert_eq(e ? e->value : 0, k < 40 ? 100 * i + k : 0);
        }
    region_release(&region);
}
