/* See checkpoint_ranks.h. All ranks make the same number of exchanges: as many as the longest image
 * has pieces. A rank other than 0 puts its image twice, first to find out its length and checksum,
 * since what it has sent cannot be changed any more.
 *
 * Invariant: ranks have just met, so nothing is on its way between them that one has told and
 * another has not taken in. */
#include "checkpoint_ranks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint_image.h"
#include "runtime/engine/arena.h"
#include "runtime/link/cut.h"
#include "runtime/link/exchange.h"

#define PIECE ((uint64_t)4 << 20)

static const char magic[8] = {'h', 'e', 'd', 'd', 'l', 'e', '\n', '\031'};

static uint64_t pieces_of(uint64_t bytes)
{
    return (bytes + PIECE - 1) / PIECE;
}

static uint64_t most_pieces(const uint64_t *bytes, uint32_t first)
{
    uint64_t most = 0;
    for (uint32_t i = first; i < ranks.count; i++)
        most = pieces_of(bytes[i]) > most ? pieces_of(bytes[i]) : most;
    return most;
}

/* Bytes of piece `number` of an image. */
static size_t piece_bytes(uint64_t bytes, uint64_t number)
{
    uint64_t start = number * PIECE;
    return start >= bytes ? 0 : (size_t)(bytes - start < PIECE ? bytes - start : PIECE);
}

/* ---- where rings between ranks stand ---- */

static uint64_t cuts_size(void)
{
    return cut_places(NULL) * sizeof(struct cut_place);
}

static void cuts_save(struct checkpoint_sink *to)
{
    struct cut_place *places = arena_reserve(cuts_size());
    cut_places(places);
    checkpoint_put(to, places, cuts_size());
    arena_release(places, cuts_size());
}

static bool cuts_load(const void *bytes, uint64_t size)
{
    if (size == cuts_size() && cut_set_places(bytes)) {
        exchange_find_waits();
        return true;
    }
    fprintf(stderr, "heddle: the state's rings between ranks are damaged\n");
    return false;
}

static const struct checkpoint_part cuts_part = {
    .name = "cuts", .size = cuts_size, .save = cuts_save, .load = cuts_load};

void checkpoint_ranks_open(void)
{
    checkpoint_register(&cuts_part);
}

/* ---- writing ---- */

/* How long the images of all are; rank 0's is not known yet. */
static void tell_sizes(uint64_t own, uint64_t *bytes)
{
    for (uint32_t i = 0; i < ranks.count; i++)
        if (i != ranks.number)
            rank_put(i, &own, sizeof own);
    rank_exchange();
    for (uint32_t i = 0; i < ranks.count; i++)
        if (i != ranks.number)
            memcpy(&bytes[i], rank_take(i, sizeof own), sizeof own);
    bytes[ranks.number] = own;
}

/* What others tell is taken in to the last piece, also when the disk is full. */
bool checkpoint_ranks_write(int fd, const struct checkpoint_header *begun)
{
    struct checkpoint_ranks file = {.version = CHECKPOINT_VERSION, .count = ranks.count};
    memcpy(file.magic, magic, sizeof magic);
    tell_sizes(0, file.bytes);
    bool good = lseek(fd, sizeof file, SEEK_SET) == (off_t)sizeof file
                && image_write(fd, begun, &file.bytes[0]);
    for (uint64_t number = 0; number < most_pieces(file.bytes, 1); number++) {
        uint64_t start = sizeof file + file.bytes[0];
        rank_exchange();
        for (uint32_t i = 1; i < ranks.count; i++) {
            size_t size = piece_bytes(file.bytes[i], number);
            good = good && image_write_at(fd, rank_take(i, size), size, start + number * PIECE);
            start += file.bytes[i];
        }
    }
    return good && image_write_at(fd, &file, sizeof file, 0);
}

struct rank_target {
    struct image_target target;
    uint64_t bytes;
};

static void count_bytes(struct image_target *to, const void *bytes, size_t size)
{
    (void)bytes;
    ((struct rank_target *)(void *)to)->bytes += size;
}

static void put_to_rank(struct image_target *to, const void *bytes, size_t size)
{
    struct rank_target *told = (struct rank_target *)(void *)to;
    const char *from = bytes;
    while (size) {
        uint64_t room = PIECE - told->bytes % PIECE;
        size_t part = size < room ? size : (size_t)room;
        rank_put(0, from, part);
        told->bytes += part;
        from += part;
        size -= part;
        if (told->bytes % PIECE == 0)
            rank_exchange();
    }
}

void checkpoint_ranks_tell(const struct checkpoint_header *begun)
{
    struct rank_target counted = {.target.put = count_bytes};
    struct rank_target told = {.target.put = put_to_rank};
    uint64_t bytes[RANK_MOST];
    const struct checkpoint_header header = image_put(&counted.target, begun);
    tell_sizes(counted.bytes, bytes);
    image_put(&told.target, &header);
    for (uint64_t number = told.bytes / PIECE; number < most_pieces(bytes, 1); number++)
        rank_exchange();
}

/* ---- loading ---- */

uint32_t checkpoint_ranks_in(const void *bytes, size_t size)
{
    const struct checkpoint_ranks *file = bytes;
    if (size < sizeof *file || memcmp(file->magic, magic, sizeof magic) != 0 || file->count < 2
        || file->count > RANK_MOST)
        return 0;
    uint64_t rest = size - sizeof *file;
    for (uint32_t i = 0; i < file->count; i++) {
        if (file->bytes[i] > rest || file->bytes[i] % 8)
            return 0;
        rest -= file->bytes[i];
    }
    return rest ? 0 : file->count;
}

static void give_pieces(const char *image, const uint64_t *bytes)
{
    uint64_t most = most_pieces(bytes, 1);
    for (uint64_t number = 0; number < most; number++) {
        const char *next = image + bytes[0];
        for (uint32_t i = 1; i < ranks.count; i++) {
            rank_put(i, next + number * PIECE, piece_bytes(bytes[i], number));
            next += bytes[i];
        }
        rank_exchange();
    }
}

const void *checkpoint_ranks_share(const void *bytes, size_t *image_bytes)
{
    const struct checkpoint_ranks *file = bytes;
    uint64_t sizes[RANK_MOST] = {0};
    if (ranks.number == 0) {
        if (file)
            memcpy(sizes, file->bytes, sizeof sizes);
        for (uint32_t i = 1; i < ranks.count; i++)
            rank_put(i, sizes, sizeof sizes);
    }
    rank_exchange();
    if (ranks.number)
        memcpy(sizes, rank_take(0, sizeof sizes), sizeof sizes);
    *image_bytes = (size_t)sizes[ranks.number];
    if (!*image_bytes)
        return NULL;
    if (ranks.number == 0) {
        give_pieces((const char *)(file + 1), sizes);
        return file + 1;
    }
    char *image = arena_reserve(*image_bytes);
    for (uint64_t number = 0; number < most_pieces(sizes, 1); number++) {
        rank_exchange();
        size_t size = piece_bytes(*image_bytes, number);
        memcpy(image + number * PIECE, rank_take(0, size), size);
    }
    return image;
}

void checkpoint_ranks_drop(const void *image, size_t image_bytes)
{
    if (ranks.number)
        arena_release((void *)(uintptr_t)image, image_bytes);
}
