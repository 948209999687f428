/* Which lanes of a warp go on; see warp_schedule.c. Private to components/nvidia/warp. */
#ifndef HEDDLE_WARP_SCHEDULE_H
#define HEDDLE_WARP_SCHEDULE_H

#include "warp_machine.h"

enum {
    WARP_PATIENCE = 1 << 10, /* branches backward of a split while others wait */
    WARP_WATCH_FROM = 16,    /* branches of a split before warp_spins() looks at it first */
    WARP_WATCH_MAX = 1 << 11 /* up to which that number doubles */
};

/* Chooses the split that goes on: m->split, with its frame. False: none can. */
bool warp_schedule(struct warp_machine *m);

/* Splits that can go on. */
uint32_t warp_ready(const struct warp_warp *w);

/* For one call of warp_block_run(), and for one of the block's warps. */
void warp_machine_init(struct warp_machine *m, struct warp_launch *l, struct warp_block *b);
void warp_machine_warp(struct warp_machine *m, uint32_t number);

/* What and where m->fault is, at m->fault_op in m->split. */
void warp_describe(struct warp_machine *m, struct warp_fault *fault);

/* Asked at each branch backward: does the split wait for others? It does if it comes to the same
 * place of a loop twice with the same registers. */
bool warp_spins(struct warp_machine *m);

/* Sets the bases of the split's frame. */
void warp_frame(struct warp_machine *m);

/* Parts the lanes of the mask, which are some but not all of the split's, from it; they stand at
 * `pc`. */
void warp_part(struct warp_machine *m, uint32_t mask, uint32_t pc);

/* The lanes of the split end. */
void warp_leave(struct warp_machine *m, uint32_t mask);

/* The split waits at its operation for the lanes `need`; true: they are all there, go on. */
bool warp_gather(struct warp_machine *m, uint32_t need);

/* The split has arrived at a barrier. */
void warp_arrive(struct warp_machine *m, uint32_t number, uint32_t threads, bool waits);

/* Executes an operation with its control word. By warp_block.c. */
void warp_run_controlled(struct warp_machine *m, const struct warp_op *op, uint32_t mask);

/* Executes an operation that is neither of registers nor of memory. True: another split may go on
 * now. By warp_control.c. */
bool warp_control(struct warp_machine *m, const struct warp_op *op, uint32_t mask);

#endif
