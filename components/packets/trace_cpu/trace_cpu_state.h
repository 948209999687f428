/* State of trace_cpu, and the functions that its files share.
 *
 * It does one thing at a time. A *move* takes bytes to the host's memory or back, line by line. A
 * *packet* is a move, a write to the device, and a move back; one that is blocked begins again
 * (trace_cpu_packet.c has both). trace_cpu_play.c decides what follows a packet: the next one, or a
 * comparison. The trace and its files are in the memory of the process, as are blobs. */
#ifndef HEDDLE_COMPONENTS_PACKETS_TRACE_CPU_TRACE_CPU_STATE_H
#define HEDDLE_COMPONENTS_PACKETS_TRACE_CPU_TRACE_CPU_STATE_H

#include "trace_cpu.gen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "components/packets/api_packet/api_answer.h"
#include "components/packets/api_packet/api_request.h"
#include "components/protocols/mem/mem_mask.h"
#include "components/traces/api_trace/api_trace.h"
#include "runtime/engine/index_pool.h"
#include "runtime/engine/options.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/timeline.h"
#include "runtime/state/blob.h"
#include "runtime/state/platform.h"

enum {
    CPU_LINE = 64,
    CPU_HOST_PAGE = 4096,
    CPU_PACKET_BYTES = 4096, /* at the start of the memory */
    CPU_PATH_MAX = 4096,     /* bytes; a longer path cannot be read */
    CPU_TAG_DEVICE = 0xffff,
    CPU_NONE = UINT32_MAX
};

/* Addresses that stand for kernels and variables. */
enum { CPU_STUB = 0x100000, CPU_SHADOW = 0x200000, CPU_STUB_STEP = 16 };

enum cpu_phase {
    CPU_START,
    CPU_PLAY, /* nothing is under way: the next thing is to be begun */
    CPU_MOVE,
    CPU_WRITE_PACKET,
    CPU_RING, /* the address is to be written */
    CPU_WAIT,
    CPU_ASK, /* the device is to be read */
    CPU_ASKED,
    CPU_READ_ANSWER,
    CPU_BLOCKED,
    CPU_OVER
};

/* A number of the trace, and what it is here. */
struct cpu_name {
    uint32_t number;
    uint64_t value; /* address or handle; 0: not yet, or no more */
};

struct cpu_names {
    uint32_t blob; /* struct cpu_name[] */
    uint32_t count;
};

/* A kernel or variable whose stub or shadow is registered. */
struct cpu_text {
    const char *name;
    uint32_t module;  /* number of the trace; 0: any */
    uint64_t address; /* a variable's, once it was asked for */
};

/* A copy to the host that is to be compared when it is complete. */
struct cpu_check {
    uint64_t address, size;
    const char *file;
    uint64_t from; /* its first byte in the file */
    uint32_t line, stream;
};

struct cpu_mover {
    bool write;
    uint64_t address, size, issued, finished;
    uint8_t *bytes;
};

/* One side of a copy of rows. */
struct cpu_rows {
    uint64_t first, pitch;
};

/* A line that is under way. */
struct cpu_slot {
    uint64_t offset; /* in the move */
    uint32_t bytes;
};

struct trace_cpu {
    struct trace_cpu_io io;
    uint32_t slots_at; /* arena: struct cpu_slot[lines] */
    struct index_pool free_slots;
    uint32_t phase; /* enum cpu_phase */
    uint32_t call;  /* the line of the trace that is played */
    uint32_t stage; /* how far the line is */
    uint32_t item;  /* the next one of several things */
    uint32_t sequence;
    uint64_t next_byte; /* the first free byte of the memory for copies */
    uint64_t since;     /* cycle */
    uint64_t wait_until;
    uint64_t times[3]; /* cycles of the steps of the packet under way */
    struct cpu_mover mover;
    struct api_request request;
    struct api_answer answer;
    uint8_t packet[CPU_PACKET_BYTES];
    uint32_t packet_bytes;
    struct api_trace trace; /* in the memory of the process, as are the blobs */
    struct cpu_names memory, streams, events;
    struct cpu_names host; /* addresses of pinned memory */
    /* Addresses on the device of pinned memory that kernels use. */
    struct cpu_names device_addresses;
    /* Numbers, from 1, of the calls that have written to pinned memory. */
    struct cpu_names writing_calls;
    struct cpu_names code;          /* modules: handles */
    uint64_t pinned_bytes;          /* at the end of the host's memory */
    uint32_t checks, check_count;   /* blob: struct cpu_check[] */
    uint32_t compared_count;        /* checks that are done */
    uint32_t modules, module_count; /* blob: uint64_t handles */
    uint32_t kernels, kernel_count; /* blob: struct cpu_text[] */
    uint32_t symbols, symbol_count; /* blob: struct cpu_text[] */
    uint32_t bytes;                 /* blob: a file */
    uint32_t received;              /* blob: what has come back */
    uint32_t module_file;           /* number of the next file of --module */
    uint32_t argument_byte;
    uint64_t copy_address; /* address in the host's memory of the bytes of the copy */
    bool is_looking_up;    /* the variables that the call points to */
    uint32_t drain_stage;
    bool is_draining;     /* the call continues when everything else is over */
    bool has_made_stream; /* the packet under way has made one */
    char first_wrong[400];
};

