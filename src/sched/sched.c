/*
 * The interface of the scheduler: combines the DAG scheduler and the task scheduler, and answers queries. dag.c handles
 * jobs, task_scheduler.c handles tasks.
 */
#include "sched/sched.h"

#include "sched/dag.h"
#include "sched/sched_recorder.h"

#include <inttypes.h>

struct sched *sched_new(const struct sched_config *config, const struct sched_ops *ops, void *owner)
{
        struct sched *s = new0(struct sched);

        s->config = *config;
        s->config.pools = NULL;
        s->config.n_pools = 0;
        s->config.max_stage_attempts = MAX(1, config->max_stage_attempts);
        s->ops = ops;
        s->owner = owner;
        s->resubmit_at = INT64_MAX;
        s->epoch = 1;
        task_scheduler_init(&s->tasks, config, &dag_task_events, s, ops, owner);
        return s;
}

static void drop_shuffle(struct sched *s, struct shuffle *shuffle)
{
        map_outputs_remove_executor(shuffle->outputs, -1, true, s->ops->map_output_removed, s->owner);
        if (shuffle->stage)
                return;
        map_outputs_deinit(shuffle->outputs);
        free(shuffle->outputs);
        shuffle->outputs = NULL;
}

void sched_free(struct sched *s)
{
        if (!s)
                return;
        sched_note(s, line, "end");
        task_scheduler_deinit(&s->tasks);
        for (struct job *job; (job = s->jobs.first);)
                job_unref(s, job);
        for (size_t i = 0; i < s->shuffles.len; i++)
                if (s->shuffles.data[i].outputs) {
                        s->shuffles.data[i].stage = NULL;
                        drop_shuffle(s, &s->shuffles.data[i]);
                }
        vec_deinit(&s->shuffles);
        vec_deinit(&s->waiting);
        vec_deinit(&s->failed);
        vec_deinit(&s->rdd_marks);
        sched_recorder_free(s->recorder);
        free(s);
}

/* ------------------------------------------------------------------------------------------- cancellation */

struct job *sched_job(struct sched *s, int job_id)
{
        for (struct job *job = s->jobs.last; job; job = job->prev)
                if (job->id == job_id)
                        return job;
        return NULL;
}

/* Returns true if @value is one of the comma-separated @list. */
static bool has_tag(const char *list, const char *value)
{
        size_t length = strlen(value);

        while (list && *list) {
                size_t part = strcspn(list, ",");

                if (part == length && strncmp(list, value, length) == 0)
                        return true;
                list += part + (list[part] == ',');
        }
        return false;
}

static bool has_stage(const struct job *job, int stage_id)
{
        for (int i = 0; i < job->n_stages; i++)
                if (job->stages[i]->id == stage_id)
                        return true;
        return false;
}

enum match { MATCH_ALL, MATCH_GROUP, MATCH_TAG, MATCH_STAGE };

static bool job_matches(const struct job *job, enum match match, const char *value, int stage_id)
{
        const char *group = strmap_get(&job->properties, "spark.jobGroup.id");

        if (job->ended)
                return false;
        switch (match) {
        case MATCH_ALL:
                return true;
        case MATCH_GROUP:
                return group && strcmp(group, value) == 0;
        case MATCH_TAG:
                return has_tag(strmap_get(&job->properties, "spark.job.tags"), value);
        case MATCH_STAGE:
                return has_stage(job, stage_id);
        }
        return false;
}

static int cancel_matching(struct sched *s, enum match match, const char *value, int stage_id, const char *reason,
                           int64_t now)
{
        struct job *job = s->jobs.first;
        int count = 0;

        s->now = s->tasks.now = now;
        while (job) {
                if (!job_matches(job, match, value, stage_id)) {
                        job = job->next;
                        continue;
                }
                dag_cancel_job(s, job, reason);
                count++;
                job = s->jobs.first; /* ending one job may remove others */
        }
        return count;
}

int sched_cancel_job(struct sched *s, int job_id, const char *reason, int64_t now)
{
        struct job *job = sched_job(s, job_id);

        sched_note(s, line, "cancel_job %" PRId64 " %d %s", now, job_id, reason);
        if (!job || job->ended)
                return 0;
        s->now = s->tasks.now = now;
        dag_cancel_job(s, job, reason);
        return 1;
}

