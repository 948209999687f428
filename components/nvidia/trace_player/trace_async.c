/* Asynchronous instructions of a trace, by opcode and modifier. Those that are approximated are
 * reported once a run, by family, when the first instruction of the family is read. */
#include <string.h>

#include "base/number.h"
#include "components/traces/instruction_trace/nvidia/ptx_units.h"

#include "trace_player_state.h"

/* Notes on approximations that the run has printed. */
struct trace_notes {
    uint32_t printed; /* bits of families */
    bool has_groups;  /* traces say what closes a group of products */
};

static struct trace_notes trace_notes;

/* Notes that a run has printed; host memory. */
static struct trace_notes trace_notes;

enum trace_family {
    FAMILY_NONE,
    FAMILY_BULK,
    FAMILY_UNSIZED,
    FAMILY_MULTICAST,
    FAMILY_BLOCK_TO_BLOCK,
    FAMILY_SHORT,
    FAMILY_PHASE,
    FAMILY_CLUSTER_BARRIER,
    FAMILY_MATRIX,
    FAMILY_GROUPS,
    FAMILY_TENSOR_MEMORY,
    FAMILY_COUNT
};

static const char *const family_notes[FAMILY_COUNT] = {
    [FAMILY_BULK] = "bulk copies (UTMA*, UBLK*, cp.async.bulk): a line of 128 bytes a cycle and SM "
                    "through the L1 "
                    "to the L2, without a latency of the copier's own",
    [FAMILY_UNSIZED] = "bulk copies whose lines have no transfers: they move nothing, or what "
                       "the one address of the line says",
    [FAMILY_MULTICAST] = "bulk copies to several blocks of a cluster: data goes to the block that "
                         "issues the copy only",
    [FAMILY_BLOCK_TO_BLOCK] =
        "accesses between blocks of a cluster: bulk copies move nothing, STAS "
        "and REDAS stay in the block",
    [FAMILY_SHORT] = "bulk copies of more than 12 different runs of rows: the bytes are right, the "
                     "addresses of the last rows are not",
    [FAMILY_PHASE] =
        "barriers in shared memory (SYNCS, ARRIVES): the n-th wait of a warp is for the "
        "copies or arrivals of n phases, or for copies under way where counts do not "
        "fit; a first wait without copies passes",
    [FAMILY_CLUSTER_BARRIER] = "barriers of clusters (UCGABAR): they do not wait",
    [FAMILY_MATRIX] =
        "products of four warps (HGMMA ..., wgmma): N / 2 cycles of each tensor unit, or "
        "what shared memory takes to give the operands",
    [FAMILY_GROUPS] = "products of four warps whose lines do not say what closes a group: "
                      "WARPGROUP.ARRIVE and WARPGROUP.DEPBAR do",
    [FAMILY_TENSOR_MEMORY] = "Blackwell's tensor memory (UTC*, LDT*, STT*): units only; nothing "
                             "is asynchronous, nothing is moved",
};

