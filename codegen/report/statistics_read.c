/* See statistics_read.h. */
#include "codegen/report/statistics_read.h"

uint64_t statistics_number(json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

json_t *statistics_launch(json_t *root, uint64_t number)
{
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(root, "kernels"), i, kernel)
    {
        if (statistics_number(kernel, "launch") == number)
            return kernel;
    }
    return NULL;
}

double statistics_cpu_seconds(json_t *root)
{
    return json_number_value(json_object_get(json_object_get(root, "host"), "cpu_seconds"));
}
