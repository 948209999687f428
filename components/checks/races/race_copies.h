/* Copies and fills for the check of races: each is a work-group of one wavefront, which belongs to
 * a command of its own. The driver reports them, except for those that the library makes for
 * itself. */
#ifndef HEDDLE_COMPONENTS_CHECKS_RACES_RACE_COPIES_H
#define HEDDLE_COMPONENTS_CHECKS_RACES_RACE_COPIES_H

#include <stdint.h>

struct finding_place;
struct program_table;

/* The call that has made command `ticket`, a copy or a fill; after check_command_given(). */
void check_copy_called(uint64_t ticket, const struct finding_place *call);
/* The command is done: it has read `bytes` at `from` and written as many at `to`, of the process's
 * memory; 0: it has not, or memory of the host that the GPUs do not see. */
void check_copy_done(uint64_t ticket, uint32_t pid, uint64_t to, uint64_t from, uint64_t bytes,
                     const struct program_table *program);

#endif
