/* The state of all ranks at one of them: for reports of a run that does not go on. */
#ifndef HEDDLE_RUNTIME_OWNED_H
#define HEDDLE_RUNTIME_OWNED_H

/* By all ranks, between windows: afterwards the arena of rank 0 has the components and rings of all
 * ranks as they are there. Rank 0 can only end the run then: rings between ranks have other slots.
 */
void owned_gather(void);

#endif
