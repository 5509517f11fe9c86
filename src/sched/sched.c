/*
 * The scheduler's face: puts the DAG scheduler and the task scheduler together and answers what needs no more
 * than a look. What happens to jobs is in dag.c, to tasks in task_scheduler.c.
 */
#include "sched/sched.h"

#include "sched/dag.h"

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
        map_outputs_remove_executor(shuffle->outputs, -1, s->ops->map_output_removed, s->owner);
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
        task_scheduler_deinit(&s->tasks);
        for (struct job *job; (job = s->first_job);)
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
        free(s);
}

/* ------------------------------------------------------------------------------------------- cancellation */

struct job *sched_job(struct sched *s, int job_id)
{
        for (struct job *job = s->last_job; job; job = job->prev)
                if (job->id == job_id)
                        return job;
        return NULL;
}

/* True if @value is one of the comma-separated @list. */
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
        struct job *job = s->first_job;
        int count = 0;

        s->now = s->tasks.now = now;
        while (job) {
                if (!job_matches(job, match, value, stage_id)) {
                        job = job->next;
                        continue;
                }
                dag_cancel_job(s, job, reason);
                count++;
                job = s->first_job; /* the end of one may remove others */
        }
        return count;
}

int sched_cancel_job(struct sched *s, int job_id, const char *reason, int64_t now)
{
        struct job *job = sched_job(s, job_id);

        if (!job || job->ended)
                return 0;
        s->now = s->tasks.now = now;
        dag_cancel_job(s, job, reason);
        return 1;
}

int sched_cancel_group(struct sched *s, const char *group, const char *reason, int64_t now)
{
        _cleanup_free_ char *standard = mem_printf("part of cancelled job group %s", group);

        return cancel_matching(s, MATCH_GROUP, group, -1, reason ? reason : standard, now);
}

int sched_cancel_tag(struct sched *s, const char *tag, const char *reason, int64_t now)
{
        _cleanup_free_ char *standard = mem_printf("part of cancelled job tag %s", tag);

        return cancel_matching(s, MATCH_TAG, tag, -1, reason ? reason : standard, now);
}

int sched_cancel_all(struct sched *s, int64_t now)
{
        return cancel_matching(s, MATCH_ALL, NULL, -1, "as part of cancellation of all jobs", now);
}

int sched_cancel_stage(struct sched *s, int stage_id, const char *reason, int64_t now)
{
        _cleanup_free_ char *why =
                mem_printf("because Stage %d was cancelled%s%s", stage_id, reason ? ": " : "", reason ? reason : "");

        return cancel_matching(s, MATCH_STAGE, NULL, stage_id, why, now);
}

/* ----------------------------------------------------------------------------------------------- executors */

int sched_add_executor(struct sched *s, const char *id, const char *host, int cores, int64_t now)
{
        s->now = s->tasks.now = now;
        return task_scheduler_add_executor(&s->tasks, id, host, cores);
}

void sched_lose_executor(struct sched *s, int executor, bool caused_by_app, const char *message, int64_t now)
{
        if (!task_scheduler_alive(&s->tasks, executor))
                return;
        s->now = now;
        task_scheduler_lose_executor(&s->tasks, executor, caused_by_app, message, now);
        if (!s->config.outputs_outlive_executors)
                dag_forget_outputs(s, executor);
}

void sched_disable_executor(struct sched *s, int executor)
{
        task_scheduler_disable_executor(&s->tasks, executor);
}

const char *sched_executor_id(const struct sched *s, int executor)
{
        return executor >= 0 && (size_t)executor < s->tasks.executors.len ? s->tasks.executors.data[executor].id : "?";
}

const char *sched_executor_host(const struct sched *s, int executor)
{
        return executor >= 0 && (size_t)executor < s->tasks.executors.len ? s->tasks.executors.data[executor].host
                                                                          : "?";
}

/* --------------------------------------------------------------------------------------------------- tasks */

void sched_revive(struct sched *s, int64_t now)
{
        s->now = now;
        task_scheduler_revive(&s->tasks, now);
}

void sched_status(struct sched *s, const struct task_status *statuses, int n, int64_t now)
{
        s->now = now;
        task_scheduler_status(&s->tasks, statuses, n, now);
}

bool sched_task(const struct sched *s, int64_t task_id, struct task_attempt_info *info)
{
        return task_scheduler_task(&s->tasks, task_id, info);
}

bool sched_task_counts(const struct sched *s, int64_t task_id)
{
        struct task_attempt_info info;

        if (!task_scheduler_task(&s->tasks, task_id, &info))
                return false;
        const struct stage *stage = info.set->stage;

        if (stage_is_result(stage))
                return !stage->job->ended && !stage->job->output_done[info.output];
        return stage->jobs.len > 0 && !map_outputs_has(stage->outputs, info.output);
}

int64_t sched_deadline(const struct sched *s)
{
        return s->resubmit_at;
}

void sched_tick(struct sched *s, int64_t now)
{
        s->now = s->tasks.now = now;
        if (s->resubmit_at <= now)
                dag_resubmit_failed(s);
}

/* ----------------------------------------------------------------------------------------- shuffle outputs */

const struct map_outputs *sched_map_outputs(const struct sched *s, int shuffle_id)
{
        if (shuffle_id < 0 || (size_t)shuffle_id >= s->shuffles.len)
                return NULL;
        return s->shuffles.data[shuffle_id].outputs;
}

void sched_unregister_shuffle(struct sched *s, int shuffle_id)
{
        struct shuffle *shuffle = dag_shuffle(s, shuffle_id);

        if (!shuffle)
                return;
        drop_shuffle(s, shuffle);
        s->epoch++;
}

struct task_set *sched_next_task_set(const struct sched *s, const struct task_set *after)
{
        return after ? after->next : s->tasks.first;
}
