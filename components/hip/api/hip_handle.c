/* Keeps living handles in a table in the order of their numbers, which is the order of creation. */
#include "hip_handle.h"

#include "base/grow.h"

#include "hip_findings.h"

#define FIRST_HANDLE 0x4e00000000000000u

enum { HANDLE_STEP = 16 };

static struct {
    struct entry {
        uint64_t handle;
        enum hip_handle_kind kind;
        void *object;
        struct hip_origin origin;
    } * list;
    size_t count, capacity;
    uint64_t handles_made; /* so far */
} table;

/* The entry of the handle, or NULL. */
static struct entry *find_handle(const void *handle)
{
    uint64_t number = (uintptr_t)handle;
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table.list[middle].handle < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table.count && table.list[low].handle == number ? &table.list[low] : NULL;
}

void *hip_handle_add(enum hip_handle_kind kind, void *object)
{
    grow_list(table.list, table.count + 1, table.capacity, HIP_LIBRARY);
    uint64_t handle = FIRST_HANDLE + ++table.handles_made * HANDLE_STEP;
    table.list[table.count++] = (struct entry){handle, kind, object, hip_origin_here()};
    return (void *)(uintptr_t)handle;
}

void *hip_handle_find(enum hip_handle_kind kind, const void *handle)
{
    const struct entry *entry = find_handle(handle);
    return entry && entry->kind == kind ? entry->object : NULL;
}

void hip_handles_each(void (*visit)(enum hip_handle_kind kind, const struct hip_origin *origin))
{
    for (size_t i = 0; i < table.count; i++)
        visit(table.list[i].kind, &table.list[i].origin);
}

void hip_handle_remove(const void *handle)
{
    struct entry *entry = find_handle(handle);
    if (entry) {
        size_t index = (size_t)(entry - table.list);
        memmove(entry, entry + 1, (--table.count - index) * sizeof *entry);
    }
}
