/* See instruction_recorder.h. */
#include "components/sampling/instruction_recorder.h"

#include <stddef.h>

const struct instruction_recorder *instruction_recorder;
