/* State of the part hbm, the address map, and what each command does to the state.
 *
 * Time is counted in edges of the memory's clock; every distance that the timing rules demand is
 * kept as the earliest edge of a later command, at the bank, group or channel that the rule is
 * about, so that a command may go when three numbers allow it. A channel takes one row command
 * (ACT, PRE) and one column command (RD, WR) an edge, as JESD235 has it.
 *
 * Requests wait in two queues of a channel, reads and writes, of at most 64 slots each. Slots are
 * given in the order of arrival around a ring, so that age is the distance from the oldest, and
 * sets of requests are masks of 64 bits: those that wait at a bank, and among them those whose row
 * is open. Sets of banks are masks, too, and what a bank wants is found out when something happens
 * there, not when commands are planned.
 *
 * A channel, its queues, its banks and its groups are in one piece, so that none of them has to
 * be looked up. */
#ifndef HEDDLE_COMPONENTS_MEMORY_DRAM_HBM_STATE_H
#define HEDDLE_COMPONENTS_MEMORY_DRAM_HBM_STATE_H

#include "hbm.gen.h"

#include "base/likely.h"
#include "base/number.h"

#include "dram_timing.h"

#define HBM_SLOTS    64u
#define HBM_CHANNELS 16u        /* at most */
#define HBM_CLOSED   UINT64_MAX /* no row */

/* A hook for the test that checks sequences of commands: it is told of each one. */
#ifdef HBM_LOG
void hbm_log_command(uint32_t channel, const char *command, uint32_t bank, uint64_t row,
                     uint64_t edge);
#define HBM_COMMAND(ch, command, bank, row, edge)                                                  \
    hbm_log_command((ch)->number, command, bank, row, edge)
#else
#define HBM_COMMAND(ch, command, bank, row, edge) ((void)0)
#endif

enum hbm_direction { HBM_READ, HBM_WRITE };

/* The commands by which a request got its row. */
enum { HBM_ACTIVATED = 1, HBM_PRECHARGED = 2 };

struct hbm_request {
    uint64_t row;
    uint64_t line; /* struct hbm_place */
    uint32_t number;
    uint16_t bank;
    uint16_t how;
};

struct hbm_queue {
    uint64_t valid;
    uint64_t hits;  /* slots whose row is open */
    uint64_t busy;  /* banks at which a request waits */
    uint64_t open;  /* banks at which a request wants a column of the open row: hbm_sort_bank() */
    uint32_t first; /* number of the oldest request; its slot is this % 64 */
    uint32_t next;
    uint32_t count;
    uint32_t reserved;
    struct hbm_request requests[HBM_SLOTS];
};

struct hbm_bank {
    uint64_t row;
    uint64_t waiting[2], hits[2]; /* by direction: slots of its queue */
    uint64_t act, pre, column[2]; /* earliest edges */
    uint32_t streak;              /* column commands since the activation */
    uint32_t reserved;
};

struct hbm_group {
    uint64_t act, column[2];
};

struct hbm_target {
    uint32_t channel, bank;
    uint64_t row;
    uint64_t line; /* the number of the line among those of this memory */
};

struct hbm_channel {
    uint64_t next;          /* edge to look at; ENGINE_NEVER without requests */
    uint64_t columns, rows; /* banks that may have a command then, unless the refresh is due */
    uint64_t refresh;       /* when the next one is due */
    uint64_t act, column[2];
    uint64_t activation_limits[4]; /* the next activation but three may come then */
    uint32_t number;
    uint32_t activations;
    uint32_t refreshed;      /* the bank that has its turn, when they take turns */
    uint8_t direction, last; /* now chosen; of the last column command */
    bool is_draining;        /* drains because there are many writes */
    uint8_t reserved;
    struct hbm_queue queues[2];
    struct hbm_bank banks[]; /* the groups are after them */
};

/* Parameters in edges. */
struct hbm_edges {
    uint32_t burst, rcd_read, rcd_write, cas_read, cas_write, rp, ras, rc, rtp, wr, ccd_s, ccd_l,
        wtr_s, wtr_l, rtw, rrd_s, rrd_l, faw, rfc, refi;
};

