/* Launches under way, their readers, and the work-groups that stand at places; see replay.h. One
 * lock for all but the steps of a work-group, which only the owner of its place looks at. */
#include "replay_internal.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct replay_kernel *kernels;
static struct replay_block **placed;
static uint32_t place_count;
static uint64_t uses;

/* ---- launches ---- */

void replay_launch(uint32_t launch, const char *path, bool use_cache)
{
    struct replay_kernel *kernel = itrace_allocate(1, sizeof *kernel);
    kernel->launch = launch;
    kernel->path = itrace_copy_text(path, strlen(path));
    kernel->use_cache = use_cache;
    pthread_mutex_lock(&lock);
    kernel->next = kernels;
    kernels = kernel;
    pthread_mutex_unlock(&lock);
}

/* A cache is complete when its writer has seen the end of the file, which comes behind the last
 * work-group. */
static void finish_cache(struct replay_kernel *kernel)
{
    struct replay_reader *reader = kernel->reader;
    const uint32_t *grid = kernel->header.grid;
    if (reader && reader->open && reader->position == (uint64_t)grid[0] * grid[1] * grid[2])
        itrace_next(&reader->trace);
}

static void free_kernel(struct replay_kernel *kernel)
{
    finish_cache(kernel);
    for (unsigned i = 0; kernel->reader && i < REPLAY_READERS; i++)
        replay_reader_close(&kernel->reader[i]);
    itrace_free(kernel->reader);
    replay_header_release(&kernel->header);
    itrace_free(kernel->path);
    itrace_free(kernel);
}

void replay_end(uint32_t launch)
{
    pthread_mutex_lock(&lock);
    struct replay_kernel **link = &kernels, *kernel;
    while (*link && (*link)->launch != launch)
        link = &(*link)->next;
    kernel = *link;
    if (kernel)
        *link = kernel->next;
    pthread_mutex_unlock(&lock);
    if (kernel)
        free_kernel(kernel);
}

void replay_reset(uint32_t places)
{
    for (uint32_t i = 0; i < place_count; i++)
        replay_block_free(placed[i]);
    while (kernels) {
        struct replay_kernel *kernel = kernels;
        kernels = kernel->next;
        free_kernel(kernel);
    }
    itrace_free(placed);
    placed = itrace_allocate(places, sizeof *placed);
    place_count = places;
}

/* ---- work-groups ---- */

static struct replay_block *take_kept(struct replay_kernel *kernel, uint64_t index)
{
    for (unsigned i = 0; i < REPLAY_READERS; i++) {
        struct replay_reader *reader = &kernel->reader[i];
        for (struct replay_block **link = &reader->kept; *link; link = &(*link)->next) {
            struct replay_block *block = *link;
            if (block->index != index)
                continue;
            *link = block->next;
            reader->kept_count--;
            return block;
        }
    }
    return NULL;
}

/* The reader that stands before `index`, nearest to it; NULL: none. */
static struct replay_reader *nearest(struct replay_kernel *kernel, uint64_t index)
{
    struct replay_reader *best = NULL;
    for (unsigned i = 0; i < REPLAY_READERS; i++) {
        struct replay_reader *reader = &kernel->reader[i];
        if (reader->open && reader->position <= index
            && (!best || reader->position > best->position))
            best = reader;
    }
    return best;
}

/* A reader that is not in use, or the one that was not used for longest. */
static struct replay_reader *spare(struct replay_kernel *kernel)
{
    struct replay_reader *oldest = &kernel->reader[0];
    for (unsigned i = 0; i < REPLAY_READERS; i++) {
        struct replay_reader *reader = &kernel->reader[i];
        if (!reader->open)
            return reader;
        if (reader->used < oldest->used)
            oldest = reader;
    }
    return oldest;
}

/* One that stands a little before `index`; else a new one, which reads from the beginning. */
static struct replay_reader *choose(struct replay_kernel *kernel, uint64_t index,
                                    char text[REPLAY_TEXT])
{
    struct replay_reader *reader = nearest(kernel, index), *other = spare(kernel);
    bool far = reader && index - reader->position > REPLAY_KEPT && !other->open;
    if (reader && !far)
        return reader;
    return replay_reader_open(kernel, other, text) ? other : NULL;
}

static struct replay_block *find(struct replay_kernel *kernel, uint64_t index,
                                 char text[REPLAY_TEXT])
{
    struct replay_block *block = take_kept(kernel, index);
    bool fresh = false;
    while (!block) {
        struct replay_reader *reader = choose(kernel, index, text);
        if (!reader)
            return NULL;
        fresh = !reader->position;
        reader->used = ++uses;
        block = replay_read_block(kernel, reader, index, text);
        if (block || *text)
            return block;
        replay_reader_close(reader); /* at the end of the file */
        if (fresh)
            return NULL;
    }
    return block;
}

/* Opens the trace with its first reader. */
static bool begin(struct replay_kernel *kernel, char text[REPLAY_TEXT])
{
    if (kernel->begun)
        return true;
    if (!kernel->reader)
        kernel->reader = itrace_allocate(REPLAY_READERS, sizeof *kernel->reader);
    struct replay_reader *reader = &kernel->reader[0];
    kernel->begun = replay_reader_open(kernel, reader, text);
    return kernel->begun && replay_header_take(&kernel->header, &reader->trace, text);
}

