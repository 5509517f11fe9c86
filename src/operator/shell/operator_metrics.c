/* Counters, and latencies as summaries and histograms. */
#include "operator/shell/operator_metrics.h"

#include "base/error.h"
#include "base/mem.h"

#include <inttypes.h>

#define MAX_BUCKETS 32

struct latency {
        double bounds[MAX_BUCKETS];
        uint64_t counts[MAX_BUCKETS]; /* of values up to the bound and above the one before */
        size_t n_bounds;
        uint64_t count;
        double sum; /* seconds */
};

struct operator_metrics {
        char *prefix;
        uint64_t applications, submitted, failed_submissions, succeeded, failed;
        struct latency start, submit, success, failure;
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

int operator_metrics_new(const char *prefix, const char *start_buckets, const char *submit_buckets,
                         struct operator_metrics **out, struct fst_error *error)
{
        struct operator_metrics *m = new0(struct operator_metrics);
        int r = latency_init(&m->start, start_buckets, "metrics-job-start-latency-buckets", error);
        if (r == 0)
                r = latency_init(&m->submit, submit_buckets, "metrics-job-submit-latency-buckets", error);
        m->prefix = mem_printf("%s%s", prefix, *prefix ? "_" : "");
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
        free(m->prefix);
        free(m);
}

void operator_metrics_add_application(struct operator_metrics *m)
{
        m->applications++;
}

void operator_metrics_transition(struct operator_metrics *m, enum application_state from, enum application_state to,
                                 int64_t since_created_ms, int64_t since_submitted_ms)
{
        switch (to) {
        case APPLICATION_SUBMITTED:
                m->submitted++;
                latency_add(&m->submit, since_created_ms);
                break;
        case APPLICATION_SUBMISSION_FAILED:
                m->failed_submissions++;
                break;
        case APPLICATION_RUNNING:
                latency_add(&m->start, since_created_ms);
                break;
        case APPLICATION_COMPLETED:
                m->succeeded++;
                latency_add(&m->success, since_submitted_ms);
                break;
        case APPLICATION_FAILED:
                m->failed++;
                latency_add(&m->failure, since_submitted_ms);
                break;
        default:
                break;
        }
}

static void metrics_put_value(const struct operator_metrics *m, const char *name, const char *type, const char *help,
                              uint64_t value, struct buf *out)
{
        buf_printf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n%s%s %" PRIu64 "\n", m->prefix, name, help, m->prefix, name,
                   type, m->prefix, name, value);
}

static void metrics_put_summary(const struct operator_metrics *m, const char *name, const char *help,
                                const struct latency *l, struct buf *out)
{
        buf_printf(out, "# HELP %s%s %s\n# TYPE %s%s summary\n", m->prefix, name, help, m->prefix, name);
        buf_printf(out, "%s%s_sum %.3f\n%s%s_count %" PRIu64 "\n", m->prefix, name, l->sum, m->prefix, name, l->count);
}

static void metrics_put_histogram(const struct operator_metrics *m, const char *name, const char *help,
                                  const struct latency *l, struct buf *out)
{
        uint64_t sum = 0;
        buf_printf(out, "# HELP %s%s %s\n# TYPE %s%s histogram\n", m->prefix, name, help, m->prefix, name);
        for (size_t i = 0; i < l->n_bounds; i++)
                buf_printf(out, "%s%s_bucket{le=\"%g\"} %" PRIu64 "\n", m->prefix, name, l->bounds[i],
                           sum += l->counts[i]);
        buf_printf(out, "%s%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s%s_sum %.3f\n%s%s_count %" PRIu64 "\n", m->prefix,
                   name, l->count, m->prefix, name, l->sum, m->prefix, name, l->count);
}

void operator_metrics_put(const struct operator_metrics *m, const struct operator_gauges *gauges, struct buf *out)
{
        metrics_put_value(m, "spark_application_count", "counter", "Applications that were seen.", m->applications,
                          out);
        metrics_put_value(m, "spark_application_submit_count", "counter", "Submissions that succeeded.", m->submitted,
                          out);
        metrics_put_value(m, "spark_application_failed_submission_count", "counter", "Submissions that failed.",
                          m->failed_submissions, out);
        metrics_put_value(m, "spark_application_running_count", "gauge", "Applications whose driver runs.",
                          gauges->running, out);
        metrics_put_value(m, "spark_application_success_count", "counter", "Applications that completed.", m->succeeded,
                          out);
        metrics_put_value(m, "spark_application_failure_count", "counter", "Applications that failed.", m->failed, out);
        metrics_put_summary(m, "spark_application_success_execution_time_seconds",
                            "From the submission to the end, of those that completed.", &m->success, out);
        metrics_put_summary(m, "spark_application_failure_execution_time_seconds",
                            "From the submission to the end, of those that failed.", &m->failure, out);
        metrics_put_summary(m, "spark_application_submit_latency_seconds", "From the creation to the submission.",
                            &m->submit, out);
        metrics_put_histogram(m, "spark_application_submit_latency_seconds_histogram",
                              "From the creation to the submission.", &m->submit, out);
        metrics_put_summary(m, "spark_application_start_latency_seconds", "From the creation to the driver's start.",
                            &m->start, out);
        metrics_put_histogram(m, "spark_application_start_latency_seconds_histogram",
                              "From the creation to the driver's start.", &m->start, out);
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
