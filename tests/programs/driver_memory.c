/* The driver's memory calls, without HIP: what they promise about contents, about which GPU has a
 * page, and about misuse. Needs two GPUs. Run by `heddle run` like any program; prints `PASS
 * driver_memory`, or `FAIL` and why. */
#define PROGRAM "driver_memory"
#include "driver_program.h"

enum { PAGES = 6, WINDOW_PAGES = 4096 };

static uint64_t page, window = (uint64_t)1 << 40;
static unsigned char *source, *target;

static void open_platform(void)
{
    struct driver_device_info info;
    start_platform();
    MUST(api->device_info(0, &info));
    page = info.page_bytes;
    MUST(api->set_window(window, WINDOW_PAGES * page));
    source = malloc(PAGES * page);
    target = malloc(PAGES * page);
    CHECK(source && target && api->device_count() >= 2);
    for (size_t i = 0; i < PAGES * page; i++)
        source[i] = (unsigned char)(i * 7 + i / page * 31);
}

static uint64_t allocate(uint32_t device, uint64_t pages)
{
    uint64_t address = 0;
    MUST(api->allocate(device, pages * page, 0, &address));
    CHECK(address % page == 0 && address >= window
          && address + pages * page <= window + WINDOW_PAGES * page);
    return address;
}

static void write_all(uint64_t address, uint64_t pages)
{
    uint64_t ticket;
    MUST(api->write(0, address, source, pages * page, &ticket));
    MUST(api->wait(ticket));
}

/* Do `pages` pages from `address` on hold what write_all() wrote? */
static bool is_there(uint64_t address, uint64_t pages)
{
    uint64_t ticket;
    memset(target, 1, pages * page);
    MUST(api->read(0, target, address, pages * page, &ticket));
    MUST(api->wait(ticket));
    return !memcmp(source, target, pages * page);
}

static uint32_t owner(uint64_t address)
{
    struct driver_page info;
    MUST(api->page_info(address, &info));
    return info.device;
}

/* Pages move one by one; others keep what they hold; only the table changes, so what was in a moved
 * page is lost, and comes back from the new one. Copies find each page where it is. */
static void remaps(void)
{
    uint64_t a = allocate(0, PAGES), b = allocate(1, PAGES), c = allocate(1, PAGES), ticket;
    struct driver_page before, after;
    MUST(api->fill(0, c, &(unsigned char){0}, 1, PAGES * page,
                   &ticket)); /* what free pages of GPU 1 hold */
    MUST(api->wait(ticket));
    MUST(api->release(c));
    write_all(a, PAGES);
    MUST(api->page_info(a + 2 * page, &before));
    MUST(api->remap(a + 2 * page + 5, page, 1)); /* touches two pages */
    MUST(api->page_info(a + 2 * page, &after));
    CHECK(before.device == 0 && after.device == 1 && before.physical != after.physical
          && after.process == before.process);
    for (uint32_t i = 0; i < PAGES; i++)
        CHECK(owner(a + i * page) == (i == 2 || i == 3));
    CHECK(is_there(a, 2) && !is_there(a, 3));
    write_all(a, PAGES);
    CHECK(is_there(a, PAGES));
    MUST(api->copy(0, b, a, PAGES * page, &ticket)); /* from both GPUs to one */
    MUST(api->wait(ticket));
    CHECK(is_there(b, PAGES));
    CHECK(api->remap(a, PAGES * page + 1, 1) == DRIVER_INVALID_ADDRESS
          && api->remap(a, 0, 1) == DRIVER_INVALID_ADDRESS);
    CHECK(api->remap(a, 1, 1000) == DRIVER_INVALID_DEVICE);
    MUST(api->release(a));
    MUST(api->release(b));
    CHECK(api->remap(a, 1, 1) == DRIVER_INVALID_ADDRESS
          && api->release(a) == DRIVER_INVALID_ADDRESS);
}

/* A page that was removed is free memory; copies that touch it are refused; another one can take
 * its place. */
