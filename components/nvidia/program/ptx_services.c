/* Holds the table that a unit which executes PTX fills, and the program and page tables that it
 * reads. */
#include "ptx_services.h"

static const struct ptx_services *offered;
static struct ptx_tables tables;

void ptx_offer(const struct ptx_services *services)
{
    offered = services;
    offered->heap_drop(0);
}

const struct ptx_services *ptx_services(void)
{
    return offered;
}

void ptx_tables_set(const struct program_table *program, const struct page_table *pages)
{
    tables = (struct ptx_tables){program, pages};
}

const struct ptx_tables *ptx_tables(void)
{
    return &tables;
}
