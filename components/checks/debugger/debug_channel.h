/* Messages between `heddle debug` (python/heddle/debug) and the process that runs the platform,
 * over a socket of one machine, with numbers in the host's form.
 *
 * The environment of the process names a folder (OPTIONS_ENV_DEBUG): "socket" in it is where
 * `heddle debug` waits, and code objects are written into it as "code-ADDRESS", those of PTX as
 * "ptx-ADDRESS". The process stops before the first instruction of the first wavefront and says so
 * by a struct debug_stopped. From there on each request has one answer: a struct debug_answer and
 * so many bytes. DEBUG_GO is answered by the next struct debug_stopped. While the process runs,
 * DEBUG_INTERRUPT stops it, and other requests wait. The process ends when the channel is closed.
 *
 * An event is an instruction that a wavefront is about to execute. Events are counted from 1; a
 * program that is started anew has them in the same order. Wavefronts are numbered from 1 in the
 * order in which they begin. */
#ifndef HEDDLE_COMPONENTS_CHECKS_DEBUGGER_DEBUG_CHANNEL_H
#define HEDDLE_COMPONENTS_CHECKS_DEBUGGER_DEBUG_CHANNEL_H

#include <stdint.h>

enum debug_ask {
    DEBUG_READ = 1,    /* a: address, b: bytes, c: wavefront whose memory is meant in its apertures,
                          and from DEBUG_LANE_SHIFT on the lane */
    DEBUG_WAVES,       /* those that live and have come to an event: struct debug_wavefront each */
    DEBUG_REGISTERS,   /* a: wavefront. struct debug_registers, then vector registers by number, 64
                          dwords each */
    DEBUG_DISASSEMBLE, /* a: address, b: wavefront whose target it is. Size in bytes (8 bytes), then
                          text */
    DEBUG_RULES,       /* a: how many struct debug_rule follow, in place of earlier ones */
    DEBUG_GO,          /* a: enum debug_go, b: event, c: wavefront */
    DEBUG_INTERRUPT,
    DEBUG_FINDING, /* text of the last finding of the checks, or none */
    DEBUG_NAMED,   /* a: wavefront. Its registers that have names: struct debug_named each.
                      Refused: it has none */
    DEBUG_FORK     /* a copy of the process connects to "copy-A" and says where it is; what it
                  prints goes to "out-A" and "err-A". Refused while the process cannot be copied:
                  other threads, memory that it shares */
};

enum { DEBUG_LANE_SHIFT = 48 };

struct debug_request {
    uint64_t ask, a, b, c;
};

struct debug_answer {
    uint64_t bytes; /* that follow; DEBUG_REFUSED: none, there is no such thing */
};
#define DEBUG_REFUSED UINT64_MAX

/* In the aperture of LDS an address is that of each work-group. */
enum debug_rule_kind { DEBUG_BREAK, DEBUG_WRITE, DEBUG_READS, DEBUG_ACCESS };

struct debug_rule {
    uint64_t kind, address, bytes;
};

enum debug_go {
    DEBUG_CONTINUE, /* to the next rule that holds */
    DEBUG_STEP,     /* to the event behind the wavefront's next one, of whichever wavefront it is;
                       the stop is this wavefront's, where it is by then, also after its last
                       instruction. Or to a rule that holds before */
    DEBUG_CYCLE,    /* to the first event `event` cycles later, or to a rule that holds before */
    DEBUG_TO,       /* to the event */
    DEBUG_SCAN      /* to the event; the answer names the last one before it at which a rule held
                       or, with a wavefront, the last one of that or that accesses watched bytes.
                       Its event is 0: there is none */
};

enum debug_reason {
    DEBUG_BEGAN,
    DEBUG_BROKE,
    DEBUG_WATCHED, /* going on: the access is done; a scan: it is about to be made */
    DEBUG_STEPPED,
    DEBUG_CAME, /* DEBUG_TO, DEBUG_SCAN without an event */
    DEBUG_INTERRUPTED,
    DEBUG_FOUND,  /* a check has found something: the instruction is about to do it */
    DEBUG_LOADED, /* code was loaded: breakpoints may be given for it, also here */
    DEBUG_ENDED   /* the program is over: no request is answered any more */
};

struct debug_stopped {
    uint64_t reason, event, wavefront, pc;
    uint64_t address; /* DEBUG_WATCHED: of the watched bytes; DEBUG_ENDED: the exit status */
    uint64_t rule;    /* DEBUG_WATCHED: their kind */
    uint64_t cycle;   /* by the executor's clock; 0: without timing */
};

struct debug_wavefront {
    uint64_t wavefront, pc, launch;
    uint32_t gpu, group[3], number, lanes;
    char kernel[96];
};

struct debug_registers {
    uint32_t sgpr[128];
    uint64_t pc, shared_aperture, private_aperture;
    uint32_t mode, status, scc, vgprs, accumulators, lds_bytes;
};

/* A register of PTX. */
struct debug_named {
    char name[40], type[8];
    uint64_t lanes; /* that have a value here */
    uint64_t value[32];
};

#endif
