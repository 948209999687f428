/* libFuzzer target of the language server: any bytes as what an editor sends, and as a text with
 * positions in it. Whatever comes, every answer is JSON, and a position leads to a byte that leads
 * back to it. FUZZ_LIBRARY is the library to import from, set by the build. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "lsp/server.h"

#ifndef FUZZ_LIBRARY
#define FUZZ_LIBRARY "components"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What the server sent is a row of whole messages. */
static void check_answers(const char *text, size_t size)
{
    struct rpc_reader reader = {0};
    const char *body;
    size_t body_size;
    json_error_t error;
    rpc_feed(&reader, text, size);
    for (;;) {
        enum rpc_result result = rpc_next(&reader, &body, &body_size);
        if (result == RPC_MORE)
            break;
        require(result == RPC_MESSAGE);
        json_t *message = json_loadb(body, body_size, JSON_ALLOW_NUL, &error);
        require(json_is_object(message));
        json_decref(message);
    }
    require(reader.begin == reader.end);
    rpc_release(&reader);
}

static void serve(const char *bytes, size_t size)
{
    char *answers = NULL;
    size_t answers_size = 0;
    FILE *out = open_memstream(&answers, &answers_size);
    struct compile_options options = {.library_root = FUZZ_LIBRARY, .max_instances = 500};
    struct server server;
    struct rpc_reader reader = {0};
    const char *body;
    size_t body_size;
    require(out != NULL);
    server_init(&server, &options, out);
    server.is_initialized = true;             /* so that a fuzzer need not find that first */
    for (size_t at = 0; at < size; at += 100) /* as it comes out of a pipe */
        rpc_feed(&reader, bytes + at, min(size - at, 100));
    for (;;) {
        enum rpc_result result = rpc_next(&reader, &body, &body_size);
        if (result == RPC_MORE)
            break;
        if (result == RPC_MESSAGE)
            server_answer(&server, body, body_size);
        else
            server_complain(&server, result);
        while (server_check_one(&server))
            ;
    }
    require(!server.is_broken);
    server_release(&server);
    rpc_release(&reader);
    fclose(out);
    check_answers(answers, answers_size);
    free(answers);
}

/* The first bytes say where to ask, the others are the text of a description. */
static void ask(const char *bytes, size_t size)
{
    static const char *const methods[] = {"hover",          "completion", "definition",
                                          "documentSymbol", "formatting", "documentHighlight"};
    char *answers = NULL;
    size_t answers_size = 0;
    if (size < 3)
        return;
    FILE *out = open_memstream(&answers, &answers_size);
    struct compile_options options = {.library_root = FUZZ_LIBRARY, .max_instances = 500};
    struct server server;
    require(out != NULL);
    server_init(&server, &options, out);
    server.is_initialized = true;
    struct document *document = documents_open(
        &server.documents, "file://" FUZZ_LIBRARY "/../tests/fuzz.heddle", bytes + 3, size - 3);
    documents_edit(&server.documents, document, (struct position){(uint8_t)bytes[0], 0},
                   (struct position){(uint8_t)bytes[0], 2}, ".", 1);
    for (size_t i = 0; i < ARRAY_COUNT(methods); i++) {
        json_t *message = json_pack("{s:s, s:i, s:s+, s:{s:{s:s}, s:{s:i, s:i}}}", "jsonrpc", "2.0",
                                    "id", 1, "method", "textDocument/", methods[i], "params",
                                    "textDocument", "uri", document->uri, "position", "line",
                                    (uint8_t)bytes[1] / 8, "character", (uint8_t)bytes[2]);
        char *text = json_dumps(message, 0);
        server_answer(&server, text, strlen(text));
        free(text);
        json_decref(message);
    }
    while (server_check_one(&server))
        ;
    require(!server.is_broken);
    server_release(&server);
    fclose(out);
    check_answers(answers, answers_size);
    free(answers);
}

static void positions(const char *text, size_t size)
{
    struct position_lines lines;
    position_lines_make(&lines, text, size);
    for (size_t at = 0; at <= size; at++) {
        struct position position = position_of(&lines, at);
        size_t back = position_offset(&lines, position);
        struct position again = position_of(&lines, back);
        require(back <= size && again.line == position.line && again.unit <= position.unit);
    }
    position_lines_release(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *text = (const char *)bytes;
    serve(text, size);
    ask(text, min(size, 4096));
    positions(text, min(size, 4096));
    return 0;
}
