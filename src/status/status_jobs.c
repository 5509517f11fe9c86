/* Jobs and stages; see status.h. */
#include "base/mem.h"
#include "status/status_internal.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------------------- lookup */

struct status_job *status_find_job(const struct status *s, int id)
{
        for (size_t i = s->jobs.len; i-- > 0;)
                if (s->jobs.data[i]->id == id)
                        return s->jobs.data[i];
        return NULL;
}

struct status_stage *status_find_stage(const struct status *s, int id, int attempt)
{
        if (s->last_stage && s->last_stage->id == id && s->last_stage->attempt == attempt)
                return s->last_stage;
        if (id > s->greatest_stage_id)
                return NULL;
        for (size_t i = s->stages.len; i-- > 0;)
                if (s->stages.data[i]->id == id && s->stages.data[i]->attempt == attempt)
                        return s->stages.data[i];
        return NULL;
}

void status_job_free(struct status_job *job)
{
        for (size_t i = 0; i < job->stages.len; i++)
                free(job->stages.data[i].indices.bits);
        vec_deinit(&job->stages);
        vec_deinit(&job->tags);
        vec_deinit(&job->killed);
        free((char *)job->description);
        free((char *)job->failure);
        free(job);
}

void status_stage_free(struct status_stage *stage)
{
        for (size_t i = 0; i < stage->rdds.len; i++)
                free(stage->rdds.data[i].parent_ids);
        vec_deinit(&stage->rdds);
        vec_deinit(&stage->parents);
        vec_deinit(&stage->jobs);
        vec_deinit(&stage->killed);
        vec_deinit(&stage->executors);
        vec_deinit(&stage->accumulables);
        vec_deinit(&stage->notes);
        vec_deinit(&stage->places);
        free(stage->indices.bits);
        free((char *)stage->details);
        free((char *)stage->description);
        free((char *)stage->failure);
        task_columns_deinit(&stage->columns);
        arena_deinit(&stage->texts);
        free(stage);
}

static void status_stage_index(struct status_stage *stage)
{
        for (size_t i = 0; i < stage->executors.len; i++) {
                while (stage->places.len <= stage->executors.data[i].executor)
                        vec_push(&stage->places, 0);
                stage->places.data[stage->executors.data[i].executor] = (uint32_t)i + 1;
        }
}

void status_index(struct status *s)
{
        for (size_t i = 0; i < s->executors.len; i++)
                s->n_dead += !s->executors.data[i]->is_active;
        for (size_t i = 0; i < s->rdds.len; i++)
                status_rdd_index(s->rdds.data[i]);
        for (size_t i = 0; i < s->jobs.len; i++)
                if (s->jobs.data[i]->state == STATUS_JOB_RUNNING)
                        vec_push(&s->running_jobs, s->jobs.data[i]);
        for (size_t i = 0; i < s->stages.len; i++) {
                s->n_pending_stages += s->stages.data[i]->state == STATUS_STAGE_PENDING;
                s->greatest_stage_id = MAX(s->greatest_stage_id, s->stages.data[i]->id);
                status_stage_index(s->stages.data[i]);
        }
}

static void status_set_stage_state(struct status *s, struct status_stage *stage, enum status_stage_state state)
{
        s->n_pending_stages -= stage->state == STATUS_STAGE_PENDING;
        s->n_pending_stages += state == STATUS_STAGE_PENDING;
        stage->state = state;
}

/* ------------------------------------------------------------------------------------------------- pools */

static struct status_pool *status_get_pool(struct status *s, const char *name)
{
        for (size_t i = 0; i < s->pools.len; i++)
                if (strcmp(s->pools.data[i].name, name) == 0)
                        return &s->pools.data[i];
        vec_push(&s->pools, (struct status_pool){.name = status_text(s, name)});
        return &s->pools.data[s->pools.len - 1];
}

static void status_leave_pool(struct status *s, const struct status_stage *stage)
{
        for (size_t i = 0; i < s->pools.len; i++) {
                struct status_pool *p = &s->pools.data[i];
                for (size_t k = 0; k < p->stages.len; k++)
                        if (p->stages.data[k] == stage) {
                                memmove(&p->stages.data[k], &p->stages.data[k + 1],
                                        (p->stages.len - k - 1) * sizeof(p->stages.data[0]));
                                p->stages.len--;
                                return;
                        }
        }
}

