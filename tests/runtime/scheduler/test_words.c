/* What an edge does to words of bitmaps: one by one, and several at once where the processor can.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/scheduler/active_words.h"

enum { MOST = 64, TRIES = 200 };

struct words {
    _Alignas(64) uint64_t active[MOST], next[MOST], near[MOST];
};

static uint64_t state = 1;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Few words have bits, as in most edges. */
static void fill(uint64_t *words)
{
    for (uint32_t w = 0; w < MOST; w++)
        words[w] = random_bits() % 5 ? 0 : (uint64_t)1 << random_bits() % 64;
}

static void check(const struct words *before, const struct words *after, uint32_t count, bool near,
                  uint64_t busy)
{
    for (uint32_t w = 0; w < MOST; w++) {
        uint64_t sum = before->active[w] | before->next[w] | (near ? before->near[w] : 0);
        bool inside = w < count;
        cr_assert_eq(after->active[w], inside ? sum : before->active[w]);
        cr_assert_eq(after->next[w], inside ? 0 : before->next[w]);
        cr_assert_eq(after->near[w], inside && near ? 0 : before->near[w]);
        cr_assert_eq(busy >> w & 1, inside && sum, "word %u of %u", w, count);
    }
}

Test(words, are_merged_one_by_one_and_several_at_once)
{
    for (uint32_t i = 0; i < TRIES; i++) {
        static struct words before, one, several;
        uint32_t count = (uint32_t)(random_bits() % (MOST / ENGINE_WORDS) + 1) * ENGINE_WORDS;
        bool near = i % 2;
        fill(before.active);
        fill(before.next);
        fill(before.near);
        one = several = before;
        uint64_t busy = words_merge(one.active, one.next, near ? one.near : NULL, count);
        check(&before, &one, count, near, busy);
        if (!words_are_wide())
            continue;
        busy = words_merge_wide(several.active, several.next, near ? several.near : NULL, count);
        check(&before, &several, count, near, busy);
    }
}

Test(words, any_bit_is_found)
{
    static struct words w;
    for (uint32_t count = ENGINE_WORDS; count <= MOST; count += ENGINE_WORDS) {
        memset(&w, 0, sizeof w);
        memset(w.next + count, -1, (MOST - count) * sizeof w.next[0]);
        cr_assert_not(words_any(w.next, count));
        cr_assert(!words_are_wide() || !words_any_wide(w.next, count));
        for (uint32_t at = 0; at < count; at++) {
            w.next[at] = (uint64_t)1 << at % 64;
            cr_assert(words_any(w.next, count));
            cr_assert(!words_are_wide() || words_any_wide(w.next, count));
            w.next[at] = 0;
        }
    }
}
