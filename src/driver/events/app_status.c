/*
 * The shell of the status core in the driver; see app_status.h and status/status.h.
 *
 * The bus's thread takes the lock once for each event or batch of task events. Readers take it briefly and copy.
 */
#include "driver/events/app_status.h"

#include "base/mem.h"
#include "ui/app_view.h"

#include <errno.h>
#include <stdio.h>

struct app_status {
        struct listener listener;
        struct app_view view; /* with the lock */
        struct status *core;
};

static struct app_status *app_status_of(struct listener *l)
{
        return container_of(l, struct app_status, listener);
}

/* ------------------------------------------------------------------------------------------------- events */

/* An app_status_on_KIND for each kind: passes the event to the core. */
#define APP_STATUS_ON(kind)                                                                                            \
        static void app_status_on_##kind(struct listener *l, const struct kind *e)                                     \
        {                                                                                                              \
                struct app_status *a = app_status_of(l);                                                               \
                app_view_write(&a->view);                                                                              \
                status_on_##kind(a->core, e);                                                                          \
                app_view_written(&a->view);                                                                            \
        }
EVENT_KINDS(APP_STATUS_ON)
#undef APP_STATUS_ON

static void app_status_on_task_start_batch(struct listener *l, const struct task_event_batch *batch)
{
        struct app_status *a = app_status_of(l);
        app_view_write(&a->view);
        status_on_task_start_batch(a->core, batch);
        app_view_written(&a->view);
}

static void app_status_on_task_end_batch(struct listener *l, const struct task_event_batch *batch)
{
        struct app_status *a = app_status_of(l);
        app_view_write(&a->view);
        status_on_task_end_batch(a->core, batch);
        app_view_written(&a->view);
}

/* ------------------------------------------------------------------------------------------------- copies */

static struct stage_status app_status_copy_stage(const struct status_stage *s)
{
        static const enum stage_status_state states[] = {[STATUS_STAGE_PENDING] = STAGE_PENDING,
                                                         [STATUS_STAGE_ACTIVE] = STAGE_ACTIVE,
                                                         [STATUS_STAGE_COMPLETE] = STAGE_COMPLETE,
                                                         [STATUS_STAGE_FAILED] = STAGE_FAILED,
                                                         [STATUS_STAGE_SKIPPED] = STAGE_SKIPPED};
        const struct task_metrics *m = &s->metrics;
        return (struct stage_status){
                .id = s->id,
                .attempt = s->attempt,
                .state = states[s->state],
                .tasks = s->tasks,
                .speculative = (int)s->submitted_speculative,
                .active = s->active_tasks,
                .completed = s->completed_tasks,
                .failed = s->failed_tasks,
                .killed = s->killed_tasks,
                .submission_ms = s->submission_ms,
                .first_launch_ms = s->first_launch_ms,
                .completion_ms = s->completion_ms,
                .run_ms = m->executor_run_ms,
                .cpu_ns = m->executor_cpu_ns,
                .longest_ms = s->longest_ms,
                .input_bytes = m->input_bytes,
                .input_records = m->input_records,
                .output_bytes = m->output_bytes,
                .output_records = m->output_records,
                .shuffle_read_bytes = m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes,
                .shuffle_read_records = m->shuffle_read.records,
                .shuffle_write_bytes = m->shuffle_write.bytes,
                .shuffle_write_records = m->shuffle_write.records,
                .memory_bytes_spilled = m->memory_bytes_spilled,
                .disk_bytes_spilled = m->disk_bytes_spilled,
        };
}