int sched_cancel_group(struct sched *s, const char *group, const char *reason, int64_t now)
{
        _cleanup_free_ char *standard = mem_printf("part of cancelled job group %s", group);

        sched_note(s, line, "cancel_group %" PRId64 " %s %s", now, group, reason);
        return cancel_matching(s, MATCH_GROUP, group, -1, reason ? reason : standard, now);
}

int sched_cancel_tag(struct sched *s, const char *tag, const char *reason, int64_t now)
{
        _cleanup_free_ char *standard = mem_printf("part of cancelled job tag %s", tag);

        sched_note(s, line, "cancel_tag %" PRId64 " %s %s", now, tag, reason);
        return cancel_matching(s, MATCH_TAG, tag, -1, reason ? reason : standard, now);
}

int sched_cancel_all(struct sched *s, int64_t now)
{
        sched_note(s, line, "cancel_all %" PRId64, now);
        return cancel_matching(s, MATCH_ALL, NULL, -1, "as part of cancellation of all jobs", now);
}

int sched_cancel_stage(struct sched *s, int stage_id, const char *reason, int64_t now)
{
        _cleanup_free_ char *why =
                mem_printf("because Stage %d was cancelled%s%s", stage_id, reason ? ": " : "", reason ? reason : "");

        sched_note(s, line, "cancel_stage %" PRId64 " %d %s", now, stage_id, reason);
        return cancel_matching(s, MATCH_STAGE, NULL, stage_id, why, now);
}

/* ----------------------------------------------------------------------------------------------- executors */

int sched_register_executor(struct sched *s, const struct executor_spec *spec, int64_t now)
{
        sched_note(s, add_executor, spec, now);
        s->now = s->tasks.now = now;
        int index = task_scheduler_add_executor(&s->tasks, spec);

        dag_retry_barrier_stages(s);
        return index;
}

int sched_add_executor(struct sched *s, const char *id, const char *host, int cores, int64_t now)
{
        return sched_register_executor(s, &(struct executor_spec){.id = id, .host = host, .cores = cores}, now);
}

void sched_executor_lost(struct sched *s, int executor, bool caused_by_app, const char *message, int64_t now)
{
        struct executors *x = &s->tasks.executors;

        sched_note(s, line, "lose_executor %" PRId64 " %d %d %s", now, executor, caused_by_app, message);
        if (!executors_alive(x, executor))
                return;
        s->now = now;
        task_scheduler_lose_executor(&s->tasks, executor, caused_by_app, message, now);
        if (!s->config.outputs_outlive_executors || executors_at(x, executor)->host_too)
                dag_unregister_outputs(s, executor, false);
}

void sched_disable_executor(struct sched *s, int executor)
{
        sched_note(s, line, "disable_executor %d", executor);
        if (executors_alive(&s->tasks.executors, executor))
                executors_set_enabled(&s->tasks.executors, executor, false);
}

void sched_enable_executor(struct sched *s, int executor)
{
        sched_note(s, line, "enable_executor %d", executor);
        if (executors_alive(&s->tasks.executors, executor))
                executors_set_enabled(&s->tasks.executors, executor, true);
}

void sched_lend_cores(struct sched *s, int executor, int cores)
{
        sched_note(s, line, "lend_cores %d %d", executor, cores);
        if (executors_alive(&s->tasks.executors, executor))
                executors_lend(&s->tasks.executors, executor, cores);
}

void sched_decommission_executor(struct sched *s, int executor, bool host_too)
{
        sched_note(s, line, "decommission_executor %d %d", executor, host_too);
        if (executors_alive(&s->tasks.executors, executor))
                executors_set_decommissioned(&s->tasks.executors, executor, host_too);
}

void sched_host_lost(struct sched *s, const char *host, const char *message, int64_t now)
{
        sched_note(s, line, "lose_host %" PRId64 " %s %s", now, host, message);
        s->now = s->tasks.now = now;
        dag_lose_host(s, host, message);
}

