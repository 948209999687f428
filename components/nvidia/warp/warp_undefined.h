/* What was never written, through the registers and the memory of a block: `--check uninitialised`.
 *
 * A bit for each lane of a register says that its value depends on something that was never
 * written: shared and local memory of a block that begins, and global memory of which the caller
 * says so (struct warp_undefined). Copying such a value is no mistake. A value that was computed
 * from one and is stored is, and so are addresses and conditions. A value of which a part is
 * defined counts as defined; so does what moves between lanes, unless no lane that sends is
 * defined. What was reported is taken for defined from there on. All of it lies in the block's
 * memory. Private to components/nvidia/warp. */
#ifndef HEDDLE_WARP_UNDEFINED_H
#define HEDDLE_WARP_UNDEFINED_H

#include "warp_machine.h"

/* Bytes that the block needs for it, whose other parts are laid out. */
uint64_t warp_undefined_bytes(const struct warp_block *block);
void warp_undefined_begin(struct warp_block *block);

/* An operation of the machine's split is going to be executed by the lanes of `mask`; was executed
 * by them. */
void warp_undefined_before(struct warp_machine *m, const struct warp_op *op, uint32_t mask);
void warp_undefined_after(struct warp_machine *m, const struct warp_op *op, uint32_t mask);

#endif
