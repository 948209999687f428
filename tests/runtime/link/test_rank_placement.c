/* Which rank runs which partition: what `heddle run` says, compared with the platform. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/platform_table.h"
#include "runtime/link/rank_placement.h"
#include "tests/runtime/probe.h"

#define PARTITIONS 4

struct place_case {
    char text[24];
    uint32_t ranks;
    char rank_of[PARTITIONS + 1]; /* a digit for each partition; "": refused */
};

ParameterizedTestParameters(place, list_must_be_one_of_the_platform)
{
    static struct place_case cases[] = {
        {"0,1,0,2", 3, "0102"}, {"0,0,0,1", 2, "0001"}, {"", 2, ""},        {"0,1,0", 2, ""},
        {"0,1,0,1,", 2, ""},    {"0,1,0,1,1", 2, ""},   {"0,1,0,2", 2, ""}, /* there is no rank 2 */
        {"1,0,0,1", 2, ""}, /* the host's side is at rank 0 */
        {"0,1,x,1", 2, ""},
    };
    return cr_make_param_array(struct place_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct place_case *k, place, list_must_be_one_of_the_platform)
{
    uint8_t rank_of[PARTITIONS] = {0};
    build_start("places");
    uint32_t core = build_domain("core", 1000000000);
    for (uint32_t i = 0; i < PARTITIONS; i++)
        build_partition(probe_instance(core, "part", PROBE_SINK, 0, 0, true), i);
    const struct platform_table *table = build_finish();
    arena_open();
    cr_redirect_stderr();
    setenv(PLACEMENT_ENVIRONMENT, k->text, 1);
    bool placed = placement_of_partitions(table, k->ranks, rank_of);
    cr_assert_eq(placed, k->rank_of[0] != '\0');
    for (uint32_t i = 0; placed && k->rank_of[i]; i++)
        cr_assert_eq(rank_of[i], k->rank_of[i] - '0', "partition %u is at rank %u, not %c", i,
                     rank_of[i], k->rank_of[i]);
}
