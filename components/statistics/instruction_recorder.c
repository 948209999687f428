/* See instruction_recorder.h. */
#include "components/statistics/instruction_recorder.h"

#include <stddef.h>

const struct instruction_recorder *instruction_recorder;
