/* Tests build their tables themselves: there is no image in the program. */
#include "runtime/state/platform.h"

const struct platform_image platform_image = {0};
