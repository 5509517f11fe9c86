/*
 * The status of an application; see app_status.h.
 *
 * Each task counts at its stage only. A job's numbers are the sums over its stages, computed on request and, for good,
 * when it ends, because its stages may be dropped before it. A stage that a job lists but that was not submitted when
 * the job ends was skipped: its output already existed.
 *
 * The bus's thread takes the lock once for each batch, readers take it briefly.
 */
#include "driver/events/app_status.h"

#include "base/mem.h"
#include "base/vec.h"

#include <pthread.h>
#include <errno.h>
#include <stdio.h>

struct job_record {
        struct job_status status;
        char *group; /* NULL: none */
        VEC(int) stage_ids;
};

struct app_status {
        struct listener listener;
        pthread_mutex_t lock;
        size_t retained_jobs, retained_stages;
        VEC(struct stage_status) stages; /* in the order of their first event */
        VEC(struct job_record) jobs;     /* in the order of submission */
        size_t last;                     /* index of the stage of the latest task */
        size_t n_over_stages, n_over_jobs;
        struct app_status_totals totals;
        VEC(struct executor_status) executors; /* in the order of registration */
        size_t n_gone, last_executor;
};

static struct app_status *app_status_of(struct listener *l)
{
        return container_of(l, struct app_status, listener);
}

static bool app_status_is_over(const struct stage_status *s)
{
        return s->state > STAGE_ACTIVE;
}

/* ------------------------------------------------------------------------------------------------ stages */

static struct stage_status *app_status_find_stage(struct app_status *a, int id, int attempt)
{
        if (a->last < a->stages.len && a->stages.data[a->last].id == id && a->stages.data[a->last].attempt == attempt)
                return &a->stages.data[a->last];
        for (size_t i = a->stages.len; i-- > 0;)
                if (a->stages.data[i].id == id && a->stages.data[i].attempt == attempt) {
                        a->last = i;
                        return &a->stages.data[i];
                }
        return NULL;
}

static struct stage_status *app_status_get_stage(struct app_status *a, int id, int attempt)
{
        struct stage_status *s = app_status_find_stage(a, id, attempt);
        if (s)
                return s;
        vec_push(&a->stages, (struct stage_status){.id = id, .attempt = attempt});
        a->last = a->stages.len - 1;
        return &a->stages.data[a->last];
}

static void app_status_add_stage(struct job_status *j, const struct stage_status *s)
{
        j->active_tasks += s->active;
        j->completed_tasks += s->completed;
        j->failed_tasks += s->failed;
        j->killed_tasks += s->killed;
        j->active_stages += s->state == STAGE_ACTIVE;
        j->completed_stages += s->state == STAGE_COMPLETE;
        j->failed_stages += s->state == STAGE_FAILED;
        if (s->state == STAGE_SKIPPED) {
                j->skipped_stages++;
                j->skipped_tasks += s->tasks;
        }
}

/* Adds the numbers of all attempts of the job's stages to its own. */
static struct job_status app_status_sum_job(const struct app_status *a, const struct job_record *job)
{
        struct job_status j = job->status;
        if (j.state != JOB_RUNNING)
                return j;
        for (size_t i = 0; i < a->stages.len; i++)
                for (size_t k = 0; k < job->stage_ids.len; k++)
                        if (a->stages.data[i].id == job->stage_ids.data[k])
                                app_status_add_stage(&j, &a->stages.data[i]);
        return j;
}

static void app_status_trim_stages(struct app_status *a)
{
        if (a->n_over_stages <= a->retained_stages + a->retained_stages / 8)
                return;
        size_t to = 0;
        for (size_t i = 0; i < a->stages.len; i++) {
                struct stage_status *s = &a->stages.data[i];
                if (app_status_is_over(s) && s->active == 0 && a->n_over_stages > a->retained_stages)
                        a->n_over_stages--;
                else
                        a->stages.data[to++] = *s;
        }
        a->stages.len = to;
        a->last = 0;
}