/* --------------------------------------------------------------------------------------------- retention */

struct status_age {
        int64_t ms;
        size_t at;
};

static int status_age_compare(const void *a, const void *b)
{
        const struct status_age *x = a, *y = b;
        if (x->ms != y->ms)
                return x->ms < y->ms ? -1 : 1;
        return (x->at > y->at) - (x->at < y->at);
}

/* Sorts by age. Most lists are in order already. */
static void status_ages_sort(struct status_age *ages, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (status_age_compare(&ages[i - 1], &ages[i]) > 0) {
                        qsort(ages, n, sizeof(*ages), status_age_compare);
                        return;
                }
}

/* Removes the jobs marked `is_removed` from the lists of all stages, in one pass. */
static void status_unlist_removed_jobs(struct status *s)
{
        for (size_t i = 0; i < s->stages.len; i++) {
                struct status_stage *stage = s->stages.data[i];
                size_t to = 0;
                for (size_t k = 0; k < stage->jobs.len; k++)
                        if (!stage->jobs.data[k].job->is_removed)
                                stage->jobs.data[to++] = stage->jobs.data[k];
                stage->jobs.len = to;
        }
}

static void status_trim_jobs(struct status *s)
{
        size_t excess = status_excess(s->jobs.len, s->options.retained_jobs), n = 0, to = 0;
        if (!excess)
                return;
        struct status_age *ages = new_array(struct status_age, s->jobs.len);
        for (size_t i = 0; i < s->jobs.len; i++)
                if (s->jobs.data[i]->state != STATUS_JOB_RUNNING)
                        ages[n++] = (struct status_age){s->jobs.data[i]->completion_ms, i};
        status_ages_sort(ages, n);
        for (size_t i = 0; i < n && i < excess; i++)
                s->jobs.data[ages[i].at]->is_removed = true;
        free(ages);
        status_unlist_removed_jobs(s);
        for (size_t i = 0; i < s->jobs.len; i++)
                if (s->jobs.data[i]->is_removed)
                        status_job_free(s->jobs.data[i]);
                else
                        s->jobs.data[to++] = s->jobs.data[i];
        s->jobs.len = to;
}

static void status_trim_stages(struct status *s)
{
        size_t excess = status_excess(s->stages.len, s->options.retained_stages), n = 0, to = 0;
        if (!excess)
                return;
        struct status_age *ages = new_array(struct status_age, s->stages.len);
        for (size_t i = 0; i < s->stages.len; i++) {
                const struct status_stage *stage = s->stages.data[i];
                if (!status_stage_is_live(stage))
                        ages[n++] = (struct status_age){stage->completion_ms > 0 ? stage->completion_ms : -1, i};
        }
        status_ages_sort(ages, n);
        for (size_t i = 0; i < n && i < excess; i++) {
                status_stage_free(s->stages.data[ages[i].at]);
                s->stages.data[ages[i].at] = NULL;
        }
        free(ages);
        for (size_t i = 0; i < s->stages.len; i++)
                if (s->stages.data[i])
                        s->stages.data[to++] = s->stages.data[i];
        s->stages.len = to;
        s->last_stage = NULL;
}

/* -------------------------------------------------------------------------------------------------- stages */

static void status_replace_text(const char **text, const char *with)
{
        char *copy = mem_strdup_if(with);
        free((char *)*text);
        *text = copy;
}

static const struct rdd_scope *status_copy_scope(struct status *s, const struct rdd_scope *from)
{
        const struct rdd_scope *first = NULL, **last = &first;
        for (; from; from = from->parent) {
                struct rdd_scope *scope = arena_alloc(&s->texts, sizeof(*scope));
                *scope = (struct rdd_scope){.id = status_text(s, from->id), .name = status_text(s, from->name)};
                *last = scope;
                last = &scope->parent;
        }
        return first;
}