static struct job_status app_status_copy_job(const struct status_job *j)
{
        static const enum job_status_state states[] = {[STATUS_JOB_RUNNING] = JOB_RUNNING,
                                                       [STATUS_JOB_SUCCEEDED] = JOB_SUCCEEDED,
                                                       [STATUS_JOB_FAILED] = JOB_FAILED};
        return (struct job_status){
                .id = j->id,
                .state = states[j->state],
                .submission_ms = j->submission_ms,
                .completion_ms = j->completion_ms,
                .stages = (int)j->stages.len,
                .active_stages = j->active_stages,
                .completed_stages = j->completed_stages,
                .failed_stages = j->failed_stages,
                .skipped_stages = j->skipped_stages,
                .tasks = j->tasks,
                .active_tasks = j->active_tasks,
                .completed_tasks = j->completed_tasks,
                .failed_tasks = j->failed_tasks,
                .killed_tasks = j->killed_tasks,
                .skipped_tasks = j->skipped_tasks,
        };
}

static struct executor_status app_status_copy_executor(const struct status_executor *x)
{
        struct executor_status copy = {
                .cores = x->cores,
                .is_active = x->is_active,
                .excluded = x->excluded,
                .added_ms = x->added_ms,
                .removed_ms = x->removed_ms,
                .active_tasks = x->active_tasks,
                .completed_tasks = x->completed_tasks,
                .failed_tasks = x->failed_tasks,
                .duration_ms = x->duration_ms,
                .shuffle_write_bytes = x->shuffle_write_bytes,
                .peak_memory = x->peak_task_memory,
                .memory_used = x->memory_used,
                .max_on_heap = x->max_on_heap,
                .max_off_heap = x->max_off_heap,
                .used_on_heap = x->used_on_heap,
                .used_off_heap = x->used_off_heap,
        };
        const char *colon = x->host_port ? strrchr(x->host_port, ':') : NULL;
        copy.port = colon ? atoi(colon + 1) : 0;
        snprintf(copy.id, sizeof(copy.id), "%s", x->id);
        snprintf(copy.host, sizeof(copy.host), "%s", x->host);
        snprintf(copy.removed_reason, sizeof(copy.removed_reason), "%s", x->removed_reason ? x->removed_reason : "");
        return copy;
}

/* ----------------------------------------------------------------------------------------------- readers */

size_t app_status_executors(struct app_status *a, struct executor_status *out, size_t room)
{
        size_t n = 0;
        app_view_read(&a->view);
        for (size_t i = 0; i < a->core->executors.len; i++) {
                const struct status_executor *x = a->core->executors.data[i];
                if (!x->is_registered)
                        continue;
                if (n < room)
                        out[n] = app_status_copy_executor(x);
                n++;
        }
        app_view_end(&a->view);
        return n;
}

size_t app_status_active_stages(struct app_status *a, struct stage_status *out, size_t room)
{
        size_t n = 0;
        app_view_read(&a->view);
        for (size_t i = 0; i < a->core->stages.len; i++) {
                const struct status_stage *s = a->core->stages.data[i];
                if (s->state != STATUS_STAGE_ACTIVE)
                        continue;
                size_t at = n < room ? n++ : room; /* insertion by submission time; the latest is dropped */
                for (; at > 0 && out[at - 1].submission_ms > s->submission_ms; at--)
                        if (at < room)
                                out[at] = out[at - 1];
                if (at < room)
                        out[at] = app_status_copy_stage(s);
        }
        app_view_end(&a->view);
        return n;
}

bool app_status_stage(struct app_status *a, int id, int attempt, struct stage_status *out)
{
        app_view_read(&a->view);
        const struct status_stage *s = status_find_stage(a->core, id, attempt);
        if (s)
                *out = app_status_copy_stage(s);
        app_view_end(&a->view);
        return s != NULL;
}

bool app_status_job(struct app_status *a, int id, struct job_status *out)
{
        app_view_read(&a->view);
        const struct status_job *job = status_find_job(a->core, id);
        if (job)
                *out = app_status_copy_job(job);
        app_view_end(&a->view);
        return job != NULL;
}

static bool app_status_job_is_in_group(const struct status_job *job, const char *group)
{
        return group ? job->group && strcmp(job->group, group) == 0 : !job->group;
}

