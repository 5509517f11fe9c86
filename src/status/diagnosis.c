/* Finds what limited a stage; see diagnosis.h. */
#include "status/diagnosis.h"

#include "base/mem.h"
#include "status/diagnosis_scan.h"

enum { MIN_LIMITED_MS = 10 }; /* times are whole ms: shares of less say nothing */

/* ---------------------------------------------------------------------------------------------------- parts */

/* Takes up to @ms of @left. */
static double diagnosis_take(double *left, double ms)
{
        double taken = MIN(MAX(ms, 0.0), *left);
        *left -= taken;
        return taken;
}

/* Divides @busy_ms, in which all cores were busy, as the time of the tasks is divided. */
static void diagnose_busy(const struct status_stage *stage, struct stage_diagnosis *d, const struct task_scan *scan,
                          double busy_ms)
{
        const struct task_metrics *m = &stage->metrics;
        double parts[DIAGNOSIS_PARTS] = {0}, left = (double)d->task_ms, used = 0;
        int64_t rest = (int64_t)busy_ms;
        double failed = scan->busy_ms > 0 ? (double)scan->failed_ms / (double)scan->busy_ms : 0;
        double run = diagnosis_take(&left, (double)m->executor_run_ms);
        parts[DIAGNOSIS_DESERIALIZE] = diagnosis_take(&left, (double)m->executor_deserialize_ms);
        parts[DIAGNOSIS_RESULTS] = diagnosis_take(&left, (double)(m->result_serialization_ms + scan->result_ms));
        if (m->executor_run_ms > 0)
                parts[DIAGNOSIS_SCHEDULER] = left;
        else
                run += left; /* no metrics: nothing is known about the tasks' time */
        double outside = run;
        if (m->executor_cpu_ns > 0)
                diagnosis_take(&outside, (double)m->executor_cpu_ns / 1e6);
        parts[DIAGNOSIS_GC] = diagnosis_take(&outside, (double)m->jvm_gc_ms);
        parts[DIAGNOSIS_FETCH] = diagnosis_take(&outside, (double)m->shuffle_read.fetch_wait_ms);
        parts[DIAGNOSIS_WRITE] = diagnosis_take(&outside, (double)m->shuffle_write.write_ns / 1e6);
        parts[DIAGNOSIS_OUTSIDE] = m->executor_cpu_ns > 0 ? outside : 0;
        d->parts_ms[DIAGNOSIS_ATTEMPTS] = (int64_t)(busy_ms * failed);
        rest -= d->parts_ms[DIAGNOSIS_ATTEMPTS];
        for (int i = 0; i < DIAGNOSIS_PARTS && d->task_ms > 0; i++) {
                if (parts[i] <= 0)
                        continue;
                used = busy_ms * (1 - failed) * parts[i] / (double)d->task_ms;
                d->parts_ms[i] = MIN((int64_t)used, rest);
                rest -= d->parts_ms[i];
        }
        d->parts_ms[DIAGNOSIS_COMPUTING] = rest;
}

/* Divides the wall-clock time. */
static void diagnose_parts(const struct status_stage *stage, struct stage_diagnosis *d, const struct task_scan *scan,
                           int64_t begin_ms)
{
        double wait = (double)MAX(scan->begin_ms - begin_ms, (int64_t)0);
        double starting = (double)MAX(scan->last_start_ms - scan->begin_ms, (int64_t)0);
        double ending = (double)MAX(scan->end_ms - MAX(scan->last_start_ms, scan->begin_ms), (int64_t)0);
        double busy_starting = MIN((double)scan->busy_starting_ms / d->slots, starting);
        double busy_ending = MIN((double)(scan->busy_ms - scan->busy_starting_ms) / d->slots, ending);
        d->parts_ms[DIAGNOSIS_CORES] = (int64_t)(wait + starting - busy_starting);
        d->parts_ms[DIAGNOSIS_UNEVEN] = (int64_t)(ending - busy_ending);
        diagnose_busy(stage, d, scan,
                      (double)(d->wall_ms - d->parts_ms[DIAGNOSIS_CORES] - d->parts_ms[DIAGNOSIS_UNEVEN]));
}

/* --------------------------------------------------------------------------------------------------- causes */

/* The tasks of a stage on one host. */
struct diagnosis_host {
        const char *name;
        int64_t task_ms, n, bytes;
};
typedef VEC(struct diagnosis_host) diagnosis_hosts;

