/* See ptx_run.h. */
#include "ptx_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct program_table no_program;

bool ptx_run_open(struct ptx_run *r, const char *name, const char *text, size_t bytes)
{
    struct ptx_error error;
    memset(r, 0, sizeof *r);
    r->module = ptx_parse(name, text, strlen(text), &error);
    if (!r->module) {
        snprintf(r->text, sizeof r->text, "%s", error.text);
        return false;
    }
    ptx_layout(r->module);
    size_t image = (r->module->image_bytes + 63) & ~(size_t)63;
    r->image = calloc(1, image + 64);
    r->buffer = calloc(1, bytes + 64);
    ptx_image(r->module, PTX_RUN_IMAGE, r->image);
    r->code = warp_prepare(r->module, PTX_RUN_IMAGE);
    r->view.program = &no_program;
    r->view.count = 2;
    r->view.span[0] = (struct host_span){PTX_RUN_BUFFER, bytes, (char *)r->buffer, false};
    r->view.span[1] = (struct host_span){PTX_RUN_IMAGE, image, (char *)r->image, false};
    return true;
}

void ptx_run_close(struct ptx_run *r)
{
    warp_release(r->code);
    if (r->module)
        ptx_free(r->module);
    free(r->image);
    free(r->buffer);
}

enum warp_end ptx_run_launch(struct ptx_run *r, const char *kernel, uint32_t blocks,
                             uint32_t threads, uint32_t shared, const void *parameters)
{
    struct warp_grid g = {.launch = r->launch};
    struct warp_launch *l = &g.launch;
    l->code = r->code;
    l->kernel = warp_kernel_named(r->code, kernel);
    if (!l->kernel) {
        snprintf(r->text, sizeof r->text, "no kernel %s", kernel);
        return WARP_INTERRUPTED;
    }
    for (unsigned i = 0; i < 3; i++) {
        l->cluster[i] = r->module->functions[l->kernel->function].cluster[i];
        l->grid[i] = l->grid[i] ? l->grid[i] : 1;
        l->block[i] = l->block[i] ? l->block[i] : 1;
    }
    l->grid[0] = blocks;
    l->block[0] = threads;
    l->dynamic_shared = shared;
    l->sms = l->sms ? l->sms : 4;
    l->resident = l->resident ? l->resident : 8;
    l->parameters = parameters;
    l->view = &r->view;
    l->instructions = 0;
    if (!warp_launch_check(l, r->text, sizeof r->text))
        return WARP_INTERRUPTED;
    enum warp_end end = warp_grid_run(&g, &r->fault);
    r->launch.instructions = l->instructions;
    return end;
}
