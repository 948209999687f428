/* Which lines launches access, for profiles and lists of addresses: by launch, also where launches
 * take turns. Private to components/amd/functional.
 *
 * A line has one mark, of the launch that accessed it last. A mark of a launch that has yielded is
 * kept when another launch takes its place, until no launch is left that has yielded. Numbers of
 * launches here are those of profiled launches, in the order in which they began. */
#ifndef HEDDLE_FUNCTIONAL_FOOTPRINT_H
#define HEDDLE_FUNCTIONAL_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

struct footprint_news {
    bool line;       /* it is the launch's first access of the line */
    bool reused;     /* ... and the access before was one of the launch that began before it */
    unsigned access; /* bits of address_list.h that are new for this line */
};

/* The number of a launch that begins. */
uint32_t footprint_begin(void);
/* It has come back unfinished, or it is over. */
void footprint_yield(uint32_t launch);
void footprint_end(uint32_t launch);
/* It accesses the line at this physical address. */
struct footprint_news footprint_note(uint32_t launch, uint64_t physical, unsigned access);

#endif
