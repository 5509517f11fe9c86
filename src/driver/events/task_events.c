/* See task_events.h. The arrays of a run's events are reused, so that posting allocates no memory. */
#include "driver/events/task_events.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rdd/rdd_class.h"
#include "rdd/rdd_visit.h"
#include "sched/tasks/task_set.h"
#include "sched/tasks/profile.h"

struct task_event_poster {
        struct fst_context *sc;
        int ready; /* number of zeroed elements at the start of ends, most of which a usual application never uses */
        struct task_end ends[MAX_TASK_BATCH];
        struct task_detail details[MAX_TASK_BATCH];
        union {
                struct task_event_batch batch;
                char room[MAX_TASK_EVENT_BATCH_BYTES];
        };
};

_Static_assert((int)MAX_TASK_BATCH <= (int)MAX_TASK_EVENT_BATCH, "a run's tasks are one batch of events");

struct task_event_poster *task_events_new(struct fst_context *sc)
{
        struct task_event_poster *e = mem_alloc(sizeof(*e));
        e->sc = sc;
        e->ready = 0;
        return e;
}

void task_events_free(struct task_event_poster *e)
{
        free(e);
}

/* ------------------------------------------------------------------------------------------------- executors */

/* Spark's history server rejects a log with port 0, so 1 stands for a block manager without a server. */
static struct block_manager_ref task_events_block_manager(const char *id, const char *host, int port)
{
        return (struct block_manager_ref){.executor_id = id, .host = host, .port = MAX(port, 1)};
}

void task_events_executor_added(struct task_event_poster *e, const struct executor_info *x)
{
        int64_t now = time_of_day_ms();
        listener_bus_post_executor_added(e->sc->bus, &(struct executor_added){.id = x->spec.id,
                                                                              .host = x->spec.host,
                                                                              .ms = now,
                                                                              .total_cores = x->spec.cores,
                                                                              .resource_profile = x->spec.profile,
                                                                              .log_urls = x->log_urls,
                                                                              .attributes = x->attributes});
        if (x->memory < 0)
                return;
        struct block_manager_added added = {
                .manager = task_events_block_manager(x->spec.id, x->spec.host, x->port),
                .ms = now,
                .max_on_heap_memory = x->memory,
                .max_off_heap_memory = x->off_heap_memory,
        };
        listener_bus_post_block_manager_added(e->sc->bus, &added);
}

void task_events_executor_removed(struct task_event_poster *e, const struct executor_ref *x, const char *reason)
{
        int64_t now = time_of_day_ms();
        listener_bus_post_block_manager_removed(
                e->sc->bus, &(struct block_manager_removed){
                                    .manager = task_events_block_manager(x->id, x->host, x->port), .ms = now});
        listener_bus_post_executor_removed(e->sc->bus,
                                           &(struct executor_removed){.id = x->id, .ms = now, .reason = reason});
}

void task_events_excluded(struct task_event_poster *e, const struct exclusion *what)
{
        struct exclusion_changed changed = {
                .ms = time_of_day_ms(),
                .is_host = what->host != NULL,
                .id = what->host ? what->host : e->sc->executors.data[what->executor]->id,
                .failures = what->failures,
                .stage_id = what->set ? what->set->stage_id : -1,
                .stage_attempt = what->set ? what->set->attempt : -1,
                .lifted = what->lifted,
        };
        listener_bus_post_exclusion_changed(e->sc->bus, &changed);
}

void task_events_speculative(struct task_event_poster *e, const struct task_set *set, int index)
{
        listener_bus_post_speculative_submitted(
                e->sc->bus, &(struct speculative_submitted){.stage_id = set->stage_id,
                                                            .stage_attempt = set->attempt,
                                                            .index = index,
                                                            .partition = task_set_partition(set, index)});
}

void task_events_unschedulable(struct task_event_poster *e, const struct task_set *set, bool yes)
{
        listener_bus_post_unschedulable_changed(
                e->sc->bus, &(struct unschedulable_changed){
                                    .stage_id = set->stage_id, .stage_attempt = set->attempt, .unschedulable = yes});
}

