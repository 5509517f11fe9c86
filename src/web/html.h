/*
 * Writes HTML and escapes every value.
 *
 *      html_put(&b, "<td><a href=\"/app/?appId=%q\">%s</a></td><td>%d</td>", app->id, app->name, app->cores);
 *
 * The format is markup and is copied. Its conversions insert values:
 *
 *      %s   a text, escaped for content or an attribute value in double quotes; NULL: nothing
 *      %q   a text, percent-encoded for a URL
 *      %d   int          %D   int64_t
 *      %m   int64_t, MiB, in Spark's form of sizes: "1024.0 MiB"
 *      %t   int64_t, a time of day in ms: "2026/11/22 05:41:17"
 *      %u   int64_t, a duration in ms: "12 s", "3.5 min"
 *      %%   a percent sign
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

void html_put(struct buf *b, const char *format, ...);

/* A row of a list of facts: <dt>@name</dt><dd>…</dd>. */
void html_put_fact(struct buf *b, const char *name, const char *format, ...);

/* Appends a text, escaped. Control characters and bytes that are not UTF-8 become U+FFFD. */
void html_text(struct buf *b, const char *text, size_t len);

/* Returns true if an untrusted URL may be linked; "javascript:" may not. */
bool html_is_link(const char *url);

struct html_page {
        const char *base; /* prefix of the page's links, from the request; NULL: none */
        const char *site; /* prefix of /static; NULL: as base */
        const char *head; /* markup at the end of the head; NULL: none */
        const char *nav;  /* markup at the end of the header; NULL: none */
        const char *title;
        const char *subtitle;             /* NULL: none */
        const char *back_url, *back_text; /* a link to the parent page, "/" of this site or another; NULL: none */
        const char *user;                 /* the requesting user; NULL: unknown */
};

/* The start of a page, up to its content, and its end. */
void html_begin(struct buf *b, const struct html_page *page);
void html_end(struct buf *b, const struct html_page *page);

/*
 * A foldable section with a table: "Workers (3)". @id is an anchor. @columns are the headings, separated by '|'. A
 * heading that begins with '#' is of numbers. If @n is 0, writes the line @nothing instead of a table.
 */
void html_table_begin(struct buf *b, const char *id, const char *heading, const char *columns, size_t n,
                      const char *nothing);
void html_table_end(struct buf *b, size_t n);

/* A state as a coloured word. */
void html_state(struct buf *b, const char *state);

/*
 * A form whose button kills something: it sends POST to @base and @action with id, terminate=true and the site's token.
 */
void html_kill_form(struct buf *b, const char *base, const char *action, const char *id, const char *what,
                    const char *token);

/* Writes a tag that changes with @content, for the URL of a file that browsers keep (web_let_keep). Returns @tag. */
enum { HTML_TAG_SIZE = 17 };
const char *html_content_tag(const char *content, char tag[HTML_TAG_SIZE]);

/* The style sheet of every page, /static/firesteel.css. */
extern const char html_style_sheet[];
