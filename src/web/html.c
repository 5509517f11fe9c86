/* See html.h. Pages need no script: a foldable section is <details>, and an action is a form. */
#include "web/html.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/units.h"
#include "text/percent.h"
#include "web/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <xxhash.h>

/* The length of the UTF-8 character at @p, 1 to 4, or 0 if it is invalid. */
static size_t html_character(const unsigned char *p, size_t left)
{
        size_t n = *p < 0x80                 ? 1
                   : *p >= 0xc2 && *p < 0xe0 ? 2
                   : (*p & 0xf0) == 0xe0     ? 3
                   : *p >= 0xf0 && *p < 0xf5 ? 4
                                             : 0;
        if (n == 0 || n > left)
                return 0;
        for (size_t i = 1; i < n; i++)
                if ((p[i] & 0xc0) != 0x80)
                        return 0;
        if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) || (*p == 0xf0 && p[1] < 0x90) ||
            (*p == 0xf4 && p[1] >= 0x90))
                return 0; /* overlong form, surrogate, or beyond Unicode */
        return n;
}

void html_text(struct buf *b, const char *text, size_t len)
{
        const unsigned char *p = (const unsigned char *)text, *end = p + len;
        while (p < end) {
                size_t n = html_character(p, (size_t)(end - p));
                if (n == 0 || (*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f)
                        buf_puts(b, "\xef\xbf\xbd");
                else if (*p == '&')
                        buf_puts(b, "&amp;");
                else if (*p == '<')
                        buf_puts(b, "&lt;");
                else if (*p == '>')
                        buf_puts(b, "&gt;");
                else if (*p == '"')
                        buf_puts(b, "&quot;");
                else if (*p == '\'')
                        buf_puts(b, "&#39;");
                else
                        buf_append(b, p, n);
                p += n ? n : 1;
        }
}

static void html_put_time(struct buf *b, int64_t ms)
{
        time_t seconds = (time_t)(ms / 1000);
        struct tm tm;
        char text[32];
        localtime_r(&seconds, &tm);
        strftime(text, sizeof(text), "%Y/%m/%d %H:%M:%S", &tm);
        buf_puts(b, text);
}

/* In the form of Spark's pages. */
static void html_put_duration(struct buf *b, int64_t ms)
{
        double seconds = (double)ms / 1000;
        if (ms < 100)
                buf_printf(b, "%lld ms", (long long)MAX(ms, (int64_t)0));
        else if (seconds < 1)
                buf_printf(b, "%.1f s", seconds);
        else if (seconds < 60)
                buf_printf(b, "%.0f s", seconds);
        else if (seconds < 600)
                buf_printf(b, "%.1f min", seconds / 60);
        else if (seconds < 3600)
                buf_printf(b, "%.0f min", seconds / 60);
        else
                buf_printf(b, "%.1f h", seconds / 3600);
}

static void html_put_args(struct buf *b, const char *format, va_list args)
{
        for (const char *p = format; *p;) {
                size_t n = strcspn(p, "%");
                const char *text;
                buf_append(b, p, n);
                p += n;
                if (!*p || !p[1])
                        break;
                switch (p[1]) {
                case 's':
                        text = va_arg(args, const char *);
                        html_text(b, text ? text : "", text ? strlen(text) : 0);
                        break;
                case 'q':
                        percent_encode(b, va_arg(args, const char *), "");
                        break;
                case 'd':
                        buf_printf(b, "%d", va_arg(args, int));
                        break;
                case 'D':
                        buf_printf(b, "%lld", (long long)va_arg(args, int64_t));
                        break;
                case 'm':
                        units_put_bytes(b, va_arg(args, int64_t) * (1 << 20));
                        break;
                case 't':
                        html_put_time(b, va_arg(args, int64_t));
                        break;
                case 'u':
                        html_put_duration(b, va_arg(args, int64_t));
                        break;
                default:
                        buf_putc(b, p[1]);
                        break;
                }
                p += 2;
        }
}

void html_put(struct buf *b, const char *format, ...)
{
        va_list args;
        va_start(args, format);
        html_put_args(b, format, args);
        va_end(args);
}

void html_put_fact(struct buf *b, const char *name, const char *format, ...)
{
        va_list args;
        va_start(args, format);
        html_put(b, "<dt>%s</dt><dd>", name);
        html_put_args(b, format, args);
        buf_puts(b, "</dd>\n");
        va_end(args);
}

bool html_is_link(const char *url)
{
        return url && (text_starts_with(url, "http://") || text_starts_with(url, "https://"));
}

/* ------------------------------------------------------------------------------------------------------------ pages */

const char *html_content_tag(const char *content, char tag[HTML_TAG_SIZE])
{
        snprintf(tag, HTML_TAG_SIZE, "%016" PRIx64, (uint64_t)XXH3_64bits(content, strlen(content)));
        return tag;
}

void html_begin(struct buf *b, const struct html_page *page)
{
        const char *base = page->base ? page->base : "";
        char tag[HTML_TAG_SIZE];
        html_put(b,
                 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<link rel=\"icon\" href=\"data:,\">\n"
                 "<link rel=\"stylesheet\" href=\"%s/static/firesteel.css?v=%s\">\n<title>%s</title>\n",
                 page->site ? page->site : base, html_content_tag(html_style_sheet, tag), page->title);
        if (page->head)
                buf_puts(b, page->head);
        html_put(b,
                 "</head>\n<body>\n"
                 "<header><a class=\"brand\" href=\"%s/\">Firesteel <small>" FIRESTEEL_VERSION
                 "</small></a>\n<h1>%s</h1>",
                 base, page->title);
        if (page->subtitle)
                html_put(b, "<p class=\"subtitle\">%s</p>", page->subtitle);
        if (page->nav)
                buf_puts(b, page->nav);
        buf_puts(b, "</header>\n<main>\n");
        if (page->back_url)
                html_put(b, "<p><a href=\"%s%s\">&larr; %s</a></p>\n", *page->back_url == '/' ? base : "",
                         page->back_url, page->back_text);
}

void html_end(struct buf *b, const struct html_page *page)
{
        buf_puts(b, "</main>\n<footer>Firesteel " FIRESTEEL_VERSION);
        if (page->user)
                html_put(b, " &middot; you are <strong>%s</strong>", page->user);
        buf_puts(b, "</footer>\n</body>\n</html>\n");
}

void html_table_begin(struct buf *b, const char *id, const char *heading, const char *columns, size_t n,
                      const char *nothing)
{
        html_put(b, "<details open id=\"%s\"><summary><h2>%s <span class=\"count\">(%D)</span></h2></summary>\n", id,
                 heading, (int64_t)n);
        if (n == 0) {
                html_put(b, "<p class=\"nothing\">%s</p>\n</details>\n", nothing);
                return;
        }
        buf_puts(b, "<div class=\"wide\"><table>\n<thead><tr>");
        for (const char *p = columns; *p;) {
                size_t len = strcspn(p, "|");
                bool number = *p == '#';
                buf_puts(b, number ? "<th class=\"number\">" : "<th>");
                html_text(b, p + number, len - number);
                buf_puts(b, "</th>");
                p += len + (p[len] == '|');
        }
        buf_puts(b, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct buf *b, size_t n)
{
        if (n > 0)
                buf_puts(b, "</tbody>\n</table></div>\n</details>\n");
}

void html_state(struct buf *b, const char *state)
{
        static const struct {
                const char *state, *look;
        } looks[] = {
                {"ALIVE", "good"},          {"RUNNING", "good"},     {"FINISHED", "done"},
                {"WAITING", "wait"},        {"SUBMITTED", "wait"},   {"KILLED", "stop"},
                {"DECOMMISSIONED", "stop"}, {"DEAD", "bad"},         {"FAILED", "bad"},
                {"ERROR", "bad"},           {"LOST", "bad"},         {"EXITED", "done"},
                {"LAUNCHING", "wait"},      {"RELAUNCHING", "wait"}, {"SUCCEEDED", "done"},
                {"COMPLETE", "done"},       {"ACTIVE", "good"},      {"PENDING", "wait"},
                {"EXCLUDED", "stop"},
        };
        const char *look = "plain";
        for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
                if (strcmp(looks[i].state, state) == 0)
                        look = looks[i].look;
        html_put(b, "<span class=\"state %s\">%s</span>", look, state);
}

void html_kill_form(struct buf *b, const char *base, const char *action, const char *id, const char *what,
                    const char *token)
{
        html_put(
                b,
                " <form class=\"kill\" action=\"%s%s\" method=\"POST\"><input type=\"hidden\" name=\"id\" value=\"%s\">"
                "<input type=\"hidden\" name=\"terminate\" value=\"true\">"
                "<input type=\"hidden\" name=\"csrfToken\" value=\"%s\">"
                "<button type=\"submit\" title=\"End %s %s\">kill</button></form>",
                base, action, id, token, what, id);
}

const char html_style_sheet[] =
        ":root{--ground:#f6f7f9;--card:#fff;--ink:#1d2733;--faint:#5d6b7a;--line:#dfe4ea;--link:#0b5cad;--brand:#c2410c;"
        "--good:#116329;--good-back:#dafbe1;--bad:#a40e26;--bad-back:#ffe3e3;--wait:#7a4d00;--wait-back:#fff3c4;"
        "--done:#3c4a5a;--done-back:#e8edf2}\n"
        "@media (prefers-color-scheme:dark){:root{--ground:#14181d;--card:#1c222a;--ink:#e3e8ee;--faint:#93a1b1;"
        "--line:#303a46;--link:#71b4ff;--brand:#fb923c;--good:#7ee2a0;--good-back:#123c22;--bad:#ff9c9c;"
        "--bad-back:#4a1620;--wait:#ffd479;--wait-back:#44330a;--done:#b8c4d0;--done-back:#2a333e}}\n"
        "*{box-sizing:border-box}\n"
        "body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\","
        "\"Noto Sans\",sans-serif}\n"
        "header{background:var(--card);border-bottom:1px solid var(--line);padding:.8rem 1.5rem}\n"
        "header h1{font-size:1.35rem;margin:.1rem 0;overflow-wrap:anywhere}\n"
        ".brand{color:var(--brand);font-weight:700;text-decoration:none}\n.brand small{color:var(--faint);font-weight:400}\n"
        ".subtitle{margin:0;color:var(--faint)}\n"
        "main{padding:1rem 1.5rem;max-width:1800px;margin:0 auto}\n"
        "footer{padding:1rem 1.5rem;color:var(--faint);font-size:.85rem}\n"
        "a{color:var(--link)}\n"
        "dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.2rem;background:var(--card);"
        "border:1px solid var(--line);border-radius:8px;padding:1rem 1.2rem;margin:0 0 1rem}\n"
        "dl.facts dt{color:var(--faint)}\ndl.facts dd{margin:0;overflow-wrap:anywhere}\n"
        "details{background:var(--card);border:1px solid var(--line);border-radius:8px;margin:0 0 1rem;padding:.2rem 1.2rem}\n"
        "summary{cursor:pointer;padding:.5rem 0}\nsummary h2{display:inline;font-size:1.05rem}\n"
        ".count{color:var(--faint);font-weight:400}\n.nothing{color:var(--faint);margin:.2rem 0 .8rem}\n"
        ".wide{overflow-x:auto;margin-bottom:.8rem}\n"
        "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
        "th,td{text-align:left;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}\n"
        "th{color:var(--faint);font-weight:600;vertical-align:bottom}td:first-child{white-space:nowrap}\ntbody tr:last-child td{border-bottom:0}\n"
        ".number{text-align:right;padding-right:1.2rem}\n"
        ".state{border-radius:1em;padding:.05rem .6rem;font-size:.85rem;white-space:nowrap}\n"
        ".good{color:var(--good);background:var(--good-back)}\n.bad,.stop{color:var(--bad);background:var(--bad-back)}\n"
        ".wait{color:var(--wait);background:var(--wait-back)}\n.done,.plain{color:var(--done);background:var(--done-back)}\n"
        "meter{width:7rem;vertical-align:middle}\n"
        "form.kill{display:inline}\n"
        "button{font:inherit;font-size:.85rem;color:inherit;background:none;border:1px solid currentColor;"
        "border-radius:4px;padding:0 .5rem;cursor:pointer}\n"
        "form.kill button{color:var(--bad)}\nform.kill button:hover{background:var(--bad-back)}\n"
        "pre{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:1rem;overflow-x:auto;"
        "font:13px/1.45 ui-monospace,\"DejaVu Sans Mono\",monospace;white-space:pre-wrap;overflow-wrap:anywhere}\n"
        "nav a{margin-right:1rem}\n";