bool sched_executor_excluded(const struct sched *s, int executor)
{
        return executors_known(&s->tasks.executors, executor) && s->tasks.executors.at.data[executor].excluded;
}

bool sched_host_excluded(const struct sched *s, const char *host)
{
        int index = name_index_find(&s->tasks.executors.host_names, host);

        return index >= 0 && s->tasks.executors.hosts.data[index].excluded;
}

int sched_slots(const struct sched *s)
{
        return s->tasks.executors.profiles.data[0]->slots;
}

const char *sched_executor_id(const struct sched *s, int executor)
{
        return executors_known(&s->tasks.executors, executor) ? s->tasks.executors.at.data[executor].id : "?";
}

const char *sched_executor_host(const struct sched *s, int executor)
{
        return executors_known(&s->tasks.executors, executor) ? executors_host(&s->tasks.executors, executor) : "?";
}

int sched_preferred_hosts(const struct sched *s, const struct task_set *set, int index, const char **out, int max)
{
        const struct locality *l = set->locality;
        int n = 0;

        for (int32_t i = l ? l->first[index] : 0; l && i < l->first[index + 1] && n < max; i++)
                out[n++] = s->tasks.executors.hosts.data[l->places.data[i].host].name;
        return n;
}

const char *locality_name(enum task_locality locality)
{
        static const char *const names[] = {
                [LOCALITY_PROCESS_LOCAL] = "PROCESS_LOCAL",
                [LOCALITY_NODE_LOCAL] = "NODE_LOCAL",
                [LOCALITY_NO_PREF] = "NO_PREF",
                [LOCALITY_RACK_LOCAL] = "RACK_LOCAL",
                [LOCALITY_ANY] = "ANY",
        };

        return names[locality];
}

/* --------------------------------------------------------------------------------------------------- tasks */

void sched_revive(struct sched *s, int64_t now)
{
        sched_note(s, line, "revive %" PRId64, now);
        s->now = now;
        task_scheduler_revive(&s->tasks, now);
}

void sched_update_status(struct sched *s, const struct task_status *statuses, int n, int64_t now)
{
        sched_note(s, status, statuses, n, now);
        s->now = now;
        task_scheduler_status(&s->tasks, statuses, n, now);
}

bool sched_task(const struct sched *s, int64_t task_id, struct task_attempt_info *info)
{
        return task_scheduler_task(&s->tasks, task_id, info);
}

void sched_task_progress(struct sched *s, int64_t task_id, int64_t records, int64_t run_ns)
{
        sched_note(s, line, "task_progress %" PRId64 " %" PRId64 " %" PRId64, task_id, records, run_ns);
        task_scheduler_progress(&s->tasks, task_id, records, run_ns);
}

bool sched_kill_task(struct sched *s, int64_t task_id, bool interrupt, const char *reason)
{
        sched_note(s, line, "kill_attempt %" PRId64 " %d %s", task_id, interrupt, reason);
        return task_scheduler_kill(&s->tasks, task_id, interrupt, reason);
}

void sched_suspect_task(struct sched *s, int64_t task_id)
{
        sched_note(s, line, "suspect_task %" PRId64, task_id);
        task_scheduler_suspect(&s->tasks, task_id);
}

void sched_release_core(struct sched *s, int64_t task_id, int64_t now)
{
        sched_note(s, line, "release_core %" PRId64 " %" PRId64, now, task_id);
        s->now = now;
        task_scheduler_release_core(&s->tasks, task_id, now);
}

bool sched_adopt_run(struct sched *s, struct task_set *set, const struct sched_adoption *adoption, int64_t now)
{
        sched_note(s, adopt_run, set, adoption, now);
        s->now = now;
        return task_scheduler_adopt(&s->tasks, set, adoption, now);
}

bool sched_result_fits(struct sched *s, int64_t task_id, int64_t bytes, int64_t now)
{
        sched_note(s, line, "result_fits %" PRId64 " %" PRId64 " %" PRId64, now, task_id, bytes);
        s->now = now;
        return task_scheduler_result_fits(&s->tasks, task_id, bytes, now);
}