static void diagnose_add_host(diagnosis_hosts *hosts, const char *name, const struct status_executor_stage *x)
{
        struct diagnosis_host *h = NULL;
        for (size_t i = 0; i < hosts->len && !h; i++)
                if (hosts->data[i].name == name || strcmp(hosts->data[i].name, name) == 0)
                        h = &hosts->data[i];
        if (!h) {
                vec_push(hosts, (struct diagnosis_host){.name = name});
                h = &hosts->data[hosts->len - 1];
        }
        h->task_ms += x->task_ms;
        h->n += x->succeeded_tasks + x->failed_tasks + x->killed_tasks;
        h->bytes += x->input_bytes + x->shuffle_read_bytes;
}

/* Finds a host whose tasks take longer than those of the others, although they do not read more. */
static void diagnose_hosts(const struct status *s, const struct status_stage *stage, struct stage_diagnosis *d)
{
        enum { MAX_HOSTS = 1000 };
        diagnosis_hosts hosts = {0};
        struct diagnosis_host all = {0};
        for (size_t i = 0; i < stage->executors.len && hosts.len < MAX_HOSTS; i++) {
                const struct status_executor_stage *x = &stage->executors.data[i];
                diagnose_add_host(&hosts, s->executor_names.data[x->executor].host, x);
                all.task_ms += x->task_ms;
                all.n += x->succeeded_tasks + x->failed_tasks + x->killed_tasks;
                all.bytes += x->input_bytes + x->shuffle_read_bytes;
        }
        /* One very long task does not make its host slow. */
        if (d->n_longest > 1 && d->longest[0].duration_ms > 2 * d->longest[1].duration_ms) {
                int64_t executor = task_columns_value(&stage->columns, d->longest[0].row, TASK_EXECUTOR);
                const struct status_executor_stage single = {.task_ms = -d->longest[0].duration_ms, .failed_tasks = -1};
                diagnose_add_host(&hosts, s->executor_names.data[executor].host, &single);
                all.task_ms -= d->longest[0].duration_ms;
                all.n--;
        }
        double slowest = 1.5; /* times as long as elsewhere */
        for (size_t i = 0; i < hosts.len; i++) {
                const struct diagnosis_host *h = &hosts.data[i];
                int64_t n = all.n - h->n;
                if (h->n < 2 || n < 2)
                        continue;
                double mine = (double)h->task_ms / (double)h->n,
                       others = (double)(all.task_ms - h->task_ms) / (double)n;
                double bytes = (double)h->bytes / (double)h->n,
                       other_bytes = (double)(all.bytes - h->bytes) / (double)n;
                if (mine < slowest * MAX(others, 1.0) || bytes > 1.25 * other_bytes)
                        continue;
                slowest = mine / MAX(others, 1.0);
                d->slow_host = h->name;
                d->slow_host_ms = (int64_t)mine;
                d->other_hosts_ms = (int64_t)others;
        }
        vec_deinit(&hosts);
}

/* The time of the stage that tasks on the slow host took longer than tasks elsewhere. */
static double diagnosis_slow_host_ms(const struct status *s, const struct status_stage *stage,
                                     const struct stage_diagnosis *d)
{
        int64_t n = 0;
        for (size_t i = 0; d->slow_host && i < stage->executors.len; i++) {
                const struct status_executor_stage *x = &stage->executors.data[i];
                if (strcmp(s->executor_names.data[x->executor].host, d->slow_host) == 0)
                        n += x->succeeded_tasks + x->failed_tasks + x->killed_tasks;
        }
        return (double)n * (double)(d->slow_host_ms - d->other_hosts_ms) / d->slots;
}

static int64_t diagnosis_cores(const struct status *s, int64_t from_ms, int64_t to_ms)
{
        int64_t cores = 0;
        for (size_t i = 0; i < s->executors.len; i++) {
                const struct status_executor *x = s->executors.data[i];
                if (x->added_ms <= to_ms && (x->is_active || x->removed_ms >= from_ms))
                        cores += x->cores;
        }
        return cores;
}

static bool diagnosis_is_shared(const struct status *s, const struct status_stage *stage, int64_t from_ms,
                                int64_t to_ms)
{
        for (size_t i = 0; i < s->stages.len; i++) {
                const struct status_stage *other = s->stages.data[i];
                if (other != stage && other->first_launch_ms > 0 && other->first_launch_ms < to_ms &&
                    (status_stage_is_live(other) || other->completion_ms > from_ms))
                        return true;
        }
        return false;
}

