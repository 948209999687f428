/* Functional execution: a kernel runs at once, without timing.
 *
 * The driver calls functional_run() instead of sending a launch to a GPU. Instructions are those of
 * components/amd/isa, memory is the simulated DRAM itself, found through the page table; no
 * component of the platform takes part, so caches, queues and links hold nothing and count nothing.
 * A program sees the same results and faults as in timing mode. Only times differ: s_memtime counts
 * the wavefront instructions of the run, and wavefronts interleave differently.
 *
 * Touches (functional_launch.touches) change the order, see touch.h. Order otherwise: work-groups
 * run one after another in dispatch order, the wavefronts of one in turn from barrier to barrier. A
 * wavefront that sleeps or branches on for FUNCTIONAL_SLICE instructions gives way. When all
 * wavefronts of a work-group have done so, the work-group gives way to further work-groups, as many
 * as fit on the device, so programs that wait for other resident work-groups make progress as on
 * hardware. If executed instructions are counted (functional_launch.executed), as many work-groups
 * run side by side from the first atomic on that returns a value. If the launch may yield, and all
 * work-groups have waited for FUNCTIONAL_PATIENCE turns, the launch comes back unfinished, so that
 * other kernels continue for which it may wait. Nothing depends on the host: the same program gives
 * the same bytes. A launch whose wavefronts all repeat themselves ends as a deadlock, unless
 * another launch may still change the memory that they wait for.
 *
 * Wavefronts that call the host (printf, assert) wait for its answer like others that wait: the
 * caller may name a function that answers (functional_launch.attend).
 *
 * Code is taken as constant during a launch (on hardware, too, changing it needs an invalidation of
 * the instruction cache). */
#ifndef HEDDLE_COMPONENTS_AMD_FUNCTIONAL_FUNCTIONAL_H
#define HEDDLE_COMPONENTS_AMD_FUNCTIONAL_FUNCTIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/amd/execute/work_fault.h"
#include "components/amd/isa/isa.h"
#include "components/livelock/livelock.h"
#include "components/memory/page_table/page_table.h"
#include "components/memory/page_table/program_table.h"
#include "components/protocols/command/aql_packet.h"
#include "components/sampling/warmup.h"

enum {
    FUNCTIONAL_SLICE = 1 << 12,
    FUNCTIONAL_PATIENCE = LIVELOCK_PATIENCE, /* turns of a work-group */
    FUNCTIONAL_LAUNCHES_MAX = 64             /* launches that have begun and not ended */
};

/* Other work that can continue beside a launch. Unless there is none, the launch may come back as
 * FUNCTIONAL_YIELDED. */
enum functional_others { FUNCTIONAL_NONE, FUNCTIONAL_YIELDED_LAUNCHES, FUNCTIONAL_ANYTHING };

struct functional_launch {
    const struct program_table *program;
    const struct page_table *pages;
    enum isa_target target;
    uint32_t pid;
    uint32_t gpu;
    uint64_t first_group, groups; /* work-groups to be run, in the order x, y, z; groups 0: all */
    uint32_t kernel;              /* number in the program table */
    uint32_t dispatch_id;
    uint32_t resident; /* work-groups that the device can hold at the same time, at least 1 */
    uint64_t entry;
    uint64_t packet_address; /* virtual; packet, queue object and arguments are in memory already */
    const struct aql_packet *packet;
    const struct aql_descriptor *descriptor;
    uint64_t most_instructions; /* the run ends there (FUNCTIONAL_LIMIT); 0: no limit */
    uint64_t before;            /* wavefront instructions of the run before this launch */
    bool touches; /* caches and TLBs see the accesses (components/sampling/warmup.h) */
    bool profile; /* result->profile is filled, too */
    enum functional_others others;
    bool (*is_alone)(void);       /* no thread of the program can change memory; NULL: one may */
    void (*attend)(uint32_t gpu); /* whenever a work-group gives way: its wavefronts may wait for
                                     the host; or NULL */
    uint32_t threads; /* threads that may share it, see footprint.h; 0, 1: one. No thread of the
                         program changes memory meanwhile. The results are the same */
    struct sampler_work *executed; /* the work executed is added here; or NULL */
};

enum { FUNCTIONAL_BLOCKS = 32 };

/* Work and accesses of a launch. `blocks` are wavefront instructions by basic block, each block in
 * the bucket of its first instruction's distance from the kernel's entry; so launches of the same
 * code can be compared. */
struct functional_profile {
    uint64_t units[ISA_UNIT_COUNT]; /* wavefront instructions */
    uint64_t blocks[FUNCTIONAL_BLOCKS];
    uint64_t accesses;   /* lines asked for: vector and scalar memory, code */
    uint64_t lines;      /* different ones */
    uint64_t lines_read; /* different ones that are read: each comes from memory when all is cold */
    uint64_t reused;     /* lines that the launch before accessed, too */
    uint64_t reached[WARM_KINDS]; /* accesses that reached memory, by enum warm_kind */
};

enum functional_end {
    FUNCTIONAL_DONE,
    FUNCTIONAL_FAULT,
    FUNCTIONAL_LIMIT,
    FUNCTIONAL_DEADLOCK,    /* no wavefront can continue, or change what others wait for */
    FUNCTIONAL_INTERRUPTED, /* engine_interrupt() */
    FUNCTIONAL_YIELDED      /* it only waits; functional_resume() continues it */
};

struct functional_result {
    enum functional_end end;
    uint64_t instructions;       /* executed by all wavefronts */
    uint64_t work_groups;        /* work-groups that ended */
    uint32_t threads;            /* threads that shared it; 1: it was run by one */
    uint32_t number;             /* argument of functional_resume() */
    char text[WORK_FAULT_BYTES]; /* unless FUNCTIONAL_DONE: the cause and its place */
    bool by_access;              /* FUNCTIONAL_FAULT by an access to `address` */
    uint64_t address;
    struct functional_profile profile;
};

/* True if another launch can begin that needs `resident` work-groups. Always, if none has
 * yielded. */
bool functional_has_room(uint32_t resident);

/* True if there is a launch that has yielded and is not over. */
bool functional_is_awaited(void);

/* Runs the kernel to its end, or until it yields. One launch at a time in a process. */
void functional_run(const struct functional_launch *launch, struct functional_result *result);

/* The program has ended: of each launch that runs from here on, a resident work-group may execute
 * `each` instructions more before the run ends (FUNCTIONAL_LIMIT); 0: any number. Also inside of
 * attend(). */
void functional_expect_end(uint64_t each);

/* Continues a launch that has yielded, result->number. `before` is what the run has executed, this
 * launch included; the result is that of the whole launch. */
void functional_resume(uint32_t number, uint64_t before, enum functional_others others,
                       struct functional_result *result);

#endif
