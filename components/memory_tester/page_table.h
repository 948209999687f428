/* The tester writes a page table of the same kind as the driver's; a store's type is looked for
 * beside its writer. */
#include "components/driver/page_table.h"
