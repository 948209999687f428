/* Maps pages at start-up and does nothing else. Physical pages are handed out backwards, so that an
 * address that was not translated is not right by chance. */
#include "components/protocols/page_table/page_table.h"

#include "host_os.gen.h"
#include "runtime/engine/bug.h"

enum { PAGE_BITS = 12 };

struct host_os {
    struct host_os_io io;
};

static void map(struct host_os *c, uint64_t address, uint64_t physical)
{
    if (!page_table_map(host_os_page_table(c), (uint32_t)host_os_params(c)->pid, address, physical,
                        PAGE_TABLE_WRITABLE))
        die("host_os: the page at 0x%llx cannot be mapped", (unsigned long long)address);
}

static void host_os_init(struct host_os *c)
{
    uint64_t page = (uint64_t)1 << PAGE_BITS, pages = (uint64_t)host_os_params(c)->size / page;
    page_table_init(host_os_page_table(c), PAGE_BITS, pages + 1);
    for (uint64_t i = 0; i < pages; i++)
        map(c, (uint64_t)host_os_params(c)->virtual + i * page,
            (uint64_t)host_os_params(c)->physical + (pages - 1 - i) * page);
    map(c, (uint64_t)host_os_params(c)->device_virtual,
        (uint64_t)host_os_params(c)->device_physical);
}

static bool host_os_tick(struct host_os *c)
{
    (void)c;
    return false;
}

static unsigned host_os_outstanding(const struct host_os *c, struct hang_report *report)
{
    (void)c;
    (void)report;
    return 0;
}