static void app_status_trim_jobs(struct app_status *a)
{
        if (a->n_over_jobs <= a->retained_jobs + a->retained_jobs / 8)
                return;
        size_t to = 0;
        for (size_t i = 0; i < a->jobs.len; i++) {
                struct job_record *j = &a->jobs.data[i];
                if (j->status.state != JOB_RUNNING && a->n_over_jobs > a->retained_jobs) {
                        a->n_over_jobs--;
                        free(j->group);
                        vec_deinit(&j->stage_ids);
                } else {
                        a->jobs.data[to++] = *j;
                }
        }
        a->jobs.len = to;
}

/* --------------------------------------------------------------------------------------------- executors */

enum { MAX_GONE = 100 };

static struct executor_status *app_status_find_executor(struct app_status *a, const char *id)
{
        if (a->last_executor < a->executors.len && strcmp(a->executors.data[a->last_executor].id, id) == 0)
                return &a->executors.data[a->last_executor];
        for (size_t i = a->executors.len; i-- > 0;)
                if (strcmp(a->executors.data[i].id, id) == 0) {
                        a->last_executor = i;
                        return &a->executors.data[i];
                }
        return NULL;
}

static struct executor_status *app_status_get_executor(struct app_status *a, const struct task_info *task)
{
        return a->executors.len ? app_status_find_executor(a, task->executor->id) : NULL;
}

static void app_status_on_executor_added(struct listener *l, const struct executor_added *e)
{
        struct app_status *a = app_status_of(l);
        struct executor_status x = {.cores = e->total_cores, .is_active = true, .added_ms = e->ms};
        snprintf(x.id, sizeof(x.id), "%s", e->id);
        snprintf(x.host, sizeof(x.host), "%s", e->host);
        pthread_mutex_lock(&a->lock);
        vec_push(&a->executors, x);
        pthread_mutex_unlock(&a->lock);
}

/* Drops the executor that was removed first, once there are many. */
static void app_status_trim_executors(struct app_status *a)
{
        size_t i = 0;
        if (a->n_gone <= MAX_GONE)
                return;
        while (a->executors.data[i].is_active)
                i++;
        a->executors.len--;
        a->n_gone--;
        memmove(&a->executors.data[i], &a->executors.data[i + 1],
                (a->executors.len - i) * sizeof(a->executors.data[0]));
        a->last_executor = 0;
}

static void app_status_on_executor_removed(struct listener *l, const struct executor_removed *e)
{
        struct app_status *a = app_status_of(l);
        pthread_mutex_lock(&a->lock);
        struct executor_status *x = app_status_find_executor(a, e->id);
        if (x && x->is_active) {
                x->is_active = false;
                x->removed_ms = e->ms;
                snprintf(x->removed_reason, sizeof(x->removed_reason), "%s", e->reason ? e->reason : "");
                a->n_gone++;
                app_status_trim_executors(a);
        }
        pthread_mutex_unlock(&a->lock);
}

static void app_status_on_exclusion_changed(struct listener *l, const struct exclusion_changed *e)
{
        struct app_status *a = app_status_of(l);
        pthread_mutex_lock(&a->lock);
        for (size_t i = 0; e->stage_id < 0 && i < a->executors.len; i++) {
                struct executor_status *x = &a->executors.data[i];
                if (strcmp(e->is_host ? x->host : x->id, e->id) == 0)
                        x->excluded = !e->lifted;
        }
        pthread_mutex_unlock(&a->lock);
}

size_t app_status_executors(struct app_status *a, struct executor_status *out, size_t room)
{
        pthread_mutex_lock(&a->lock);
        size_t n = a->executors.len;
        if (MIN(n, room))
                memcpy(out, a->executors.data, MIN(n, room) * sizeof(*out));
        pthread_mutex_unlock(&a->lock);
        return n;
}

/* ------------------------------------------------------------------------------------------------ events */

static void app_status_on_speculative_submitted(struct listener *l, const struct speculative_submitted *e)
{
        struct app_status *a = app_status_of(l);
        pthread_mutex_lock(&a->lock);
        app_status_get_stage(a, e->stage_id, e->stage_attempt)->speculative++;
        pthread_mutex_unlock(&a->lock);
}

