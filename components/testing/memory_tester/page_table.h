/* The tester writes a page table of the same kind as the driver's; a store's type is looked for
 * beside its writer. */
#include "components/protocols/page_table/page_table.h"
