/* See docs_page.h. Invariant: both files say the same in the same order. */
#include "codegen/views/docs_page.h"

#include <string.h>

#include "codegen/views/docs_text.h"
#include "codegen/views/html_page.h"

bool docs_page_open(struct docs_page *page, const char *dir, const char *name, const char *title,
                    struct view_error *error)
{
    char file[300];
    *page = (struct docs_page){.dir = dir, .error = error};
    snprintf(page->name, sizeof page->name, "%s", name);
    snprintf(file, sizeof file, "%s.md", page->name);
    page->markdown = docs_open(dir, file, error);
    if (!page->markdown)
        return false;
    char html[300];
    snprintf(html, sizeof html, "%s.html", page->name);
    page->html = docs_open(dir, html, error);
    if (!page->html) {
        docs_discard(page->markdown, dir, file);
        return false;
    }
    html_write_head(page->html, title);
    docs_page_heading(page, 1, title);
    return true;
}

bool docs_page_close(struct docs_page *page)
{
    char markdown[300], html[300];
    snprintf(markdown, sizeof markdown, "%s.md", page->name);
    snprintf(html, sizeof html, "%s.html", page->name);
    fputs("</body>\n</html>\n", page->html);
    if (!docs_close(page->markdown, page->dir, markdown, page->error)) {
        docs_discard(page->html, page->dir, html);
        return false;
    }
    return docs_close(page->html, page->dir, html, page->error);
}

void docs_page_heading(struct docs_page *page, unsigned level, const char *text)
{
    fprintf(page->markdown, "%.*s %s\n\n", (int)level, "######", text);
    fprintf(page->html, "<h%u>", level);
    docs_write_html(page->html, text);
    fprintf(page->html, "</h%u>\n", level);
}

void docs_page_text(struct docs_page *page, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(page->markdown, "%s\n\n", text);
    docs_write_html_paragraphs(page->html, text);
}

void docs_page_table_begin(struct docs_page *page, const char *const *columns, uint32_t count)
{
    fputs("|", page->markdown);
    fputs("<table><thead><tr>", page->html);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(page->markdown, " %s |", columns[i]);
        fprintf(page->html, "<th>%s</th>", columns[i]);
    }
    fputs("\n|", page->markdown);
    for (uint32_t i = 0; i < count; i++)
        fputs(" --- |", page->markdown);
    fputs("\n", page->markdown);
    fputs("</tr></thead><tbody>\n", page->html);
}

void docs_page_row(struct docs_page *page, const char *const *cells, uint32_t count)
{
    if (count == 0)
        return;
    fputs("|", page->markdown);
    fputs("<tr>", page->html);
    for (uint32_t i = 0; i < count; i++) {
        const char *cell = cells[i] ? cells[i] : "";
        fputs(" ", page->markdown);
        docs_write_markdown_cell(page->markdown, cell);
        fputs(" |", page->markdown);
        fputs("<td>", page->html);
        docs_write_html_inline(page->html, cell);
        fputs("</td>", page->html);
    }
    fputs("\n", page->markdown);
    fputs("</tr>\n", page->html);
}

void docs_page_table_end(struct docs_page *page)
{
    fputs("\n", page->markdown);
    fputs("</tbody></table>\n", page->html);
}

void docs_page_list_begin(struct docs_page *page)
{
    fputs("<ul>\n", page->html);
}

void docs_page_item(struct docs_page *page, const char *name, const char *target, const char *text)
{
    fputs("- ", page->markdown);
    fputs("<li>", page->html);
    if (target)
        docs_page_link(page, name, target);
    else {
        fprintf(page->markdown, "`%s`", name);
        fputs("<code>", page->html);
        docs_write_html(page->html, name);
        fputs("</code>", page->html);
    }
    if (text && *text) {
        fputs(": ", page->markdown);
        docs_write_markdown_cell(page->markdown, text);
        fputs(": ", page->html);
        docs_write_html_inline(page->html, text);
    }
    fputs("\n", page->markdown);
    fputs("</li>\n", page->html);
}

void docs_page_list_end(struct docs_page *page)
{
    fputs("\n", page->markdown);
    fputs("</ul>\n", page->html);
}

void docs_page_picture(struct docs_page *page, const char *file, const char *description)
{
    fprintf(page->markdown, "![%s](%s)\n\n", description, file);
    fputs("<p><img style=\"max-width:100%\" src=\"", page->html);
    docs_write_html(page->html, file);
    fputs("\" alt=\"", page->html);
    docs_write_html(page->html, description);
    fputs("\"></p>\n", page->html);
}

void docs_page_link(struct docs_page *page, const char *name, const char *target)
{
    fprintf(page->markdown, "[%s](%s.md)", name, target);
    fputs("<a href=\"", page->html);
    docs_write_html(page->html, target);
    fputs(".html\">", page->html);
    docs_write_html(page->html, name);
    fputs("</a>", page->html);
}
