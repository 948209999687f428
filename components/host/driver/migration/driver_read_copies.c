/* Copies of managed pages for reading (page_copies.h): what a request is about, and how copies
 * come and go.
 *
 * A page with copies is read-only for all. The first copy is made in a pause, since GPUs that may
 * write must learn that they may not; further ones need none. A write, of a kernel or of the host,
 * lets all copies go, in a pause, too; the page then lies where its writer had a copy, if it had
 * one. Afterwards it gets no copies for `copy_interval`: otherwise GPUs that read and write it in
 * turn could spend all of their time with its copies. The host reads the page itself, so its copies
 * stay.
 *
 * Copies are not kept in functional mode, which knows the page only. */
#include <inttypes.h>

#include "components/host/driver/driver_state.h"
#include "runtime/engine/store_log.h"

#include "driver_migration.h"

static struct driver_page_request *migrate_first(const struct driver *d)
{
    return arena_at(struct driver_page_request, d->migrate.requests)
           + d->migrate.first % DRIVER_PAGE_REQUESTS;
}

static struct driver_page_request *migrate_at(const struct driver *d, uint32_t i)
{
    return arena_at(struct driver_page_request, d->migrate.requests)
           + (d->migrate.first + i) % DRIVER_PAGE_REQUESTS;
}

static void migrate_add(struct driver *d, const struct driver_page_request *r)
{
    *migrate_at(d, d->migrate.count++) = *r;
}

static void migrate_add_first(struct driver *d, const struct driver_page_request *r)
{
    d->migrate.first = (d->migrate.first + DRIVER_PAGE_REQUESTS - 1) % DRIVER_PAGE_REQUESTS;
    d->migrate.count++;
    *migrate_first(d) = *r;
}

static bool migrate_find(const struct driver *d, const struct driver_page_request *r,
                         uint64_t *physical, uint64_t *flags)
{
    return page_table_look_up(driver_page_table(d), r->pid, r->address, physical, flags)
           && (*flags & PAGE_TABLE_UNIFIED);
}

static struct driver_written *copies_written(const struct driver *d,
                                             const struct driver_page_request *r)
{
    uint64_t page = r->address / driver_page_bytes(d);
    return arena_at(struct driver_written, d->migrate.written) + (page ^ r->pid) % DRIVER_WRITTEN;
}

/* True if the page has lost its copies to a write a short while ago. */
static bool copies_unwanted(const struct driver *d, const struct driver_page_request *r)
{
    const struct driver_written *w = copies_written(d, r);
    return w->page == r->address / driver_page_bytes(d) && w->pid == r->pid
           && w->until > driver_now(d);
}

static enum migrate_work migrate_work_of(const struct driver *d,
                                         const struct driver_page_request *r)
{
    uint64_t physical, flags;
    if (!migrate_find(d, r, &physical, &flags))
        return MIGRATE_WORK_NONE;
    bool copied = flags & PAGE_TABLE_COPIED,
         here = memory_device_of(&d->memory, physical) == r->gpu;
    const struct page_copies *copies = &driver_page_table(d)->copies;
    if (r->wish == PAGE_WISH_WRITE)
        return copied ? MIGRATE_WORK_WRITE : MIGRATE_WORK_NONE;
    if (here || page_copies_find(copies, physical, r->gpu))
        return MIGRATE_WORK_PLACE;
    if (r->wish == PAGE_WISH_MOVE || r->wish == PAGE_WISH_FETCH)
        return copied ? MIGRATE_WORK_WRITE : MIGRATE_WORK_MOVE;
    if (copies_unwanted(d, r) || page_copies_count(copies) == PAGE_COPIES_MAX)
        return flags & PAGE_TABLE_READ_MOSTLY ? MIGRATE_WORK_MOVE : MIGRATE_WORK_NONE;
    return copied ? MIGRATE_WORK_COPY_MORE : MIGRATE_WORK_COPY;
}

static void copies_enter(struct driver *d, const struct driver_page_request *r, uint64_t physical,
                         uint64_t flags)
{
    struct page_table *table = driver_page_table(d);
    if (!page_copies_add(&table->copies, physical, r->gpu, d->migrate.to))
        bug("driver: more copies than there can be");
    page_table_enter(table, r->pid, r->address, physical,
                     flags | PAGE_TABLE_COPIED | PAGE_TABLE_PLACED);
    d->io.stats.copies_made++;
}

static void copies_leave(struct driver *d, const struct driver_page_request *r, uint64_t physical,
                         uint64_t flags)
{
    struct page_table *table = driver_page_table(d);
    struct page_copy copy;
    uint64_t shown = physical;
    while (page_copies_remove(&table->copies, physical, &copy)) {
        uint64_t left = copy.physical;
        d->io.stats.copies_dropped++;
        if (copy.gpu == r->gpu) {
            left = physical;
            shown = copy.physical;
        }
        if (!memory_give_page(&d->memory, left))
            bug("driver: page 0x%" PRIx64 " is given back twice", left);
    }
    page_table_enter(table, r->pid, r->address, shown,
                     (flags & ~PAGE_TABLE_COPIED) | PAGE_TABLE_PLACED);
    driver_program(d)->version++; /* readers may have kept where it is */
    store_wrote(&driver_program(d)->version, sizeof driver_program(d)->version);
    d->io.stats.copies_written++;
    *copies_written(d, r) =
        (struct driver_written){.page = r->address / driver_page_bytes(d),
                                .pid = r->pid,
                                .until = driver_now(d) + driver_params(d)->copy_interval};
}

/* ---- the host writes ---- */

static bool copies_asked(const struct driver *d, const struct driver_page_request *r)
{
    for (uint32_t i = 0; i < d->migrate.count; i++) {
        const struct driver_page_request *other = migrate_at(d, i);
        if (other->port == DRIVER_NONE && other->address == r->address && other->pid == r->pid)
            return true;
    }
    return false;
}

static bool copies_awaited(struct driver *d, const struct driver_command *k, bool *requests)
{
    uint64_t page = driver_page_bytes(d), physical, flags;
    bool awaited = false;
    if (!page_copies_count(&driver_page_table(d)->copies)
        || (k->kind != DRIVER_WRITE && k->kind != DRIVER_FILL && k->kind != DRIVER_COPY))
        return false;
    uint32_t pid = program_find(driver_program(d), k->move.address)->pid;
    for (uint64_t at = k->move.address / page * page; at < k->move.address + k->size; at += page) {
        struct driver_page_request r = {
            .address = at, .pid = pid, .port = DRIVER_NONE, .wish = PAGE_WISH_WRITE};
        if (!migrate_find(d, &r, &physical, &flags) || !(flags & PAGE_TABLE_COPIED))
            continue;
        awaited = true;
        r.gpu = memory_device_of(&d->memory, physical);
        if (d->migrate.count < DRIVER_PAGE_REQUESTS / 2 && !copies_asked(d, &r)) {
            migrate_add(d, &r);
            *requests = true;
        }
    }
    return awaited;
}
