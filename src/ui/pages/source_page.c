/* The source lines that created stages and RDDs; see page.h. Only a driver that compiled its application has them. */
#include "ui/pages/page.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>

bool page_parse_call_site(const char *text, struct page_call_site *out)
{
        const char *at = NULL, *colon = text ? strrchr(text, ':') : NULL;
        if (!colon || !isdigit((unsigned char)colon[1]) || strlen(colon) > 9 ||
            colon[1 + strspn(colon + 1, "0123456789")])
                return false;
        for (const char *next = text; (next = strstr(next, " at ")) && next < colon; next += 4)
                at = next;
        if (!at || at + 4 == colon)
                return false;
        *out = (struct page_call_site){
                .operation = at - text, .file = at + 4, .file_length = colon - at - 4, .line = atoi(colon + 1)};
        return true;
}

/* Returns the text of the file of a call site, or NULL. */
static const char *source_of_site(const struct ui_page *p, const struct page_call_site *site)
{
        _cleanup_free_ char *file = mem_strndup(site->file, (size_t)site->file_length);
        return p->view->is_live && p->view->class->source ? p->view->class->source(p->view, file) : NULL;
}

char *page_source_href(const struct ui_page *p, const char *call_site)
{
        struct page_call_site site;
        if (!page_parse_call_site(call_site, &site) || !source_of_site(p, &site))
                return NULL;
        struct buf href = BUF_INIT;
        _cleanup_free_ char *file = mem_strndup(site.file, (size_t)site.file_length);
        html_put(&href, "/source/?file=%q&line=%d#L%d", file, site.line, site.line);
        return buf_steal(&href);
}

void page_put_call_site(struct ui_page *p, const char *text)
{
        struct page_call_site site;
        _cleanup_free_ char *href = page_source_href(p, text);
        if (!href || !page_parse_call_site(text, &site)) {
                html_put(p->b, "<code>%s</code>", text);
                return;
        }
        _cleanup_free_ char *operation = mem_strndup(text, (size_t)site.operation);
        html_put(p->b, "<code>%s at <a href=\"%s%s\">%s</a></code>", operation, p->q->base, href, site.file);
}

/* Writes the lines from @first on, at most @n and @max_bytes of text. Marks @line. */
static void source_put_lines(struct ui_page *p, const char *text, int first, int n, int line, size_t max_bytes)
{
        int number = 1;
        size_t from = p->b->len;
        buf_puts(p->b, "<pre class=\"source\" tabindex=\"0\">");
        for (const char *at = text; *at && number < first + n; number++) {
                size_t length = strcspn(at, "\n");
                if (number >= first && p->b->len - from < max_bytes) {
                        html_put(p->b, number == line ? "<mark id=L%d><i>%d</i>" : "<span id=L%d><i>%d</i>", number,
                                 number);
                        html_text(p->b, at, MIN(length, (size_t)500));
                        buf_puts(p->b, number == line ? "</mark>\n" : "</span>\n");
                }
                at += length + (at[length] == '\n');
        }
        buf_puts(p->b, "</pre>\n");
}

void page_put_source(struct ui_page *p, const char *call_site)
{
        enum { AROUND = 5 };
        struct page_call_site site;
        const char *text = page_parse_call_site(call_site, &site) ? source_of_site(p, &site) : NULL;
        if (!text)
                return;
        _cleanup_free_ char *heading = mem_printf("Source: %s", site.file);
        page_begin_section(p, "source", heading, true);
        source_put_lines(p, text, MAX(site.line - AROUND, 1), 2 * AROUND + 1, site.line, 8000);
        page_end_section(p);
}

void page_serve_source(struct ui_page *p)
{
        enum { AROUND = 250, MAX_BYTES = 50000 };
        const char *file = form_get(p->q->query, "file");
        int64_t line = 1;
        if (!file) {
                page_fail(p, 400, "The parameter 'file' is missing.");
                return;
        }
        if (form_get_int(p->q->query, "line", &line) < 0 || line < 1 || line > INT32_MAX / 2) {
                page_fail(p, 400, "The parameter 'line' is not a valid number.");
                return;
        }
        const char *text = p->view->is_live && p->view->class->source ? p->view->class->source(p->view, file) : NULL;
        if (!text) {
                page_fail(
                        p, 200,
                        "The source of %.200s is unknown. A driver shows the C file that spark-submit compiled for it, "
                        "while it runs.",
                        file);
                return;
        }
        page_begin(p, TAB_NONE, "Source %s", file);
        source_put_lines(p, text, MAX((int)line - AROUND, 1), 2 * AROUND + 1, (int)line, MAX_BYTES);
        page_end(p);
}