static void pages_go_and_come(void)
{
    uint64_t before, after, total, ticket, a = allocate(0, PAGES);
    struct driver_page info;
    write_all(a, PAGES);
    MUST(api->memory_info(0, &before, &total));
    MUST(api->remove_page(a + page + 9));
    MUST(api->memory_info(0, &after, &total));
    CHECK(after == before + page && api->page_info(a + page, &info) == DRIVER_INVALID_ADDRESS);
    CHECK(api->remove_page(a + page) == DRIVER_INVALID_ADDRESS);
    CHECK(api->read(0, target, a, PAGES * page, &ticket) == DRIVER_INVALID_ADDRESS);
    CHECK(api->write(0, a + page, source, 1, &ticket) == DRIVER_INVALID_ADDRESS && is_there(a, 1));
    MUST(api->allocate_page_at(1, a + page, true));
    MUST(api->page_info(a + page, &info));
    CHECK(info.device == 1 && info.unified);
    write_all(a, PAGES);
    CHECK(is_there(a, PAGES));
    MUST(api->allocate_page_at(0, a + page, false)); /* in place of the one that is there */
    CHECK(owner(a + page) == 0);
    uint64_t far = window + (WINDOW_PAGES - 1) * page; /* an address that nobody has */
    MUST(api->allocate_page_at(1, far, false));
    write_all(far, 1);
    CHECK(is_there(far, 1) && owner(far) == 1);
    CHECK(api->allocate_page_at(1, window + WINDOW_PAGES * page, false) == DRIVER_INVALID_ADDRESS);
    CHECK(api->allocate_page_at(1000, far, false) == DRIVER_INVALID_DEVICE);
    MUST(api->release(far));
    MUST(api->release(a));
}

/* Devices of one process share it; it ends with the last of them. */
static void processes_end(void)
{
    uint32_t first, second, queue;
    uint64_t before, after, total, ticket;
    struct driver_page info;
    MUST(api->memory_info(1, &before, &total));
    MUST(api->context_create(0, 0, &first));
    MUST(api->context_create(1, first, &second));
    uint64_t a = allocate(first, 2), b = allocate(second, 3), own = allocate(0, 1);
    MUST(api->page_info(a, &info));
    uint32_t process = info.process;
    MUST(api->page_info(b, &info));
    CHECK(info.process == process && info.device == 1);
    MUST(api->page_info(own, &info));
    CHECK(info.process != process);
    /* A process may have a page where another one has its own. */
    struct driver_page mine;
    MUST(api->allocate_page_at(0, a, false));
    MUST(api->page_info(api->name(0, a), &mine));
    MUST(api->page_info(a, &info));
    CHECK(mine.process != info.process && mine.physical != info.physical);
    MUST(api->release(api->name(0, a)));
    CHECK(api->name(0, a) == a);
    MUST(api->queue_create(first, 0, &queue));
    MUST(api->context_destroy(first));
    CHECK(is_there(b, 3) && api->write(queue, b, source, 1, &ticket) == DRIVER_INVALID_VALUE);
    CHECK(api->context_destroy(first) == DRIVER_INVALID_DEVICE);
    MUST(api->context_destroy(second));
    MUST(api->memory_info(1, &after, &total));
    CHECK(before == after && api->write(0, b, source, 1, &ticket) == DRIVER_INVALID_ADDRESS);
    CHECK(api->page_info(a, &info) == DRIVER_INVALID_ADDRESS);
    CHECK(api->context_destroy(0) == DRIVER_INVALID_VALUE);
    CHECK(api->context_create(second, 0, &first) == DRIVER_INVALID_DEVICE);
    MUST(api->release(own));
}

/* More memory goes through the window than it has addresses: they come round, and never two at a
 * time. */
static void addresses_come_round(void)
{
    uint64_t held = allocate(0, 1), first = allocate(0, WINDOW_PAGES / 4), again = 0, address,
             rounds = 0;
    write_all(held, 1);
    MUST(api->release(first));
    while (again != first && rounds++ < 100) {
        again = allocate(rounds % 2, WINDOW_PAGES / 4);
        CHECK(held < again || held >= again + WINDOW_PAGES / 4 * page);
        write_all(again, PAGES);
        CHECK(is_there(again, PAGES));
        MUST(api->release(again));
    }
    CHECK(again == first && rounds > 1 && is_there(held, 1));
    CHECK(api->allocate(0, WINDOW_PAGES * page, 0, &address) == DRIVER_OUT_OF_MEMORY);
    CHECK(api->allocate(0, page, 3, &address) == DRIVER_INVALID_VALUE
          && api->allocate(0, 0, 0, &address) == DRIVER_INVALID_VALUE);
    CHECK(api->allocate(1000, page, 0, &address) == DRIVER_INVALID_DEVICE);
    MUST(api->release(held));
}

int main(void)
{
    open_platform();
    remaps();
    pages_go_and_come();
    processes_end();
    addresses_come_round();
    remaps();
    finish_platform();
    printf("PASS driver_memory\n");
    return 0;
}
