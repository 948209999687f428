/* `heddle lsp`: the language server on standard input and output. */
#include <stdlib.h>
#include <unistd.h>

#include "lsp/server.h"

#include "command.h"

int command_lsp(struct command *c)
{
    const struct options *o = c->options;
    char *library = documents_real_path(c->toolkit.library); /* as the editor's paths are */
    struct compile_options options = {
        .library_root = library,
        .include_paths = o->include.items,
        .include_count = o->include.count,
        .allow_incoherent = o->allow_incoherent,
    };
    struct server server;
    server_init(&server, &options, stdout);
    int status = server_run(&server, STDIN_FILENO);
    server_release(&server);
    free(library);
    return status;
}
