/* The parts that all pages share: frame, tables, values. Private to this directory. */
#pragma once

#include "status/stage_series.h"
#include "ui/pages/pages.h"
#include "web/html.h"

/* A page that is being written. */
struct ui_page {
        const struct ui_request *q;
        struct ui_answer *a;
        struct buf *b; /* the answer's body */
        struct app_view *view;
        const struct status *s; /* of the view, which is locked for reading */
        int64_t now_ms;         /* up to which running tasks have lasted */
        struct html_page frame;
        const char *kill_action; /* of the form that kill buttons share; NULL: no button */
        bool right;              /* in the table that is written, cells are aligned to the right without a class */
        struct buf head, nav, title, subtitle;
};

enum page_tab { TAB_JOBS, TAB_STAGES, TAB_STORAGE, TAB_ENVIRONMENT, TAB_EXECUTORS, TAB_DRIVER, TAB_NONE };

/* Each answers the page of a path. */
void page_serve_jobs(struct ui_page *p);
void page_serve_job(struct ui_page *p);
void page_serve_stages(struct ui_page *p);
void page_serve_pool(struct ui_page *p);
void page_serve_stage(struct ui_page *p);
void page_serve_storage(struct ui_page *p);
void page_serve_rdd(struct ui_page *p);
void page_serve_environment(struct ui_page *p);
void page_serve_executors(struct ui_page *p);
void page_serve_threads(struct ui_page *p);
void page_serve_driver(struct ui_page *p);
void page_serve_source(struct ui_page *p);
void page_serve_log(struct ui_page *p);
void page_serve_log_text(struct ui_page *p);

/* ------------------------------------------------------------------------------------------------------- frame */

/* Begins a page with a title. */
void page_begin(struct ui_page *p, enum page_tab tab, const char *format, ...) __attribute__((format(printf, 3, 4)));
void page_end(struct ui_page *p);