/* ---------------------------------------------------------------------------------------------- stages, jobs */

/* The submission time of a stage attempt, in stage->user: the event of its end repeats it. */
struct stage_times {
        int64_t submission_ms;
        int tasks;
};

typedef VEC(struct rdd_info) rdd_infos;

/* Appends the ids of the parents that descriptions of @rdd show. @source: the checkpoint that it reads, or NULL. */
static int *task_events_put_parents(int *next, const fst_rdd *rdd, const fst_rdd *source)
{
        if (source) {
                *next++ = source->lineage.id;
                return next;
        }
        for (int k = 0; k < rdd_task_parents(rdd); k++) {
                if (rdd->parents[k]->hidden)
                        next = task_events_put_parents(next, rdd->parents[k], NULL);
                else
                        *next++ = rdd->parents[k]->lineage.id;
        }
        return next;
}

/*
 * Lists the RDDs that a stage computes, from its last one down to its sources. Returns the memory of their parents'
 * ids, which the caller frees.
 */
static int *task_events_collect_rdds(const struct stage *stage, rdd_infos *infos)
{
        struct rdd_visit walk;
        rdd_visit_init(&walk, rdd_of(stage->lineage), RDD_VISIT_STAGE);
        size_t n_parents = 0;
        for (uint32_t i = 0; i < walk.n; i++)
                n_parents += (size_t)MAX(walk.rdds[i]->n_parents, 1);
        int *parents = new_array(int, n_parents), *next = parents;
        for (uint32_t i = walk.n; i-- > 0;) {
                const fst_rdd *rdd = walk.rdds[i];
                if (rdd->hidden)
                        continue;
                const char *name = __atomic_load_n(&rdd->name, __ATOMIC_ACQUIRE);
                struct rdd_info info = {
                        .id = rdd->lineage.id,
                        .name = name ? name : rdd_spark_class(rdd),
                        .call_site = rdd->call_site,
                        .scope = strcmp(rdd->site.operation, RDD_CONSTRUCTOR) == 0 ? NULL : rdd->site.operation,
                        .scope_id = rdd->scope,
                        .level = (enum fst_storage_level)__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED),
                        .partitions = rdd->lineage.partitions,
                        .barrier = rdd->lineage.barrier,
                };
                info.parent_ids = next;
                next = task_events_put_parents(next, rdd, walk.sources[i]);
                info.n_parents = (size_t)(next - info.parent_ids);
                vec_push(infos, info);
        }
        rdd_visit_deinit(&walk);
        return parents;
}

/* Everything that a stage_info borrows until it was posted. */
struct stage_description {
        struct stage_info info;
        rdd_infos rdds;
        int *rdd_parents, *parents;
};

static void stage_description_init(const struct stage *stage, int tasks, struct stage_description *d)
{
        *d = (struct stage_description){0};
        d->rdd_parents = task_events_collect_rdds(stage, &d->rdds);
        d->parents = new_array(int, (size_t)stage->n_parents);
        for (int i = 0; i < stage->n_parents; i++)
                d->parents[i] = stage->parents[i]->id;
        d->info = (struct stage_info){
                .id = stage->id,
                .attempt = MAX(stage->attempt, 0),
                .name = stage->call_site,
                .details = stage->job ? strmap_get(&stage->job->properties, "callSite.long") : stage->lineage->details,
                .tasks = tasks,
                .rdds = d->rdds.data,
                .n_rdds = d->rdds.len,
                .parent_ids = d->parents,
                .n_parents = (size_t)stage->n_parents,
                .resource_profile = stage->profile->id,
        };
}

static void stage_description_free(struct stage_description *d)
{
        vec_deinit(&d->rdds);
        free(d->rdd_parents);
        free(d->parents);
}

