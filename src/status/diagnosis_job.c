/* Where the wall-clock time of a job went; see diagnosis.h. */
#include "status/diagnosis.h"

#include "base/mem.h"

#define MAX_JOB_MS ((int64_t)1 << 40) /* sums of times do not overflow */

/* The part of a job in which a stage ran. */
struct stage_span {
        int64_t submitted_ms, launched_ms, end_ms;
        int64_t uneven_ms; /* what skew cost */
        int64_t task_ms;
};
typedef VEC(struct stage_span) stage_spans;

static int stage_span_compare_submitted(const void *a, const void *b)
{
        const struct stage_span *x = a, *y = b;
        return (x->submitted_ms > y->submitted_ms) - (x->submitted_ms < y->submitted_ms);
}

static int stage_span_compare_launched(const void *a, const void *b)
{
        const struct stage_span *x = a, *y = b;
        return (x->launched_ms > y->launched_ms) - (x->launched_ms < y->launched_ms);
}

static int64_t job_clip(int64_t ms, int64_t from_ms, int64_t to_ms)
{
        return MIN(MAX(ms, from_ms), to_ms);
}

/* Collects the stages that ran for the job. */
static void job_collect_spans(const struct status *s, const struct status_job *job, int64_t from_ms, int64_t to_ms,
                              size_t max_rows, stage_spans *spans)
{
        for (size_t i = 0; i < s->stages.len; i++) {
                const struct status_stage *stage = s->stages.data[i];
                bool is_mine = false;
                for (size_t k = 0; k < stage->jobs.len; k++)
                        is_mine |= stage->jobs.data[k].job == job;
                int64_t end = status_stage_is_live(stage) ? to_ms : stage->completion_ms;
                if (!is_mine || stage->submission_ms <= 0 || end < from_ms || stage->submission_ms > to_ms)
                        continue;
                struct stage_span span = {.submitted_ms = job_clip(stage->submission_ms, from_ms, to_ms),
                                          .end_ms = job_clip(end, from_ms, to_ms)};
                span.launched_ms = stage->first_launch_ms > 0
                                           ? job_clip(stage->first_launch_ms, span.submitted_ms, span.end_ms)
                                           : span.end_ms;
                for (size_t k = 0; k < stage->executors.len; k++)
                        span.task_ms += stage->executors.data[k].task_ms;
                if (!stage->executors.len)
                        span.task_ms = stage->metrics.executor_run_ms;
                if (stage->columns.n_retained <= max_rows) {
                        struct stage_diagnosis d;
                        diagnose_stage(s, stage, to_ms, &d);
                        max_rows -= stage->columns.n_retained;
                        span.uneven_ms = MIN(d.parts_ms[DIAGNOSIS_UNEVEN], span.end_ms - span.launched_ms);
                }
                vec_push(spans, span);
        }
}

/* Sums the union of the spans, from their submission or from their first launch on. */
static int64_t job_union_ms(stage_spans *spans, bool launched)
{
        int64_t sum = 0, end = INT64_MIN;
        qsort(spans->data, spans->len, sizeof(*spans->data),
              launched ? stage_span_compare_launched : stage_span_compare_submitted);
        for (size_t i = 0; i < spans->len; i++) {
                int64_t from = launched ? spans->data[i].launched_ms : spans->data[i].submitted_ms;
                from = MAX(from, end);
                if (spans->data[i].end_ms <= from)
                        continue;
                sum += spans->data[i].end_ms - from;
                end = spans->data[i].end_ms;
        }
        return sum;
}

/* The time that skew cost: of stages that ran at the same time, only the one that lost most counts. In order of
 * launches. */
static int64_t job_uneven_ms(const stage_spans *spans)
{
        int64_t sum = 0, most = 0, end = INT64_MIN;
        for (size_t i = 0; i < spans->len; i++) {
                if (spans->data[i].launched_ms >= end) {
                        sum += most;
                        most = 0;
                }
                most = MAX(most, spans->data[i].uneven_ms);
                end = MAX(end, spans->data[i].end_ms);
        }
        return sum + most;
}

/* The cores of the executors, as time: each counts from its start to its end. */
static double job_core_ms(const struct status *s, int64_t from_ms, int64_t to_ms, int64_t *cores)
{
        double sum = 0;
        *cores = 0;
        for (size_t i = 0; i < s->executors.len; i++) {
                const struct status_executor *x = s->executors.data[i];
                int64_t from = job_clip(x->added_ms, from_ms, to_ms);
                int64_t to = x->is_active ? to_ms : job_clip(x->removed_ms, from_ms, to_ms);
                if (x->cores <= 0 || to <= from)
                        continue;
                *cores += x->cores;
                sum += (double)(to - from) * x->cores;
        }
        return sum;
}

void diagnose_job(const struct status *s, const struct status_job *job, int64_t now_ms, size_t max_rows,
                  struct job_diagnosis *out)
{
        stage_spans spans = {0};
        int64_t from = job->submission_ms, to = job->state == STATUS_JOB_RUNNING ? now_ms : job->completion_ms;
        *out = (struct job_diagnosis){0};
        if (from <= 0 || to <= from || to - from >= MAX_JOB_MS)
                return;
        out->wall_ms = to - from;
        job_collect_spans(s, job, from, to, max_rows, &spans);
        int64_t submitted = job_union_ms(&spans, false), launched = job_union_ms(&spans, true), task_ms = 0;
        for (size_t i = 0; i < spans.len; i++)
                task_ms += spans.data[i].task_ms;
        out->driver_ms = out->wall_ms - submitted;
        out->queued_ms = submitted - launched;
        /* Executors come and go: the mean number of cores counts. */
        double mean_cores = job_core_ms(s, from, to, &out->cores) / (double)out->wall_ms;
        out->busy_ms = mean_cores > 0 ? (int64_t)MIN((double)MAX(task_ms, (int64_t)0) / mean_cores, (double)launched)
                                      : launched;
        out->idle_ms = launched - out->busy_ms;
        out->ideal_ms = out->wall_ms - job_uneven_ms(&spans);
        for (size_t i = 0; i < s->jobs.len; i++) {
                const struct status_job *other = s->jobs.data[i];
                out->shared |= other != job && other->submission_ms < to &&
                               (other->state == STATUS_JOB_RUNNING || other->completion_ms > from);
        }
        vec_deinit(&spans);
}