/* Reads the input of the longest task, and that of a task on average. */
static void diagnose_longest(const struct status_stage *stage, struct stage_diagnosis *d, int64_t n_ended)
{
        const struct task_columns *t = &stage->columns;
        const struct task_metrics *m = &stage->metrics;
        if (!d->n_longest || n_ended <= 0)
                return;
        size_t row = d->longest[0].row;
        d->longest_bytes = task_columns_value(t, row, TASK_METRIC(input_bytes)) +
                           task_columns_value(t, row, TASK_SHUFFLE_READ_BYTES);
        d->longest_records = task_columns_value(t, row, TASK_METRIC(input_records)) +
                             task_columns_value(t, row, TASK_METRIC(shuffle_read.records));
        d->mean_bytes = (m->input_bytes + m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes) / n_ended;
        d->mean_records = (m->input_records + m->shuffle_read.records) / n_ended;
}

/* True if the longest task read a good deal more than others. */
static bool diagnosis_has_more_data(const struct stage_diagnosis *d)
{
        return d->longest_bytes > d->mean_bytes + d->mean_bytes / 2 ||
               d->longest_records > d->mean_records + d->mean_records / 2;
}

/* ----------------------------------------------------------------------------------------------------- limit */

/* Enters the time of a limit; the longest counts. */
static void diagnosis_offer(double ms[static DIAGNOSIS_LIMITS], enum diagnosis_limit limit, double offered)
{
        ms[limit] = MAX(ms[limit], offered);
}

/* Takes the limits of at least a tenth of the time, largest first. Of equal ones the first of the enum comes first. */
static void diagnosis_choose(struct stage_diagnosis *d, double ms[static DIAGNOSIS_LIMITS])
{
        for (;;) {
                int best = LIMIT_UNKNOWN;
                for (int i = 0; i < DIAGNOSIS_LIMITS; i++)
                        if (ms[i] > ms[best])
                                best = i;
                double share = d->wall_ms > 0 ? MIN(ms[best] / (double)d->wall_ms, 1.0) : 0;
                if (share < 0.1 || d->n_further == DIAGNOSIS_FURTHER)
                        return;
                ms[best] = 0;
                if (d->limit != LIMIT_UNKNOWN) {
                        d->further[d->n_further++] = (struct diagnosis_share){(enum diagnosis_limit)best, share};
                        continue;
                }
                d->limit = (enum diagnosis_limit)best;
                d->share = share;
        }
}

/* Averages the load of the hosts of the stage's executors. Only heartbeats have it. */
static void diagnose_nodes(const struct status *s, const struct status_stage *stage, struct stage_diagnosis *d,
                           int64_t from_ms, int64_t to_ms)
{
        struct node_point points[NODE_POINTS];
        double sum = 0;
        size_t n = 0;
        for (size_t i = 0; i < s->executors.len; i++) {
                const struct status_executor *x = s->executors.data[i];
                bool is_of_stage = false;
                for (size_t k = 0; x->node && k < stage->executors.len && !is_of_stage; k++)
                        is_of_stage = stage->executors.data[k].executor == x->number;
                size_t n_points = is_of_stage ? node_series_get(x->node, from_ms, to_ms, points) : 0;
                for (size_t k = 0; k < n_points; k++)
                        sum += (double)points[k].node_cpu;
                n += n_points;
        }
        d->node_cpu = n ? sum / (double)n : -1;
}

/* Names the waiting of tasks that had no CPU: what events measure of input and output does not explain all of it. */
static enum diagnosis_limit diagnosis_outside_limit(const struct status_stage *stage, const struct stage_diagnosis *d)
{
        static const double busy = 0.9;
        const struct task_metrics *m = &stage->metrics;
        if (d->node_cpu >= busy)
                return LIMIT_BUSY_HOST;
        if (d->node_cpu >= 0 || m->input_bytes || m->output_bytes || m->disk_bytes_spilled ||
            d->parts_ms[DIAGNOSIS_FETCH] > d->parts_ms[DIAGNOSIS_OUTSIDE] / 10)
                return LIMIT_OUTSIDE;
        return LIMIT_CPU_OR_LOCKS;
}

