/* Mappings may change only where every shared TLB hears of it. A unit that changes them asks this
 * first, and names untold_tlb.c among its files. */
#ifndef HEDDLE_COMPONENTS_UNTOLD_TLB_H
#define HEDDLE_COMPONENTS_UNTOLD_TLB_H

/* The path of a TLB whose `control` is open, so that no shoot-down reaches it; NULL: all are told.
 */
static const char *untold_tlb(void);

#endif
