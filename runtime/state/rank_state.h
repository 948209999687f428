/* The state of all ranks at one of them: for reports of a run that does not go on. */
#ifndef HEDDLE_RUNTIME_STATE_RANK_STATE_H
#define HEDDLE_RUNTIME_STATE_RANK_STATE_H

/* By all ranks, between windows: afterwards the arena of rank 0 has the components and rings of all
 * ranks as they are there. */
void rank_state_gather(void);
/* The two halves of rank_state_gather(): all ranks send, and rank 0 takes what they sent. After
 * that rank 0 can only end the run: rings between ranks have other slots. */
void rank_state_send(void);
void rank_state_receive(void);

#endif
