/* A text to a module: the lexer, the parser and the region of one ptx_parse(). */
#include <stdlib.h>
#include <string.h>

#include "ptx_build.h"
#include "ptx_parser.h"
/* The lexer's header knows the parser's types by their common names. */
#define YYSTYPE PTX_YYSTYPE
#define YYLTYPE struct ptx_location
#include "ptx_lexer.h"

/* A module and the region in which all of it lies, the module included. */
struct parsed_module {
    struct ptx_module module;
    struct region region;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

struct ptx_module *ptx_parse(const char *name, const char *text, size_t size,
                             struct ptx_error *error)
{
    enum { TEXT_MAX = INT32_MAX / 2 };
    struct region region = {.contents = "a PTX module"};
    struct parsed_module *parsed = region_take(&region, sizeof *parsed);
    parsed->region = region;
    const char *end = memchr(text, 0, size);
    if (end)
        size = (size_t)(end - text);
    *error = (struct ptx_error){0};
    struct ptx_parser parser = {.region = &parsed->region,
                                .module = &parsed->module,
                                .error = error,
                                .name = base_name(name)};
    parsed->module.warnings = region_strndup(&parsed->region, "", 0);
    parsed->module.name = region_strndup(&parsed->region, parser.name, strlen(parser.name));
    ptx_scope_open(&parser);
    if (size > TEXT_MAX) {
        ptx_error_at(&parser, 1, "the text has more than 1 GiB");
    } else if (ptx_yylex_init_extra(&parser, &parser.scanner) == 0) {
        YY_BUFFER_STATE buffer = ptx_yy_scan_bytes(text, (int)size, parser.scanner);
        ptx_yyset_lineno(1, parser.scanner);
        ptx_yyparse(parser.scanner, &parser);
        ptx_yy_delete_buffer(buffer, parser.scanner);
        ptx_yylex_destroy(parser.scanner);
        if (!error->count)
            ptx_module_end(&parser);
    }
    if (!error->count)
        return &parsed->module;
    region = parsed->region;
    region_release(&region);
    return NULL;
}

void ptx_free(struct ptx_module *module)
{
    if (!module)
        return;
    struct region region = ((struct parsed_module *)(void *)module)->region;
    region_release(&region);
}
