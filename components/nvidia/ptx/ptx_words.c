/* The table of directives (chapters 5 and 11). */
#include "ptx_words.h"

#include <string.h>

#include "base/number.h"

#include "ptx_build.h"
#include "ptx_parser.h"

static const struct {
    const char *text;
    int token;
    uint8_t code;
} DIRECTIVES[] = {
    {"version", VERSION, 0},
    {"target", TARGET, 0},
    {"address_size", ADDRESS_SIZE, 0},
    {"file", FILE_NAME, 0},
    {"loc", LOC, 0},
    {"pragma", PRAGMA, 0},
    {"entry", ENTRY, 0},
    {"func", FUNC, 0},
    {"alias", ALIAS, 0},
    {"visible", LINKAGE, PTX_VISIBLE},
    {"extern", LINKAGE, PTX_EXTERN},
    {"weak", LINKAGE, PTX_WEAK},
    {"common", LINKAGE, PTX_COMMON},
    {"reg", SPACE, PTX_SPACE_REG},
    {"const", SPACE, PTX_SPACE_CONST},
    {"global", SPACE, PTX_SPACE_GLOBAL},
    {"local", SPACE, PTX_SPACE_LOCAL},
    {"param", SPACE, PTX_SPACE_PARAM},
    {"shared", SPACE, PTX_SPACE_SHARED},
    {"tex", SPACE, PTX_SPACE_TEX},
    {"align", ALIGN, 0},
    {"ptr", POINTER, 0},
    {"attribute", ATTRIBUTE, 0},
    {"managed", ATTRIBUTE_NAME, 1},
    {"unified", ATTRIBUTE_NAME, 0},
    {"v2", VECTOR, 2},
    {"v4", VECTOR, 4},
    {"v8", VECTOR, 8},
    {"maxntid", LIMIT, 0},
    {"reqntid", LIMIT, 0},
    {"minnctapersm", LIMIT, 0},
    {"maxnctapersm", LIMIT, 0},
    {"maxnreg", LIMIT, 0},
    {"reqnctapercluster", LIMIT, 0},
    {"maxclusterrank", LIMIT, 0},
    {"explicitcluster", FLAG, 0},
    {"blocksareclusters", FLAG, 0},
    {"noreturn", FLAG, 0},
    {"branchtargets", BRANCH_TARGETS, 0},
    {"calltargets", CALL_TARGETS, 0},
    {"callprototype", CALL_PROTOTYPE, 0},
};

int ptx_directive_token(struct ptx_parser *parser, const char *text, union PTX_YYSTYPE *value)
{
    const char *name = text + 1;
    struct ptx_nearest nearest = ptx_nearest_begin(name);
    for (size_t i = 0; i < ARRAY_COUNT(DIRECTIVES); i++) {
        if (strcmp(DIRECTIVES[i].text, name) == 0) {
            int token = DIRECTIVES[i].token;
            if (token == LIMIT || token == FLAG)
                value->word = ptx_intern(parser, name, strlen(name));
            else
                value->code = DIRECTIVES[i].code;
            return token;
        }
        ptx_nearest_try(&nearest, DIRECTIVES[i].text);
    }
    for (int type = 1; type < PTX_TYPE_COUNT; type++) {
        const char *type_name = ptx_type_name((enum ptx_type)type);
        if (strcmp(type_name, name) == 0) {
            value->code = (uint8_t)type;
            return TYPE;
        }
        ptx_nearest_try(&nearest, type_name);
    }
    char hint[PTX_MESSAGE_BYTES];
    ptx_error_at(parser, parser->line, "unknown directive '.%.60s'%s", name,
                 ptx_hint(hint, true, nearest.best));
    return UNKNOWN;
}