void task_events_job_started(struct task_event_poster *e, const struct job *job)
{
        struct stage_description *all = new_array(struct stage_description, (size_t)job->n_stages);
        struct stage_info *infos = new_array(struct stage_info, (size_t)job->n_stages);
        for (int i = 0; i < job->n_stages; i++) {
                stage_description_init(job->stages[i], job->stages[i]->partitions, &all[i]);
                infos[i] = all[i].info;
        }
        listener_bus_post_job_start(e->sc->bus, &(struct job_start){.id = job->id,
                                                                    .ms = time_of_day_ms(),
                                                                    .stages = infos,
                                                                    .n_stages = (size_t)job->n_stages,
                                                                    .properties = &job->properties});
        for (int i = 0; i < job->n_stages; i++)
                stage_description_free(&all[i]);
        free(all);
        free(infos);
}

void task_events_job_ended(struct task_event_poster *e, int job, const char *failure)
{
        listener_bus_post_job_end(e->sc->bus, &(struct job_end){.id = job, .ms = time_of_day_ms(), .failure = failure});
}

void task_events_stage_submitted(struct task_event_poster *e, struct stage *stage, const struct task_set *set)
{
        struct stage_description d;
        if (!stage->user)
                stage->user = new0(struct stage_times);
        struct stage_times *times = stage->user;
        *times = (struct stage_times){.submission_ms = time_of_day_ms(), .tasks = set->n};
        stage_description_init(stage, set->n, &d);
        d.info.submission_ms = times->submission_ms;
        listener_bus_post_stage_submitted(
                e->sc->bus,
                &(struct stage_submitted){.stage = d.info,
                                          .properties = stage->jobs.len ? &stage->jobs.data[0]->properties : NULL});
        stage_description_free(&d);
}

void task_events_stage_completed(struct task_event_poster *e, const struct stage *stage, const char *failure)
{
        const struct stage_times *times = stage->user;
        struct stage_description d;
        stage_description_init(stage, times ? times->tasks : stage->partitions, &d);
        d.info.submission_ms = times ? times->submission_ms : 0;
        d.info.completion_ms = time_of_day_ms();
        d.info.failure_reason = failure;
        listener_bus_post_stage_completed(e->sc->bus, &(struct stage_completed){.stage = d.info});
        stage_description_free(&d);
}

void task_events_stage_removed(struct task_event_poster *e, struct stage *stage)
{
        free(stage->user);
        stage->user = NULL;
}

/* ----------------------------------------------------------------------------------------------------- tasks */

static struct task_info task_events_task_info(const struct task_event_poster *e, const struct task_batch *run,
                                              const struct slot_task *t, int64_t launch_ms)
{
        return (struct task_info){
                .id = t->info.id,
                .launch_ms = launch_ms,
                .executor = e->sc->executors.data[run->executor],
                .stage_id = t->info.stage,
                .stage_attempt = t->info.stage_attempt,
                .index = t->index,
                .attempt = t->info.attempt,
                .partition = t->info.partition,
                .locality = run->locality,
                .speculative = run->speculative,
        };
}

static void task_events_reserve(struct task_event_poster *e, int n)
{
        for (; e->ready < n; e->ready++)
                memset(&e->ends[e->ready], 0, sizeof(e->ends[0]));
}

/* Fills a column of a batch with a value of each task @t. */
#define FILL_COLUMN(b, column, run, value)                                                                             \
        do {                                                                                                           \
                int64_t *to_ = task_event_batch_next(b);                                                               \
                for (size_t i_ = 0; i_ < (b)->n; i_++) {                                                               \
                        const struct slot_task *t = &(run)->tasks[i_];                                                 \
                        to_[i_] = (value);                                                                             \
                }                                                                                                      \
                task_event_batch_close((b), (column));                                                                 \
        } while (0)

static void task_events_begin_batch(struct task_event_poster *e, const struct task_batch *run, size_t n_columns)
{
        struct task_event_batch *b = &e->batch;
        const struct task_info common = task_events_task_info(e, run, &run->tasks[0], 0);
        task_event_batch_begin(b, &common, (size_t)run->n, n_columns);
        FILL_COLUMN(b, TASK_EVENT_ID, run, t->info.id);
        FILL_COLUMN(b, TASK_EVENT_INDEX, run, t->index);
        FILL_COLUMN(b, TASK_EVENT_ATTEMPT, run, t->info.attempt);
        FILL_COLUMN(b, TASK_EVENT_PARTITION, run, t->info.partition);
}

