#include "sector_messages.h"

#include <string.h>

static struct harness_message finish(uint64_t cycle, uint16_t tag, unsigned kind,
                                     const struct sector_mem_request *header)
{
    struct harness_message m = {.cycle = cycle, .tag = tag, .kind = (uint8_t)kind};
    memcpy(m.fields, header->fields, sizeof m.fields);
    return m;
}

struct harness_message sector_load(uint64_t cycle, uint16_t tag, uint64_t address, unsigned sectors,
                                   bool bypass)
{
    struct sector_mem_request r = {0};
    r.load.address = address;
    r.load.sectors = (uint8_t)sectors;
    r.load.bypass = bypass;
    return finish(cycle, tag, SECTOR_MEM_LOAD, &r);
}

struct harness_message sector_store(uint64_t cycle, uint16_t tag, uint64_t address,
                                    unsigned sectors, unsigned partial)
{
    struct sector_mem_request r = {0};
    r.store.address = address;
    r.store.sectors = (uint8_t)sectors;
    r.store.partial = (uint8_t)partial;
    return finish(cycle, tag, SECTOR_MEM_STORE, &r);
}

struct harness_message sector_atomic(uint64_t cycle, uint16_t tag, uint64_t address,
                                     unsigned sectors, uint32_t count)
{
    struct sector_mem_request r = {0};
    r.atomic.address = address;
    r.atomic.sectors = (uint8_t)sectors;
    r.atomic.count = count;
    return finish(cycle, tag, SECTOR_MEM_ATOMIC, &r);
}

struct harness_message sector_fill(uint64_t cycle, uint16_t tag, uint64_t address, unsigned sectors)
{
    struct sector_mem_request r = {0};
    r.fill.address = address;
    r.fill.sectors = (uint8_t)sectors;
    return finish(cycle, tag, SECTOR_MEM_FILL, &r);
}

static struct harness_message control(uint64_t cycle, unsigned kind,
                                      const struct sector_control_request *header)
{
    struct harness_message m = {.cycle = cycle, .kind = (uint8_t)kind};
    memcpy(m.fields, header->fields, sizeof m.fields);
    return m;
}

struct harness_message sector_flush(uint64_t cycle, bool invalidate)
{
    struct sector_control_request r = {0};
    r.flush.invalidate = invalidate;
    return control(cycle, SECTOR_CONTROL_FLUSH, &r);
}

struct harness_message sector_invalidate(uint64_t cycle)
{
    return control(cycle, SECTOR_CONTROL_INVALIDATE, &(struct sector_control_request){0});
}

struct harness_message sector_carve_message(uint64_t cycle, uint32_t shared)
{
    struct sector_control_request r = {0};
    r.carve.shared = shared;
    return control(cycle, SECTOR_CONTROL_CARVE, &r);
}

struct sector_mem_request sector_request(const struct harness_message *m)
{
    struct sector_mem_request r = {0};
    memcpy(r.fields, m->fields, sizeof r.fields);
    return r;
}

unsigned sector_request_sectors(const struct harness_message *m)
{
    struct sector_mem_request r = sector_request(m);
    switch (m->kind) {
    case SECTOR_MEM_LOAD:
        return r.load.sectors;
    case SECTOR_MEM_STORE:
        return r.store.sectors;
    case SECTOR_MEM_ATOMIC:
        return r.atomic.sectors;
    default:
        return r.fill.sectors;
    }
}

unsigned sector_reply_sectors(const struct harness_message *m)
{
    struct sector_mem_reply r = {0};
    memcpy(r.fields, m->fields, sizeof r.fields);
    return r.data.sectors;
}

void sector_answer(const struct harness_message *request, struct harness_message *reply)
{
    struct sector_mem_reply r = {0};
    bool data = request->kind == SECTOR_MEM_LOAD || request->kind == SECTOR_MEM_ATOMIC;
    r.data.sectors = data ? (uint8_t)sector_request_sectors(request) : 0;
    reply->kind = data ? SECTOR_MEM_DATA : SECTOR_MEM_DONE;
    memcpy(reply->fields, r.fields, sizeof reply->fields);
}
