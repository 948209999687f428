/* Mappings may change only where every shared TLB hears of it. A unit that changes them asks this
 * first, and names tlb_shootdown.c among its files. */
#ifndef HEDDLE_COMPONENTS_MEMORY_TLB_TLB_SHOOTDOWN_H
#define HEDDLE_COMPONENTS_MEMORY_TLB_TLB_SHOOTDOWN_H

/* The path of a TLB whose `control` is open, so that no shoot-down reaches it; NULL: there is none.
 */
static const char *tlb_without_shootdown(void);

#endif