static void app_status_on_job_start(struct listener *l, const struct job_start *e)
{
        struct app_status *a = app_status_of(l);
        pthread_mutex_lock(&a->lock);
        struct job_record job = {.status = {.id = e->id, .submission_ms = e->ms, .stages = (int)e->n_stages}};
        const char *group = e->properties ? strmap_get(e->properties, "spark.jobGroup.id") : NULL;
        job.group = group ? mem_strdup(group) : NULL;
        for (size_t i = 0; i < e->n_stages; i++) {
                const struct stage_info *info = &e->stages[i];
                struct stage_status *s = app_status_get_stage(a, info->id, info->attempt);
                s->tasks = info->tasks;
                job.status.tasks += info->tasks;
                vec_push(&job.stage_ids, info->id);
        }
        vec_push(&a->jobs, job);
        pthread_mutex_unlock(&a->lock);
}

static bool app_status_lists_stage(const struct job_record *job, int stage_id)
{
        for (size_t k = 0; k < job->stage_ids.len; k++)
                if (job->stage_ids.data[k] == stage_id)
                        return true;
        return false;
}

static bool app_status_stage_is_needed(const struct app_status *a, int stage_id)
{
        for (size_t i = 0; i < a->jobs.len; i++)
                if (a->jobs.data[i].status.state == JOB_RUNNING && app_status_lists_stage(&a->jobs.data[i], stage_id))
                        return true;
        return false;
}

/* Marks the stages of an ended job that were not submitted as skipped. */
static void app_status_skip_pending_stages(struct app_status *a, const struct job_record *job)
{
        for (size_t i = 0; i < a->stages.len; i++) {
                struct stage_status *s = &a->stages.data[i];
                if (s->state != STAGE_PENDING || !app_status_lists_stage(job, s->id) ||
                    app_status_stage_is_needed(a, s->id))
                        continue;
                s->state = STAGE_SKIPPED;
                a->n_over_stages++;
                a->totals.skipped_stages++;
        }
}

static void app_status_on_job_end(struct listener *l, const struct job_end *e)
{
        struct app_status *a = app_status_of(l);
        pthread_mutex_lock(&a->lock);
        for (size_t i = a->jobs.len; i-- > 0;) {
                struct job_record *job = &a->jobs.data[i];
                if (job->status.id != e->id || job->status.state != JOB_RUNNING)
                        continue;
                enum job_status_state state = e->failure ? JOB_FAILED : JOB_SUCCEEDED;
                job->status.state = state;
                app_status_skip_pending_stages(a, job);
                job->status.state = JOB_RUNNING;
                job->status = app_status_sum_job(a, job);
                job->status.state = state;
                job->status.completion_ms = e->ms;
                a->totals.succeeded_jobs += !e->failure;
                a->totals.failed_jobs += e->failure != NULL;
                a->n_over_jobs++;
                break;
        }
        app_status_trim_jobs(a);
        app_status_trim_stages(a);
        pthread_mutex_unlock(&a->lock);
}

static void app_status_on_stage_submitted(struct listener *l, const struct stage_submitted *e)
{
        struct app_status *a = app_status_of(l);
        pthread_mutex_lock(&a->lock);
        struct stage_status *s = app_status_get_stage(a, e->stage.id, e->stage.attempt);
        s->state = STAGE_ACTIVE;
        s->tasks = e->stage.tasks;
        s->submission_ms = e->stage.submission_ms;
        pthread_mutex_unlock(&a->lock);
}

static void app_status_on_stage_completed(struct listener *l, const struct stage_completed *e)
{
        struct app_status *a = app_status_of(l);
        pthread_mutex_lock(&a->lock);
        struct stage_status *s = app_status_get_stage(a, e->stage.id, e->stage.attempt);
        a->n_over_stages += !app_status_is_over(s);
        s->state = e->stage.failure_reason ? STAGE_FAILED : STAGE_COMPLETE;
        s->submission_ms = e->stage.submission_ms;
        s->completion_ms = e->stage.completion_ms;
        if (e->stage.failure_reason)
                a->totals.failed_stages++;
        else
                a->totals.completed_stages++;
        app_status_trim_stages(a);
        pthread_mutex_unlock(&a->lock);
}

