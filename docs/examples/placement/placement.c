/* Places pages on two GPUs without HIP, as docs/guide/placement.md tells: registered devices,
 * unified memory, remapped and removed pages, a page at a given address, and one address in two
 * processes. Prints what it finds; ends with "PASS placement". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/host/start/heddle_start.h"

static const struct driver_api *api;

static void must(enum driver_status status, const char *what)
{
    if (status == DRIVER_OK)
        return;
    printf("FAIL placement: %s: %s\n", what, api->error_text());
    exit(1);
}

static void expect(int holds, const char *what)
{
    if (holds)
        return;
    printf("FAIL placement: %s\n", what);
    exit(1);
}

static struct driver_page page_at(uint32_t device, uint64_t address)
{
    struct driver_page page;
    must(api->page_info(api->name(device, address), &page), "looking up a page");
    return page;
}

static void say(const char *what, uint32_t device, uint64_t address)
{
    struct driver_page page = page_at(device, address);
    uint32_t owner;
    must(api->device_at(page.physical, &owner), "asking whose page it is");
    expect(owner == page.device, "a page lies in its GPU's range");
    printf("%-28s 0x%" PRIx64 " -> 0x%09" PRIx64 ", GPU %u, process %u%s\n", what, address,
           page.physical, page.device, page.process, page.unified ? ", unified" : "");
}

/* Writes `word` on a device's own queue and reads it back. */
static void write_word(uint32_t queue, uint64_t address, uint32_t word)
{
    uint64_t ticket;
    must(api->fill(queue, address, &word, sizeof word, 1, &ticket), "writing");
    must(api->wait(ticket), "waiting");
}

static uint32_t read_word(uint32_t queue, uint64_t address)
{
    uint32_t word = 0;
    uint64_t ticket;
    must(api->read(queue, &word, address, sizeof word, &ticket), "reading");
    must(api->wait(ticket), "waiting");
    return word;
}

static void move_pages(uint64_t page)
{
    uint64_t at;
    must(api->allocate_unified(0, 4 * page, 0, &at), "allocating unified memory");
    say("unified", 0, at);
    must(api->remap(at + page, 2 * page, 1), "remapping");
    say("remapped", 0, at + page);
    expect(page_at(0, at).device == 0 && page_at(0, at + page).device == 1
               && page_at(0, at + 2 * page).device == 1 && page_at(0, at + 3 * page).device == 0,
           "two pages of four have moved");
    must(api->remove_page(at + 3 * page), "removing a page");
    must(api->allocate_page_at(1, at + 3 * page, true), "putting a page there");
    say("placed again", 0, at + 3 * page);
    expect(page_at(0, at + 3 * page).device == 1, "the new page is on the other GPU");
    must(api->release(at), "freeing");
}

static void share_an_address(uint64_t page)
{
    uint64_t at = HEDDLE_WINDOW + 1024 * page;
    uint32_t context, queue;
    must(api->allocate_at(0, at, page, false), "allocating at an address");
    must(api->context_create(1, 0, &context), "making a context");
    must(api->allocate_at(context, at, page, false), "allocating at the same address");
    must(api->queue_create(context, 0, &queue), "making a queue");
    say("first process", 0, at);
    say("second process", context, at);
    write_word(0, at, 1111);
    write_word(queue, at, 2222);
    expect(read_word(0, at) == 1111 && read_word(queue, at) == 2222, "each process has its own");
    must(api->release(at), "freeing the first");
    expect(read_word(queue, at) == 2222, "the second stays");
    must(api->release(api->name(context, at)), "freeing the second");
    must(api->context_destroy(context), "ending the context");
}

int main(void)
{
    struct driver_device_info info;
    if (!(api = heddle_start()))
        return 1;
    expect(api->device_count() >= 2, "the platform has two GPUs");
    for (uint32_t i = 0; i < api->device_count(); i++) {
        must(api->device_info(i, &info), "asking for a device");
        printf("device %u: %s, %" PRIu64 " bytes\n", i, info.name, info.memory_bytes);
    }
    move_pages(info.page_bytes);
    share_an_address(info.page_bytes);
    printf("PASS placement\n");
    return 0;
}
