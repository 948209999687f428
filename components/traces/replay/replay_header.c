/* What playing needs of the header of a recorded launch. */
#include "replay_internal.h"

#include <inttypes.h>
#include <string.h>

#include "components/protocols/command/aql_packet.h"
#include "components/traces/instruction_trace/reader/itrace_memory.h"

void replay_header_release(struct replay_header *header)
{
    for (size_t i = 0; i < header->range_count; i++)
        itrace_free(header->range[i].bytes);
    itrace_free(header->range);
    *header = (struct replay_header){0};
}

const struct replay_range *replay_header_code(const struct replay_header *header, uint64_t address)
{
    for (size_t i = 0; i < header->range_count; i++) {
        if (address - header->range[i].address < header->range[i].size)
            return &header->range[i];
    }
    return NULL;
}

/* Lines that follow each other become one range: an instruction may begin in one and end in the
 * next. */
static void take_code(struct replay_header *header, const struct itrace_header *from)
{
    header->range = itrace_allocate(from->code_count, sizeof *header->range);
    for (size_t i = 0, next; i < from->code_count; i = next) {
        uint64_t size = from->code[i].bytes;
        for (next = i + 1;
             next < from->code_count && from->code[next].address == from->code[i].address + size;
             next++)
            size += from->code[next].bytes;
        struct replay_range *range = &header->range[header->range_count++];
        *range = (struct replay_range){from->code[i].address, size, itrace_allocate(size, 1)};
        for (uint64_t at = 0; i < next; i++) {
            memcpy(range->bytes + at, from->code[i].data, from->code[i].bytes);
            at += from->code[i].bytes;
        }
    }
}

bool replay_header_take(struct replay_header *header, const struct itrace *trace,
                        char text[REPLAY_TEXT])
{
    const struct itrace_header *from = &trace->header;
    const char *lacks = itrace_header_lacks(from);
    *header = (struct replay_header){0};
    if (!itrace_header_is_amd(from) || isa_target_by_name(from->isa, &header->target) < 0) {
        replay_say(text, trace->path, "it is no trace of an AMD program ('-isa = ...' is missing)");
        return false;
    }
    if (lacks) {
        replay_say(text, trace->path, "the header has no '-%s = ...'", lacks);
        return false;
    }
    struct aql_packet packet;
    memcpy(&packet, from->packet, sizeof packet);
    memcpy(header->grid, from->grid, sizeof header->grid);
    header->memory_only = itrace_header_is_memory_only(from);
    header->entry = from->entry;
    header->base = from->code_base;
    header->layout = (struct replay_layout){.packet = from->packet_address,
                                            .ring = from->ring[0],
                                            .ring_bytes = from->ring[1],
                                            .pool = from->scratch[0],
                                            .pool_bytes = from->scratch[1]};
    if (!from->ring[1]) {
        header->layout.ring = from->packet_address;
        header->layout.ring_bytes = packet.kernarg + from->argument_bytes - from->packet_address;
    }
    take_code(header, from);
    if (replay_header_code(header, header->entry))
        return true;
    replay_say(text, trace->path, "the kernel begins at 0x%" PRIx64 ", where '-code' has nothing",
               header->entry);
    return false;
}