static void app_status_on_task_starts(struct listener *l, const struct task_start *batch, size_t n)
{
        struct app_status *a = app_status_of(l);
        pthread_mutex_lock(&a->lock);
        for (size_t i = 0; i < n; i++) {
                struct stage_status *s = app_status_get_stage(a, batch[i].info.stage_id, batch[i].info.stage_attempt);
                s->active++;
                if (!s->first_launch_ms)
                        s->first_launch_ms = batch[i].info.launch_ms;
                struct executor_status *x = app_status_get_executor(a, &batch[i].info);
                if (x)
                        x->active_tasks++;
        }
        pthread_mutex_unlock(&a->lock);
}

static void app_status_count_end(struct app_status *a, struct stage_status *s, const struct task_end *e)
{
        const struct task_metrics *m = &e->metrics;
        if (e->state == TASK_SUCCEEDED) {
                s->completed++;
                a->totals.completed_tasks++;
        } else if (e->state == TASK_KILLED) {
                s->killed++;
                a->totals.killed_tasks++;
        } else {
                s->failed++;
                a->totals.failed_tasks++;
        }
        struct executor_status *x = app_status_get_executor(a, &e->info);
        if (x) {
                x->active_tasks--;
                x->completed_tasks += e->state == TASK_SUCCEEDED;
                x->failed_tasks += e->state != TASK_SUCCEEDED && e->state != TASK_KILLED;
                x->duration_ms += e->finish_ms - e->info.launch_ms;
                x->shuffle_write_bytes += m->shuffle_write.bytes;
                x->peak_memory = MAX(x->peak_memory, m->peak_execution_memory);
        }
        s->active--;
        s->longest_ms = MAX(s->longest_ms, e->finish_ms - e->info.launch_ms);
        s->run_ms += m->executor_run_ms;
        s->cpu_ns += m->executor_cpu_ns;
        s->input_bytes += m->input_bytes;
        s->input_records += m->input_records;
        s->output_bytes += m->output_bytes;
        s->output_records += m->output_records;
        s->shuffle_read_bytes += m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes;
        s->shuffle_read_records += m->shuffle_read.records;
        s->shuffle_write_bytes += m->shuffle_write.bytes;
        s->shuffle_write_records += m->shuffle_write.records;
        s->memory_bytes_spilled += m->memory_bytes_spilled;
        s->disk_bytes_spilled += m->disk_bytes_spilled;
}

static void app_status_on_task_ends(struct listener *l, const struct task_end *batch, size_t n)
{
        struct app_status *a = app_status_of(l);
        pthread_mutex_lock(&a->lock);
        for (size_t i = 0; i < n; i++)
                app_status_count_end(a, app_status_get_stage(a, batch[i].info.stage_id, batch[i].info.stage_attempt),
                                     &batch[i]);
        pthread_mutex_unlock(&a->lock);
}

/* ----------------------------------------------------------------------------------------------- readers */

size_t app_status_active_stages(struct app_status *a, struct stage_status *out, size_t room)
{
        size_t n = 0;
        pthread_mutex_lock(&a->lock);
        for (size_t i = 0; i < a->stages.len; i++) {
                const struct stage_status *s = &a->stages.data[i];
                if (s->state != STAGE_ACTIVE)
                        continue;
                size_t at = n < room ? n++ : room; /* insertion by submission time; the latest is dropped */
                for (; at > 0 && out[at - 1].submission_ms > s->submission_ms; at--)
                        if (at < room)
                                out[at] = out[at - 1];
                if (at < room)
                        out[at] = *s;
        }
        pthread_mutex_unlock(&a->lock);
        return n;
}

bool app_status_stage(struct app_status *a, int id, int attempt, struct stage_status *out)
{
        pthread_mutex_lock(&a->lock);
        const struct stage_status *s = app_status_find_stage(a, id, attempt);
        if (s)
                *out = *s;
        pthread_mutex_unlock(&a->lock);
        return s != NULL;
}

