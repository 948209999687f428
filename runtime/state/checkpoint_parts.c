/* Keeps the list of libraries that add a part of their own to a state, and writes and reads these
 * parts. checkpoint_internal.h has the interface. */
#include <string.h>

#include "base/number.h"
#include "runtime/engine/bug.h"

#include "checkpoint_internal.h"

enum { PARTS_MAX = 8 };

static const struct checkpoint_part *parts[PARTS_MAX];
static uint64_t sizes[PARTS_MAX];
static unsigned part_count;

static bool (*over_tests[PARTS_MAX])(void);
static unsigned over_test_count;

void checkpoint_wait_for(bool (*is_over)(void))
{
    for (unsigned i = 0; i < over_test_count; i++)
        if (over_tests[i] == is_over)
            return;
    if (over_test_count == PARTS_MAX)
        bug("too many units keep states from being written");
    over_tests[over_test_count++] = is_over;
}

bool parts_are_over(void)
{
    for (unsigned i = 0; i < over_test_count; i++)
        if (!over_tests[i]())
            return false;
    return true;
}

void checkpoint_register(const struct checkpoint_part *part)
{
    for (unsigned i = 0; i < part_count; i++)
        if (parts[i] == part)
            return;
    if (part_count == PARTS_MAX || strlen(part->name) >= CHECKPOINT_PART_NAME)
        bug("part '%s' of states cannot be registered", part->name);
    parts[part_count++] = part;
}

/* ---- writing ---- */

void parts_detach(void)
{
    for (unsigned i = 0; i < part_count; i++)
        if (parts[i]->detach)
            parts[i]->detach();
}

void parts_reattach(void)
{
    for (unsigned i = part_count; i-- > 0;)
        if (parts[i]->reattach)
            parts[i]->reattach();
}

void checkpoint_put(struct checkpoint_sink *to, const void *bytes, uint64_t size)
{
    const char *from = bytes;
    while (to->rest_bytes && size) {
        to->rest[to->rest_bytes++] = *from++;
        size--;
        if (to->rest_bytes == sizeof to->rest) {
            to->rest_bytes = 0;
            to->put(to, to->rest, sizeof to->rest);
        }
    }
    uint64_t whole = size / sizeof to->rest * sizeof to->rest;
    if (whole)
        to->put(to, from, whole);
    if (size - whole)
        memcpy(to->rest, from + whole, size - whole);
    to->rest_bytes += (uint32_t)(size - whole);
}

static void fill_up(struct checkpoint_sink *to)
{
    static const char zeros[sizeof to->rest];
    if (to->rest_bytes)
        checkpoint_put(to, zeros, sizeof to->rest - to->rest_bytes);
}

static uint64_t padded(uint64_t size)
{
    return round_up(size, 8);
}

uint64_t parts_measure(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < part_count; i++) {
        sizes[i] = parts[i]->size();
        sum += sizeof(struct checkpoint_part_header) + padded(sizes[i]);
    }
    return sum;
}

void parts_write(struct checkpoint_sink *to)
{
    for (unsigned i = 0; i < part_count; i++) {
        struct checkpoint_part_header header = {.bytes = sizes[i]};
        memcpy(header.name, parts[i]->name, strlen(parts[i]->name));
        checkpoint_put(to, &header, sizeof header);
        parts[i]->save(to);
        fill_up(to);
    }
}

/* ---- reading ---- */

const void *parts_find(const char *bytes, uint64_t size, const char *name, uint64_t *found)
{
    const struct checkpoint_part_header *header;
    for (const char *at = bytes; at < bytes + size; at += sizeof *header + padded(header->bytes)) {
        header = (const void *)at;
        *found = header->bytes;
        if (strcmp(header->name, name) == 0)
            return header + 1;
    }
    return NULL;
}

bool parts_load(const char *bytes, uint64_t size)
{
    for (unsigned i = 0; i < part_count; i++) {
        uint64_t found;
        const void *part = parts_find(bytes, size, parts[i]->name, &found);
        if (part && !parts[i]->load(part, found))
            return false;
    }
    return true;
}
