/* Serves the page of `--view`. The child reports by a line that it serves, and ends when its input,
 * a pipe, is closed. */
#define _GNU_SOURCE /* memfd_create, pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command/command_say.h"
#include "command/python.h"
#include "runtime/engine/status_page.h"

#include "run.h"

static struct {
    pid_t child;
    int until_closed; /* the child's input */
    char page[64];
} view = {.until_closed = -1};

static bool fail(void)
{
    command_say("'--view': %s", strerror(errno));
    return false;
}

bool run_view_start(struct command *c, struct handed *handed)
{
    int in[2], out[2];
    char line;
    if (!c->options->view)
        return true;
    int file = memfd_create("heddle view", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)(STATUS_PAGE_PLACES * STATUS_PAGE_BYTES)) != 0
        || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        return fail();
    snprintf(view.page, sizeof view.page, "/proc/%ld/fd/%d", (long)getpid(), file);
    const struct python_child child = {
        .what = "view", .file = view.page, .in = in[0], .out = out[1]};
    bool serves = python_start(c, &child, &view.child);
    close(in[0]);
    close(out[1]);
    view.until_closed = in[1];
    serves = serves && read(out[0], &line, 1) == 1;
    close(out[0]);
    hand_over(handed, "view", '>', view.page);
    return serves;
}

void run_view_end(void)
{
    if (view.until_closed < 0)
        return;
    close(view.until_closed);
    view.until_closed = -1;
    python_end(view.child);
}