static void status_set_rdds(struct status *s, struct status_stage *stage, const struct stage_info *info)
{
        for (size_t i = 0; i < stage->rdds.len; i++)
                free(stage->rdds.data[i].parent_ids);
        stage->rdds.len = 0;
        for (size_t i = 0; i < info->n_rdds; i++) {
                const struct rdd_info *r = &info->rdds[i];
                struct status_rdd_info mine = {.id = r->id,
                                               .n_parents = (int)r->n_parents,
                                               .name = status_text(s, r->name),
                                               .call_site = status_text(s, r->call_site),
                                               .scope = status_text(s, r->scope),
                                               .scope_id = r->scope_id,
                                               .outer_scope = status_copy_scope(s, r->outer_scope),
                                               .level = r->level,
                                               .determinism = r->determinism,
                                               .barrier = r->barrier,
                                               .partitions = r->partitions};
                mine.parent_ids = new_array(int, r->n_parents);
                if (r->n_parents)
                        memcpy(mine.parent_ids, r->parent_ids, r->n_parents * sizeof(int));
                vec_push(&stage->rdds, mine);
        }
}

/* Sets what a stage's info says. */
static void status_set_stage(struct status *s, struct status_stage *stage, const struct stage_info *info)
{
        stage->name = status_text(s, info->name);
        stage->tasks = info->tasks;
        stage->submission_ms = info->submission_ms;
        stage->completion_ms = info->completion_ms;
        stage->resource_profile = info->resource_profile;
        stage->push_enabled = info->push_enabled;
        stage->n_mergers = info->n_mergers;
        status_replace_text(&stage->details, info->details ? info->details : info->name);
        status_replace_text(&stage->failure, info->failure_reason);
        status_set_rdds(s, stage, info);
        stage->parents.len = 0;
        for (size_t i = 0; i < info->n_parents; i++)
                vec_push(&stage->parents, info->parent_ids[i]);
}

static struct status_stage *status_get_stage(struct status *s, const struct stage_info *info)
{
        struct status_stage *stage = status_find_stage(s, info->id, info->attempt);
        if (!stage) {
                stage = new0(struct status_stage);
                stage->id = info->id;
                stage->attempt = info->attempt;
                stage->pool = "default";
                vec_push(&s->stages, stage);
                s->n_pending_stages++;
                s->greatest_stage_id = MAX(s->greatest_stage_id, stage->id);
                status_set_stage(s, stage, info);
        }
        return stage;
}

static void status_list_job(struct status_stage *stage, struct status_job *job)
{
        for (size_t i = 0; i < stage->jobs.len; i++)
                if (stage->jobs.data[i].job == job)
                        return;
        for (size_t i = 0; i < job->stages.len; i++)
                if (job->stages.data[i].id == stage->id)
                        vec_push(&stage->jobs, (struct status_stage_job){job, i});
}

void status_on_stage_submitted(struct status *s, const struct stage_submitted *e)
{
        struct status_stage *stage = status_get_stage(s, &e->stage);
        const char *pool = e->properties ? strmap_get(e->properties, "spark.scheduler.pool") : NULL;
        status_see_time(s, e->stage.submission_ms);
        status_set_stage(s, stage, &e->stage);
        status_leave_pool(s, stage);
        status_set_stage_state(s, stage, STATUS_STAGE_ACTIVE);
        stage->pool = status_text(s, pool ? pool : "default");
        status_replace_text(&stage->description,
                            e->properties ? strmap_get(e->properties, "spark.job.description") : NULL);
        struct status_pool *p = status_get_pool(s, stage->pool);
        vec_push(&p->stages, stage);
        for (size_t i = 0; i < s->running_jobs.len; i++)
                status_list_job(stage, s->running_jobs.data[i]);
        for (size_t i = 0; i < stage->jobs.len; i++) {
                struct status_job *job = stage->jobs.data[i].job;
                struct status_job_stage *mine = &job->stages.data[stage->jobs.data[i].place];
                job->completed_stages -= mine->completed;
                mine->completed = false;
                job->active_stages++;
        }
        status_add_rdds(s, &e->stage);
        status_trim_stages(s);
}

static void status_end_stage_in_job(struct status_stage *stage, const struct status_stage_job *place)
{
        struct status_job *job = place->job;
        struct status_job_stage *mine = &job->stages.data[place->place];
        if (stage->state == STATUS_STAGE_COMPLETE) {
                job->completed_stages += !mine->completed;
                mine->completed = true;
        } else if (stage->state == STATUS_STAGE_SKIPPED) {
                job->skipped_stages += !mine->skipped;
                mine->skipped = true;
                job->skipped_tasks += stage->tasks;
        } else {
                job->failed_stages++;
        }
        job->active_stages = MAX(job->active_stages - 1, 0);
}