bool sched_result_is_needed(const struct sched *s, int64_t task_id)
{
        struct task_attempt_info info;

        if (!task_scheduler_task(&s->tasks, task_id, &info))
                return false;
        const struct stage *stage = info.set->stage;

        if (dag_is_stale(info.set))
                return false;
        if (stage_is_result(stage))
                return !stage->job->ended && !stage->job->output_done[info.output];
        return stage->jobs.len > 0 && !map_outputs_has(stage->outputs, info.output);
}

bool sched_next_kill(struct sched *s, struct executor_kill *kill)
{
        return queue_pop(&s->tasks.kills, kill);
}

int64_t sched_deadline(const struct sched *s)
{
        if (!queue_is_empty(&s->tasks.kills))
                return s->now;
        return MIN(s->resubmit_at, task_scheduler_deadline(&s->tasks));
}

struct sched_stages sched_count_stages(const struct sched *s)
{
        return (struct sched_stages){.waiting = (int64_t)s->waiting.len, .failed = (int64_t)s->failed.len};
}

void sched_tick(struct sched *s, int64_t now)
{
        sched_note(s, line, "tick %" PRId64, now);
        s->now = s->tasks.now = now;
        if (s->resubmit_at <= now)
                dag_resubmit_failed(s);
        task_scheduler_tick(&s->tasks, now);
}

/* ----------------------------------------------------------------------------------------- shuffle outputs */

const struct map_outputs *sched_map_outputs(const struct sched *s, int shuffle_id)
{
        if (shuffle_id < 0 || (size_t)shuffle_id >= s->shuffles.len)
                return NULL;
        return s->shuffles.data[shuffle_id].outputs;
}

bool sched_move_output(struct sched *s, int shuffle_id, int map_partition, uint64_t handle, int from, int to)
{
        struct shuffle *shuffle = dag_shuffle(s, shuffle_id);

        sched_note(s, line, "move_output %d %d %" PRId64 " %d %d", shuffle_id, map_partition, (int64_t)handle, from,
                   to);
        return shuffle && from >= 0 && executors_alive(&s->tasks.executors, to) &&
               !executors_at(&s->tasks.executors, to)->decommissioned &&
               map_outputs_move(shuffle->outputs, map_partition, handle, from, to);
}

bool sched_store_output(struct sched *s, int shuffle_id, int map_partition, uint64_t handle, int executor,
                        uint64_t stored)
{
        struct shuffle *shuffle = dag_shuffle(s, shuffle_id);

        sched_note(s, line, "store_output %d %d %" PRId64 " %d %" PRId64, shuffle_id, map_partition, (int64_t)handle,
                   executor, (int64_t)stored);
        if (!shuffle || !executors_known(&s->tasks.executors, executor) ||
            !map_outputs_store(shuffle->outputs, map_partition, handle, executor, stored))
                return false;
        /* sets that were submitted before look for it at the executor: their failures do not concern it */
        s->tasks.executors.at.data[executor].loss_epoch = ++s->epoch;
        return true;
}

void sched_unregister_shuffle(struct sched *s, int shuffle_id)
{
        struct shuffle *shuffle = dag_shuffle(s, shuffle_id);

        sched_note(s, line, "unregister_shuffle %d", shuffle_id);
        if (!shuffle)
                return;
        drop_shuffle(s, shuffle);
        s->epoch++;
}

struct task_set *sched_next_task_set(const struct sched *s, const struct task_set *after)
{
        return after ? after->next : s->tasks.first;
}

/* ----------------------------------------------------------------------------------------------------- demand */

struct sched_demand sched_demand(const struct sched *s, int stage_id)
{
        struct sched_demand demand = {0};

        for (const struct task_set *set = s->tasks.first; set; set = set->next) {
                if (stage_id >= 0 && (set->stage_id != stage_id || set->stage->set != set))
                        continue;
                if (!set->zombie) {
                        demand.pending += set->n_waiting;
                        demand.speculative += set->speculation ? (int)set->speculation->slow.len : 0;
                        demand.unschedulable += set->abort_at < INT64_MAX;
                }
                demand.running += set->n_running;
        }
        return demand;
}
