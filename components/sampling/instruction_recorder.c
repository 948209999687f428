/* See record.h. */
#include "components/sampling/instruction_recorder.h"

#include <stddef.h>

const struct record_ops *record_ops;
