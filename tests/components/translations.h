/* Asking for pages, by harness requesters, and what is answered. */
#ifndef HEDDLE_TESTS_COMPONENTS_TRANSLATIONS_H
#define HEDDLE_TESTS_COMPONENTS_TRANSLATIONS_H

#include "translate.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"

static inline void look_up(uint32_t user, uint64_t cycle, uint16_t tag, uint64_t address,
                           uint32_t pid)
{
    struct message header = {0};
    struct translate_request *request = (struct translate_request *)(void *)&header;
    struct harness_message m = {.cycle = cycle, .tag = tag, .kind = TRANSLATE_LOOKUP};
    request->lookup.address = address;
    request->lookup.pid = pid;
    memcpy(m.fields, header.fields, sizeof m.fields);
    harness_send(user, &m);
}

/* The answer to `tag`, which must be there. */
static inline struct translate_reply page_found(uint32_t user, uint16_t tag)
{
    struct message header = {0};
    const struct harness_message *reply = harness_reply(user, tag);
    cr_assert_not_null(reply);
    memcpy(header.fields, reply->fields, sizeof header.fields);
    return *(const struct translate_reply *)(const void *)&header;
}

#endif
