/* Counters, and latencies as summaries and histograms, one series for each value of the labels. */
#include "operator/shell/operator_metrics.h"

#include "base/error.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "text/json.h"

#include <ctype.h>
#include <inttypes.h>

#define MAX_BUCKETS 32
#define MAX_SERIES 1000

struct latency {
        double bounds[MAX_BUCKETS];
        uint64_t counts[MAX_BUCKETS]; /* of values up to the bound and above the one before */
        size_t n_bounds;
        uint64_t count;
        double sum; /* seconds */
};

/* The values of the applications that have the same labels. */
struct metric_series {
        struct metric_series *prev, *next;
        char *labels; /* `team="a",zone="Unknown"`, or "" */
        uint64_t applications, submitted, failed_submissions, succeeded, failed, executors_succeeded, executors_failed;
        size_t running, executors_running;
        struct latency start, submit, success, failure;
};

struct operator_metrics {
        char *prefix;
        const struct string_list *labels;
        struct latency start, submit; /* without values: their bounds */
        LIST(struct metric_series) series;
        struct object_table table;
        size_t n_series;
};

static int latency_init(struct latency *l, const char *buckets, const char *name, struct fst_error *error)
{
        const char *p = buckets;
        while (*p) {
                char *end;
                double bound = strtod(p, &end);
                if (end == p || (*end && *end != ',') || l->n_bounds == MAX_BUCKETS || bound < 0 ||
                    (l->n_bounds > 0 && bound <= l->bounds[l->n_bounds - 1]))
                        return error_set(error, -EINVAL, "--%s: '%s' is not a list of at most %d ascending numbers",
                                         name, buckets, MAX_BUCKETS);
                l->bounds[l->n_bounds++] = bound;
                p = end + (*end == ',');
        }
        return 0;
}

static void latency_add(struct latency *l, int64_t ms)
{
        double seconds = (double)ms / 1000;
        if (ms < 0)
                return;
        l->count++;
        l->sum += seconds;
        for (size_t i = 0; i < l->n_bounds; i++)
                if (seconds <= l->bounds[i]) {
                        l->counts[i]++;
                        return;
                }
}

/* ----------------------------------------------------------------------------------------------------------- series */

static bool series_has_labels(const void *object, const void *key)
{
        return strcmp(((const struct metric_series *)object)->labels, key) == 0;
}

static struct metric_series *series_add(struct operator_metrics *m, const char *labels)
{
        struct metric_series *s = new0(struct metric_series);
        s->labels = mem_strdup(labels);
        s->start = m->start;
        s->submit = m->submit;
        list_append(&m->series, s);
        object_table_put(&m->table, object_hash_text(labels), s);
        m->n_series++;
        return s;
}

/* Labels beyond MAX_SERIES are counted with those of applications that have no labels. */
static struct metric_series *series_get(struct operator_metrics *m, const char *labels)
{
        const char *key = labels ? labels : "";
        struct metric_series *s = object_table_find(&m->table, object_hash_text(key), series_has_labels, key);
        if (s)
                return s;
        if (m->n_series < MAX_SERIES)
                return series_add(m, key);
        _cleanup_free_ char *unknown = operator_metrics_labels(m, NULL);
        key = unknown ? unknown : "";
        s = object_table_find(&m->table, object_hash_text(key), series_has_labels, key);
        return s ? s : series_add(m, key);
}

/* Appends @text, with each character that @allowed does not hold replaced by "_". */
static void metrics_put_word(struct buf *out, const char *text, const char *allowed)
{
        for (; *text; text++)
                buf_printf(out, "%c", isalnum((unsigned char)*text) || strchr(allowed, *text) ? *text : '_');
}

char *operator_metrics_labels(const struct operator_metrics *m, const json_t *object)
{
        struct buf out = BUF_INIT;
        const json_t *labels = json_at(object, "metadata.labels");
        for (size_t i = 0; i < m->labels->len; i++) {
                const char *value = json_string_value(json_object_get(labels, m->labels->data[i]));
                buf_puts(&out, i ? "," : "");
                metrics_put_word(&out, m->labels->data[i], "_");
                buf_puts(&out, "=\"");
                metrics_put_word(&out, value && *value ? value : "Unknown", "-_.");
                buf_puts(&out, "\"");
        }
        return m->labels->len > 0 ? buf_steal(&out) : NULL;
}

