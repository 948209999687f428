/* Arguments that a kernel finds in registers: read from memory while the kernel starts.
 *
 * The dispatcher holds back its work-groups until all are there (preload_is_done). What lies on one
 * page is one read of the DMA engine, whose tag is PRELOAD_TAG plus the dispatcher's number; tags
 * of the components that send commands to the command processor are below it. */
#include "command_processor.gen.h"

#include <string.h>

#include "base/number.h"
#include "components/amd/isa/kernel_registers.h"
#include "components/protocols/command/aql_preload.h"

#include "command_processor_state.h"
#include "dispatcher.h"

enum { PRELOAD_TAG = 0xc000 };

static void preload_begin(const struct command_processor *c, struct dispatcher *d,
                          const struct aql_descriptor *descriptor)
{
    const struct kernel_words words = kernel_words_read(descriptor);
    struct kernel_registers k;
    kernel_registers_decode(&k, isa_traits[command_processor_params(c)->isa].registers, &words);
    d->descriptor = *descriptor;
    d->preload_missing = (uint8_t)min(k.preload, WORK_PRELOADED_MAX);
    d->preload_loaded = 0;
    d->preload_requested = 0;
}

static bool preload_is_done(const struct dispatcher *d)
{
    return !d->preload_missing;
}

/* True when something happened. */
static bool preload_step(struct command_processor *c, uint32_t number)
{
    struct dispatcher *d = command_processor_dispatcher(c, number);
    uint64_t address;
    if (!d->preload_missing || d->preload_requested || !command_processor_dma_can_send(c))
        return false;
    d->preload_requested =
        (uint8_t)aql_preload_part(&d->descriptor, d->preload_loaded, d->preload_missing, &address);
    command_processor_dma_send_read(c, (uint16_t)(PRELOAD_TAG | number), address,
                                    d->preload_requested * 4u);
    return true;
}

/* Takes the answer at the head of the DMA engine's port, if it is the answer to a preload. */
static bool preload_receive(struct command_processor *c, const struct command_reply *m)
{
    if (m->tag < PRELOAD_TAG)
        return false;
    struct dispatcher *d = command_processor_dispatcher(c, m->tag & ~(uint32_t)PRELOAD_TAG);
    memcpy(d->common.preloaded + d->preload_loaded,
           command_data_data(command_processor_dma_reply_payload(c)), d->preload_requested * 4u);
    d->preload_loaded = (uint8_t)(d->preload_loaded + d->preload_requested);
    d->preload_missing = (uint8_t)(d->preload_missing - d->preload_requested);
    d->preload_requested = 0;
    command_processor_dma_pop_reply(c);
    return true;
}
