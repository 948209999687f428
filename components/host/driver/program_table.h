/* As page_table.h: a store that the driver writes. */
#include "components/protocols/page_table/program_table.h"