void task_events_launched(struct task_event_poster *e, const struct task_set *set, const struct task_batch *run)
{
        if (!run->n)
                return;
        task_events_begin_batch(e, run, TASK_START_COLUMNS);
        task_event_batch_set(&e->batch, TASK_EVENT_LAUNCH, time_of_day_ms());
        listener_bus_post_task_batch(e->sc->bus, &e->batch);
}

enum { N_COUNTERS = sizeof(struct task_counters) / sizeof(int64_t) };

/*
 * Finds in which bits the counters of a run's tasks differ from those of the first. Returns false if a task did not
 * succeed.
 */
static bool task_events_compare(const struct task_batch *run, uint64_t *differs)
{
        const uint64_t *first = (const uint64_t *)&run->tasks[0].counters;
        for (int i = 0; i < run->n; i++) {
                const uint64_t *counters = (const uint64_t *)&run->tasks[i].counters;
                if (run->tasks[i].state != TASK_SUCCEEDED)
                        return false;
                for (size_t k = 0; k < N_COUNTERS; k++)
                        differs[k] |= counters[k] ^ first[k];
        }
        return true;
}

/* A column of the metrics that is a counter divided by @divisor. */
static void task_events_fill_counter(struct task_event_batch *b, size_t column, const struct task_batch *run,
                                     const uint64_t *differs, size_t offset, int64_t divisor)
{
        size_t k = offset / sizeof(int64_t);
        if (!differs[k])
                task_event_batch_set(b, column, ((const int64_t *)&run->tasks[0].counters)[k] / divisor);
        else if (divisor == 1)
                FILL_COLUMN(b, column, run, ((const int64_t *)&t->counters)[k]);
        else
                FILL_COLUMN(b, column, run, ((const int64_t *)&t->counters)[k] / divisor);
}

#define FILL_COUNTER(member, counter, divisor)                                                                         \
        task_events_fill_counter(b, TASK_EVENT_METRIC(member), run, differs, offsetof(struct task_counters, counter),  \
                                 (divisor))

/* Posts the ends of a run whose tasks have all succeeded. Returns false, without effect, if one did not. */
static bool task_events_post_successes(struct task_event_poster *e, const struct task_batch *run)
{
        struct task_event_batch *b = &e->batch;
        uint64_t differs[N_COUNTERS] = {0};
        if (!task_events_compare(run, differs))
                return false;
        task_events_begin_batch(e, run, TASK_END_COLUMNS);
        b->kind = run->work->shuffled ? TASK_SHUFFLE_MAP : TASK_RESULT;
        b->state = TASK_SUCCEEDED;
        memset(b->values + TASK_START_COLUMNS, 0, (TASK_END_COLUMNS - TASK_START_COLUMNS) * sizeof(int64_t));
        FILL_COLUMN(b, TASK_EVENT_LAUNCH, run, t->start_ms);
        FILL_COLUMN(b, TASK_EVENT_FINISH, run, t->finish_ms);
        /* In the order of struct task_metrics. */
        FILL_COLUMN(b, TASK_EVENT_METRIC(executor_run_ms), run, t->run_ns / 1000000);
        FILL_COUNTER(executor_cpu_ns, cpu_ns, 1);
        FILL_COLUMN(b, TASK_EVENT_METRIC(result_size), run, (int64_t)t->result.bytes + t->counters.result_bytes);
        FILL_COUNTER(peak_execution_memory, peak_memory, 1);
        FILL_COUNTER(memory_bytes_spilled, memory_spilled, 1);
        FILL_COUNTER(disk_bytes_spilled, disk_spilled, 1);
        FILL_COUNTER(input_bytes, input_bytes, 1);
        FILL_COUNTER(input_records, input_records, 1);
        FILL_COUNTER(output_bytes, output_bytes, 1);
        FILL_COUNTER(output_records, output_records, 1);
        FILL_COUNTER(shuffle_read.remote_blocks, shuffle_remote_blocks, 1);
        FILL_COUNTER(shuffle_read.local_blocks, shuffle_local_blocks, 1);
        FILL_COUNTER(shuffle_read.fetch_wait_ms, shuffle_fetch_wait_ns, 1000000);
        FILL_COUNTER(shuffle_read.remote_bytes, shuffle_remote_bytes, 1);
        FILL_COUNTER(shuffle_read.local_bytes, shuffle_local_bytes, 1);
        FILL_COUNTER(shuffle_read.records, shuffle_read_records, 1);
        FILL_COUNTER(shuffle_read.remote_requests_ms, shuffle_remote_requests_ns, 1000000);
        FILL_COUNTER(shuffle_write.bytes, shuffle_write_bytes, 1);
        FILL_COUNTER(shuffle_write.records, shuffle_write_records, 1);
        FILL_COUNTER(shuffle_write.write_ns, shuffle_write_ns, 1);
        listener_bus_post_task_batch(e->sc->bus, b);
        return true;
}

