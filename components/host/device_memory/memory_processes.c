/* Memory of processes: what one maps of another's, and the end of one. See memory_manager.h. */
#include "memory_manager.h"

bool memory_share(struct memory_ref r, uint64_t address, uint32_t pid)
{
    const struct program_allocation *a = program_find(r.program, address);
    uint64_t physical, flags;
    for (uint64_t i = 0, at = a->start; i < memory_pages_of(r.memory, a); i++, at += r.memory->page)
        if (page_table_look_up(r.pages, a->pid, at, &physical, &flags)
            && !page_table_enter(r.pages, pid, at, physical, flags))
            return false;
    return true;
}

void memory_unshare(struct memory_ref r, uint64_t address, uint32_t pid)
{
    const struct program_allocation *a = program_find(r.program, address);
    for (uint64_t i = 0, at = a->start; i < memory_pages_of(r.memory, a); i++, at += r.memory->page)
        page_table_unmap(r.pages, pid, at);
}

void memory_free_process(struct memory_ref r, uint32_t pid)
{
    for (uint32_t i = r.program->allocation_count; i-- > 0;)
        if (r.program->allocation[i].pid == pid)
            memory_free(r, r.program->allocation[i].start);
}
