/* The memory tester's model of releases and acquires. It says whether the last write is ordered
 * before an access, and which values may come if it is not.
 *
 * Threads and words are numbers. setup() comes first, once. A thread is between begin() and end()
 * of an episode; it acquires behind begin() and has released before end(), at the scope given. */
#ifndef HEDDLE_COMPONENTS_TESTING_MEMORY_TESTER_WORD_ORDER_H
#define HEDDLE_COMPONENTS_TESTING_MEMORY_TESTER_WORD_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct part;

struct word_order_ops {
    /* The threads of each agent are equal runs of all. */
    void (*setup)(struct part *self, uint32_t threads, uint32_t agents, uint32_t words);
    void (*begin)(struct part *self, uint32_t thread, bool system);
    void (*end)(struct part *self, uint32_t thread);
    /* True if the last write to the word, in an episode that has ended, is ordered before what the
     * thread does in this one. */
    bool (*allows)(struct part *self, uint32_t thread, uint32_t word);
    /* The word gets a value, in an episode that has not ended; behind end() of that episode. */
    void (*write)(struct part *self, uint32_t word, uint32_t value);
    void (*written)(struct part *self, uint32_t thread, uint32_t word);
    /* Number of the oldest value that an unordered load of the thread may return; whether `got` is
     * this one or a later one. */
    uint32_t (*oldest)(struct part *self, uint32_t thread, uint32_t word);
    bool (*had)(struct part *self, uint32_t word, uint32_t oldest, uint32_t got);
};

#endif
