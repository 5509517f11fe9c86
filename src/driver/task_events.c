/* See task_events.h. Arrays for a run's events are kept, so that posting them allocates nothing. */
#include "driver/task_events.h"

#include "base/mem.h"
#include "base/vec.h"
#include "sched/task_set.h"

struct task_events {
        struct fst_context *sc;
        struct task_start starts[SLOT_RUN];
        struct task_end ends[SLOT_RUN];
        struct task_detail details[SLOT_RUN];
};

struct task_events *task_events_new(struct fst_context *sc)
{
        struct task_events *e = new0(struct task_events);
        e->sc = sc;
        return e;
}

void task_events_free(struct task_events *e)
{
        free(e);
}

/* ---------------------------------------------------------------------------------------------- stages, jobs */

/* When a stage attempt began, kept in stage->user: events name it again at the end. */
struct stage_times {
        int64_t submission_ms;
        int tasks;
};

typedef VEC(struct rdd_info) rdd_infos;

static const char *class_name(const fst_rdd *rdd)
{
        switch (rdd->op) {
        case RDD_PARALLELIZE:
        case RDD_RANGE:
                return "ParallelCollectionRDD";
        case RDD_COALESCE:
                return "CoalescedRDD";
        case RDD_SHUFFLED:
                return "ShuffledRDD";
        default:
                return "MapPartitionsRDD";
        }
}

/* The RDDs that a stage computes: from its last one down to its sources. Parents' ids point into @parents. */
static void collect_rdds(const struct stage *stage, rdd_infos *infos, int *parents)
{
        for (const fst_rdd *rdd = rdd_of(stage->lineage); rdd; rdd = rdd->op == RDD_SHUFFLED ? NULL : rdd->parent) {
                const char *name = __atomic_load_n(&rdd->name, __ATOMIC_ACQUIRE);
                struct rdd_info info = {
                        .id = rdd->lineage.id,
                        .name = name ? name : class_name(rdd),
                        .call_site = rdd->call_site,
                        .scope = rdd->site.operation,
                        .scope_id = rdd->lineage.id,
                        .level = (enum fst_storage_level)__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED),
                        .partitions = rdd->lineage.partitions,
                };
                if (rdd->parent) {
                        parents[infos->len] = rdd->parent->lineage.id;
                        info.parent_ids = &parents[infos->len];
                        info.n_parents = 1;
                }
                vec_push(infos, info);
        }
}

static int chain_length(const struct stage *stage)
{
        int n = 0;
        for (const fst_rdd *rdd = rdd_of(stage->lineage); rdd; rdd = rdd->op == RDD_SHUFFLED ? NULL : rdd->parent)
                n++;
        return n;
}

/* Everything a stage_info borrows, until it was posted. */
struct stage_description {
        struct stage_info info;
        rdd_infos rdds;
        int *rdd_parents, *parents;
};

static void describe(const struct stage *stage, int tasks, struct stage_description *d)
{
        *d = (struct stage_description){0};
        d->rdd_parents = new_array(int, (size_t)chain_length(stage));
        collect_rdds(stage, &d->rdds, d->rdd_parents);
        d->parents = new_array(int, (size_t)stage->n_parents);
        for (int i = 0; i < stage->n_parents; i++)
                d->parents[i] = stage->parents[i]->id;
        d->info = (struct stage_info){
                .id = stage->id,
                .attempt = MAX(stage->attempt, 0),
                .name = stage->call_site,
                .tasks = tasks,
                .rdds = d->rdds.data,
                .n_rdds = d->rdds.len,
                .parent_ids = d->parents,
                .n_parents = (size_t)stage->n_parents,
        };
}

static void describe_free(struct stage_description *d)
{
        vec_deinit(&d->rdds);
        free(d->rdd_parents);
        free(d->parents);
}

void task_events_job_started(struct task_events *e, const struct job *job)
{
        struct stage_description *all = new_array(struct stage_description, (size_t)job->n_stages);
        struct stage_info *infos = new_array(struct stage_info, (size_t)job->n_stages);
        for (int i = 0; i < job->n_stages; i++) {
                describe(job->stages[i], job->stages[i]->partitions, &all[i]);
                infos[i] = all[i].info;
        }
        listener_bus_post_job_start(e->sc->bus, &(struct job_start){.id = job->id,
                                                                    .ms = context_now_ms(),
                                                                    .stages = infos,
                                                                    .n_stages = (size_t)job->n_stages,
                                                                    .properties = &job->properties});
        for (int i = 0; i < job->n_stages; i++)
                describe_free(&all[i]);
        free(all);
        free(infos);
}

void task_events_job_ended(struct task_events *e, const struct job *job, const char *failure)
{
        listener_bus_post_job_end(e->sc->bus,
                                  &(struct job_end){.id = job->id, .ms = context_now_ms(), .failure = failure});
}

