/* Finds what limited a stage; see diagnosis.h. */
#include "status/diagnosis.h"

#include "base/mem.h"
#include "status/task_chunk.h"

enum {
        SLICES = 1024,
        MIN_LIMITED_MS = 10, /* times are whole ms: shares of less say nothing */
};
#define MAX_WALL_MS ((int64_t)1 << 40) /* sums of times do not overflow */

/* One pass over the tasks of a stage. */
struct task_scan {
        int64_t begin_ms, end_ms;          /* of the time line: the first launch, the end of the stage */
        int64_t last_start_ms;             /* of a first attempt */
        int64_t busy_ms, busy_starting_ms; /* time of tasks: all; until the last start */
        int64_t result_ms;                 /* fetching large results */
        int64_t failed_ms, n_failed, n_seen, n_success;
        struct diagnosis_task longest[DIAGNOSIS_LONG_TASKS];
        size_t n_longest;
        /* Busy cores over time. A task adds to the slices of its ends, and to the differences for those between. */
        double busy[SLICES + 1], differences[SLICES + 2];
};

/* ------------------------------------------------------------------------------------------------- the scan */

static bool task_scan_counts(const struct task_scan *scan, const struct task_chunk *c, size_t row, int64_t launch)
{
        return launch > 0 && launch <= scan->end_ms && !task_chunk_is_removed(c, row);
}

/* The end of a task within the time line: running tasks, and killed ones that outlive their stage, end with it. */
static int64_t task_scan_end_of(const struct task_scan *scan, int64_t status, int64_t launch, int64_t duration)
{
        if (status < TASK_ROW_SUCCESS || duration > scan->end_ms - launch)
                return scan->end_ms;
        return launch + MAX(duration, (int64_t)0);
}

/* Finds the first launch and the last start of a first attempt. Returns false if there is no time line. */
static bool task_scan_bounds(struct task_scan *scan, const struct task_columns *t)
{
        int64_t launch[TASK_CHUNK_ROWS], attempt[TASK_CHUNK_ROWS];
        scan->begin_ms = INT64_MAX;
        for (size_t chunk = 0; chunk < t->n_chunks; chunk++) {
                const struct task_chunk *c = t->chunks[chunk];
                int64_t only;
                if (c->n_removed == c->n)
                        continue;
                if (c->is_sealed && !c->removed && c->base[TASK_LAUNCH] > 0 &&
                    c->greatest[TASK_LAUNCH] <= scan->end_ms && task_chunk_is_constant(c, TASK_ATTEMPT, &only) &&
                    only == 0) {
                        scan->n_seen += c->n;
                        scan->begin_ms = MIN(scan->begin_ms, c->base[TASK_LAUNCH]);
                        scan->last_start_ms = MAX(scan->last_start_ms, c->greatest[TASK_LAUNCH]);
                        continue;
                }
                task_chunk_read(c, TASK_LAUNCH, launch);
                task_chunk_read(c, TASK_ATTEMPT, attempt);
                for (size_t i = 0; i < c->n; i++) {
                        if (!task_scan_counts(scan, c, i, launch[i]))
                                continue;
                        scan->n_seen++;
                        scan->begin_ms = MIN(scan->begin_ms, launch[i]);
                        if (!attempt[i])
                                scan->last_start_ms = MAX(scan->last_start_ms, launch[i]);
                }
        }
        return scan->n_seen > 0 && scan->end_ms - scan->begin_ms < MAX_WALL_MS;
}

static void task_scan_add_busy(struct task_scan *scan, double per_ms, int64_t launch, int64_t end)
{
        double from = (double)(launch - scan->begin_ms) * per_ms, to = (double)(end - scan->begin_ms) * per_ms;
        size_t first = (size_t)from, last = (size_t)to;
        if (first >= SLICES)
                return;
        last = MIN(last, (size_t)SLICES);
        if (first == last) {
                scan->busy[first] += to - from;
                return;
        }
        scan->busy[first] += (double)(first + 1) - from;
        if (last < SLICES)
                scan->busy[last] += to - (double)last;
        scan->differences[first + 1] += 1;
        scan->differences[last] -= 1;
}

