/* Writes the options that the process with the platform gets. */
#include "hand_over.h"

#include <inttypes.h>
#include <string.h>

#include "command/options/options_table.h"
#include "runtime/engine/options.h"

#include "run.h"

static struct handed_pair *find_handed(const struct handed *handed, const char *key)
{
    for (size_t i = 0; i < handed->pairs.count; i++)
        if (strcmp(handed->pairs.items[i].key, key) == 0)
            return &handed->pairs.items[i];
    return NULL;
}

void hand_over(struct handed *handed, const char *key, char sign, const char *value)
{
    struct handed_pair *pair = find_handed(handed, key);
    if (!value)
        return;
    if (pair)
        *pair = (struct handed_pair){key, value, sign};
    else
        vector_push(handed->region, &handed->pairs, ((struct handed_pair){key, value, sign}));
}

void hand_over_number(struct handed *handed, const char *key, uint64_t value)
{
    if (value)
        hand_over(handed, key, '=', region_printf(handed->region, "%" PRIu64, value));
}

const char *handed_value(const struct handed *handed, const char *key)
{
    const struct handed_pair *pair = find_handed(handed, key);
    return pair ? pair->value : NULL;
}

/* A line for each value. */
static const char *join_values(struct command *c, const struct option_spec *spec,
                               const struct option_given *given)
{
    const char *text = NULL;
    for (size_t i = 0; i < given->count; i++) {
        const char *value = given->values[i];
        if (option_is_file(spec))
            value = run_absolute(c, value);
        text = text ? region_printf(c->region, "%s\n%s", text, value) : value;
    }
    return text ? region_strdup(c->region, text) : NULL;
}

void hand_over_options(struct command *c, struct handed *handed)
{
    *handed = (struct handed){.region = c->region};
    for (size_t i = 0; i < option_spec_count; i++) {
        const struct option_spec *spec = &option_specs[i];
        struct option_given given;
        char title[64];
        if (!spec->handed || !option_belongs(spec, c->options->command))
            continue;
        option_given(c->options, spec, &given);
        option_title(spec, title, sizeof title);
        hand_over(handed, region_strdup(c->region, title + strlen("--")),
                  option_is_written(spec) ? '>' : spec->handed, join_values(c, spec, &given));
    }
}

static size_t put_all(const struct handed *handed, char *text, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < handed->pairs.count; i++) {
        const struct handed_pair *pair = &handed->pairs.items[i];
        length = options_put(text, size, length, pair->key, pair->sign, pair->value);
    }
    return length;
}

const char *handed_text(const struct handed *handed)
{
    size_t size = put_all(handed, NULL, 0) + 1;
    char *text = region_take(handed->region, size);
    text[0] = '\0';
    put_all(handed, text, size);
    return text;
}
