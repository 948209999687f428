/* See record.h. */
#include "runtime/record.h"

#include <stddef.h>

const struct record_ops *record_ops;
