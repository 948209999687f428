/* The place of NVTX 2. */
#include "nvtx3/nvToolsExt.h"
