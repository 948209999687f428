/* `--check uninitialised`: follows values that were never written through the registers and the
 * memory of a block.
 *
 * A bit for each lane of a register says that its value depends on memory that was never written:
 * shared and local memory of a block that begins, and global memory that the caller names (struct
 * warp_undefined). Copying such a value is no mistake. Storing a value computed from one is a
 * mistake, and so is using one as an address or a condition. A value with one defined part counts
 * as defined; so does a value moved between lanes, unless no sending lane is defined. A reported
 * value counts as defined from there on. All bits lie in the block's memory. Private to
 * components/nvidia/warp. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_UNDEFINED_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_UNDEFINED_H

#include "warp_machine.h"

/* Bytes that the block needs for it, whose other parts are laid out. */
uint64_t warp_undefined_bytes(const struct warp_block *block);
void warp_undefined_begin(struct warp_block *block);

/* An operation of the machine's split is going to be executed by the lanes of `mask`; was executed
 * by them. */
void warp_undefined_before(struct warp_machine *m, const struct warp_op *op, uint32_t mask);
void warp_undefined_after(struct warp_machine *m, const struct warp_op *op, uint32_t mask);

#endif
