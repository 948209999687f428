/* Failures of components: what ends a run, or one of several programs. Components call
 * these functions; scheduler/failure.c defines them. */
#ifndef HEDDLE_RUNTIME_ENGINE_COMPONENT_FAILURE_H
#define HEDDLE_RUNTIME_ENGINE_COMPONENT_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

struct component;

/* Called by a component's init if the component cannot work in this platform or with these
 * settings: prints "heddle: PATH: ..." and exits with status 1, as die() (bug.h). */
_Noreturn void engine_die(const struct component *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A component cannot continue: the message is kept with "PATH: " in front, and the run ends with
 * ENGINE_FAILED after the next window, for which the component ticks no more. The first failure in
 * (time, instance) wins. */
void engine_fail(const struct component *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Ends the run likewise for a mistake of the simulated program, such as a bad address or an
 * instruction that is not modelled. The text names the place in the program, and no path is put in
 * front. `address` is what the program may not access; NULL: the mistake is no access. */
void engine_fail_program(const struct component *c, const uint64_t *address, const char *text);
/* A mistake of one of several programs is kept, and the run goes on. `owner` is the
 * program, whose first mistake in (time, instance) counts; `tag` is the component's. */
struct engine_fault {
    uint64_t time_ps, address;
    uint32_t leaf, owner, tag;
    bool by_access; /* to the address */
    char text[512];
};
void engine_record_fault(const struct component *c, uint32_t owner, uint32_t tag,
                         const uint64_t *address, const char *text);
/* Between windows: takes the fault of an owner, if there is one; each is given once. */
bool engine_pop_fault(uint32_t owner, struct engine_fault *fault);
/* The owner has ended; its number may be used again. */
void engine_clear_fault(uint32_t owner);
const char *engine_failure(void); /* NULL: none */
/* False: it was not by an access. */
bool engine_failure_address(uint64_t *address, uint32_t *leaf);
void engine_clear_failure(void);

#endif
