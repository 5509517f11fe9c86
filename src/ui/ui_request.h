/*
 * A request for a page or a resource, and its answer. The function that answers is pure but for its source: it reads
 * the request and fills the answer. It runs in a thread of a pool and may block.
 */
#pragma once

#include "ui/app_source.h"
#include "ui/ui_stream.h"
#include "web/form.h"

/* The most that timelines show (spark.ui.timeline.*.maximum); 0: not set, the page decides. */
struct ui_timelines {
        int jobs, stages, executors, tasks;
};

struct ui_request {
        const char *method; /* "GET" or "POST" */
        /* Decoded, without a slash at its end: "/stages/stage" below an application, else the whole path. */
        const char *path;
        const struct form *query;
        const char *base;     /* prefix of links within the application: "", "/proxy/app-1", "/history/app-1/1" */
        const char *site;     /* prefix of links within the site, which has /static and /api; begins @base */
        const char *user;     /* NULL: unknown */
        const char *token;    /* of forms (web_form_token) */
        const char *raw_path; /* as received: "/stages/stage/" */
        bool may_modify;      /* the user may kill jobs and stages */
        int64_t now_ms;
        struct ui_timelines timelines;
        struct app_source *source;
        struct app_view *view; /* the application of a page; NULL for a page of the site and for /api */
};

struct ui_answer {
        int status;    /* 0: not answered */
        bool is_early; /* the application is being loaded: the rest does not count, and the request is to be repeated */
        const char *type; /* content type. Static */
        bool is_lasting;  /* its URL has the tag of its content (html_content_tag): browsers may keep it */
        struct buf body;
        struct ui_stream *rest; /* what follows the body. Owned; NULL: nothing */
        char *location;         /* of a redirect: a path below q->site, or a URL. Owned; NULL: none */
        char *file_name;        /* of an attachment. Owned; NULL: none */
};

static inline void ui_answer_deinit(struct ui_answer *a)
{
        if (a->rest)
                a->rest->free(a->rest);
        buf_deinit(&a->body);
        free(a->location);
        free(a->file_name);
}
