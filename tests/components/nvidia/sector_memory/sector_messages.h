/* Messages of `sector_mem` and `sector_control` for the harness. */
#ifndef HEDDLE_TESTS_COMPONENTS_NVIDIA_SECTOR_MEMORY_SECTOR_MESSAGES_H
#define HEDDLE_TESTS_COMPONENTS_NVIDIA_SECTOR_MEMORY_SECTOR_MESSAGES_H

#include "sector_control.gen.h"
#include "sector_mem.gen.h"

#include "tests/components/harness.h"

struct harness_message sector_load(uint64_t cycle, uint16_t tag, uint64_t address, unsigned sectors,
                                   bool bypass);
struct harness_message sector_store(uint64_t cycle, uint16_t tag, uint64_t address,
                                    unsigned sectors, unsigned partial);
struct harness_message sector_atomic(uint64_t cycle, uint16_t tag, uint64_t address,
                                     unsigned sectors, uint32_t count);
struct harness_message sector_fill(uint64_t cycle, uint16_t tag, uint64_t address,
                                   unsigned sectors);
struct harness_message sector_flush(uint64_t cycle, bool invalidate);
struct harness_message sector_invalidate(uint64_t cycle);
struct harness_message sector_carve_message(uint64_t cycle, uint32_t shared);

/* Fields of a message that an end has logged. */
struct sector_mem_request sector_request(const struct harness_message *m);
unsigned sector_reply_sectors(const struct harness_message *m);
/* Of any request. */
unsigned sector_request_sectors(const struct harness_message *m);

/* A server below answers with the sectors that were asked for. */
harness_answer sector_answer;

#endif
