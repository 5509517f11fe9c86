/* Shared by the files of /api/v1 only. */
#pragma once

#include "text/json_writer.h"
#include "ui/api/api.h"

/* A request on its way. */
struct api_call {
        const struct ui_request *q;
        struct ui_answer *a;
        struct json_out json;         /* writes the body */
        const char *app_id, *attempt; /* attempt NULL: none in the path */
        struct app_view *view;        /* open, and locked for reading */
        const struct status *s;       /* of the view */
        int64_t now_ms;               /* up to which running tasks have lasted */
        bool failed;                  /* answered with an error */
};

/* Answers with an error text, in place of what was written. */
void api_fail(struct api_call *c, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Answers 404 for a parameter that is not of its type, as Spark's server does: with a page. */
void api_fail_parameter(struct api_call *c);

/* Answers 404 for a path without a resource: its text is the path. */
void api_fail_path(struct api_call *c);

/*
 * An answer that is written in steps of some UI_STREAM_PIECE bytes. The view is locked during a step only, and pointers
 * into the status are invalid afterwards. An application that runs changes meanwhile.
 */
struct api_steps {
        /* Returns 1 if more follows, 0 at the end, or negative if what it writes was removed. */
        int (*step)(struct api_steps *steps, struct api_call *c);
        void (*free)(struct api_steps *steps);
};

/* Runs the first step, and lets the rest of the answer stream. Takes @steps. Returns 0, or negative from the first. */
int api_run_steps(struct api_call *c, struct api_steps *steps);

static inline bool api_piece_is_full(const struct api_call *c)
{
        return c->json.out->len >= UI_STREAM_PIECE;
}

/*
 * Each serves the resources below one name of an application. @rest is the path behind the name: "" or "/3/0".
 */
void api_serve_jobs(struct api_call *c, const char *rest);
void api_serve_stages(struct api_call *c, const char *rest);
void api_serve_executors(struct api_call *c, const char *rest);
void api_serve_all_executors(struct api_call *c, const char *rest);
void api_serve_processes(struct api_call *c, const char *rest);
void api_serve_storage(struct api_call *c, const char *rest);
void api_serve_environment(struct api_call *c, const char *rest);
void api_serve_task_threads(struct api_call *c, const char *rest);

/* Serve …/applications with its filters. */
void api_serve_application_list(struct api_call *c);
void api_serve_application(struct api_call *c);
void api_serve_attempt(struct api_call *c);

/* Serves …/logs. The view is not locked. */
void api_serve_logs(struct api_call *c);

/* ------------------------------------------------------------------------------------------------ parameters */

/* Each returns false after it answered with an error. */

/* A number of 32 bits. Unchanged if there is no such parameter. */
bool api_get_int(struct api_call *c, const char *name, int *value);
bool api_get_flag(const struct api_call *c, const char *name, bool otherwise);

/* Sets the bits of all values of a parameter, which are among @names, in any case. 0 without the parameter. */
bool api_get_set(struct api_call *c, const char *name, const char *const *names, size_t n, uint32_t *bits);

/* A date, 2015-02-20 or 2015-02-20T23:21:17.190GMT, as ms since 1970. Unchanged without the parameter. */
bool api_get_date(struct api_call *c, const char *name, int64_t *ms);

enum { API_MAX_QUANTILES = 1000 };
struct api_quantiles {
        double values[API_MAX_QUANTILES]; /* sorted */
        size_t n;
};
bool api_get_quantiles(struct api_call *c, const char *otherwise, struct api_quantiles *out);

/* Parses a decimal number of a path: "/12" at *@at, which moves behind it. Returns 1, 0 (no digits), -1 (too large). */
int api_path_number(const char **at, int *number);

/* --------------------------------------------------------------------------------------------------- values */

void api_put_date(struct json_out *j, const char *name, int64_t ms);
void api_put_map(struct json_out *j, const char *name, const struct strmap *map);
void api_put_peaks(struct json_out *j, const char *name, const struct executor_peaks *peaks);
/* The first metrics of a task and of a stage: times, size of the result, spills, peak of memory. */
void api_put_run_metrics(struct json_out *j, const struct task_metrics *m);
void api_put_killed(struct json_out *j, const status_killed_list *list);
void api_put_accumulables(struct json_out *j, const struct accumulable *list, size_t n);

/* ---------------------------------------------------------------------------------------------------- tasks */

void api_put_task(struct api_call *c, const char *name, const struct status_stage *stage, size_t row);

/* Writes the tasks of a stage attempt from *@row on, as members by ids, until the piece is full. Returns whether all
 * were written.
 */
bool api_put_tasks(struct api_call *c, const struct status_stage *stage, uint32_t statuses, size_t *row);

const char *api_task_status_name(enum task_row_status status); /* "SUCCESS" */

/* Sets the bit of each task that has @text in any column. Returns their number. */
size_t api_search_tasks(const struct api_call *c, const struct status_stage *stage, const char *text, uint64_t *found);

/* An unknown stage has no tasks. */
void api_serve_task_list(struct api_call *c, int id, int attempt);
void api_serve_task_table(struct api_call *c, int id, int attempt);

/* The values of the parameter taskStatus, as bits of enum task_row_status. 0: all. */
bool api_get_task_statuses(struct api_call *c, const char *name, uint32_t *statuses);

/* Write the distributions. Return false, and write nothing, if there is no value. */
bool api_put_task_distributions(struct api_call *c, const char *name, const struct status_stage *stage,
                                const struct api_quantiles *q);
bool api_put_executor_distributions(struct api_call *c, const char *name, const struct status_stage *stage,
                                    const struct api_quantiles *q);

/* --------------------------------------------------------------------------------------------------- stages */

/* The parameters of stages. */
struct api_stage_options {
        bool details, with_summaries, with_diagnosis;
        uint32_t task_statuses;
        struct api_quantiles quantiles;
};
