/* The timing rules of JESD235, stated as one thinks of them and checked by looking back: no
 * scheduler, no earliest edges. Feed the commands of one channel in order of time. */
#ifndef HEDDLE_TESTS_COMPONENTS_MEMORY_DRAM_RULES_H
#define HEDDLE_TESTS_COMPONENTS_MEMORY_DRAM_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* PREB and REFB: precharge and refresh of one bank in its turn. */
enum rules_kind {
    RULES_ACT,
    RULES_PRE,
    RULES_PREA,
    RULES_RD,
    RULES_WR,
    RULES_REF,
    RULES_PREB,
    RULES_REFB
};

struct rules_command {
    enum rules_kind kind;
    uint32_t bank;
    uint64_t row;
    uint64_t edge;
};

/* In clocks of the memory. */
struct rules_times {
    uint64_t burst, rcd_read, rcd_write, cl, cwl, rp, ras, rc, rtp, wr, ccd_s, ccd_l, wtr_s, wtr_l,
        rtw, rrd_s, rrd_l, faw, rfc, refi;
    uint32_t banks, banks_of_group;
};

/* NULL: all is well. Otherwise the name of the first rule that is broken; *which is the command. */
const char *rules_check(const struct rules_times *t, const struct rules_command *commands,
                        uint32_t count, uint32_t *which);

#endif
