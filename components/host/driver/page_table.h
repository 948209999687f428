/* A store's type is looked for beside its writer, which is the driver. */
#include "components/protocols/page_table/page_table.h"
