/* Holds the observer of executed instructions, if there is one; execution_observer.h has its
 * duties. */
#include "execution_observer.h"

#include <stddef.h>

const struct execution_observer *execution_observer;
