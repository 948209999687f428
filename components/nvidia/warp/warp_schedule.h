/* Chooses the lanes of a warp that execute next. Private to components/nvidia/warp. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_SCHEDULE_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_SCHEDULE_H

#include "warp_machine.h"

enum {
    WARP_PATIENCE = 1 << 10, /* branches backward of a split while others wait */
    WARP_WATCH_FROM = 16,    /* branches of a split before warp_spins() looks at it first */
    WARP_WATCH_MAX = 1 << 11 /* up to which that number doubles */
};

/* Sets m->split to the split that executes next, with its frame. False: all splits wait. */
bool warp_schedule(struct warp_machine *m);

/* Number of splits that can execute. */
uint32_t warp_ready_count(const struct warp_state *w);

/* Prepares the machine for a call of warp_block_run(), then for one of the block's warps. */
void warp_machine_init(struct warp_machine *m, struct warp_launch *l, struct warp_block *b);
void warp_machine_choose(struct warp_machine *m, uint32_t number);

/* Fills in `fault` from m->fault at m->fault_op in m->split. */
void warp_describe_fault(struct warp_machine *m, struct warp_fault *fault);

/* True if the split waits for others: it comes to the same place of a loop twice with the same
 * registers. Called at each branch backward. */
bool warp_spins(struct warp_machine *m);

/* Sets the bases of the split's frame. */
void warp_use_frame(struct warp_machine *m);

/* Makes the lanes of the mask, some but not all of the split's, a split of their own at `pc`. */
void warp_split_off(struct warp_machine *m, uint32_t mask, uint32_t pc);

/* Ends lanes of the split. */
void warp_leave(struct warp_machine *m, uint32_t mask);

/* True: all lanes of `need` have come to the operation. False: the split waits there for them. */
bool warp_wait_for(struct warp_machine *m, uint32_t need);

/* The split has arrived at a barrier. */
void warp_arrive(struct warp_machine *m, uint32_t number, uint32_t threads, bool waits);

/* Executes an operation with its control word (warp_block.c). */
void warp_run_controlled(struct warp_machine *m, const struct warp_op *op, uint32_t mask);

/* Executes an operation that is neither of registers nor of memory (warp_control.c). True: another
 * split may have to execute next. */
bool warp_control(struct warp_machine *m, const struct warp_op *op, uint32_t mask);

#endif
