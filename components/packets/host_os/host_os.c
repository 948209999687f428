/* Maps the pages for packets at start-up, and the page of the device's registers when it is asked
 * to. One system call at a time. Physical pages are handed out backwards, so that an address that
 * was not translated is not right by chance. */
#include "host_os.gen.h"

#include "components/memory/page_table/page_table.h"

#define UNIT_COLD
#include "runtime/engine/bug.h"
#include "runtime/engine/component_failure.h"
#include "runtime/observe/hang.h"

enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS };

enum os_phase { OS_IDLE, OS_WORKING, OS_SHOOTING, OS_RETURNING };

struct host_os {
    struct host_os_io io;
    uint32_t phase; /* enum os_phase of the oldest system call */
    uint64_t due;   /* cycle */
};

static void map_page(struct host_os *c, uint64_t address, uint64_t physical)
{
    const struct page_table *table = host_os_page_table(c);
    uint64_t now;
    bool writable;
    if (page_table_find(table, host_os_params(c)->pid, address, &now, &writable))
        bug("host_os: the page at 0x%llx is mapped already", (unsigned long long)address);
    if (!page_table_map(host_os_page_table(c), host_os_params(c)->pid, address, physical, true))
        engine_die(&c->io.base,
                   "virtual address 0x%llx has more than the 48 bits of a page table: lower the "
                   "setting virtual or device_virtual",
                   (unsigned long long)address);
}

static void host_os_init(struct host_os *c)
{
    uint64_t pages = host_os_params(c)->size / PAGE_BYTES;
    page_table_init(host_os_page_table(c), PAGE_BITS, pages + 1);
    for (uint64_t i = 0; i < pages; i++)
        map_page(c, host_os_params(c)->virtual + i * PAGE_BYTES,
                 host_os_params(c)->physical + (pages - 1 - i) * PAGE_BYTES);
}

static bool is_map(const struct host_system_request *m)
{
    return message_kind(m) == HOST_SYSTEM_MAP;
}

static bool begin_call(struct host_os *c, const struct host_system_request *m)
{
    if (m->map.address != host_os_params(c)->device_virtual || m->map.pid != host_os_params(c)->pid)
        bug("host_os: 0x%llx is not the page of the registers", (unsigned long long)m->map.address);
    c->due = host_os_now(c)
             + (uint64_t)(is_map(m) ? host_os_params(c)->map_time : host_os_params(c)->unmap_time);
    c->phase = OS_WORKING;
    return true;
}

/* The page table changes; a TLB may still know a page that was unmapped. */
static bool work(struct host_os *c, const struct host_system_request *m)
{
    uint64_t address = m->map.address;
    if (host_os_now(c) < c->due) {
        host_os_wake_at(c, c->due);
        return false;
    }
    if (is_map(m)) {
        map_page(c, address, host_os_params(c)->device_physical);
        c->io.stats.maps++;
        c->phase = OS_RETURNING;
        return true;
    }
    if (!host_os_mmu_can_send(c))
        return false;
    page_table_unmap(host_os_page_table(c), m->unmap.pid, address);
    host_os_mmu_send_forget(c, 0, address, PAGE_BYTES, m->unmap.pid);
    c->io.stats.unmaps++;
    c->phase = OS_SHOOTING;
    return true;
}

static bool host_os_tick(struct host_os *c)
{
    const struct host_system_request *m = host_os_core_peek(c);
    if (!m)
        return false;
    switch ((enum os_phase)c->phase) {
    case OS_IDLE:
        return begin_call(c, m);
    case OS_WORKING:
        return work(c, m);
    case OS_SHOOTING:
        if (!host_os_mmu_peek_reply(c))
            return false;
        host_os_mmu_pop_reply(c);
        c->phase = OS_RETURNING;
        return true;
    case OS_RETURNING:
        if (!host_os_core_can_reply(c))
            return false;
        host_os_core_reply_done(c, m->tag);
        host_os_core_pop(c);
        c->phase = OS_IDLE;
        return true;
    }
    return false;
}

static unsigned host_os_outstanding(const struct host_os *c, struct hang_report *report)
{
    if (c->phase != OS_IDLE && report)
        hang_note(report, "a system call is under way");
    return c->phase != OS_IDLE;
}