/* Ends the exclusions of a stage that has ended. */
static void status_end_stage_exclusions(struct status *s, const struct status_stage *stage)
{
        for (size_t i = 0; i < s->executors.len; i++) {
                struct status_executor *x = s->executors.data[i];
                size_t to = 0;
                if (!x->is_active) /* as in Spark, a dead one stays as it was */
                        continue;
                for (size_t k = 0; k < x->excluded_in_stages.len; k++)
                        if (x->excluded_in_stages.data[k] != stage->id)
                                x->excluded_in_stages.data[to++] = x->excluded_in_stages.data[k];
                x->excluded_in_stages.len = to;
        }
}

void status_on_stage_completed(struct status *s, const struct stage_completed *e)
{
        struct status_stage *stage = status_get_stage(s, &e->stage);
        status_see_time(s, e->stage.completion_ms);
        if (!status_stage_is_live(stage))
                return; /* the same event again */
        status_set_stage(s, stage, &e->stage);
        status_set_stage_state(s, stage,
                               e->stage.failure_reason      ? STATUS_STAGE_FAILED
                               : e->stage.submission_ms > 0 ? STATUS_STAGE_COMPLETE
                                                            : STATUS_STAGE_SKIPPED);
        s->totals.failed_stages += stage->state == STATUS_STAGE_FAILED;
        s->totals.completed_stages += stage->state == STATUS_STAGE_COMPLETE;
        s->totals.skipped_stages += stage->state == STATUS_STAGE_SKIPPED;
        stage->accumulables.len = 0;
        for (size_t i = 0; i < e->stage.n_accumulables; i++) {
                const struct accumulable *a = &e->stage.accumulables[i];
                vec_push(&stage->accumulables,
                         (struct accumulable){.id = a->id,
                                              .name = status_text(s, a->name),
                                              .value = a->value ? arena_copy(&stage->texts, a->value, strlen(a->value))
                                                                : NULL});
        }
        for (size_t i = 0; i < stage->jobs.len; i++)
                status_end_stage_in_job(stage, &stage->jobs.data[i]);
        status_leave_pool(s, stage);
        status_end_stage_exclusions(s, stage);
        if (!stage->active_tasks)
                task_columns_finish(&stage->columns);
        status_trim_stages(s);
}

void status_exclude_in_stage(struct status *s, struct status_executor *x, int stage_id, int attempt, bool excluded)
{
        struct status_stage *stage = status_find_stage(s, stage_id, attempt);
        size_t to = 0;
        for (size_t i = 0; i < x->excluded_in_stages.len; i++)
                if (x->excluded_in_stages.data[i] != stage_id)
                        x->excluded_in_stages.data[to++] = x->excluded_in_stages.data[i];
        x->excluded_in_stages.len = to;
        if (excluded && stage && status_stage_is_live(stage))
                vec_push(&x->excluded_in_stages, stage_id);
        for (size_t i = 0; stage && i < stage->executors.len; i++)
                if (stage->executors.data[i].executor == x->number)
                        stage->executors.data[i].excluded = excluded;
}

/*
 * Corrects the counts of tasks whose ends were lost. Until the application ends they may run: a killed attempt ends
 * later than its stage. An end may still come: Spark logs its own end before those of the last tasks.
 */
static void status_close_stage(struct status *s, struct status_stage *stage)
{
        int64_t lost = stage->active_tasks;
        if (!lost)
                return;
        stage->lost_ends = lost;
        s->totals.lost_ends += lost;
        stage->active_tasks = 0;
        stage->speculation.active = 0;
        for (size_t i = 0; i < stage->jobs.len; i++) {
                struct status_job *job = stage->jobs.data[i].job;
                job->active_tasks = MAX(job->active_tasks - lost, (int64_t)0);
        }
        for (size_t i = 0; i < stage->executors.len; i++) {
                struct status_executor_stage *x = &stage->executors.data[i];
                struct status_executor *all = status_find_executor(s, s->executor_names.data[x->executor].id);
                if (all)
                        all->active_tasks = MAX(all->active_tasks - x->active_tasks, (int64_t)0);
                x->active_tasks = 0;
        }
}

void status_close_stages(struct status *s)
{
        for (size_t i = 0; i < s->stages.len; i++)
                if (!status_stage_is_live(s->stages.data[i]))
                        status_close_stage(s, s->stages.data[i]);
}

