/* Writes estimates as members of the JSON object that is open. */
#include "estimate_write.h"

static const char *const traffic_names[] = {[SAMPLER_READ] = "read", [SAMPLER_WRITTEN] = "written"};

static void write_one(struct json *j, const char *name, const struct sampler_estimate *e)
{
    json_decimal(j, name, e->value);
    json_decimal(j, "interval", sampler_interval(e));
    json_decimal(j, "least_interval", sampler_least_interval(e));
    json_decimal(j, "warmup_bias", e->bias);
    json_decimal(j, "trend", e->trend);
}

void estimate_write(struct json *j, const struct sampler_estimate e[SAMPLER_QUANTITIES])
{
    write_one(j, "cycles", &e[SAMPLER_CYCLES]);
    json_open(j, "memory", '{');
    for (unsigned i = SAMPLER_READ; i < SAMPLER_QUANTITIES; i++) {
        json_open(j, traffic_names[i], '{');
        write_one(j, "bytes", &e[i]);
        json_close(j, '}');
    }
    json_close(j, '}');
}

static void write_cut(struct json *j, const char *name, const struct cut_estimate *e)
{
    json_decimal(j, name, e->value);
    json_decimal(j, "interval", e->half + e->allowance);
}

void estimate_write_cut(struct json *j, const struct cut_estimate e[SAMPLER_QUANTITIES])
{
    write_cut(j, "cycles", &e[SAMPLER_CYCLES]);
    json_open(j, "memory", '{');
    for (unsigned i = SAMPLER_READ; i < SAMPLER_QUANTITIES; i++) {
        json_open(j, traffic_names[i], '{');
        write_cut(j, "bytes", &e[i]);
        json_close(j, '}');
    }
    json_close(j, '}');
}