/* Assigns single fields of zeroed memory: zeroing and copying the whole for millions of tasks would be measurable. */
static void task_events_fill_metrics(struct task_metrics *m, const struct slot_task *t)
{
        const struct task_counters *c = &t->counters;
        m->executor_run_ms = t->run_ns / 1000000;
        m->executor_cpu_ns = c->cpu_ns;
        m->result_size = (int64_t)t->result.bytes + c->result_bytes;
        m->peak_execution_memory = c->peak_memory;
        m->memory_bytes_spilled = c->memory_spilled;
        m->disk_bytes_spilled = c->disk_spilled;
        m->input_bytes = c->input_bytes;
        m->input_records = c->input_records;
        m->output_bytes = c->output_bytes;
        m->output_records = c->output_records;
        m->shuffle_read.remote_blocks = c->shuffle_remote_blocks;
        m->shuffle_read.remote_bytes = c->shuffle_remote_bytes;
        m->shuffle_read.fetch_wait_ms = c->shuffle_fetch_wait_ns / 1000000;
        m->shuffle_read.remote_requests_ms = c->shuffle_remote_requests_ns / 1000000;
        m->shuffle_read.local_blocks = c->shuffle_local_blocks;
        m->shuffle_read.local_bytes = c->shuffle_local_bytes;
        m->shuffle_read.records = c->shuffle_read_records;
        m->shuffle_write.bytes = c->shuffle_write_bytes;
        m->shuffle_write.records = c->shuffle_write_records;
        m->shuffle_write.write_ns = c->shuffle_write_ns;
}

void task_events_ended(struct task_event_poster *e, const struct task_batch *run)
{
        if (!run->n || likely(task_events_post_successes(e, run)))
                return;
        task_events_reserve(e, run->n);
        for (int i = 0; i < run->n; i++) {
                const struct slot_task *t = &run->tasks[i];
                struct task_end *end = &e->ends[i];
                end->info = task_events_task_info(e, run, t, t->start_ms);
                end->finish_ms = t->finish_ms;
                end->kind = run->work->shuffled ? TASK_SHUFFLE_MAP : TASK_RESULT;
                end->state = t->state;
                end->detail = NULL;
                task_events_fill_metrics(&end->metrics, t);
                if (t->state == TASK_SUCCEEDED)
                        continue;
                e->details[i] = (struct task_detail){
                        .class_name = "firesteel.TaskError",
                        .description = t->message,
                        .message = t->message,
                        .shuffle_id = t->fetch_shuffle,
                        .map_id = t->fetch_map,
                        .map_index = t->fetch_map,
                        .reduce_id = t->info.partition,
                        .executor_id = e->sc->executors.data[run->executor]->id,
                };
                if (t->state == TASK_FETCH_FAILED && t->fetch_executor >= 0 &&
                    (size_t)t->fetch_executor < e->sc->executors.len) {
                        const struct executor_ref *from = e->sc->executors.data[t->fetch_executor];
                        e->details[i].block_manager = task_events_block_manager(from->id, from->host, from->port);
                }
                e->ends[i].detail = &e->details[i];
        }
        listener_bus_post_task_ends(e->sc->bus, e->ends, (size_t)run->n);
}
