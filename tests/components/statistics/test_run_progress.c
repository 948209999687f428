/* How far a run has come: kernels and work-groups, in the words of the progress line. */
#include <criterion/criterion.h>

#include "components/statistics/run_progress.h"

Test(run_progress, counts_begin_anew_with_each_run)
{
    struct run_counts counts;
    for (int run = 0; run < 2; run++) {
        progress_open();
        progress_add_kernel(100);
        progress_add_kernel(20);
        progress_begin_kernel();
        progress_end_work_groups(5);
        progress_end_work_groups(1);
        progress_read(&counts);
        cr_expect_eq(counts.launches, 2);
        cr_expect_eq(counts.begun, 1);
        cr_expect_eq(counts.parts, 120);
        cr_expect_eq(counts.done, 6);
        cr_expect_str_eq(counts.launch_word, "kernel");
        cr_expect_str_eq(counts.parts_word, "work-groups");
    }
}
