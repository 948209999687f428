/* Parameters of the part hbm for tests: the times of HBM of the first generation at 1 Gb/s a pin,
 * as std/dram has them, on one channel of four groups. Tests change what they are about. */
#ifndef HEDDLE_TESTS_COMPONENTS_MEMORY_HBM_TIMES_H
#define HEDDLE_TESTS_COMPONENTS_MEMORY_HBM_TIMES_H

#include "hbm.gen.h"

#define NS 1000 /* ps */

static inline struct hbm_params hbm_times(void)
{
    return (struct hbm_params){.channels = 1,
                               .groups = 4,
                               .banks = 2,
                               .row = 1024,
                               .interleave = 128,
                               .interleaved = 1,
                               .map = HBM_MAP_ROW_BANK_COLUMN_GROUP,
                               .run = 16,
                               .tck = 2 * NS,
                               .tburst = 4 * NS,
                               .burst = 64,
                               .trcd_read = 14 * NS,
                               .trcd_write = 12 * NS,
                               .tcl = 14 * NS,
                               .tcwl = 8 * NS,
                               .trp = 14 * NS,
                               .tras = 34 * NS,
                               .trc = 48 * NS,
                               .trtp = 14 * NS,
                               .twr = 16 * NS,
                               .tccd_s = 4 * NS,
                               .tccd_l = 6 * NS,
                               .twtr_s = 4 * NS,
                               .twtr_l = 8 * NS,
                               .trtw = 4 * NS,
                               .trrd_s = 8 * NS,
                               .trrd_l = 10 * NS,
                               .tfaw = 40 * NS,
                               .trfc = 110 * NS,
                               .trefi = 3900 * NS,
                               .controller = 20 * NS,
                               .read_queue = 32,
                               .write_queue = 32,
                               .drain = 24,
                               .resume = 8,
                               .hit_cap = 16};
}

#endif
