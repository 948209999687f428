/* Recorded instruction traces of AMD programs, work-group by work-group, for the units that play
 * them: a compute unit takes the recorded work-group that belongs to the one it starts, and walks
 * through the steps of its wavefronts instead of executing them.
 *
 * Nothing here is state of the simulation. What a work-group's steps are depends on the trace
 * alone, so the order of calls, and the host thread of each, changes no result. A place is a number
 * that its owner chooses for good (unit times the groups of a unit, plus slot), so state holds no
 * pointer and no number that depends on the host.
 *
 * Memory: the code of each launch under way, the steps of the work-groups that were taken and not
 * given back, and up to REPLAY_KEPT work-groups of each reader that were read while another one was
 * looked for. Files are read once, as work-groups begin, when these begin in about the order of the
 * file; a place far ahead gets a reader of its own (units of partitioned dispatchers, parts of a
 * launch on several GPUs), and what lies behind all readers is read again from the beginning. */
#ifndef HEDDLE_REPLAY_H
#define HEDDLE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/amd/isa/isa.h"

enum {
    REPLAY_WAVES = 16,  /* of a work-group */
    REPLAY_GROUPS = 64, /* of a compute unit: places an instance */
    REPLAY_TEXT = 512
};

/* ---- launches: from the driver, in a host call or at the end of a window ---- */

/* Launch `launch` plays the trace at `path`, which is opened when its first work-group begins. */
void replay_launch(uint32_t launch, const char *path, bool use_cache);
/* The launch has ended, and all its work-groups were given back. */
void replay_end(uint32_t launch);
/* Everything is forgotten; then `places` may be taken. Before a platform starts. */
void replay_reset(uint32_t places);

/* ---- work-groups: from any thread ---- */

struct replay_group {
    uint32_t launch;
    uint32_t id[3];
    uint32_t wavefronts;
};

/* The recorded work-group stands at `place` from now on. false: `text` says why not. */
bool replay_take(uint32_t place, const struct replay_group *group, char text[REPLAY_TEXT]);
void replay_give(uint32_t place);

/* ---- steps: from the owner of the place ---- */

/* A wavefront's way through its steps. Zero is not valid. */
struct replay_cursor {
    uint32_t at;   /* of the current step */
    uint32_t left; /* steps behind it */
};

/* The first step of a wavefront. */
struct replay_cursor replay_first(uint32_t place, uint32_t wavefront);
/* Goes on to the next step. false: there is none. */
bool replay_advance(uint32_t place, struct replay_cursor *cursor);
uint64_t replay_pc(uint32_t place, const struct replay_cursor *cursor);
/* The machine code from `pc` on, which is the address of a step; at least an instruction. */
const uint8_t *replay_code(uint32_t place, uint64_t pc, size_t *size);
/* Lanes of the current step that have an address, and their addresses; address[l] is valid for
 * lanes of the mask. */
uint64_t replay_addresses(uint32_t place, const struct replay_cursor *cursor,
                          uint64_t address[ISA_LANES]);
/* Scalar memory: the address and how many bytes; false: the step touches nothing. */
bool replay_scalar(uint32_t place, const struct replay_cursor *cursor, uint64_t *address,
                   uint32_t *bytes);

/* The addresses of the driver's own data when the launch was recorded; sizes 0: none. */
struct replay_layout {
    uint64_t packet;           /* address of the dispatch packet */
    uint64_t ring, ring_bytes; /* of packets and arguments */
    uint64_t pool, pool_bytes; /* private memory */
};
struct replay_layout replay_layout(uint32_t place);

#endif
