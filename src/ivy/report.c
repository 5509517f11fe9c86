/*
 * See report.h.
 */
#include "ivy/report.h"

#include "base/buf.h"
#include "base/mem.h"

#include <stdio.h>

#define RULE "\t---------------------------------------------------------------------"

static void report_say(const struct report *r, const char *line)
{
        r->say(r->context, line);
}

/* The reported nodes, once each, in the order of their first report. */
static struct nodes report_reported(const struct graph *g)
{
        struct nodes out = {0};
        for (size_t i = 0; i < g->reported.len; i++)
                nodes_add(&out, g->reported.data[i].node);
        return out;
}

static int report_compare_modules(const void *a, const void *b)
{
        const struct module_name *x = (*(struct node *const *)a)->id->module,
                                 *y = (*(struct node *const *)b)->id->module;
        int c = strcmp(x->organisation, y->organisation);
        return c ? c : strcmp(x->name, y->name);
}

static void report_say_modules(const struct report *r)
{
        _cleanup_(nodes_deinit) struct nodes all = resolve_nodes(r->graph), last = report_reported(r->graph);
        bool any_evicted = false;
        report_say(r, "\t:: modules in use:");
        if (all.len > 1)
                qsort(all.data, all.len, sizeof(*all.data), report_compare_modules);
        for (size_t i = 0; i < all.len; i++) {
                struct node *n = all.data[i];
                if (!node_is_completely_evicted(n) && !n->problem && n->repository)
                        report_say(r, names_printf(r->names, "\t%s from %s in [" ROOT_CONF "]",
                                                   node_resolved_id(n)->text, n->repository->name));
        }
        for (size_t i = 0; i < last.len; i++) {
                struct node *n = last.data[i];
                _cleanup_(buf_deinit) struct buf by = BUF_INIT;
                if (!node_is_evicted(n))
                        continue;
                if (!any_evicted)
                        report_say(r, "\t:: evicted modules:");
                any_evicted = true;
                for (size_t j = 0; j < n->evicted_by.len && !n->transitively; j++)
                        buf_printf(&by, "%s%s", j ? ", " : "", node_resolved_id(n->evicted_by.data[j])->text);
                report_say(r, n->transitively ? names_printf(r->names, "\t%s transitively in [" ROOT_CONF "]",
                                                             node_resolved_id(n)->text)
                                              : names_printf(r->names, "\t%s by [%s] in [" ROOT_CONF "]",
                                                             node_resolved_id(n)->text, buf_text(&by)));
        }
}

/* "|" and the text centred in @width. */
static void report_cell(struct buf *line, const char *text, size_t width)
{
        size_t len = MIN(strlen(text), width), left = (width - len) - (width - len) / 2;
        buf_printf(line, "|%*s%.*s%*s", (int)left, "", (int)len, text, (int)(width - len - left), "");
}

static void report_number(struct buf *line, size_t value)
{
        char text[24];
        snprintf(text, sizeof(text), "%zu", value);
        report_cell(line, text, 7);
}

static void report_say_table(const struct report *r)
{
        _cleanup_(nodes_deinit) struct nodes all = report_reported(r->graph);
        size_t searched = 0, downloaded = 0, evicted = 0, jars = 0;
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        for (size_t i = 0; i < all.len; i++) {
                searched += all.data[i]->searched;
                downloaded += all.data[i]->downloaded;
                evicted += node_is_evicted(all.data[i]);
        }
        for (size_t i = 0; i < r->downloads->len; i++)
                jars += r->downloads->data[i].location != NULL;
        report_say(r, RULE);
        report_say(r, "\t|                  |            modules            ||   artifacts   |");
        report_say(r, "\t|       conf       | number| search|dwnlded|evicted|| number|dwnlded|");
        report_say(r, RULE);
        buf_putc(&line, '\t');
        report_cell(&line, ROOT_CONF, 18);
        report_number(&line, all.len);
        report_number(&line, searched);
        report_number(&line, downloaded);
        report_number(&line, evicted);
        buf_putc(&line, '|');
        report_number(&line, r->downloads->len);
        report_number(&line, jars);
        buf_putc(&line, '|');
        report_say(r, buf_text(&line));
        report_say(r, RULE);
}

void report_resolution(const struct report *r)
{
        report_say(r, names_printf(r->names, ":: resolution report :: resolve %ldms :: artifacts dl %ldms",
                                   r->resolve_ms, r->download_ms));
        report_say_modules(r);
        report_say_table(r);
}

static bool report_failed(const struct download *d)
{
        return d->status < 0 && !d->artifact->merged;
}

static void report_frame(struct finder *f, const char *const lines[], size_t n)
{
        for (size_t i = 0; i < n; i++)
                vec_push(&f->warnings, lines[i]);
}

#define FRAME "\t::::::::::::::::::::::::::::::::::::::::::::::"

void report_problems(const struct report *r, struct finder *f)
{
        static const char *const unresolved[] = {FRAME, "\t::          UNRESOLVED DEPENDENCIES         ::", FRAME};
        static const char *const downloads[] = {FRAME, "\t::              FAILED DOWNLOADS            ::",
                                                "\t:: ^ see resolution messages for details  ^ ::", FRAME};
        _cleanup_(nodes_deinit) struct nodes all = report_reported(r->graph);
        bool any = false;
        for (size_t i = 0; i < all.len; i++) {
                if (!all.data[i]->problem)
                        continue;
                if (!any)
                        report_frame(f, unresolved, ARRAY_SIZE(unresolved));
                any = true;
                vec_push(&f->warnings, names_printf(r->names, "\t:: %s: %s", node_resolved_id(all.data[i])->text,
                                                    all.data[i]->problem));
        }
        if (any)
                vec_push(&f->warnings, FRAME "\n");
        any = false;
        for (size_t i = 0; i < r->downloads->len; i++) {
                const struct download *d = &r->downloads->data[i];
                if (!report_failed(d))
                        continue;
                if (!any)
                        report_frame(f, downloads, ARRAY_SIZE(downloads));
                any = true;
                vec_push(&f->warnings, names_printf(r->names, "\t:: %s",
                                                    artifact_text(r->names, node_resolved_id(d->node), d->artifact)));
        }
        if (any)
                vec_push(&f->warnings, FRAME "\n");
}

void report_warnings(const struct report *r, const struct finder *f)
{
        if (f->warnings.len == 0)
                return;
        report_say(r, "");
        report_say(r, ":: problems summary ::");
        report_say(r, ":::: WARNINGS");
        for (size_t i = 0; i < f->warnings.len; i++)
                report_say(r, names_printf(r->names, "\t%s\n", f->warnings.data[i]));
}

const char *report_failure(const struct report *r)
{
        _cleanup_(nodes_deinit) struct nodes all = report_reported(r->graph);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (size_t i = 0; i < all.len; i++)
                if (all.data[i]->problem)
                        buf_printf(&text, "%sunresolved dependency: %s: %s", text.len ? ", " : "",
                                   all.data[i]->id->text, all.data[i]->problem);
        for (size_t i = 0; i < r->downloads->len; i++)
                if (report_failed(&r->downloads->data[i]))
                        buf_printf(&text, "%sdownload failed: %s", text.len ? ", " : "",
                                   artifact_text(r->names, node_resolved_id(r->downloads->data[i].node),
                                                 r->downloads->data[i].artifact));
        return text.len ? names_printf(r->names, "[%s]", buf_text(&text)) : NULL;
}
