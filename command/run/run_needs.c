/* Components that a platform must have for what `heddle run` is to do with it: known from the
 * elaborated description, before anything is compiled. A result that is in the cache already is
 * opened, and says the same. Called by build.c through command_run.c. */
#include <stdlib.h>
#include <string.h>

#include "command/command_say.h"

#include "run.h"

static const struct model_instance *find_leaf(const struct model *model, const char *type)
{
    for (uint32_t i = 0; i < model->leaf_count; i++)
        if (strcmp(model->leaves[i]->type->name, type) == 0)
            return model->leaves[i];
    return NULL;
}

/* A driver for programs, whatever its component is called. */
static const struct model_instance *find_driver(const struct model *model)
{
    for (uint32_t i = 0; i < model->leaf_count; i++) {
        const struct model_type *type = model->leaves[i]->type;
        for (uint32_t f = 0; f < type->behaviour_count; f++) {
            const char *slash = strrchr(type->behaviour[f], '/');
            if (slash && strcmp(slash, "/driver.c") == 0)
                return model->leaves[i];
        }
    }
    return NULL;
}

/* Elements of a port that are connected. */
static uint32_t count_connected(const struct model_instance *instance, const char *port)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < instance->port_group_count; g++) {
        const struct model_port_group *group = &instance->port_groups[g];
        for (uint32_t i = 0; strcmp(group->decl->name, port) == 0 && i < group->count; i++)
            count += group->ports[i].connection != NULL;
    }
    return count;
}

/* The first GPU of "0,1,7" that is not there; -1: all are. */
static long long missing_gpu(const char *list, uint32_t gpus)
{
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        unsigned long long gpu = strtoull(at, NULL, 10);
        if (gpu >= gpus)
            return gpu > INT64_MAX ? INT64_MAX : (long long)gpu;
    }
    return -1;
}

static bool accept_program(const struct options *o, const struct model_instance *driver)
{
    if (!driver) {
        command_say("this platform has no driver, so that no program can run on it: heddle run %s",
                    o->arguments.items[0]);
        return false;
    }
    uint32_t gpus = count_connected(driver, "gpu");
    long long missing = o->unified ? missing_gpu(o->unified, gpus) : -1;
    if (missing < 0)
        return true;
    command_say("'--unified %s': there is no GPU %lld; the platform has %u", o->unified, missing,
                gpus);
    return false;
}

bool run_accepts(const struct model *model, const void *context)
{
    const struct options *o = context;
    const struct model_instance *driver = find_driver(model);
    if (o->record_instructions && !find_leaf(model, "trace_player")) {
        command_say(
            "'--record instructions' records CUDA programs; programs of AMD run as fast as a "
            "recording would: run the program itself, or record its calls with '--record api'");
        return false;
    }
    if (o->program)
        return accept_program(o, driver);
    if (o->play_sass && !find_leaf(model, "trace_player")) {
        command_say("'--play sass': this platform has no trace_player that could play it; rtx3070, "
                    "h100 and others have one");
        return false;
    }
    bool is_driven =
        driver && (count_connected(driver, "calls") == 0 || count_connected(driver, "host") > 0);
    if (o->play_sass || o->play_api || !is_driven || find_leaf(model, "trace_cpu"))
        return true;
    command_say("this platform's driver needs a program: heddle run %s -- PROGRAM ARGS...%s",
                o->arguments.items[0],
                find_leaf(model, "trace_player") ? "; or traces: --play sass=LIST" : "");
    return false;
}
