/* State of a DMA engine: see dma_engine.c for how it works. */
#ifndef HEDDLE_COMPONENTS_AMD_DMA_ENGINE_DMA_STATE_H
#define HEDDLE_COMPONENTS_AMD_DMA_ENGINE_DMA_STATE_H

#include "dma_engine.gen.h"

#include "base/number.h"
#include "runtime/engine/index_pool.h"

#define DMA_LONGEST       128u  /* line */
#define DMA_COMMAND_BYTES 4096u /* the payload of a command message */
#define DMA_NONE          UINT32_MAX

struct dma_command {
    uint64_t target; /* unused by reads */
    uint64_t source; /* reads, copies and atomics */
    uint64_t value;  /* operand of an atomic */
    uint32_t size;
    uint32_t issued; /* bytes cut into pieces */
    uint32_t bytes_done;
    uint32_t pattern;
    uint16_t tag;
    uint8_t kind; /* enum command_request_kind */
};

struct dma_piece {
    uint64_t target;
    uint32_t command;
    uint32_t offset; /* in the command */
    uint32_t bytes;
    uint32_t next; /* list of pieces whose bytes have been read and wait to be written */
    bool is_writing;
};

struct dma_lane {
    uint32_t request, reply; /* places of its rings */
};

struct dma_engine {
    struct dma_engine_io io;
    uint32_t commands_at; /* struct dma_command[commands] */
    uint32_t data_at;     /* uint8_t[commands][DMA_COMMAND_BYTES]: to be written, or read */
    uint32_t pieces_at;   /* struct dma_piece[lines] */
    /* uint8_t[lines][DMA_LONGEST]: the bytes of a piece of a copy, at their places in the line. */
    uint32_t target_lines_at;
    uint32_t lanes_at;         /* struct dma_lane[lanes] */
    uint32_t used_bits_at;     /* bitmap of commands that have a slot */
    uint32_t complete_bits_at; /* bitmap of commands that are done and not answered yet */
    struct index_pool free_pieces;
    uint32_t first_read, last_read; /* pieces to write */
    uint32_t order_at; /* uint32_t[commands]: those with bytes left to cut, a ring by age */
    uint32_t oldest, unissued;
    uint32_t next_lane; /* lane that is asked first */
    uint32_t used_count, complete_count;
};

static inline unsigned dma_line(const struct dma_engine *c)
{
    return dma_engine_params(c)->line;
}

static inline struct dma_command *command_at(const struct dma_engine *c, uint32_t i)
{
    return arena_at(struct dma_command, c->commands_at) + i;
}

static inline uint8_t *command_bytes(const struct dma_engine *c, uint32_t i)
{
    return arena_at(uint8_t, c->data_at) + (size_t)i * DMA_COMMAND_BYTES;
}

static inline struct dma_piece *piece_at(const struct dma_engine *c, uint32_t i)
{
    return arena_at(struct dma_piece, c->pieces_at) + i;
}

/* The bytes kept with a piece of a copy. */
static inline uint8_t *target_line_at(const struct dma_engine *c, uint32_t i)
{
    return arena_at(uint8_t, c->target_lines_at) + (size_t)i * DMA_LONGEST;
}

static inline uint32_t *order_at(const struct dma_engine *c, uint32_t i)
{
    return arena_at(uint32_t, c->order_at) + i % dma_engine_params(c)->commands;
}

static inline uint32_t command_count(const struct dma_engine *c)
{
    return dma_engine_params(c)->commands;
}

static inline uint32_t lane_count(const struct dma_engine *c)
{
    return dma_engine_params(c)->lanes;
}

/* Words of a bitmap of commands. */
static inline uint32_t command_words(const struct dma_engine *c)
{
    return divide_up(command_count(c), 64);
}

static inline uint64_t *command_bits(uint32_t bitmap_at)
{
    return arena_at(uint64_t, bitmap_at);
}

static inline uint64_t bit_of(uint32_t command)
{
    return (uint64_t)1 << command % 64;
}

#endif
