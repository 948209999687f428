/* Adds up the details of command processors for their shares of one launch, in a table of launches.
 * kernel_shares.h has the life cycle. */
#include "kernel_shares.h"

#include <pthread.h>
#include <string.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/state/checkpoint.h"

#include "kernel_share_messages.h"

struct kernel_shares {
    uint32_t kernel, count;
    bool is_open;
    struct kernel_detail detail[KERNEL_SHARES_DETAILS];
};

static struct kernel_shares *shares;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct kernel_shares *find_share(bool open, uint32_t kernel)
{
    for (uint32_t i = 0; i < KERNEL_SHARES_MAX; i++)
        if (shares[i].is_open == open && (!open || shares[i].kernel == kernel))
            return &shares[i];
    bug("statistics: more than %d kernels have shares, or kernel %u has none", KERNEL_SHARES_MAX,
        kernel);
}

void kernel_shares_open(uint32_t kernel)
{
    if (!kernel_is_kept(kernel))
        return;
    pthread_mutex_lock(&lock);
    if (!shares)
        shares = arena_reserve(KERNEL_SHARES_MAX * sizeof *shares);
    struct kernel_shares *s = find_share(false, kernel);
    s->is_open = true;
    s->kernel = kernel;
    s->count = 0;
    pthread_mutex_unlock(&lock);
}

static bool is_named(const struct kernel_detail *d, const char *group, const char *name)
{
    return !strcmp(d->name, name) && !d->group == !group && (!group || !strcmp(d->group, group));
}

static struct kernel_detail *detail_of(struct kernel_shares *s, const char *group, const char *name)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (is_named(&s->detail[i], group, name))
            return &s->detail[i];
    return NULL;
}

static void merge_one(struct kernel_shares *s, const struct kernel_detail *from,
                      enum kernel_merge merge)
{
    struct kernel_detail *to = detail_of(s, from->group, from->name);
    if (!to && s->count == KERNEL_SHARES_DETAILS)
        bug("a kernel's record has more than %d details", KERNEL_SHARES_DETAILS);
    if (!to)
        s->detail[s->count++] = *from;
    else if (merge == KERNEL_ADD)
        to->value += from->value;
    else if (merge == KERNEL_MAX && from->value > to->value)
        to->value = from->value;
}

void kernel_shares_add(uint32_t kernel, const struct kernel_detail *details,
                       const enum kernel_merge *merge, uint32_t number)
{
    if (!kernel_is_kept(kernel))
        return;
    if (!kernel_is_here(kernel)) {
        kernel_send_share(kernel, details, merge, number);
        return;
    }
    pthread_mutex_lock(&lock);
    struct kernel_shares *s = find_share(true, kernel);
    for (uint32_t i = 0; i < number; i++)
        merge_one(s, &details[i], merge[i]);
    pthread_mutex_unlock(&lock);
}

/* Takes the times of ends out of the details. */
static uint64_t take_slots_end(struct kernel_shares *s)
{
    struct kernel_detail *end = detail_of(s, NULL, KERNEL_SHARES_END);
    if (!end)
        bug("the shares of a kernel do not say when they ended");
    uint64_t slots_end = end->value;
    memmove(end, end + 1, (size_t)(&s->detail[--s->count] - end) * sizeof *end);
    return slots_end;
}

static void fill_slots(struct kernel_shares *s, uint64_t begin, uint64_t end)
{
    static const char all[] = "slot_cycles";
    uint64_t counted = 0, slots_end = take_slots_end(s);
    struct kernel_detail *before = detail_of(s, "slot_cycles.empty", "launch");
    struct kernel_detail *after = detail_of(s, "slot_cycles.empty", "draining");
    const struct kernel_detail *slots = detail_of(s, NULL, "slots");
    for (uint32_t i = 0; i < s->count; i++) {
        const char *group = s->detail[i].group;
        if (group && !strncmp(group, all, sizeof all - 1))
            counted += s->detail[i].value;
    }
    if (!before || !after || !slots || slots_end > slots->value * end
        || slots_end < slots->value * begin + counted)
        bug("shares of a kernel tell of more slot-cycles than there were");
    before->value += slots_end - slots->value * begin - counted;
    after->value += slots->value * end - slots_end;
}

void kernel_shares_close(uint32_t kernel, uint64_t begin, uint64_t end)
{
    if (!kernel_is_kept(kernel))
        return;
    pthread_mutex_lock(&lock);
    struct kernel_shares *s = find_share(true, kernel);
    fill_slots(s, begin, end);
    s->is_open = false;
    pthread_mutex_unlock(&lock);
    kernel_describe(kernel, s->detail, s->count);
}

/* ---- in a state ---- */

/* For each kernel with shares, its number and the number of its details. For each detail, the value
 * and three texts, each after its length with the zero at its end; length 0 for NULL. */
static uint64_t put_text(struct checkpoint_sink *to, const char *text)
{
    uint64_t size = text ? strlen(text) + 1 : 0;
    if (to) {
        checkpoint_put(to, &size, sizeof size);
        checkpoint_put(to, text, size);
    }
    return sizeof size + size;
}

static uint64_t put_shares(struct checkpoint_sink *to)
{
    uint64_t size = 0;
    if (!shares)
        return 0;
    for (uint32_t i = 0; i < KERNEL_SHARES_MAX; i++) {
        const struct kernel_shares *s = &shares[i];
        const uint64_t head[] = {s->kernel, s->count};
        if (!s->is_open)
            continue;
        size += sizeof head;
        if (to)
            checkpoint_put(to, head, sizeof head);
        for (uint32_t n = 0; n < s->count; n++) {
            const struct kernel_detail *d = &s->detail[n];
            if (to)
                checkpoint_put(to, &d->value, sizeof d->value);
            size += sizeof d->value + put_text(to, d->group) + put_text(to, d->name)
                    + put_text(to, d->text);
        }
    }
    return size;
}

static uint64_t shares_size(void)
{
    return put_shares(NULL);
}

static void shares_save(struct checkpoint_sink *to)
{
    put_shares(to);
}

static uint64_t take_number(const char **cursor)
{
    uint64_t number;
    memcpy(&number, *cursor, sizeof number);
    *cursor += sizeof number;
    return number;
}

static const char *take_text(const char **cursor)
{
    uint64_t size = take_number(cursor);
    const char *text = *cursor;
    *cursor += size;
    return size ? text : NULL;
}

static bool shares_load(const void *bytes, uint64_t size)
{
    char *own = size ? arena_reserve(size) : NULL; /* for good: details point into it */
    const char *cursor = own;
    kernel_shares_reset();
    if (size)
        memcpy(own, bytes, size);
    while (cursor < own + size) {
        uint32_t kernel = (uint32_t)take_number(&cursor);
        uint64_t count = take_number(&cursor);
        kernel_shares_open(kernel);
        struct kernel_shares *s = kernel_is_kept(kernel) ? find_share(true, kernel) : NULL;
        for (uint64_t i = 0; i < count; i++) {
            struct kernel_detail d = {.value = take_number(&cursor)};
            d.group = take_text(&cursor);
            d.name = take_text(&cursor);
            d.text = take_text(&cursor);
            if (s && d.name)
                s->detail[s->count++] = d;
        }
    }
    return true;
}

static const struct checkpoint_part shares_part = {
    .name = "shares", .size = shares_size, .save = shares_save, .load = shares_load};

void kernel_shares_reset(void)
{
    checkpoint_register(&shares_part);
    if (shares)
        for (uint32_t i = 0; i < KERNEL_SHARES_MAX; i++)
            shares[i].is_open = false;
}