int operator_metrics_new(const struct operator_metrics_options *o, struct operator_metrics **out,
                         struct fst_error *error)
{
        struct operator_metrics *m = new0(struct operator_metrics);
        int r = latency_init(&m->start, o->start_buckets, "metrics-job-start-latency-buckets", error);
        if (r == 0)
                r = latency_init(&m->submit, o->submit_buckets, "metrics-job-submit-latency-buckets", error);
        m->labels = o->labels;
        if (o->labels->len == 0)
                series_add(m, "");
        m->prefix = mem_printf("%s%s", o->prefix, *o->prefix ? "_" : "");
        for (char *p = m->prefix; *p; p++)
                if (*p == '-')
                        *p = '_';
        if (r < 0)
                operator_metrics_free(m);
        else
                *out = m;
        return r;
}

void operator_metrics_free(struct operator_metrics *m)
{
        if (!m)
                return;
        for (struct metric_series *s; (s = list_pop(&m->series));) {
                free(s->labels);
                free(s);
        }
        object_table_deinit(&m->table);
        free(m->prefix);
        free(m);
}

void operator_metrics_add_application(struct operator_metrics *m, const char *labels)
{
        series_get(m, labels)->applications++;
}

void operator_metrics_executor_ended(struct operator_metrics *m, const char *labels, bool succeeded)
{
        struct metric_series *s = series_get(m, labels);
        ++*(succeeded ? &s->executors_succeeded : &s->executors_failed);
}

void operator_metrics_clear_running(struct operator_metrics *m)
{
        for (struct metric_series *s = m->series.first; s; s = s->next)
                s->running = s->executors_running = 0;
}

void operator_metrics_add_running(struct operator_metrics *m, const char *labels, bool application, size_t executors)
{
        struct metric_series *s = series_get(m, labels);
        s->running += application;
        s->executors_running += executors;
}

void operator_metrics_transition(struct operator_metrics *m, const char *labels, enum application_state to,
                                 int64_t since_created_ms, int64_t since_submitted_ms)
{
        struct metric_series *s = series_get(m, labels);
        switch (to) {
        case APPLICATION_SUBMITTED:
                s->submitted++;
                latency_add(&s->submit, since_created_ms);
                break;
        case APPLICATION_SUBMISSION_FAILED:
                s->failed_submissions++;
                break;
        case APPLICATION_RUNNING:
                latency_add(&s->start, since_created_ms);
                break;
        case APPLICATION_COMPLETED:
                s->succeeded++;
                latency_add(&s->success, since_submitted_ms);
                break;
        case APPLICATION_FAILED:
                s->failed++;
                latency_add(&s->failure, since_submitted_ms);
                break;
        default:
                break;
        }
}

/* ------------------------------------------------------------------------------------------------------------- text */

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_SUMMARY, METRIC_HISTOGRAM };

static const struct metric {
        const char *name;
        enum metric_type type;
        size_t offset; /* of the value in struct metric_series */
        const char *help;
} metrics[] = {
#define COUNTER(name, member, help)                                                                                    \
        {                                                                                                              \
                name, METRIC_COUNTER, offsetof(struct metric_series, member), help                                     \
        }
#define GAUGE(name, member, help)                                                                                      \
        {                                                                                                              \
                name, METRIC_GAUGE, offsetof(struct metric_series, member), help                                       \
        }
#define SUMMARY(name, member, help)                                                                                    \
        {                                                                                                              \
                name, METRIC_SUMMARY, offsetof(struct metric_series, member), help                                     \
        }
#define HISTOGRAM(name, member, help)                                                                                  \
        {                                                                                                              \
                name, METRIC_HISTOGRAM, offsetof(struct metric_series, member), help                                   \
        }
        COUNTER("spark_application_count", applications, "Applications that were seen."),
        COUNTER("spark_application_submit_count", submitted, "Submissions that succeeded."),
        COUNTER("spark_application_failed_submission_count", failed_submissions, "Submissions that failed."),
        GAUGE("spark_application_running_count", running, "Applications whose driver runs."),
        COUNTER("spark_application_success_count", succeeded, "Applications that completed."),
        COUNTER("spark_application_failure_count", failed, "Applications that failed."),
        SUMMARY("spark_application_success_execution_time_seconds", success,
                "From the submission to the end, of those that completed."),
        SUMMARY("spark_application_failure_execution_time_seconds", failure,
                "From the submission to the end, of those that failed."),
        SUMMARY("spark_application_submit_latency_seconds", submit, "From the creation to the submission."),
        HISTOGRAM("spark_application_submit_latency_seconds_histogram", submit, "From the creation to the submission."),
        SUMMARY("spark_application_start_latency_seconds", start, "From the creation to the driver's start."),
        HISTOGRAM("spark_application_start_latency_seconds_histogram", start,
                  "From the creation to the driver's start."),
        GAUGE("spark_executor_running_count", executors_running, "Executors that run."),
        COUNTER("spark_executor_success_count", executors_succeeded, "Executors that completed."),
        COUNTER("spark_executor_failure_count", executors_failed, "Executors that failed."),
};

