/* The store of identity_pages is the page table that drivers write and MMUs read. */
#include "components/protocols/page_table/page_table.h"
