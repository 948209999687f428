/* Comments that say where a number comes from (dsl/origin.h): the word must be one of the five, and
 * a comment that says measured or published names the source. A question about the text of the
 * user's main file. */
#include <string.h>

#include "dsl/origin.h"

#include "check.h"

static void check_doc(struct elaboration *e, const struct ast_item *item)
{
    struct origin origin = origin_in(item->doc);
    struct span place = item->name.text ? item->name.span : item->span;
    if (origin.misspelt) {
        struct diagnostic *d = diagnostic_add(e->diagnostics, W0710, place,
                                              "'%.*s:' is not a kind of source of a number",
                                              (int)origin.misspelt_length, origin.misspelt);
        diagnostic_help(e->diagnostics, d,
                        "the kinds are Measured, Published, Derived, Fitted "
                        "and Assumed");
    }
    if (origin.kind != ORIGIN_UNSTATED && origin.kind != ORIGIN_ASSUMED && *origin.source == '\0') {
        struct diagnostic *d = diagnostic_add(e->diagnostics, W0710, place,
                                              "'%s:' without a source", origin_word(origin.kind));
        diagnostic_help(e->diagnostics, d, "name the source after the colon");
    }
}

static void check_body(struct elaboration *e, const struct ast_items *body)
{
    for (uint32_t i = 0; body && i < body->v.count; i++) {
        const struct ast_item *item = body->v.items[i];
        check_doc(e, item);
        check_body(e, item->body);
        check_body(e, item->fill_body);
        check_body(e, item->otherwise_body);
    }
}

static void run_origins(struct elaboration *e)
{
    for (uint32_t i = 0; i < e->program->types.count; i++)
        if (e->program->types.items[i]->is_main)
            check_body(e, e->program->types.items[i]->decl->body);
}

const struct check check_origins = {"origin", W0710, run_origins, {NULL}, true};
