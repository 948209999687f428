/* The record of a launch in the statistics, for units that take launches from the driver. */
#ifndef HEDDLE_COMPONENTS_SAMPLING_LAUNCH_RECORD_H
#define HEDDLE_COMPONENTS_SAMPLING_LAUNCH_RECORD_H

#include <stdint.h>

#include "components/memory/page_table/program_table.h"
#include "components/protocols/command/aql_packet.h"
#include "runtime/engine/unit.h"

/* Begins the record of `kernel`, which the packet launches: its names, its GPU, its number, and how
 * it is simulated. Returns its handle. */
uint32_t launch_record_begin(const struct component *c, const struct program_table *program,
                             uint32_t kernel, const struct aql_packet *packet);

#endif
