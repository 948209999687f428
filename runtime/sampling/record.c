/* See record.h. */
#include "runtime/sampling/record.h"

#include <stddef.h>

const struct record_ops *record_ops;