/* The largest part but computing, from a tenth of the time on. */
static void diagnose_limit(const struct status *s, const struct status_stage *stage, struct stage_diagnosis *d)
{
        const int64_t *parts = d->parts_ms;
        const struct task_metrics *m = &stage->metrics;
        double ms[DIAGNOSIS_LIMITS] = {0};
        if (d->limit == LIMIT_FAILED || d->wall_ms < MIN_LIMITED_MS)
                return;
        int64_t read = m->input_bytes + m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes;
        bool slow_host =
                d->slow_host && d->n_longest &&
                strcmp(d->slow_host,
                       s->executor_names.data[task_columns_value(&stage->columns, d->longest[0].row, TASK_EXECUTOR)]
                               .host) == 0;
        diagnosis_offer(ms, LIMIT_CORES, (double)parts[DIAGNOSIS_CORES]);
        diagnosis_offer(ms, LIMIT_ATTEMPTS, (double)parts[DIAGNOSIS_ATTEMPTS]);
        diagnosis_offer(ms, LIMIT_FETCH, (double)parts[DIAGNOSIS_FETCH]);
        diagnosis_offer(ms, LIMIT_WRITE, (double)parts[DIAGNOSIS_WRITE]);
        diagnosis_offer(ms, LIMIT_GC, (double)parts[DIAGNOSIS_GC]);
        diagnosis_offer(ms, diagnosis_outside_limit(stage, d), (double)parts[DIAGNOSIS_OUTSIDE]);
        diagnosis_offer(ms, LIMIT_OVERHEAD,
                        (double)(parts[DIAGNOSIS_DESERIALIZE] + parts[DIAGNOSIS_RESULTS] + parts[DIAGNOSIS_SCHEDULER]));
        if (slow_host)
                diagnosis_offer(ms, LIMIT_SLOW_HOST,
                                (double)parts[DIAGNOSIS_UNEVEN] + diagnosis_slow_host_ms(s, stage, d));
        else
                diagnosis_offer(ms,
                                d->n_longest && d->longest[0].duration_ms <= d->median_ms + d->median_ms / 4
                                        ? LIMIT_PARTITIONS /* the last tasks do not fill the cores */
                                : diagnosis_has_more_data(d) ? LIMIT_SKEW
                                                             : LIMIT_STRAGGLERS,
                                (double)parts[DIAGNOSIS_UNEVEN]);
        /* Spilling has no time of its own in events: it counts as its part in what tasks read, written and read again.
         */
        if (m->disk_bytes_spilled > 0)
                diagnosis_offer(ms, LIMIT_SPILL,
                                (double)(parts[DIAGNOSIS_COMPUTING] + parts[DIAGNOSIS_OUTSIDE]) * 2 *
                                        (double)m->disk_bytes_spilled /
                                        (double)(read + 2 * m->disk_bytes_spilled + m->shuffle_write.bytes));
        if (!d->shared && d->cores / 2 >= stage->tasks && d->wall_ms >= 1000)
                diagnosis_offer(ms, LIMIT_PARTITIONS,
                                (double)parts[DIAGNOSIS_COMPUTING] * (1 - (double)stage->tasks / (double)d->cores));
        diagnosis_choose(d, ms);
        if (d->limit == LIMIT_UNKNOWN) {
                d->limit = LIMIT_COMPUTING;
                d->share = d->wall_ms > 0 ? (double)parts[DIAGNOSIS_COMPUTING] / (double)d->wall_ms : 1;
        }
}

void diagnose_stage(const struct status *s, const struct status_stage *stage, int64_t now_ms,
                    struct stage_diagnosis *out)
{
        static const double middle = 0.4999; /* of two tasks the shorter one, that the longer one may stand out */
        const struct task_columns *t = &stage->columns;
        struct task_scan scan = {.end_ms = status_stage_is_live(stage) ? now_ms : stage->completion_ms};
        int64_t n_ended = stage->completed_tasks + stage->failed_tasks + stage->killed_tasks;
        *out = (struct stage_diagnosis){.n_tasks = n_ended + stage->active_tasks, .median_ms = -1, .node_cpu = -1};
        if (stage->state == STATUS_STAGE_FAILED)
                out->limit = LIMIT_FAILED;
        if (!task_scan_run(&scan, t))
                return;
        /* Without the first tasks nothing is known about their time. */
        int64_t begin_ms = t->n_retained == t->n_rows && stage->submission_ms > 0
                                   ? MAX(MIN(stage->submission_ms, scan.begin_ms), scan.end_ms - MAX_SCAN_MS)
                                   : scan.begin_ms;
        out->slots = scan.slots;
        out->wall_ms = scan.end_ms - begin_ms;
        out->failed_ms = scan.failed_ms;
        out->n_failed = scan.n_failed;
        out->n_seen = scan.n_seen;
        out->n_longest = scan.n_longest;
        memcpy(out->longest, scan.longest, sizeof(scan.longest));
        for (size_t i = 0; i < stage->executors.len; i++)
                out->task_ms += stage->executors.data[i].task_ms;
        task_columns_quantiles(t, TASK_DURATION, &middle, &out->median_ms, 1);
        out->cores = diagnosis_cores(s, begin_ms, scan.end_ms);
        diagnose_nodes(s, stage, out, begin_ms, scan.end_ms);
        out->shared = diagnosis_is_shared(s, stage, scan.begin_ms, scan.end_ms);
        diagnose_parts(stage, out, &scan, begin_ms);
        diagnose_longest(stage, out, n_ended);
        diagnose_hosts(s, stage, out);
        diagnose_limit(s, stage, out);
}
