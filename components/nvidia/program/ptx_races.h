/* `--check races` of kernels in PTX: tells the order and the shadow of components/checks of each
 * warp's accesses and synchronisation. */
#ifndef HEDDLE_COMPONENTS_PTX_RACES_H
#define HEDDLE_COMPONENTS_PTX_RACES_H

#include "ptx_check_block.h"

extern const struct race_source ptx_race_source;

void ptx_races_step(const struct ptx_call *call, struct ptx_check_block *block,
                    const struct warp_step *step, const struct ptx_instruction *instruction);
/* The last lanes of a block end, and with them its shared memory. */
void ptx_races_end(struct ptx_check_block *block, const struct warp_step *step);

#endif
