/* See kernel_share_messages.h. For each other rank there is a list of what it is told: a head, and behind it
 * the details of a share with their texts. */
#include "components/statistics/kernel_share_messages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/bug.h"
#include "runtime/engine/rank.h"

struct head {
    uint32_t kernel;
    uint32_t details; /* they follow */
    uint64_t work_groups, instructions;
};

struct told_detail {
    uint64_t value;
    uint32_t merge;
    uint32_t bytes[3]; /* of group, name and text with their ends; 0: NULL */
};

struct list {
    char *bytes;
    size_t used, room;
};

static struct list lists[RANK_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(struct list *l, const void *bytes, size_t size)
{
    if (l->used + size > l->room) {
        l->room = 2 * (l->used + size);
        l->bytes = realloc(l->bytes, l->room);
        if (!l->bytes)
            die("out of host memory for %zu bytes of statistics", l->room);
    }
    if (size)
        memcpy(l->bytes + l->used, bytes, size);
    l->used += size;
}

void kernel_ranks_count(uint32_t kernel, uint64_t work_groups, uint64_t instructions)
{
    struct list *l = &lists[kernel_rank(kernel)];
    const struct head head = {kernel, 0, work_groups, instructions};
    pthread_mutex_lock(&lock);
    add(l, &head, sizeof head);
    pthread_mutex_unlock(&lock);
}

void kernel_ranks_share(uint32_t kernel, const struct kernel_detail *details,
                        const enum kernel_merge *merge, uint32_t number)
{
    struct list *l = &lists[kernel_rank(kernel)];
    const struct head head = {kernel, number, 0, 0};
    pthread_mutex_lock(&lock);
    add(l, &head, sizeof head);
    for (uint32_t i = 0; i < number; i++) {
        const char *texts[] = {details[i].group, details[i].name, details[i].text};
        struct told_detail told = {.value = details[i].value, .merge = (uint32_t)merge[i]};
        for (unsigned k = 0; k < 3; k++)
            told.bytes[k] = texts[k] ? (uint32_t)strlen(texts[k]) + 1 : 0;
        add(l, &told, sizeof told);
        for (unsigned k = 0; k < 3; k++)
            add(l, texts[k], told.bytes[k]);
    }
    pthread_mutex_unlock(&lock);
}

void kernel_ranks_tell(void)
{
    for (uint32_t to = 0; to < ranks.count; to++) {
        struct list *l = &lists[to];
        const uint64_t bytes = l->used;
        if (to == ranks.number)
            continue;
        rank_put(to, &bytes, sizeof bytes);
        if (bytes)
            rank_put(to, l->bytes, bytes);
        l->used = 0;
    }
}

/* Names outlive what told them; there are as many as a record has. */
static const char *keep(const char *text)
{
    static const char *names[4 * KERNEL_SHARES_DETAILS];
    static uint32_t count;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], text) == 0)
            return names[i];
    char *copy = strdup(text);
    if (!copy || count == sizeof names / sizeof *names)
        bug("kernels have more than %u names of details", count);
    return names[count++] = copy;
}

static size_t take_share(const struct head *head, const char *bytes)
{
    struct kernel_detail details[KERNEL_SHARES_DETAILS];
    enum kernel_merge merge[KERNEL_SHARES_DETAILS];
    size_t at = 0;
    for (uint32_t i = 0; i < head->details; i++) {
        struct told_detail told;
        const char *texts[3];
        memcpy(&told, bytes + at, sizeof told);
        at += sizeof told;
        for (unsigned k = 0; k < 3; k++) {
            texts[k] = told.bytes[k] ? keep(bytes + at) : NULL;
            at += told.bytes[k];
        }
        details[i] = (struct kernel_detail){texts[0], texts[1], texts[2], told.value};
        merge[i] = (enum kernel_merge)told.merge;
    }
    if (head->details)
        kernel_shares_add(head->kernel, details, merge, head->details);
    return at;
}

void kernel_ranks_take(uint32_t from)
{
    uint64_t size;
    memcpy(&size, rank_take(from, sizeof size), sizeof size);
    const char *bytes = rank_take(from, size);
    for (size_t at = 0; at < size;) {
        struct head head;
        memcpy(&head, bytes + at, sizeof head);
        at += sizeof head;
        kernel_count(head.kernel, head.work_groups, head.instructions);
        at += take_share(&head, bytes + at);
    }
}