size_t app_status_jobs_of_group(struct app_status *a, const char *group, int *ids, size_t room)
{
        size_t n = 0;
        app_view_read(&a->view);
        for (size_t i = 0; i < a->core->jobs.len; i++) {
                if (!app_status_job_is_in_group(a->core->jobs.data[i], group))
                        continue;
                if (n < room)
                        ids[n] = a->core->jobs.data[i]->id;
                n++;
        }
        app_view_end(&a->view);
        return n;
}

size_t app_status_active_jobs(struct app_status *a, int *ids, size_t room)
{
        size_t n = 0;
        app_view_read(&a->view);
        for (size_t i = 0; i < a->core->jobs.len; i++) {
                if (a->core->jobs.data[i]->state != STATUS_JOB_RUNNING)
                        continue;
                if (n < room)
                        ids[n] = a->core->jobs.data[i]->id;
                n++;
        }
        app_view_end(&a->view);
        return n;
}

int app_status_stages_of_job(struct app_status *a, int id, int *ids, size_t room)
{
        int n = -ENOENT;
        app_view_read(&a->view);
        const struct status_job *job = status_find_job(a->core, id);
        if (job) {
                n = (int)job->stages.len;
                for (size_t k = 0; k < job->stages.len && k < room; k++)
                        ids[k] = job->stages.data[k].id;
        }
        app_view_end(&a->view);
        return n;
}

struct app_status_totals app_status_totals(struct app_status *a)
{
        app_view_read(&a->view);
        const struct status_totals *t = &a->core->totals;
        struct app_status_totals totals = {
                .completed_tasks = t->completed_tasks,
                .failed_tasks = t->failed_tasks,
                .killed_tasks = t->killed_tasks,
                .skipped_tasks = t->skipped_tasks,
                .succeeded_jobs = t->succeeded_jobs,
                .failed_jobs = t->failed_jobs,
                .completed_stages = t->completed_stages,
                .failed_stages = t->failed_stages,
                .skipped_stages = t->skipped_stages,
                .excluded_executors = t->excluded_executors,
                .unexcluded_executors = t->unexcluded_executors,
                .job_ms = t->job_ms,
        };
        app_view_end(&a->view);
        return totals;
}

struct app_status_storage app_status_storage(struct app_status *a)
{
        struct app_status_storage sum = {0};
        app_view_read(&a->view);
        for (size_t i = 0; i < a->core->executors.len; i++) {
                const struct status_executor *x = a->core->executors.data[i];
                if (!x->is_active)
                        continue;
                sum.max_memory += x->max_memory;
                sum.max_on_heap += x->max_on_heap;
                sum.max_off_heap += x->max_off_heap;
                sum.used_on_heap += x->used_on_heap;
                sum.used_off_heap += x->used_off_heap;
                sum.disk_used += x->disk_used;
        }
        app_view_end(&a->view);
        return sum;
}

/* --------------------------------------------------------------------------------------------- start and end */

struct app_status *app_status_new(const struct status_options *options)
{
        static const struct status_options sums = {.without_details = true, .is_live = true};
        struct app_status *a = new0(struct app_status);
        a->core = status_new(options ? options : &sums);
        app_view_init(&a->view, NULL, a->core, NULL);
        a->view.is_live = true;
        a->listener = (struct listener){
                .name = "AppStatusListener",
#define APP_STATUS_CALLBACK(kind) .on_##kind = app_status_on_##kind,
                EVENT_KINDS(APP_STATUS_CALLBACK)
#undef APP_STATUS_CALLBACK
                        .on_task_start_batch = app_status_on_task_start_batch,
                .on_task_end_batch = app_status_on_task_end_batch,
        };
        return a;
}

struct app_view *app_status_view(struct app_status *a)
{
        return &a->view;
}

struct listener *app_status_listener(struct app_status *a)
{
        return &a->listener;
}

void app_status_free(struct app_status *a)
{
        if (!a)
                return;
        status_free(a->core);
        app_view_deinit(&a->view);
        free(a);
}
