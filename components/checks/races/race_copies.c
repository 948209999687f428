/* Turns each copy or fill into events of a wavefront of its own, and names its call in reports. */
#include "race_copies.h"

#include <string.h>

#include "base/grow.h"
#include "base/number.h"

#include "command_order.h"
#include "race_report.h"

enum { EVENT_BYTES_MAX = 1 << 30 };

static struct finding_place *calls; /* different ones, by site; the first means none */
static size_t call_count = 1, call_capacity;
static uint32_t *sites; /* by ticket; 0: not looked at */
static size_t site_capacity;

static uint64_t pc_of(const struct check_identity *identity, uint32_t site)
{
    (void)identity;
    return calls[site].pc;
}

static void describe_call(const struct check_identity *identity, uint32_t site,
                          struct finding_place *place)
{
    (void)identity;
    *place = calls[site];
}

static const struct check_executor copies = {.pc = pc_of, .describe = describe_call};

void check_copy_called(uint64_t ticket, const struct finding_place *call)
{
    uint32_t site = 1;
    while (site < call_count
           && (calls[site].pc != call->pc || strcmp(calls[site].text, call->text) != 0))
        site++;
    grow_slots(calls, site, call_capacity, "checks");
    grow_slots(sites, ticket, site_capacity, "checks");
    calls[site] = *call;
    call_count += site == call_count;
    sites[ticket] = site;
}

static void touch(const struct race_wave *w, uint32_t site, uint64_t address, uint64_t bytes,
                  enum race_use use)
{
    for (uint64_t at = 0; address && at < bytes; at += EVENT_BYTES_MAX) {
        struct race_event e = {.memory = &race_device_memory,
                               .wave = w,
                               .address = address + at,
                               .bytes = (uint32_t)min(bytes - at, EVENT_BYTES_MAX),
                               .use = use,
                               .site = race_site(site, FINDING_LANE_NONE),
                               .order = &(struct race_order){.id = {0}},
                               .report = race_report};
        race_touch(&e);
    }
}

void check_copy_done(uint64_t ticket, uint32_t pid, uint64_t to, uint64_t from, uint64_t bytes,
                     const struct program_table *program)
{
    uint32_t site = ticket < site_capacity ? sites[ticket] : 0;
    const struct check_identity identity = {.executor = &copies, .program = program, .pid = pid};
    struct race_wave w;
    if (!site)
        return;
    race_wave_begin(&w, race_group(check_command_number(ticket), &identity), 0);
    touch(&w, site, from ? race_process_base(pid) + from : 0, bytes, RACE_READ);
    touch(&w, site, to ? race_process_base(pid) + to : 0, bytes, RACE_WRITE);
    race_wave_end(&w);
}
