/* The mode of a run, and its length; platform.h declares what components ask. */
#ifndef HEDDLE_RUNTIME_SESSION_RUN_MODE_H
#define HEDDLE_RUNTIME_SESSION_RUN_MODE_H

/* Reads the options. Called by open.c before anything is started. */
void run_mode_open(void);

#endif
