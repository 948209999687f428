/* See statistics_make.h. */
#include "codegen/report/statistics_make.h"

#define PS_PER_SECOND 1000000000000u

uint64_t statistics_cycles(const struct model *model, uint32_t domain, uint64_t time_ps)
{
    unsigned __int128 edges = (unsigned __int128)time_ps * model->domains[domain].hz;
    return (uint64_t)(edges / PS_PER_SECOND);
}

json_t *statistics_below(json_t *object, const char *key)
{
    json_t *inner = json_object_get(object, key);
    if (!inner) {
        inner = json_object();
        json_object_set_new(object, key, inner);
    }
    return inner;
}

json_t *statistics_make(const struct model *model, uint64_t time_ps)
{
    json_t *root = json_object(), *clocks = statistics_below(root, "clocks");
    json_object_set_new(root, "time_ps", json_integer((json_int_t)time_ps));
    for (uint32_t i = 0; i < model->domain_count; i++)
        json_object_set_new(statistics_below(clocks, model->domains[i].name), "cycles",
                            json_integer((json_int_t)statistics_cycles(model, i, time_ps)));
    return root;
}
