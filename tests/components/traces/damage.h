/* Damage of texts by seed: lines that are gone, stand twice or changed places, texts that are cut,
 * numbers that are huge, negative or of another line. DAMAGE_SEEDS says how many seeds a test
 * takes; 12 where it says nothing. */
#ifndef HEDDLE_TESTS_COMPONENTS_TRACES_DAMAGE_H
#define HEDDLE_TESTS_COMPONENTS_TRACES_DAMAGE_H

#include <stddef.h>
#include <stdint.h>

unsigned damage_seeds(void);

/* `text` damaged once to three times, as `seed` has it; the caller frees it. `what`: for people. */
char *damage_text(const char *text, uint64_t seed, char what[256]);

#endif
