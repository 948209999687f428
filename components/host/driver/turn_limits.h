/* The host time for which a thread or process of a program may keep the engine waiting before it
 * loses its turn, for all front ends. docs/design/host-threads.md has the rule.
 *
 * A thread of a program that uses heddle's HIP library holds the turn alone, and others wait for
 * it, so it may compute for long. A process that shares a machine holds up other programs. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_TURN_LIMITS_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_TURN_LIMITS_H

enum {
    /* The thread with the turn: processor time, and sleep in a call that the library does not see,
     * of a thread that has called HIP and of one that has not. */
    TURN_THREAD_SPENT_S = 20, /* HEDDLE_HOST_PATIENCE overrides it */
    TURN_THREAD_ASLEEP_MS = 2000,
    TURN_HELPER_ASLEEP_MS = 200,
    TURN_THREAD_LOOK_MS = 90, /* between two looks */
    /* A process: processor time since it asked last, in which programs compile kernels and compare
     * results, and the same beside a thread that waits. It sleeps if it does so at two looks. */
    TURN_PROCESS_SPENT_MS = 1000,
    TURN_PROCESS_SPENT_BESIDE_MS = 2000,
    TURN_PROCESS_LOOK_MS = 5
};

#endif