static bool take(uint32_t place, const struct replay_group *group, char text[REPLAY_TEXT])
{
    struct replay_kernel *kernel = kernels;
    while (kernel && kernel->launch != group->launch)
        kernel = kernel->next;
    *text = '\0';
    if (!kernel || place >= place_count || placed[place]) {
        replay_say(text, "trace", "launch %" PRIu32 " has none, or place %" PRIu32 " is taken",
                   group->launch, place);
        return false;
    }
    if (!begin(kernel, text))
        return false;
    const uint32_t *grid = kernel->header.grid;
    uint64_t index = ((uint64_t)group->id[2] * grid[1] + group->id[1]) * grid[0] + group->id[0];
    struct replay_block *block = find(kernel, index, text);
    if (block && block->wavefronts != group->wavefronts)
        replay_say(text, kernel->path,
                   "thread block %" PRIu32 ",%" PRIu32 ",%" PRIu32
                   " has %u warps, but is launched with %" PRIu32 " wavefronts",
                   group->id[0], group->id[1], group->id[2], block->wavefronts, group->wavefronts);
    else if (!block && !*text)
        replay_say(text, kernel->path,
                   "there is no thread block %" PRIu32 ",%" PRIu32 ",%" PRIu32 " in it",
                   group->id[0], group->id[1], group->id[2]);
    for (unsigned i = 0; block && !*text && i < block->wavefronts; i++) {
        if (!block->wave[i].steps)
            replay_say(text, kernel->path,
                       "thread block %" PRIu32 ",%" PRIu32 ",%" PRIu32 " has no warp %u",
                       group->id[0], group->id[1], group->id[2], i);
    }
    if (*text) {
        replay_block_free(block);
        return false;
    }
    placed[place] = block;
    return true;
}

bool replay_take(uint32_t place, const struct replay_group *group, char text[REPLAY_TEXT])
{
    pthread_mutex_lock(&lock);
    bool good = take(place, group, text);
    pthread_mutex_unlock(&lock);
    return good;
}

void replay_give(uint32_t place)
{
    replay_block_free(placed[place]);
    placed[place] = NULL;
}

/* ---- steps ---- */

struct replay_cursor replay_first(uint32_t place, uint32_t wavefront)
{
    const struct replay_block *b = placed[place];
    return (struct replay_cursor){b->wave[wavefront].at, b->wave[wavefront].steps - 1};
}

static unsigned mode_of(uint32_t head)
{
    return head >> REPLAY_MODE_SHIFT & 3;
}

/* The words behind the mask of the record at `at`; *lanes is the mask. */
static const uint32_t *skip_mask(const uint32_t *at, uint64_t *lanes)
{
    bool full = *at & REPLAY_FULL;
    *lanes = full ? UINT64_MAX : at[1] | (uint64_t)at[2] << 32;
    return at + (full ? 1 : 3);
}

bool replay_advance(uint32_t place, struct replay_cursor *cursor)
{
    const uint32_t *words = placed[place]->words, *at = words + cursor->at;
    unsigned mode = mode_of(*at);
    uint64_t lanes;
    if (!cursor->left)
        return false;
    cursor->left--;
    if (mode == REPLAY_NONE) {
        cursor->at++;
        return true;
    }
    at = skip_mask(at, &lanes);
    unsigned count = (unsigned)__builtin_popcountll(lanes);
    at += mode == REPLAY_STRIDE ? 3 : mode == REPLAY_DELTA ? 1 + count : 2 * count;
    cursor->at = (uint32_t)(at - words);
    return true;
}

uint64_t replay_pc(uint32_t place, const struct replay_cursor *cursor)
{
    const struct replay_block *b = placed[place];
    return b->kernel->header.base + (uint64_t)(b->words[cursor->at] & REPLAY_PC) * 4;
}

const uint8_t *replay_code(uint32_t place, uint64_t pc, size_t *size)
{
    const struct replay_range *range = replay_header_code(&placed[place]->kernel->header, pc);
    *size = (size_t)(range->address + range->size - pc);
    return range->bytes + (pc - range->address);
}

static uint64_t wide(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

uint64_t replay_addresses(uint32_t place, const struct replay_cursor *cursor,
                          uint64_t address[ISA_LANES])
{
    const uint32_t *at = placed[place]->words + cursor->at;
    unsigned mode = mode_of(*at), number = 0;
    uint64_t lanes, here = 0;
    if (mode == REPLAY_NONE)
        return 0;
    at = skip_mask(at, &lanes);
    for (uint64_t rest = lanes; rest; rest &= rest - 1, number++) {
        if (mode == REPLAY_LIST)
            here = wide(at + 2 * number);
        else if (!number)
            here = wide(at);
        else
            here += (uint64_t)(int64_t)(int32_t)at[mode == REPLAY_STRIDE ? 2 : 1 + number];
        address[__builtin_ctzll(rest)] = here;
    }
    return lanes;
}

bool replay_scalar(uint32_t place, const struct replay_cursor *cursor, uint64_t *address,
                   uint32_t *bytes)
{
    const uint32_t *at = placed[place]->words + cursor->at;
    if (mode_of(*at) == REPLAY_NONE)
        return false;
    *address = wide(at + 1);
    *bytes = at[3];
    return true;
}

struct replay_layout replay_layout(uint32_t place)
{
    return placed[place]->kernel->header.layout;
}
