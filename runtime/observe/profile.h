/* Counts by place in the programs of a device: what `--profile instructions` writes. A component
 * adds to the row of an address in one of them; each component has rows of its own, so threads
 * share none, and they are added up when the file is written. Rows are no state of the simulation:
 * nothing reads them.
 *
 * A component may name programs, and the instructions of them, for others that count by the same
 * numbers and know no names.
 *
 * Only platforms built for profiles call these functions (codegen/build: -DHEDDLE_PROFILE), so
 * other platforms pay nothing. The file is CSV: program, device, symbol, offset from its first
 * instruction, the instruction, the counts.
 */
#ifndef HEDDLE_RUNTIME_OBSERVE_PROFILE_H
#define HEDDLE_RUNTIME_OBSERVE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

struct platform_table;

#define PROFILE_COUNTS 48
#define PROFILE_TEXT   120

struct profile_row {
    uint64_t address, program; /* program: an id of the component's */
    char text[PROFILE_TEXT];   /* the instruction; "" until it is filled in */
    uint64_t count[PROFILE_COUNTS];
};

/* Before a run. Without a path in the options nothing is kept. */
void profile_open(const struct platform_table *table);
bool profile_is_wanted(void);
/* The names of the first column and of the counts, the same for all components. They stay the
 * caller's. */
void profile_name_columns(const char *first, const char *const *names, uint32_t count);
/* The name of a program and its symbol, which are copied, the device that the component belongs to,
 * and the address of the first instruction. Each device has rows of its own: a program may be other
 * code there. */
void profile_name_program(uint32_t leaf, uint32_t program, const char *name, const char *symbol,
                          uint32_t device, uint64_t entry);
/* The row of an instruction, made when it is new; valid until the next call for the same
 * component. */
struct profile_row *profile_row(uint32_t leaf, uint32_t program, uint64_t address);
/* At the end of a run. False: the file could not be written, said on standard error. */
bool profile_write(void);

#endif
