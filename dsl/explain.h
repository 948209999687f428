/* Names and explanations of the diagnostic codes: codes.def is the single list. */
#ifndef HEDDLE_DSL_EXPLAIN_H
#define HEDDLE_DSL_EXPLAIN_H

#include "compile.h"
#include "diagnostic.h"

const struct compile_explanation *explain_entry(enum diagnostic_code code);

#endif