/* Appends "prefix_name_suffix{labels,more} ". */
static void metric_put_name(const struct operator_metrics *m, const char *name, const char *suffix,
                            const struct metric_series *s, const char *more, struct buf *out)
{
        buf_printf(out, "%s%s%s", m->prefix, name, suffix);
        if (*s->labels || *more)
                buf_printf(out, "{%s%s%s}", s->labels, *s->labels && *more ? "," : "", more);
        buf_puts(out, " ");
}

static void metric_put_latency(const struct operator_metrics *m, const struct metric *x, const struct metric_series *s,
                               struct buf *out)
{
        const struct latency *l = (const void *)((const char *)s + x->offset);
        uint64_t sum = 0;
        for (size_t i = 0; i <= l->n_bounds && x->type == METRIC_HISTOGRAM; i++) {
                char bound[40] = "le=\"+Inf\"";
                if (i < l->n_bounds)
                        snprintf(bound, sizeof(bound), "le=\"%g\"", l->bounds[i]);
                sum += i < l->n_bounds ? l->counts[i] : 0;
                metric_put_name(m, x->name, "_bucket", s, bound, out);
                buf_printf(out, "%" PRIu64 "\n", i < l->n_bounds ? sum : l->count);
        }
        metric_put_name(m, x->name, "_sum", s, "", out);
        buf_printf(out, "%.3f\n", l->sum);
        metric_put_name(m, x->name, "_count", s, "", out);
        buf_printf(out, "%" PRIu64 "\n", l->count);
}

static void metric_put(const struct operator_metrics *m, const struct metric *x, struct buf *out)
{
        static const char *const types[] = {[METRIC_COUNTER] = "counter",
                                            [METRIC_GAUGE] = "gauge",
                                            [METRIC_SUMMARY] = "summary",
                                            [METRIC_HISTOGRAM] = "histogram"};
        buf_printf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", m->prefix, x->name, x->help, m->prefix, x->name,
                   types[x->type]);
        for (const struct metric_series *s = m->series.first; s; s = s->next) {
                const void *value = (const char *)s + x->offset;
                if (x->type == METRIC_SUMMARY || x->type == METRIC_HISTOGRAM) {
                        metric_put_latency(m, x, s, out);
                        continue;
                }
                metric_put_name(m, x->name, "", s, "", out);
                buf_printf(out, "%" PRIu64 "\n",
                           x->type == METRIC_GAUGE ? (uint64_t) * (const size_t *)value : *(const uint64_t *)value);
        }
}

void operator_metrics_put(const struct operator_metrics *m, const struct operator_gauges *gauges, struct buf *out)
{
        for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
                metric_put(m, &metrics[i], out);
        buf_printf(out,
                   "# HELP workqueue_depth Objects that wait for a look.\n"
                   "# TYPE workqueue_depth gauge\n"
                   "workqueue_depth{name=\"sparkapplication\"} %zu\n",
                   gauges->queue_depth);
        buf_printf(out,
                   "# HELP leader_election_master_status Whether this operator leads.\n"
                   "# TYPE leader_election_master_status gauge\n"
                   "leader_election_master_status{name=\"spark-operator\"} %d\n",
                   gauges->leading);
}
