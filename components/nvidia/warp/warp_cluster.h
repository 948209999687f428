/* Blocks of a cluster (PTX of sm_90), which meet and reach each other's shared memory; see
 * warp_cluster.c. Private to components/nvidia/warp. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_CLUSTER_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_CLUSTER_H

#include "components/nvidia/warp/handlers/warp_addresses.h"

/* Sets the place in the grid of the block, by its number. */
void warp_cluster_place(const struct warp_launch *launch, struct warp_block *block);

/* The block whose shared memory an address is in, which counts from the window's beginning; NULL:
 * there is none, or it is over. */
const struct warp_block *warp_cluster_block(const struct warp_launch *launch,
                                            const struct warp_block *block, u64 address);

/* The number of times that the block had arrived before the split's barrier.cluster, which was
 * executed just now. */
uint32_t warp_cluster_phase(const struct warp_machine *m, const struct warp_op *op, uint32_t mask);

/* Shared memory of another block; `window` is added to its addresses. */
struct warp_region warp_cluster_region(const struct warp_machine *m, u64 address, u64 window);

/* barrier.cluster. False: the split waits, or reads a clock first. */
bool warp_cluster_barrier(struct warp_machine *m, const struct warp_op *op, uint32_t mask);

/* True if a split of the warp that waits for the cluster could continue. */
bool warp_cluster_can_continue(const struct warp_machine *m);

/* Lanes end. */
void warp_cluster_leave(struct warp_machine *m, uint32_t mask);

/* Wakes splits that wait for the cluster. True if there are some. */
bool warp_cluster_wake(struct warp_block *block);

#endif