static const struct {
    const char *name, *part; /* a modifier, or NULL for any */
    uint8_t unit, kind, family;
} rows[] = {
    {"LDGSTS", NULL, TRACE_MEMORY, TRACE_COPY, FAMILY_NONE},
    {"LDGDEPBAR", NULL, TRACE_INT, TRACE_COPY_COMMIT, FAMILY_NONE},
    {"DEPBAR", ".LE", TRACE_INT, TRACE_COPY_WAIT, FAMILY_NONE},
    {"ARRIVES", ".LDGSTSBAR", TRACE_INT, TRACE_COPY_ARRIVE, FAMILY_PHASE},
    {"HGMMA", NULL, TRACE_TENSOR, TRACE_MATRIX, FAMILY_MATRIX},
    {"IGMMA", NULL, TRACE_TENSOR, TRACE_MATRIX, FAMILY_MATRIX},
    {"QGMMA", NULL, TRACE_TENSOR, TRACE_MATRIX, FAMILY_MATRIX},
    {"BGMMA", NULL, TRACE_TENSOR, TRACE_MATRIX, FAMILY_MATRIX},
    {"WARPGROUP", ".ARRIVE", TRACE_BRANCH, TRACE_MATRIX_GATHER, FAMILY_MATRIX},
    {"WARPGROUP", ".DEPBAR", TRACE_BRANCH, TRACE_MATRIX_WAIT, FAMILY_MATRIX},
    {"UTMALDG", NULL, TRACE_COPIER, TRACE_BULK_LOAD, FAMILY_BULK},
    {"UTMASTG", NULL, TRACE_COPIER, TRACE_BULK_STORE, FAMILY_BULK},
    {"UTMAREDG", NULL, TRACE_COPIER, TRACE_BULK_REDUCE, FAMILY_BULK},
    {"UTMAPF", NULL, TRACE_COPIER, TRACE_BULK_PREFETCH, FAMILY_BULK},
    {"UBLKCP", ".S.G", TRACE_COPIER, TRACE_BULK_LOAD, FAMILY_BULK},
    {"UBLKCP", ".G.S", TRACE_COPIER, TRACE_BULK_STORE, FAMILY_BULK},
    {"UBLKCP", NULL, TRACE_UNIFORM, TRACE_COMPUTE, FAMILY_BLOCK_TO_BLOCK},
    {"UBLKRED", NULL, TRACE_COPIER, TRACE_BULK_REDUCE, FAMILY_BULK},
    {"UBLKPF", NULL, TRACE_COPIER, TRACE_BULK_PREFETCH, FAMILY_BULK},
    {"UTMACMDFLUSH", NULL, TRACE_UNIFORM, TRACE_COPY_COMMIT, FAMILY_NONE},
    {"SYNCS", ".PHASECHK", TRACE_INT, TRACE_PHASE_WAIT, FAMILY_PHASE},
    {"SYNCS", ".ARRIVE", TRACE_INT, TRACE_PHASE_ARRIVE, FAMILY_PHASE},
    {"cp", ".commit_group", TRACE_INT, TRACE_COPY_COMMIT, FAMILY_NONE},
    {"cp", ".wait_group", TRACE_INT, TRACE_COPY_WAIT, FAMILY_NONE},
    {"cp", ".wait_all", TRACE_INT, TRACE_COPY_WAIT_ALL, FAMILY_NONE},
    {"cp", ".bulk.prefetch", TRACE_INT, TRACE_COMPUTE, FAMILY_NONE},
    {"cp", ".bulk_group", TRACE_COPIER, TRACE_BULK_STORE, FAMILY_BULK},
    {"cp", ".shared::cta.mbarrier", TRACE_COPIER, TRACE_BULK_LOAD, FAMILY_BLOCK_TO_BLOCK},
    {"cp", ".bulk", TRACE_COPIER, TRACE_BULK_LOAD, FAMILY_BULK},
    {"cp", ".mbarrier", TRACE_INT, TRACE_COPY_ARRIVE, FAMILY_NONE},
    {"wgmma", ".mma_async", TRACE_TENSOR, TRACE_MATRIX, FAMILY_MATRIX},
    {"wgmma", ".fence", TRACE_BRANCH, TRACE_MATRIX_GATHER, FAMILY_MATRIX},
    {"wgmma", ".commit_group", TRACE_BRANCH, TRACE_MATRIX_CLOSE, FAMILY_MATRIX},
    {"wgmma", ".wait_group", TRACE_BRANCH, TRACE_MATRIX_WAIT, FAMILY_MATRIX},
    {"mbarrier", ".arrive", TRACE_INT, TRACE_PHASE_ARRIVE, FAMILY_NONE},
    {"mbarrier", ".test_wait", TRACE_INT, TRACE_PHASE_WAIT, FAMILY_NONE},
    {"mbarrier", ".try_wait", TRACE_INT, TRACE_PHASE_WAIT, FAMILY_NONE},
    {"cp", ".async", TRACE_MEMORY, TRACE_COPY, FAMILY_NONE},
    {"UCGABAR_ARV", NULL, TRACE_INT, TRACE_COMPUTE, FAMILY_CLUSTER_BARRIER},
    {"UCGABAR_WAIT", NULL, TRACE_INT, TRACE_COMPUTE, FAMILY_CLUSTER_BARRIER},
    {"STAS", NULL, TRACE_MEMORY, TRACE_STORE, FAMILY_BLOCK_TO_BLOCK},
    {"REDAS", NULL, TRACE_MEMORY, TRACE_ATOMIC, FAMILY_BLOCK_TO_BLOCK},
    {"UTCHMMA", NULL, TRACE_TENSOR, TRACE_COMPUTE, FAMILY_TENSOR_MEMORY},
    {"UTCIMMA", NULL, TRACE_TENSOR, TRACE_COMPUTE, FAMILY_TENSOR_MEMORY},
    {"UTCOMMA", NULL, TRACE_TENSOR, TRACE_COMPUTE, FAMILY_TENSOR_MEMORY},
    {"UTCQMMA", NULL, TRACE_TENSOR, TRACE_COMPUTE, FAMILY_TENSOR_MEMORY},
    {"UTCMXQMMA", NULL, TRACE_TENSOR, TRACE_COMPUTE, FAMILY_TENSOR_MEMORY},
    {"UTCCP", NULL, TRACE_TENSOR, TRACE_COMPUTE, FAMILY_TENSOR_MEMORY},
    {"LDT", NULL, TRACE_TENSOR, TRACE_COMPUTE, FAMILY_TENSOR_MEMORY},
    {"LDTM", NULL, TRACE_TENSOR, TRACE_COMPUTE, FAMILY_TENSOR_MEMORY},
    {"STT", NULL, TRACE_TENSOR, TRACE_COMPUTE, FAMILY_TENSOR_MEMORY},
    {"STTM", NULL, TRACE_TENSOR, TRACE_COMPUTE, FAMILY_TENSOR_MEMORY},
};

