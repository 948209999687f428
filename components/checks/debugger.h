/* The side of a debugged process (`heddle debug`): stops before instructions and answers about
 * wavefronts and memory. Nothing that is simulated can be changed. One of the observers that
 * checks.c passes execution on to; private to components/checks. */
#ifndef HEDDLE_CHECKS_DEBUGGER_H
#define HEDDLE_CHECKS_DEBUGGER_H

#include "components/checks/checks.h"

struct page_table;

/* The debugger's row; NULL: this process is not debugged. */
const struct check *debugger_open(const struct page_table *pages);

#endif
