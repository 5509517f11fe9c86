/*
 * HTML, with everything escaped unless it is the page's own.
 *
 *      html_put(&b, "<td><a href=\"/app/?appId=%q\">%s</a></td><td>%d</td>", app->id, app->name, app->cores);
 *
 * The format is markup and stands as it is. What it names is put in:
 *
 *      %s   a text, escaped, so that it can be content or an attribute's value in double quotes; NULL: nothing
 *      %q   a text, percent-encoded for a URL
 *      %d   int          %D   int64_t
 *      %m   int64_t, MiB, as Spark writes sizes: "1024.0 MiB"
 *      %t   int64_t, a time of day in ms: "2026/11/22 05:41:17"
 *      %u   int64_t, a duration in ms: "12 s", "3.5 min"
 *      %%   a percent sign
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

void html_put(struct buf *b, const char *format, ...);

/* One text, escaped. What is no character of HTML (control characters, bytes that are no UTF-8) becomes U+FFFD. */
void html_text(struct buf *b, const char *text, size_t len);

struct html_page {
        const char *base; /* what the site's links begin with: the request's; NULL: nothing */
        const char *title;
        const char *subtitle;             /* NULL: none */
        const char *back_url, *back_text; /* a link above, "/" of this site or elsewhere; NULL: none */
        const char *user;                 /* who asks; NULL: nobody is known */
};

/* The page's head, up to where its content begins; and its end. */
void html_begin(struct buf *b, const struct html_page *page);
void html_end(struct buf *b, const struct html_page *page);

/*
 * A section with a table that can be folded away: "Workers (3)". @id is an anchor. @columns: their headings, with '|'
 * between; a heading that begins with '#' is of numbers. With @n 0, a line says @nothing and no table is begun.
 */
void html_table_begin(struct buf *b, const char *id, const char *heading, const char *columns, size_t n,
                      const char *nothing);
void html_table_end(struct buf *b, size_t n);

/* A state as a coloured word. */
void html_state(struct buf *b, const char *state);

/* A form that ends something when its button is pressed: POST @base and @action with id, terminate=true and the site's
 * token. */
void html_kill_form(struct buf *b, const char *base, const char *action, const char *id, const char *what,
                    const char *token);

/* The style sheet that every page names, /static/firesteel.css. */
extern const char html_style_sheet[];
