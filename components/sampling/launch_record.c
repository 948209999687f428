/* Begins the record of a launch with its number and the way in which it is executed. */
#include "launch_record.h"

#include "components/statistics/kernel_stats.h"

#include "online_parts.h"
#include "sampling_options.h"

uint32_t launch_record_begin(const struct component *c, const struct program_table *program,
                             uint32_t kernel, const struct aql_packet *packet)
{
    uint32_t record = kernel_begin(c, program_kernel_name(program, kernel),
                                   program_kernel_symbol(program, kernel), packet->gpu);
    kernel_set_launch(record, aql_launch(packet),
                      online_parts_recording
                          ? "part"
                          : sampling_way_name(aql_memory_only(packet) ? SAMPLING_MEMORY_ONLY
                                                                      : SAMPLING_DETAILED));
    return record;
}