static void trace_async_begin(void)
{
    trace_notes = (struct trace_notes){0};
}

static void trace_async_warn(enum trace_family family)
{
    uint32_t bit = 1u << family;
    if (family == FAMILY_NONE || trace_notes.printed & bit)
        return;
    trace_notes.printed |= bit;
    fprintf(stderr, "note: approximated: %s\n", family_notes[family]);
}

/* The N of a shape MxNxK or mMnNkK, which is the first modifier of that form; 256, the largest,
 * without. */
static unsigned matrix_columns(const char *name)
{
    unsigned m = 0, n = 0, k = 0;
    const char *shape = strchr(name, '.');
    for (; shape; shape = strchr(shape + 1, '.'))
        if (sscanf(shape, ".%3ux%3ux%3u", &m, &n, &k) == 3
            || sscanf(shape, ".m%3un%3uk%3u", &m, &n, &k) == 3)
            return n < 8 ? 8 : min(n, 256);
    return 256;
}

/* N / 2 cycles: 64 * N * 16 multiply-adds of 16 bits on four tensor units, each of which makes 512
 * a cycle (NVIDIA, "A100 Tensor Core GPU Architecture": 256; "H100 Tensor Core GPU Architecture":
 * twice that); kinds with another K are faster or slower in proportion. B has 32 bytes a column, A
 * 32 a row where it is no register, and shared memory gives 128 a cycle: a quarter takes N / 16
 * cycles of it, and four more for A. */
static void matrix_decode(const struct itrace_inst *from, struct trace_inst *to)
{
    unsigned columns = matrix_columns(from->name);
    /* A is one: a source that is neither what is added nor a descriptor. PTX says so. */
    bool is_ptx = ptx_name_is_ptx(from->name);
    bool registers = is_ptx && from->immediate_count && from->immediates[0];
    if (!is_ptx)
        for (unsigned i = 0; i < from->source_count; i++)
            registers |= from->sources[i] < 255
                         && (!from->destination_count || from->sources[i] != from->destinations[0]);
    to->destination = TRACE_REGISTER_NONE; /* WARPGROUP.DEPBAR waits for it, not the next product */
    to->count = (uint16_t)(columns / 2);
    to->width = (uint8_t)(divide_up(columns, 16) + (registers ? 0 : 4));
    if (from->closes_group) {
        to->kind = TRACE_MATRIX_COMMIT;
        trace_notes.has_groups = true;
    }
}

/* Changes *to, which the class of `from` has decided, if `from` is asynchronous. */
static void trace_async_decode(const struct itrace_inst *from, struct trace_inst *to)
{
    size_t size = strcspn(from->name, ".");
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (rows[i].name[0] != from->name[0] || strlen(rows[i].name) != size
            || memcmp(rows[i].name, from->name, size) != 0
            || (rows[i].part && !strstr(from->name + size, rows[i].part)))
            continue;
        to->unit = rows[i].unit;
        to->kind = rows[i].kind;
        trace_async_warn((enum trace_family)rows[i].family);
        break;
    }
    if (to->kind == TRACE_MATRIX)
        matrix_decode(from, to);
    if (to->kind == TRACE_MATRIX_GATHER)
        to->count = ptx_name_is_ptx(from->name);
    trace_notes.has_groups |= to->kind == TRACE_MATRIX_CLOSE;
    /* cp.async.cg looks into the L2 only (PTX ISA, cache operators). */
    if (to->kind == TRACE_COPY)
        to->bypass = strstr(from->name, ".BYPASS") || strstr(from->name, ".cg.");
    if ((to->kind == TRACE_COPY_WAIT || to->kind == TRACE_MATRIX_WAIT) && from->immediate_count)
        to->count = from->immediates[0] >= 0 && from->immediates[0] < UINT16_MAX
                        ? (uint16_t)from->immediates[0]
                        : UINT16_MAX;
    if (to->kind == TRACE_MATRIX_WAIT && !trace_notes.has_groups)
        trace_async_warn(FAMILY_GROUPS);
}

/* A bulk copy as it is executed: what its line does not say, or the simulation does not do. */
static void trace_async_step(const struct itrace_step *step)
{
    if (!step->mask)
        return;
    if (!step->copy.runs)
        trace_async_warn(FAMILY_UNSIZED);
    else if (step->copy.multicast)
        trace_async_warn(FAMILY_MULTICAST);
    if (step->copy.runs && step->copy.is_short)
        trace_async_warn(FAMILY_SHORT);
}
