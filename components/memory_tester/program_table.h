/* As page_table.h: a store of the kind that the driver writes. */
#include "components/driver/program_table.h"
