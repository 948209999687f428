/* One page of the reference, written as Markdown and as HTML at the same time: every function
 * appends to both. Text is that of a documentation comment: plain, with `code`. */
#ifndef HEDDLE_CODEGEN_DOCS_PAGE_H
#define HEDDLE_CODEGEN_DOCS_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include "codegen/views/view.h"

struct docs_page {
    const char *dir;
    char name[256]; /* without extension */
    FILE *markdown, *html;
    struct view_error *error;
};

/* NAME.md and NAME.html in DIR; false with page->error->text. */
bool docs_page_open(struct docs_page *page, const char *dir, const char *name, const char *title,
                    struct view_error *error);
/* Puts both in place. False: none of it stays behind. */
bool docs_page_close(struct docs_page *page);

void docs_page_heading(struct docs_page *page, unsigned level, const char *text);
void docs_page_text(struct docs_page *page,
                    const char *text); /* paragraphs; nothing for NULL and "" */
void docs_page_table_begin(struct docs_page *page, const char *const *columns, uint32_t count);
void docs_page_row(struct docs_page *page, const char *const *cells, uint32_t count);
void docs_page_table_end(struct docs_page *page);
void docs_page_list_begin(struct docs_page *page);
/* "[name](target): text"; `target` without extension, NULL: no link. */
void docs_page_item(struct docs_page *page, const char *name, const char *target, const char *text);
void docs_page_list_end(struct docs_page *page);
void docs_page_picture(struct docs_page *page, const char *file, const char *description);
void docs_page_link(struct docs_page *page, const char *name, const char *target);

#endif