bool app_status_job(struct app_status *a, int id, struct job_status *out)
{
        bool found = false;
        pthread_mutex_lock(&a->lock);
        for (size_t i = a->jobs.len; i-- > 0 && !found;)
                if (a->jobs.data[i].status.id == id) {
                        *out = app_status_sum_job(a, &a->jobs.data[i]);
                        found = true;
                }
        pthread_mutex_unlock(&a->lock);
        return found;
}

static bool app_status_job_is_in_group(const struct job_record *job, const char *group)
{
        return group ? job->group && strcmp(job->group, group) == 0 : !job->group;
}

size_t app_status_jobs_of_group(struct app_status *a, const char *group, int *ids, size_t room)
{
        size_t n = 0;
        pthread_mutex_lock(&a->lock);
        for (size_t i = 0; i < a->jobs.len; i++) {
                if (!app_status_job_is_in_group(&a->jobs.data[i], group))
                        continue;
                if (n < room)
                        ids[n] = a->jobs.data[i].status.id;
                n++;
        }
        pthread_mutex_unlock(&a->lock);
        return n;
}

size_t app_status_active_jobs(struct app_status *a, int *ids, size_t room)
{
        size_t n = 0;
        pthread_mutex_lock(&a->lock);
        for (size_t i = 0; i < a->jobs.len; i++) {
                if (a->jobs.data[i].status.state != JOB_RUNNING)
                        continue;
                if (n < room)
                        ids[n] = a->jobs.data[i].status.id;
                n++;
        }
        pthread_mutex_unlock(&a->lock);
        return n;
}

int app_status_stages_of_job(struct app_status *a, int id, int *ids, size_t room)
{
        int n = -ENOENT;
        pthread_mutex_lock(&a->lock);
        for (size_t i = 0; i < a->jobs.len; i++) {
                const struct job_record *job = &a->jobs.data[i];
                if (job->status.id != id)
                        continue;
                n = (int)job->stage_ids.len;
                for (size_t k = 0; k < job->stage_ids.len && k < room; k++)
                        ids[k] = job->stage_ids.data[k];
        }
        pthread_mutex_unlock(&a->lock);
        return n;
}

struct app_status_totals app_status_totals(struct app_status *a)
{
        pthread_mutex_lock(&a->lock);
        struct app_status_totals totals = a->totals;
        pthread_mutex_unlock(&a->lock);
        return totals;
}

/* --------------------------------------------------------------------------------------------- start and end */

struct app_status *app_status_new(size_t retained_jobs, size_t retained_stages)
{
        struct app_status *a = new0(struct app_status);
        pthread_mutex_init(&a->lock, NULL);
        a->retained_jobs = retained_jobs ? retained_jobs : 1000;
        a->retained_stages = retained_stages ? retained_stages : 1000;
        a->listener = (struct listener){
                .name = "AppStatusListener",
                .on_job_start = app_status_on_job_start,
                .on_job_end = app_status_on_job_end,
                .on_stage_submitted = app_status_on_stage_submitted,
                .on_stage_completed = app_status_on_stage_completed,
                .on_task_starts = app_status_on_task_starts,
                .on_executor_added = app_status_on_executor_added,
                .on_executor_removed = app_status_on_executor_removed,
                .on_exclusion_changed = app_status_on_exclusion_changed,
                .on_speculative_submitted = app_status_on_speculative_submitted,
                .on_task_ends = app_status_on_task_ends,
        };
        return a;
}

struct listener *app_status_listener(struct app_status *a)
{
        return &a->listener;
}

void app_status_free(struct app_status *a)
{
        if (!a)
                return;
        for (size_t i = 0; i < a->jobs.len; i++) {
                free(a->jobs.data[i].group);
                vec_deinit(&a->jobs.data[i].stage_ids);
        }
        vec_deinit(&a->jobs);
        vec_deinit(&a->stages);
        vec_deinit(&a->executors);
        pthread_mutex_destroy(&a->lock);
        free(a);
}