struct hbm {
    struct hbm_io io;
    struct hbm_edges t;
    uint32_t channels[HBM_CHANNELS]; /* arena offsets */
    uint32_t full;                   /* queues that had no room: hbm_queue_bit() */
    uint32_t reserved;
    uint64_t rooms;         /* queues of `full` that a request has left since */
    uint64_t next, next_ps; /* earliest of the channels */
};

static inline uint32_t hbm_bank_count(const struct hbm *p)
{
    return (uint32_t)(hbm_params(p)->groups * hbm_params(p)->banks);
}

static inline struct hbm_channel *hbm_channel(const struct hbm *p, uint32_t number)
{
    return arena_at(struct hbm_channel, p->channels[number]);
}

/* Refreshes in the time in which each bank has one. */
static inline uint32_t hbm_refreshes(const struct hbm *p)
{
    return hbm_params(p)->refresh == HBM_REFRESH_ALL ? 1 : hbm_bank_count(p);
}

/* The bit of a channel's queue among all queues. */
static inline uint32_t hbm_queue_bit(const struct hbm_channel *ch, enum hbm_direction d)
{
    return 1u << (2 * ch->number + d);
}

/* Banks are numbered group by group. */
static inline struct hbm_group *hbm_group(const struct hbm *p, struct hbm_channel *ch,
                                          uint32_t bank)
{
    struct hbm_group *groups = (struct hbm_group *)(void *)(ch->banks + hbm_bank_count(p));
    return groups + bank / hbm_params(p)->banks;
}

/* The age of the request in a slot: by how much it is younger than the oldest. */
static inline unsigned hbm_age(const struct hbm_queue *q, unsigned slot)
{
    return (slot - q->first) % HBM_SLOTS;
}

/* The oldest of `slots`, which is not empty. */
static inline unsigned hbm_oldest(const struct hbm_queue *q, uint64_t slots)
{
    unsigned turn = q->first % HBM_SLOTS;
    uint64_t by_age = slots >> turn | slots << (-turn % HBM_SLOTS);
    return ((unsigned)__builtin_ctzll(by_age) + q->first) % HBM_SLOTS;
}

/* ---- what the files call of each other; comments are at the definitions ---- */

/* hbm_queue.c */
static inline struct hbm_target hbm_locate(const struct hbm *p, uint64_t address);
static ALWAYS_INLINE void hbm_sort_bank(const struct hbm *p, struct hbm_channel *ch,
                                        enum hbm_direction d, struct hbm_bank *bank,
                                        uint32_t number);
static ALWAYS_INLINE unsigned hbm_enqueue(const struct hbm *p, struct hbm_channel *ch,
                                          enum hbm_direction d, const struct hbm_target *target,
                                          uint32_t number);
static ALWAYS_INLINE void hbm_dequeue(struct hbm *p, struct hbm_channel *ch, enum hbm_direction d,
                                      unsigned slot, uint32_t number);
static ALWAYS_INLINE bool hbm_finds(const struct hbm_channel *ch, enum hbm_direction d,
                                    const struct hbm_target *target);

/* hbm_timing.c */
static inline struct hbm_edges hbm_find_edges(const struct hbm *p);
static inline struct hbm_edges hbm_edges(const struct hbm *p);
static inline void hbm_activate(struct hbm *p, struct hbm_channel *ch, uint32_t number,
                                struct hbm_request *r, uint64_t edge);
static inline void hbm_precharge(struct hbm *p, struct hbm_channel *ch, uint32_t number,
                                 uint64_t edge);
static inline void hbm_refresh(struct hbm *p, struct hbm_channel *ch);
static ALWAYS_INLINE uint64_t hbm_column(struct hbm *p, struct hbm_channel *ch,
                                         enum hbm_direction d, uint32_t number, uint64_t row,
                                         unsigned how, uint64_t edge);

#endif
