/* See execution_observer.h. */
#include "components/statistics/execution_observer.h"

#include <stddef.h>

const struct execution_observer *execution_observer;
