/* See statistics_read.h. */
#include "codegen/report/statistics_read.h"

uint64_t statistics_number(json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}
