/* A part of cooperative_groups.h. */
#include "../cooperative_groups.h"
