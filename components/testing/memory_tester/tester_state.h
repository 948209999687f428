/* State of the memory tester, and what its files use of each other. */
#ifndef HEDDLE_COMPONENTS_TESTING_MEMORY_TESTER_TESTER_STATE_H
#define HEDDLE_COMPONENTS_TESTING_MEMORY_TESTER_TESTER_STATE_H

#include "memory_tester.gen.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/splitmix64.h"
#include "components/memory/page_table/page_table.h"
#include "components/memory/page_table/program_table.h"
#include "runtime/engine/engine.h"

#include "word_order.h"

#define TESTER_LINE         64u
#define TESTER_SLOTS        16u /* requests in flight, each thread */
#define TESTER_PID          1u
#define TESTER_WISHES       64u
#define TESTER_VIRTUAL_BASE ((uint64_t)1 << 40)

enum tester_verb { VERB_LOAD, VERB_LOAD_LINE, VERB_UNORDERED, VERB_STORE, VERB_ATOMIC };
enum tester_phase {
    PHASE_FIRST_COUNT,
    PHASE_ACQUIRE,
    PHASE_RUN,
    PHASE_RELEASE,
    PHASE_LAST_COUNT,
    PHASE_OVER
};

struct tester_word {
    uint64_t address;
    uint32_t value;  /* what the next load must return */
    uint32_t writer; /* 1 + thread that claimed it, 0 none */
    uint32_t readers;
    uint32_t last_writer; /* 1 + thread, for the report */
    uint64_t last_cycle;
};

struct tester_action {
    uint32_t word;
    uint32_t operand, compare;
    uint8_t verb;
    uint8_t op;
    bool returns;
};

/* A request in flight. */
struct tester_slot {
    uint64_t sent;
    uint32_t word;
    uint32_t expected;
    uint32_t oldest; /* unordered: number of the oldest value that may come */
    uint8_t verb;
    bool used, check, counter;
};

struct tester_thread {
    uint32_t port;
    uint32_t episode;
    uint32_t next_action;
    uint32_t in_flight;
    uint32_t counters[2];
    bool system; /* scope of the episode */
    uint8_t phase;
    bool waits; /* for the answer to a fence or increment */
};

enum moves_state {
    MOVES_CALM,
    MOVES_PAUSE,
    MOVES_COPY,
    MOVES_SWAP,
    MOVES_SHOOT,
    MOVES_ANSWER,
    MOVES_RESUME
};

/* A change of a page: it goes to another GPU, or one more gets a copy, or the copies go. */
enum moves_kind { KIND_MOVE, KIND_COPY, KIND_WRITE };

/* A controller has asked for a page. */
struct tester_wish {
    uint32_t page;
    uint32_t gpu;
    uint16_t tag;
    uint8_t wish; /* enum page_wish */
};

/* Moves of pages between GPUs; see page_moves.c. Physical pages are numbered through: those of the
 * first GPU, then those of the second, ... */
struct tester_moves {
    uint32_t frame_at; /* arena: uint32_t [page_count], physical page of each virtual one */
    uint32_t owner_at; /* arena: uint32_t [frame_count], 1 + virtual page, 0 free */
    uint32_t page_count, frame_count;
    uint32_t state;         /* enum moves_state */
    uint32_t told;          /* GPUs that have been sent what the state is about */
    uint32_t heard;         /* that have answered */
    uint32_t kind;          /* enum moves_kind */
    uint32_t page, to, gpu; /* virtual page, its new physical one, where that is */
    uint32_t left;          /* further moves in this pause */
    uint32_t wishes_at;     /* arena: struct tester_wish [TESTER_WISHES], a ring */
    uint32_t first_wish, wish_count;
    bool wished; /* what happens is the first wish's */
    bool paused;
    uint64_t due; /* time of the next move */
    uint64_t random;
};

struct memory_tester {
    struct memory_tester_io io;
    uint64_t random;
    uint32_t words_at; /* arena offsets: tester_word [locations + counters] */
    uint32_t threads_at;
    uint32_t actions_at; /* [threads][actions] */
    uint32_t slots_at;   /* [threads][TESTER_SLOTS] */
    uint32_t seen_at;    /* bitmap [counters][increments]: values returned */
    uint32_t thread_count;
    uint32_t over;       /* threads that have ended */
    uint32_t increments; /* in all */
    uint32_t final_next; /* word to be read next at the end */
    uint32_t final_done;
    bool final_fenced, final_fence_sent;
    uint32_t agents;                         /* 0: one, without an order */
    uint32_t final_releases, final_released; /* by agents: sent, answered */
    struct tester_moves moves;
};

static inline uint64_t next_random(struct memory_tester *c)
{
    return splitmix64(&c->random);
}

static inline uint32_t below(struct memory_tester *c, uint64_t limit)
{
    return (uint32_t)(next_random(c) % limit);
}

static inline struct tester_word *word_at(const struct memory_tester *c, uint32_t i)
{
    return arena_at(struct tester_word, c->words_at) + i;
}

static inline struct tester_thread *thread_at(const struct memory_tester *c, uint32_t i)
{
    return arena_at(struct tester_thread, c->threads_at) + i;
}

static inline struct tester_action *action_at(const struct memory_tester *c, uint32_t thread,
                                              uint32_t i)
{
    return arena_at(struct tester_action, c->actions_at) + thread * memory_tester_params(c)->actions
           + i;
}

static inline struct tester_slot *slot_at(const struct memory_tester *c, uint32_t thread,
                                          uint32_t i)
{
    return arena_at(struct tester_slot, c->slots_at) + thread * TESTER_SLOTS + i;
}

/* ---- page_moves.c ---- */

static void pages_init(struct memory_tester *c);
static bool pages_step(struct memory_tester *c);

#endif
