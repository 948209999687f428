/* Numbers that are acquired and given back. */
#include <criterion/criterion.h>

#include "base/number_pool.h"

Test(number_pool, numbers_are_dense_and_the_last_one_given_back_comes_first)
{
    struct number_pool pool = {0};
    for (uint32_t i = 0; i < 1000; i++)
        cr_assert_eq(number_pool_acquire(&pool, "a test"), i);
    number_pool_release(&pool, 7);
    number_pool_release(&pool, 500);
    cr_expect_eq(number_pool_acquire(&pool, "a test"), 500);
    cr_expect_eq(number_pool_acquire(&pool, "a test"), 7);
    cr_expect_eq(number_pool_acquire(&pool, "a test"), 1000);
    for (uint32_t i = 0; i <= 1000; i++)
        number_pool_release(&pool, i);
    cr_expect_eq(number_pool_acquire(&pool, "a test"), 1000);
    free(pool.free);
}
