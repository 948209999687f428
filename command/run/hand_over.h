/* The text that `heddle run` hands to the process that runs the platform: the options whose rows
 * say so, and values that the command derives from others. runtime/engine/options.h describes the
 * text. */
#ifndef HEDDLE_COMMAND_RUN_HAND_OVER_H
#define HEDDLE_COMMAND_RUN_HAND_OVER_H

#include "command/command.h"

struct handed_pair {
    const char *key;
    const char *value;
    char sign;
};

struct handed {
    struct region *region;
    VECTOR(struct handed_pair) pairs;
};

/* The given options whose rows say that they are handed over; files seen from the root folder. */
void hand_over_options(struct command *c, struct handed *handed);
/* In place of an earlier value of the key; nothing for NULL. */
void hand_over(struct handed *handed, const char *key, char sign, const char *value);
void hand_over_number(struct handed *handed, const char *key, uint64_t value); /* nothing for 0 */
/* NULL: it is not handed over. */
const char *handed_value(const struct handed *handed, const char *key);
const char *handed_text(const struct handed *handed);

#endif
