/* Explaining hangs. A component's NAME_outstanding() returns how many things it has unfinished
 * (MSHRs, pool entries, undone commands; messages in rings are counted by the runtime) and, when
 * `report` is not NULL, describes them with hang_note(): what is waited for, and at limits anything
 * that helps (a CU notes its hottest addresses). Called between edges only. */
#ifndef HEDDLE_RUNTIME_OBSERVE_HANG_H
#define HEDDLE_RUNTIME_OBSERVE_HANG_H

#include <stdint.h>

/* A run in which nothing moves for so many cycles is given up, unless --stall-limit says another
 * number. */
#define HANG_STALL_LIMIT_CY 10000000u

struct hang_report;

void hang_note(struct hang_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Messages in rings and everything the components have unfinished. */
uint64_t hang_outstanding(void);
/* hang_outstanding() without what the instance `leaf` has unfinished, nor those with a byte in
 * `excluded` (by instance; NULL: none) and the rings at them. */
uint64_t hang_outstanding_except(uint32_t leaf, const uint8_t *excluded);

enum hang_reason { HANG_DEADLOCK, HANG_STALL, HANG_LIMIT };

/* Composes the report, prints it on stderr and keeps it for hang_last_report(). */
void hang_explain(enum hang_reason reason);
/* The components that wait for each other now, and what is unfinished; between windows. Valid until
 * the next call, and no report of a hang. */
const char *hang_describe(void);
const char *hang_last_report(void); /* "": none so far */

#endif