/* ---- trace_cpu_packet.c ---- */

__attribute__((format(printf, 3, 4))) static void cpu_fail(struct trace_cpu *c, uint32_t line,
                                                           const char *format, ...);
static uint32_t cpu_line_of_call(const struct trace_cpu *c);
static void move_begin(struct trace_cpu *c, bool write, uint64_t address, void *bytes,
                       uint64_t size);
static bool move_send(struct trace_cpu *c);
static void move_receive(struct trace_cpu *c, uint16_t tag, const uint8_t *line);
static bool move_is_over(const struct trace_cpu *c);
static uint64_t memory_base(const struct trace_cpu *c);
static void packet_write(struct trace_cpu *c);
static struct api_request *packet_begin(struct trace_cpu *c, enum api_call call);
static void end_step(struct trace_cpu *c, unsigned step);
static bool ring_device(struct trace_cpu *c);
static bool ask_device(struct trace_cpu *c);
static void accept_device_answer(struct trace_cpu *c, const uint8_t *line);
static bool end_packet(struct trace_cpu *c);

/* ---- trace_cpu_check.c ---- */

static void *list_add(uint32_t *blob, uint32_t *count, size_t size);
static void release_file(struct trace_cpu *c);
static bool read_file(struct trace_cpu *c, const char *name, uint64_t size);
static void check_add(struct trace_cpu *c, const struct api_trace_call *call, uint64_t address,
                      uint64_t size, uint64_t from);
static bool compare_copies(struct trace_cpu *c);
static bool allocate_bytes(struct trace_cpu *c, uint64_t size, uint64_t *address);

/* ---- trace_cpu_names.c ---- */

static bool check_call(struct trace_cpu *c, const char *step);
static void name_set(struct cpu_names *names, uint32_t number, uint64_t value);
static uint64_t name_value(const struct cpu_names *names, uint32_t number);
static uint64_t address_of(const struct trace_cpu *c, const struct api_trace_pointer *pointer);
static bool make_new_stream(struct trace_cpu *c, uint32_t stream);
static uint64_t stream_of(const struct trace_cpu *c, const struct api_trace_call *call);
static bool register_file(struct trace_cpu *c, const char *path);
static uint32_t text_find(uint32_t blob, uint32_t count, const char *name, uint32_t module);
static bool find_name(struct trace_cpu *c, const char *name, uint32_t module, bool kernel,
                      uint32_t *number);
static bool find_variables(struct trace_cpu *c, const struct api_trace_call *call);

/* ---- trace_cpu_host.c ---- */

static bool play_host_malloc(struct trace_cpu *c, const struct api_trace_call *call);
static bool play_host_free(struct trace_cpu *c, const struct api_trace_call *call);
static bool play_host_map(struct trace_cpu *c, const struct api_trace_call *call);
static bool play_host_access(struct trace_cpu *c, const struct api_trace_call *call);
static bool play_host_write(struct trace_cpu *c, const struct api_trace_call *call);
static bool play_compare(struct trace_cpu *c, const struct api_trace_call *call);
static bool play_pinned_to(struct trace_cpu *c, const struct api_trace_call *call);
static bool play_pinned_from(struct trace_cpu *c, const struct api_trace_call *call);

/* ---- trace_cpu_play.c ---- */

static bool copy_rows(struct trace_cpu *c, const struct api_trace_call *call, struct cpu_rows to,
                      struct cpu_rows from, enum api_direction direction);
static void send_copy(struct trace_cpu *c, const struct api_trace_call *call, uint64_t to,
                      uint64_t from, enum api_direction direction);
static bool play_to_device(struct trace_cpu *c, const struct api_trace_call *call);
static bool play_from_device(struct trace_cpu *c, const struct api_trace_call *call);
static bool play_line(struct trace_cpu *c, const struct api_trace_call *call);

#endif
