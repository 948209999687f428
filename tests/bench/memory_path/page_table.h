/* The store of identity_pages is the page table that drivers write and MMUs read. */
#include "components/driver/page_table.h"