/* ---------------------------------------------------------------------------------------------------- jobs */

static void status_set_tags(struct status *s, struct status_job *job, const char *tags)
{
        while (tags && *tags) {
                size_t n = strcspn(tags, ",");
                _cleanup_free_ char *tag = mem_strndup(tags, n);
                if (n)
                        vec_push(&job->tags, status_text(s, tag));
                tags += n + (tags[n] == ',');
        }
}

void status_on_job_start(struct status *s, const struct job_start *e)
{
        struct status_job *job = new0(struct status_job);
        const struct stage_info *last = NULL;
        status_see_time(s, e->ms);
        job->id = e->id;
        job->submission_ms = e->ms;
        for (size_t i = 0; i < e->n_stages; i++) {
                if (!last || e->stages[i].id >= last->id)
                        last = &e->stages[i];
                job->tasks += e->stages[i].completion_ms > 0 ? 0 : e->stages[i].tasks;
                vec_push(&job->stages, (struct status_job_stage){.id = e->stages[i].id});
        }
        job->name = status_text(s, last ? last->name : "");
        if (e->properties) {
                job->description = mem_strdup_if(strmap_get(e->properties, "spark.job.description"));
                job->group = status_text(s, strmap_get(e->properties, "spark.jobGroup.id"));
                status_set_tags(s, job, strmap_get(e->properties, "spark.job.tags"));
        }
        vec_push(&s->jobs, job);
        vec_push(&s->running_jobs, job);
        for (size_t i = 0; i < e->n_stages; i++)
                status_list_job(status_get_stage(s, &e->stages[i]), job);
        status_trim_jobs(s);
        status_trim_stages(s);
}

/* True if another running job lists the stage. */
static bool status_stage_is_needed(const struct status_stage *stage)
{
        for (size_t i = 0; i < stage->jobs.len; i++)
                if (stage->jobs.data[i].job->state == STATUS_JOB_RUNNING)
                        return true;
        return false;
}

static void status_skip_stage(struct status *s, struct status_stage *stage)
{
        status_set_stage_state(s, stage, STATUS_STAGE_SKIPPED);
        s->totals.skipped_stages++;
        s->totals.skipped_tasks += stage->tasks;
        status_leave_pool(s, stage);
}

/* Skips the stages of an ended job that were not submitted. A stage that another job waits for stays pending. */
static void status_skip_pending(struct status *s, struct status_job *job)
{
        size_t left = s->n_pending_stages;
        for (size_t i = s->stages.len; i-- > 0 && left > 0;) { /* pending ones are the newest */
                struct status_stage *stage = s->stages.data[i];
                if (stage->state != STATUS_STAGE_PENDING)
                        continue;
                left--;
                for (size_t k = 0; k < stage->jobs.len; k++) {
                        if (stage->jobs.data[k].job != job)
                                continue;
                        struct status_job_stage *mine = &job->stages.data[stage->jobs.data[k].place];
                        job->skipped_stages += !mine->skipped;
                        mine->skipped = true;
                        job->skipped_tasks += stage->tasks;
                        if (!status_stage_is_needed(stage))
                                status_skip_stage(s, stage);
                        break;
                }
        }
}

static void status_leave_running(struct status *s, const struct status_job *job)
{
        size_t to = 0;
        for (size_t i = 0; i < s->running_jobs.len; i++)
                if (s->running_jobs.data[i] != job)
                        s->running_jobs.data[to++] = s->running_jobs.data[i];
        s->running_jobs.len = to;
}

void status_on_job_end(struct status *s, const struct job_end *e)
{
        struct status_job *job = status_find_job(s, e->id);
        status_see_time(s, e->ms);
        if (!job || job->state != STATUS_JOB_RUNNING)
                return;
        status_leave_running(s, job);
        job->state = e->failure ? STATUS_JOB_FAILED : STATUS_JOB_SUCCEEDED;
        job->failure = mem_strdup_if(e->failure);
        job->completion_ms = e->ms;
        s->totals.failed_jobs += e->failure != NULL;
        s->totals.succeeded_jobs += !e->failure;
        if (!e->failure)
                s->totals.job_ms = MAX(e->ms - job->submission_ms, (int64_t)0);
        status_skip_pending(s, job);
        status_trim_jobs(s);
        status_trim_stages(s);
}
