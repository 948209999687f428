/* Queues shares for other ranks. For each rank there is a list of messages: a head, followed by the
 * details of a share with their texts. */
#include "kernel_share_messages.h"

#include <pthread.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/byte_list.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"

struct head {
    uint32_t kernel;
    uint32_t details; /* they follow */
    uint64_t work_groups, instructions;
};

struct sent_detail {
    uint64_t value;
    uint32_t merge;
    uint32_t bytes[3]; /* sizes of group, name and text with their ends; 0: NULL */
};

static struct byte_list lists[RANK_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void kernel_send_count(uint32_t kernel, uint64_t work_groups, uint64_t instructions)
{
    struct byte_list *l = &lists[kernel_rank(kernel)];
    const struct head head = {kernel, 0, work_groups, instructions};
    pthread_mutex_lock(&lock);
    byte_list_add(l, &head, sizeof head);
    pthread_mutex_unlock(&lock);
}

void kernel_send_share(uint32_t kernel, const struct kernel_detail *details,
                       const enum kernel_merge *how, uint32_t number)
{
    struct byte_list *l = &lists[kernel_rank(kernel)];
    const struct head head = {kernel, number, 0, 0};
    pthread_mutex_lock(&lock);
    byte_list_add(l, &head, sizeof head);
    for (uint32_t i = 0; i < number; i++) {
        const char *texts[] = {details[i].group, details[i].name, details[i].text};
        struct sent_detail sent = {.value = details[i].value, .merge = (uint32_t)how[i]};
        for (unsigned k = 0; k < 3; k++)
            sent.bytes[k] = texts[k] ? (uint32_t)strlen(texts[k]) + 1 : 0;
        byte_list_add(l, &sent, sizeof sent);
        for (unsigned k = 0; k < 3; k++)
            byte_list_add(l, texts[k], sent.bytes[k]);
    }
    pthread_mutex_unlock(&lock);
}

static void encode_shares(uint32_t to, uint64_t end_ps)
{
    (void)end_ps;
    rank_put(to, lists[to].bytes, lists[to].used);
    lists[to].used = 0;
}

/* Names outlive the messages that have them; there are as many as a record has. */
static const char *keep_text(const char *text)
{
    static const char *names[4 * KERNEL_SHARES_DETAILS];
    static uint32_t count;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], text) == 0)
            return names[i];
    if (count == ARRAY_COUNT(names))
        bug("kernels have more than %u names of details", count);
    return names[count++] = grow_text(text, "the name of a detail");
}

static void merge_share(const struct head *head, struct rank_reader *from)
{
    struct kernel_detail details[KERNEL_SHARES_DETAILS];
    enum kernel_merge how[KERNEL_SHARES_DETAILS];
    for (uint32_t i = 0; i < head->details; i++) {
        struct sent_detail sent;
        const char *texts[3];
        memcpy(&sent, rank_read(from, sizeof sent), sizeof sent);
        for (unsigned k = 0; k < 3; k++)
            texts[k] = sent.bytes[k] ? keep_text(rank_read(from, sent.bytes[k])) : NULL;
        details[i] = (struct kernel_detail){texts[0], texts[1], texts[2], sent.value};
        how[i] = (enum kernel_merge)sent.merge;
    }
    if (head->details)
        kernel_shares_add(head->kernel, details, how, head->details);
}

static void merge_shares(struct rank_reader *from)
{
    struct head head;
    while (from->left) {
        memcpy(&head, rank_read(from, sizeof head), sizeof head);
        kernel_count(head.kernel, head.work_groups, head.instructions);
        merge_share(&head, from);
    }
}

const struct rank_channel kernel_shares_channel = {.times = RANK_CHANNEL_BARRIER,
                                                   .is_for_all = true,
                                                   .encode = encode_shares,
                                                   .merge = merge_shares};