/* Answers with a page that says only this, in place of what was written. */
void page_fail(struct ui_page *p, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A number of 0 or more from the query. Returns false after it answered 400, if it is missing or not a number. */
bool page_get_id(struct ui_page *p, const char *name, int *id);

/* A section that can be folded. */
void page_begin_section(struct ui_page *p, const char *id, const char *heading, bool open);
void page_end_section(struct ui_page *p);

/* ----------------------------------------------------------------------------------------------------- tables */

struct page_column {
        const char *heading;
        bool is_number, is_unsorted;
};

/*
 * A table that the server sorts and divides into pages by the parameters TAG.sort (a heading), TAG.desc, TAG.page (from
 * 1) and TAG.pageSize (0: all rows on one page, but at most 10,000).
 */
struct page_table {
        const char *tag;
        const struct page_column *columns;
        size_t n_columns, sort; /* the index of a column */
        bool descending;
        size_t n, size;   /* rows of the whole table, and of a page */
        size_t page;      /* from 0 */
        size_t from, end; /* the shown rows */
        bool is_last;     /* nothing to click on follows; see page_style_sheet */
};

/* Reads the parameters for a table of @n rows. Returns false after it answered 400 for an unknown column. */
bool page_table_init(struct ui_page *p, struct page_table *t, const char *tag, const struct page_column *columns,
                     size_t n_columns, size_t default_sort, bool default_descending, size_t n);

/* Write the head and the end, around rows. */
void page_table_begin(struct ui_page *p, const struct page_table *t);
void page_table_end(struct ui_page *p);

/* The value that a row sorts by. */
struct page_key {
        int64_t number;
        const char *text; /* NULL: by number */
        const void *row;
};

/* Sorts all rows of a table. @keys has one for each. */
void page_table_sort(const struct page_table *t, struct page_key *keys);

/* ----------------------------------------------------------------------------------------------------- values */

void page_put_bytes(struct ui_page *p, int64_t bytes);
/* "1.0 MiB / 12", nothing if both are 0. */
void page_put_bytes_records(struct ui_page *p, int64_t bytes, int64_t records);
/* Begins a cell that holds a number. */
void page_put_number_td(struct ui_page *p);
void page_put_bytes_cell(struct ui_page *p, int64_t bytes);
void page_put_duration_cell(struct ui_page *p, int64_t ms); /* negative: "-" */
void page_put_number_cell(struct ui_page *p, int64_t number);

/* A bar of tasks: "3/4 (1 running, 2 failed)". */
void page_put_progress(struct ui_page *p, int64_t done, int64_t running, int64_t failed, int64_t skipped,
                       int64_t total);

/* A part of a bar of parts. @class is of the style sheet. */
struct page_part {
        const char *name, *class;
        int64_t ms;
};
/* A bar of parts with a legend. */
void page_put_parts(struct ui_page *p, const char *label, const struct page_part *parts, size_t n);

/* The button that kills a "job" or a "stage", if the user may. The buttons of a page share a form:
 * after the first, those of the other kind are left out. */
void page_put_kill(struct ui_page *p, const char *what, int id);

/* The link to a stage. */
void page_put_stage_link(struct ui_page *p, const struct status_stage *stage);

const char *page_job_state(enum status_job_state state);
const char *page_stage_state(enum status_stage_state state);

/* Links to the logs of a process. */
void page_put_logs(struct ui_page *p, const struct strmap *logs);

/* Links to the logs of an executor: to durable ones if it has no others, is lost, or its application has ended. */
void page_put_executor_logs(struct ui_page *p, const struct status_executor *x);

/* ---------------------------------------------------------------------------------------------------- pictures */

/* A bar of a timeline. Texts are escaped. */
struct page_span {
        int64_t from_ms, to_ms;
        const char *class;
        const char *label; /* NULL: none */
        char *href;        /* below q->base; owned, NULL: none */
        char *title;       /* owned */
};
typedef VEC(struct page_span) page_spans;

/* Spans in as few rows as possible, in the order of their beginnings. Frees the texts of @spans. */
void page_put_timeline(struct ui_page *p, page_spans *spans, int64_t from_ms, int64_t to_ms);

/* The RDDs of a stage as a graph. */
void page_put_stage_graph(struct ui_page *p, const struct status_stage *stage);

/* The stages of a job as a graph. */
void page_put_job_graph(struct ui_page *p, const struct status_job *job);

/* -------------------------------------------------------------------------------------------- the table of stages */

/* A section with a table of stages. Does nothing if there are none. Returns false after it answered with an error. */
bool page_put_stages(struct ui_page *p, const char *tag, const char *heading, const struct status_stage **stages,
                     size_t n, bool with_pool);

/* A section for each state that stages have: active, pending, completed, skipped and failed ones. Returns as above. */
bool page_put_stages_by_state(struct ui_page *p, struct status_stage *const *stages, size_t n, bool with_pool);

/* A timeline of the tasks that the table of tasks shows, and the table, the last part of a page. Returns false after it
 * answered with an error. */
bool page_put_tasks(struct ui_page *p, const struct status_stage *stage);

/* A line of a chart. @class: "c1", "c2" or "c3". */
struct page_chart_line {
        const char *name, *class;
        double values[SERIES_SLICES];
};

/*
 * A small chart of @n values over @wall_ms, if any of them is above 0. @unit: 'n' a number, 't' ms, 'b' bytes, '%' per
 * cent.
 */
void page_put_chart(struct ui_page *p, const char *title, char unit, const struct page_chart_line *lines,
                    size_t n_lines, size_t n, int64_t wall_ms);

/* Charts of an executor's node between two times. Does nothing if fewer than two heartbeats are known. */
bool page_put_node_charts(struct ui_page *p, const struct status_executor *x, int64_t from_ms, int64_t to_ms);

/* A section with the nodes that ran most of a stage's tasks, while it ran. Nothing if they are unknown. */
void page_put_stage_nodes(struct ui_page *p, const struct status_stage *stage);

/* The small charts of a stage. */
void page_put_stage_series(struct ui_page *p, const struct status_stage *stage);

/* The distributions of the metrics of tasks. */
void page_put_summary(struct ui_page *p, const struct status_stage *stage);

/* ------------------------------------------------------------------------------------------------------ source */

/* "reduce_by_key at words.c:14" */
struct page_call_site {
        ptrdiff_t operation, file_length; /* lengths */
        const char *file;                 /* "words.c:14" */
        int line;
};

/* Divides a call site. Returns false if it is of another form. */
bool page_parse_call_site(const char *text, struct page_call_site *out);

/* Returns the path below q->base of the page with the source line, or NULL if it is unknown. The caller owns it. */
char *page_source_href(const struct ui_page *p, const char *call_site);

/* A call site, with a link to the source line if it is known. */
void page_put_call_site(struct ui_page *p, const char *text);

/* A section with the lines around a call site. Does nothing if they are unknown. */
void page_put_source(struct ui_page *p, const char *call_site);

extern const char page_style_sheet[], page_script[];

/* Links the style sheet of the pages of applications. */
void page_put_style(struct buf *head, const char *site);