void task_events_stage_submitted(struct task_events *e, struct stage *stage, const struct task_set *set)
{
        struct stage_description d;
        if (!stage->user)
                stage->user = new0(struct stage_times);
        struct stage_times *times = stage->user;
        *times = (struct stage_times){.submission_ms = context_now_ms(), .tasks = set->n};
        describe(stage, set->n, &d);
        d.info.submission_ms = times->submission_ms;
        listener_bus_post_stage_submitted(
                e->sc->bus,
                &(struct stage_submitted){.stage = d.info,
                                          .properties = stage->jobs.len ? &stage->jobs.data[0]->properties : NULL});
        describe_free(&d);
}

void task_events_stage_completed(struct task_events *e, const struct stage *stage, const char *failure)
{
        const struct stage_times *times = stage->user;
        struct stage_description d;
        describe(stage, times ? times->tasks : stage->partitions, &d);
        d.info.submission_ms = times ? times->submission_ms : 0;
        d.info.completion_ms = context_now_ms();
        d.info.failure_reason = failure;
        listener_bus_post_stage_completed(e->sc->bus, &(struct stage_completed){.stage = d.info});
        describe_free(&d);
}

void task_events_stage_removed(struct task_events *e, struct stage *stage)
{
        free(stage->user);
        stage->user = NULL;
}

/* ----------------------------------------------------------------------------------------------------- tasks */

static struct task_info info_of(const struct task_events *e, const struct slot_task *t, int64_t launch_ms)
{
        return (struct task_info){
                .id = t->info.id,
                .launch_ms = launch_ms,
                .executor = &e->sc->executor,
                .stage_id = t->info.stage,
                .stage_attempt = t->info.stage_attempt,
                .index = t->index,
                .attempt = t->info.attempt,
                .partition = t->info.partition,
                .locality = LOCALITY_PROCESS_LOCAL,
        };
}

void task_events_launched(struct task_events *e, const struct task_set *set, const struct slot_run *run)
{
        int64_t now = context_now_ms();
        for (int i = 0; i < run->n; i++)
                e->starts[i].info = info_of(e, &run->tasks[i], now);
        listener_bus_post_task_starts(e->sc->bus, e->starts, (size_t)run->n);
}

static struct task_metrics metrics_of(const struct slot_task *t)
{
        const struct task_counters *c = &t->counters;
        return (struct task_metrics){
                .executor_run_ms = t->run_ns / 1000000,
                .executor_cpu_ns = c->cpu_ns,
                .result_size = (int64_t)t->result.bytes + c->result_bytes,
                .peak_execution_memory = c->peak_memory,
                .memory_bytes_spilled = c->memory_spilled,
                .disk_bytes_spilled = c->disk_spilled,
                .input_bytes = c->input_bytes,
                .input_records = c->input_records,
                .output_bytes = c->output_bytes,
                .output_records = c->output_records,
                .shuffle_read.local_blocks = c->shuffle_read_blocks,
                .shuffle_read.local_bytes = c->shuffle_read_bytes,
                .shuffle_read.records = c->shuffle_read_records,
                .shuffle_write.bytes = c->shuffle_write_bytes,
                .shuffle_write.records = c->shuffle_write_records,
                .shuffle_write.write_ns = c->shuffle_write_ns,
        };
}

static uint8_t reason_of(const struct slot_task *t)
{
        static const uint8_t reasons[] = {
                [OUTCOME_SUCCESS] = TASK_END_SUCCESS,
                [OUTCOME_FAILED] = TASK_END_EXCEPTION_FAILURE,
                [OUTCOME_KILLED] = TASK_END_TASK_KILLED,
                [OUTCOME_FETCH_FAILED] = TASK_END_FETCH_FAILED,
                [OUTCOME_COMMIT_DENIED] = TASK_END_TASK_COMMIT_DENIED,
        };
        return reasons[t->state];
}

void task_events_ended(struct task_events *e, const struct slot_run *run)
{
        for (int i = 0; i < run->n; i++) {
                const struct slot_task *t = &run->tasks[i];
                e->ends[i] = (struct task_end){
                        .info = info_of(e, t, t->start_ms),
                        .finish_ms = t->finish_ms,
                        .kind = run->work->shuffled ? TASK_SHUFFLE_MAP : TASK_RESULT,
                        .reason = reason_of(t),
                        .metrics = metrics_of(t),
                };
                if (t->state == OUTCOME_SUCCESS)
                        continue;
                e->details[i] = (struct task_detail){
                        .class_name = "firesteel.TaskError",
                        .description = t->message,
                        .message = t->message,
                        .shuffle_id = t->fetch_shuffle,
                        .map_id = t->fetch_map,
                        .map_index = t->fetch_map,
                        .reduce_id = t->info.partition,
                };
                e->ends[i].detail = &e->details[i];
        }
        listener_bus_post_task_ends(e->sc->bus, e->ends, (size_t)run->n);
}
