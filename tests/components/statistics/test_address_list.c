/* The table of lines that each launch accesses. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "components/statistics/address_list.h"
#include "tests/runtime/stats_file.h"

TestSuite(address_list, .init = stats_file_begin, .fini = stats_file_end);

Test(address_list, has_a_row_for_each_launch_line_and_way_of_access)
{
    cr_assert(address_list_open(stats_file_path));
    cr_assert(address_list_is_wanted());
    address_list_launch(1);
    address_list_add(0x200000000040, ADDRESS_READ);
    address_list_add(0x80, ADDRESS_READ | ADDRESS_WRITTEN);
    address_list_launch(12);
    address_list_add(0x80, ADDRESS_WRITTEN);
    cr_assert(address_list_close());
    cr_assert_not(address_list_is_wanted());
    char *text = stats_file_text();
    cr_assert_str_eq(text, "launch,address,access\n"
                           "1,0x200000000040,read\n"
                           "1,0x80,read\n"
                           "1,0x80,write\n"
                           "12,0x80,write\n");
    free(text);
}

Test(address_list, is_not_there_before_it_is_complete)
{
    cr_assert(address_list_open(stats_file_path));
    address_list_add(0x80, ADDRESS_READ);
    cr_assert_neq(access(stats_file_path, F_OK), 0);
    cr_assert(address_list_close());
    cr_assert_eq(access(stats_file_path, F_OK), 0);
}

Test(address_list, no_path_means_no_list)
{
    cr_assert(address_list_open(NULL));
    cr_assert_not(address_list_is_wanted());
    cr_assert(address_list_close());
}

Test(address_list, path_that_cannot_be_written_is_refused)
{
    freopen("/dev/null", "w", stderr);
    cr_assert_not(address_list_open("/nowhere/at/all.csv"));
    cr_assert_not(address_list_is_wanted());
}
