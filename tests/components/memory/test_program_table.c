/* The table of a program's allocations and kernels. */
#include <criterion/criterion.h>
#include <string.h>

#include "components/memory/page_table/program_table.h"

static struct program_table table;

static void start(void)
{
    memset(&table, 0, sizeof table);
}

static void add(uint64_t address, uint64_t bytes, uint32_t device)
{
    const struct program_allocation a = {
        .start = address, .end = address + bytes, .device = device};
    cr_assert(program_add_allocation(&table, &a));
}

static const char *describe(uint64_t address)
{
    static char text[160];
    program_describe(&table, address, text, sizeof text);
    return text;
}

Test(program_table, finds_the_allocation_that_holds_an_address, .init = start)
{
    add(0x3000, 0x1000, 0);
    add(0x1000, 0x800, 0);
    cr_assert_not_null(program_find(&table, 0x1000));
    cr_expect_eq(program_find(&table, 0x17ff)->start, 0x1000);
    cr_expect_null(program_find(&table, 0x1800));
    cr_expect_eq(program_find(&table, 0x3fff)->start, 0x3000);
    cr_expect_null(program_overlap(&table, 0x1800, 0x3000));
    cr_expect_eq(program_overlap(&table, 0x17ff, 0x3000)->start, 0x1000);
    cr_assert(program_remove_allocation(&table, 0x1000));
    cr_expect_not(program_remove_allocation(&table, 0x1000));
    cr_expect_null(program_find(&table, 0x1000));
}

Test(program_table, every_change_has_a_version_of_its_own, .init = start)
{
    uint32_t version = table.version;
    add(0x1000, 0x800, 0);
    cr_expect_neq(table.version, version);
    version = table.version;
    program_open(&table, 0x1200);
    cr_expect_neq(table.version, version);
    version = table.version;
    program_remove_allocation(&table, 0x1000);
    cr_expect_neq(table.version, version);
}

Test(program_table, a_gpu_reaches_open_memory_its_own_and_that_of_peers, .init = start)
{
    add(0x1000, 0x1000, 1);
    const struct program_allocation *a = program_find(&table, 0x1000);
    cr_expect(program_reaches(&table, 1, a));
    cr_expect_not(program_reaches(&table, 0, a));
    program_set_reach(&table, 0, 1, true);
    cr_expect(program_reaches(&table, 0, a));
    program_set_reach(&table, 0, 1, false);
    cr_expect_not(program_reaches(&table, 0, a));
    program_open(&table, 0x1000);
    cr_expect(program_reaches(&table, 0, a));
}

Test(program_table, says_where_an_address_lies, .init = start)
{
    cr_expect_str_eq(describe(0x1000), "nothing is allocated");
    add(0x1000, 0x100, 0);
    add(0x9000, 0x100, 0);
    cr_expect_str_eq(describe(0x1010), "16 bytes into the allocation of 256 bytes at 0x1000");
    cr_expect_str_eq(describe(0x110c),
                     "12 bytes behind the end of the allocation of 256 bytes at 0x1000");
    cr_expect_str_eq(describe(0x8fff), "1 bytes before the allocation of 256 bytes at 0x9000");
    add(0x5000, 0x80, 0);
    program_remove_allocation(&table, 0x9000);
    program_remove_allocation(&table, 0x5000);
    cr_expect_str_eq(describe(0x5010), "16 bytes into allocation 3 of the program, 128 bytes at "
                                       "0x5000, which its free 2 gave back");
    cr_expect_str_eq(describe(0x5080),
                     "16256 bytes behind the end of the allocation of 256 bytes at 0x1000");
    add(0x9000, 0x100, 0);
    cr_expect_str_eq(describe(0x9010), "16 bytes into the allocation of 256 bytes at 0x9000",
                     "the address is in use again");
    program_set_use(&table, 0x1000, PROGRAM_ARGUMENTS);
    cr_expect_str_eq(describe(0x1010), "32752 bytes before the allocation of 256 bytes at 0x9000",
                     "the driver's own memory is not named");
}

Test(program_table, says_what_an_address_is_before_what_it_is_behind, .init = start)
{
    add(0x1000, 0x100, 0);
    add(0x200000, 0x1000, 0);
    program_set_use(&table, 0x200000, PROGRAM_SCRATCH);
    cr_expect_str_eq(describe(0x1210),
                     "272 bytes behind the end of the allocation of 256 bytes at 0x1000");
    static const char stack[] = " bytes outside of the private memory of wavefronts: does a kernel "
                                "recurse, or need more stack than the compiler has counted?";
    cr_expect_eq(strncmp(describe(0x201007), "8", 1), 0);
    cr_expect_str_eq(describe(0x201007) + 1, stack);
    cr_expect_str_eq(describe(0x1fff00) + 3, stack, "%s", describe(0x1fff00));
    cr_expect_str_eq(describe(0x7ffd12345678),
                     "far from all allocations: is it a pointer of the host?");
}

Test(program_table, a_kernel_has_one_number, .init = start)
{
    uint32_t add_number = program_kernel(&table, "add(int*)", "_Z3addPi");
    uint32_t other = program_kernel(&table, "add(int*)", "_Z3addPi.kd");
    cr_expect_neq(add_number, other);
    cr_expect_eq(program_kernel(&table, "add(int*)", "_Z3addPi"), add_number);
    cr_expect_str_eq(program_kernel_name(&table, add_number), "add(int*)");
    cr_expect_str_eq(program_kernel_symbol(&table, other), "_Z3addPi.kd");
    cr_expect_str_eq(program_kernel_name(&table, 77), "?");
    program_set_object(&table, 0x4000, other);
    cr_expect_eq(program_kernel_of(&table, 0x4000), other);
    cr_expect_eq(program_kernel_of(&table, 0x5000), PROGRAM_KERNELS_MAX);
}