static void task_scan_add_long(struct task_scan *scan, const struct diagnosis_task *task)
{
        size_t at = scan->n_longest;
        if (at == DIAGNOSIS_LONG_TASKS && task->duration_ms <= scan->longest[at - 1].duration_ms)
                return;
        if (at < DIAGNOSIS_LONG_TASKS)
                scan->n_longest++;
        else
                at--;
        for (; at > 0 && scan->longest[at - 1].duration_ms < task->duration_ms; at--)
                scan->longest[at] = scan->longest[at - 1];
        scan->longest[at] = *task;
}

static void task_scan_chunk(struct task_scan *scan, const struct task_columns *t, size_t chunk, double per_ms)
{
        const struct task_chunk *c = t->chunks[chunk];
        int64_t launch[TASK_CHUNK_ROWS], status[TASK_CHUNK_ROWS], duration[TASK_CHUNK_ROWS], result[TASK_CHUNK_ROWS];
        int64_t none;
        task_chunk_read(c, TASK_LAUNCH, launch);
        task_chunk_read(c, TASK_STATUS, status);
        task_chunk_read(c, TASK_DURATION, duration);
        bool no_results = task_chunk_is_constant(c, TASK_GETTING_RESULT_TIME, &none);
        if (!no_results)
                task_chunk_read(c, TASK_GETTING_RESULT_TIME, result);
        for (size_t i = 0; i < c->n; i++) {
                if (!task_scan_counts(scan, c, i, launch[i]))
                        continue;
                int64_t end = task_scan_end_of(scan, status[i], launch[i], duration[i]);
                scan->busy_ms += end - launch[i];
                if (launch[i] < scan->last_start_ms)
                        scan->busy_starting_ms += MIN(end, scan->last_start_ms) - launch[i];
                scan->result_ms += no_results ? 0 : result[i];
                task_scan_add_busy(scan, per_ms, launch[i], end);
                if (status[i] > TASK_ROW_SUCCESS) {
                        scan->failed_ms += end - launch[i];
                        scan->n_failed++;
                        continue;
                }
                scan->n_success += status[i] == TASK_ROW_SUCCESS;
                if (scan->n_longest < DIAGNOSIS_LONG_TASKS ||
                    end - launch[i] > scan->longest[DIAGNOSIS_LONG_TASKS - 1].duration_ms)
                        task_scan_add_long(scan, &(struct diagnosis_task){.row = chunk * TASK_CHUNK_ROWS + i,
                                                                          .duration_ms = end - launch[i]});
        }
}

/* Returns the most cores that were busy in one slice of the time. */
static double task_scan_slots(const struct task_scan *scan)
{
        double most = 0, running = 0;
        for (size_t i = 0; i < SLICES; i++) {
                running += scan->differences[i];
                most = MAX(most, running + scan->busy[i]);
        }
        return most;
}

static double task_scan_run(struct task_scan *scan, const struct task_columns *t)
{
        double per_ms = (double)SLICES / (double)MAX(scan->end_ms - scan->begin_ms, (int64_t)1);
        for (size_t chunk = 0; chunk < t->n_chunks; chunk++)
                if (t->chunks[chunk]->n_removed < t->chunks[chunk]->n)
                        task_scan_chunk(scan, t, chunk, per_ms);
        for (size_t i = 0; i < scan->n_longest; i++) {
                int64_t index = task_columns_value(t, scan->longest[i].row, TASK_INDEX);
                int64_t partition = index + task_columns_value(t, scan->longest[i].row, TASK_PARTITION);
                scan->longest[i].partition = (int)(partition >= 0 ? partition : index); /* old logs have none */
        }
        return MAX(task_scan_slots(scan), 1.0);
}

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
        if (!task_scan_bounds(&scan, t))
                return;
        /* Without the first tasks nothing is known about their time. */
        int64_t begin_ms = t->n_retained == t->n_rows && stage->submission_ms > 0
                                   ? MAX(MIN(stage->submission_ms, scan.begin_ms), scan.end_ms - MAX_WALL_MS)
                                   : scan.begin_ms;
        out->slots = task_scan_run(&scan, t);
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
