/* The fields of a message in the trace, by the names they have in the description. */
#ifndef HEDDLE_RUNTIME_TIMELINE_FIELDS_H
#define HEDDLE_RUNTIME_TIMELINE_FIELDS_H

#include <stdint.h>

#include "json.h"

/* Members of the open object: those fields that travel in the header. `layout`: see fields in
 * struct platform_message. */
void timeline_write_fields(struct json *out, const char *layout, const uint8_t *fields);

#endif
