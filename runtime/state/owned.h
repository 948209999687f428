/* The state of all ranks at one of them: for reports of a run that does not go on. */
#ifndef HEDDLE_RUNTIME_OWNED_H
#define HEDDLE_RUNTIME_OWNED_H

/* By all ranks, between windows: afterwards the arena of rank 0 has the components and rings of all
 * ranks as they are there. */
void owned_gather(void);
/* Its two halves: all ranks tell, and rank 0 takes what was told. What takes goes on from then only
 * if that is its end: rings between ranks have other slots. */
void owned_share(void);
void owned_take(void);

#endif
