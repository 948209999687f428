/* The tester's program table, a store of the kind that the driver writes; see also page_table.h. */
#include "components/protocols/page_table/program_table.h"
