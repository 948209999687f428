/* The end of a program that cannot go on. */
#ifndef HEDDLE_RUNTIME_ENGINE_BUG_H
#define HEDDLE_RUNTIME_ENGINE_BUG_H

/* A mistake of heddle's code. Prints "heddle: bug: ...", its version and what to report; aborts. */
_Noreturn void bug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For mistakes of a user or the machine at a point without way back: prints "heddle: ..." and exits
 * with status 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
