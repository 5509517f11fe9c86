/* Stages; see api.h. */
#include "ui/api/api_internal.h"

#include "base/mem.h"
#include "status/diagnosis.h"

#include <errno.h>

static const char *const api_stage_states[] = {"PENDING", "ACTIVE", "COMPLETE", "FAILED", "SKIPPED"};

/* --------------------------------------------------------------------------------------------------- values */

static void api_put_stage_counts(struct json_out *j, const struct status_stage *stage)
{
        json_text(j, "status", api_stage_states[stage->state]);
        json_int(j, "stageId", stage->id);
        json_int(j, "attemptId", stage->attempt);
        json_int(j, "numTasks", stage->tasks);
        json_int(j, "numActiveTasks", stage->active_tasks);
        json_int(j, "numCompleteTasks", stage->completed_tasks);
        json_int(j, "numFailedTasks", stage->failed_tasks);
        json_int(j, "numKilledTasks", stage->killed_tasks);
        json_int(j, "numCompletedIndices", stage->indices.n);
        if (stage->submission_ms > 0)
                api_put_date(j, "submissionTime", stage->submission_ms);
        if (stage->first_launch_ms > 0)
                api_put_date(j, "firstTaskLaunchedTime", stage->first_launch_ms);
        if (stage->completion_ms > 0)
                api_put_date(j, "completionTime", stage->completion_ms);
        if (stage->failure)
                json_text(j, "failureReason", stage->failure);
}

static void api_put_stage_metrics(struct json_out *j, const struct status_stage *stage)
{
        const struct task_metrics *m = &stage->metrics;
        const struct push_read_metrics *p = &stage->push_metrics;
        api_put_run_metrics(j, m);
        json_int(j, "inputBytes", m->input_bytes);
        json_int(j, "inputRecords", m->input_records);
        json_int(j, "outputBytes", m->output_bytes);
        json_int(j, "outputRecords", m->output_records);
        json_int(j, "shuffleRemoteBlocksFetched", m->shuffle_read.remote_blocks);
        json_int(j, "shuffleLocalBlocksFetched", m->shuffle_read.local_blocks);
        json_int(j, "shuffleFetchWaitTime", m->shuffle_read.fetch_wait_ms);
        json_int(j, "shuffleRemoteBytesRead", m->shuffle_read.remote_bytes);
        json_int(j, "shuffleRemoteBytesReadToDisk", m->shuffle_read.remote_bytes_to_disk);
        json_int(j, "shuffleLocalBytesRead", m->shuffle_read.local_bytes);
        json_int(j, "shuffleReadBytes", m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes);
        json_int(j, "shuffleReadRecords", m->shuffle_read.records);
        json_int(j, "shuffleCorruptMergedBlockChunks", p->corrupt_chunks);
        json_int(j, "shuffleMergedFetchFallbackCount", p->fallbacks);
        json_int(j, "shuffleMergedRemoteBlocksFetched", p->remote_blocks);
        json_int(j, "shuffleMergedLocalBlocksFetched", p->local_blocks);
        json_int(j, "shuffleMergedRemoteChunksFetched", p->remote_chunks);
        json_int(j, "shuffleMergedLocalChunksFetched", p->local_chunks);
        json_int(j, "shuffleMergedRemoteBytesRead", p->remote_bytes);
        json_int(j, "shuffleMergedLocalBytesRead", p->local_bytes);
        json_int(j, "shuffleRemoteReqsDuration", m->shuffle_read.remote_requests_ms);
        json_int(j, "shuffleMergedRemoteReqsDuration", p->remote_requests_ms);
        json_int(j, "shuffleWriteBytes", m->shuffle_write.bytes);
        json_int(j, "shuffleWriteTime", m->shuffle_write.write_ns);
        json_int(j, "shuffleWriteRecords", m->shuffle_write.records);
}

static void api_put_stage_texts(struct json_out *j, const struct status_stage *stage)
{
        json_text(j, "name", stage->name ? stage->name : "");
        if (stage->description)
                json_text(j, "description", stage->description);
        json_text(j, "details", stage->details ? stage->details : "");
        json_text(j, "schedulingPool", stage->pool ? stage->pool : "default");
        json_list(j, "rddIds");
        for (size_t i = 0; i < stage->rdds.len; i++)
                json_int(j, NULL, stage->rdds.data[i].id);
        json_list_end(j);
        api_put_accumulables(j, stage->accumulables.data, stage->accumulables.len);
}

static void api_put_stage_executors(struct api_call *c, const struct status_stage *stage)
{
        struct json_out *j = &c->json;
        json_begin_in(j, "executorSummary");
        for (size_t i = 0; i < stage->executors.len; i++) {
                const struct status_executor_stage *x = &stage->executors.data[i];
                json_begin_in(j, c->s->executor_names.data[x->executor].id);
                json_int(j, "taskTime", x->task_ms);
                json_int(j, "failedTasks", x->failed_tasks);
                json_int(j, "succeededTasks", x->succeeded_tasks);
                json_int(j, "killedTasks", x->killed_tasks);
                json_int(j, "inputBytes", x->input_bytes);
                json_int(j, "inputRecords", x->input_records);
                json_int(j, "outputBytes", x->output_bytes);
                json_int(j, "outputRecords", x->output_records);
                json_int(j, "shuffleRead", x->shuffle_read_bytes);
                json_int(j, "shuffleReadRecords", x->shuffle_read_records);
                json_int(j, "shuffleWrite", x->shuffle_write_bytes);
                json_int(j, "shuffleWriteRecords", x->shuffle_write_records);
                json_int(j, "memoryBytesSpilled", x->memory_bytes_spilled);
                json_int(j, "diskBytesSpilled", x->disk_bytes_spilled);
                json_bool(j, "isBlacklistedForStage", x->excluded);
                if (x->peaks)
                        api_put_peaks(j, "peakMemoryMetrics", x->peaks);
                json_bool(j, "isExcludedForStage", x->excluded);
                json_end(j);
        }
        json_end(j);
}

static void api_put_stage_speculation(struct json_out *j, const struct status_speculation *s)
{
        json_begin_in(j, "speculationSummary");
        json_int(j, "numTasks", s->tasks);
        json_int(j, "numActiveTasks", s->active);
        json_int(j, "numCompletedTasks", s->completed);
        json_int(j, "numFailedTasks", s->failed);
        json_int(j, "numKilledTasks", s->killed);
        json_end(j);
}

/*
 * Puts one line about the limits of the stage, the name of the first limit, and the parts of the stage's time. Spark
 * has no such members: only a request with diagnosis=true gets them.
 */
static void api_put_stage_diagnosis(struct api_call *c, const struct status_stage *stage)
{
        struct stage_diagnosis d;
        struct buf line = BUF_INIT;
        diagnose_stage(c->s, stage, c->now_ms, &d);
        stage_diagnosis_put(stage, &d, &line);
        json_text(&c->json, "limitedBy", buf_text(&line));
        json_text(&c->json, "limit", diagnosis_limit_name(d.limit));
        int64_t task_ms = 0;
        for (size_t i = 0; i < stage->executors.len; i++)
                task_ms += stage->executors.data[i].task_ms;
        json_int(&c->json, "taskTime", task_ms);
        json_begin_in(&c->json, "wallClock");
        for (int i = 0; i < DIAGNOSIS_PARTS; i++)
                if (d.parts_ms[i])
                        json_int(&c->json, diagnosis_part_name((enum diagnosis_part)i), d.parts_ms[i]);
        json_end(&c->json);
        buf_deinit(&line);
}

static void api_put_stage_head(struct api_call *c, const struct status_stage *stage)
{
        json_begin(&c->json);
        api_put_stage_counts(&c->json, stage);
        api_put_stage_metrics(&c->json, stage);
        api_put_stage_texts(&c->json, stage);
}

/* Puts the members that follow the tasks. */
static void api_put_stage_tail(struct api_call *c, const struct status_stage *stage, const struct api_stage_options *o)
{
        struct json_out *j = &c->json;
        if (o->details) {
                api_put_stage_executors(c, stage);
                if (stage->speculation.tasks)
                        api_put_stage_speculation(j, &stage->speculation);
        }
        api_put_killed(j, &stage->killed);
        json_int(j, "resourceProfileId", stage->resource_profile);
        if (stage->has_peaks)
                api_put_peaks(j, "peakExecutorMetrics", &stage->peaks);
        if (o->with_summaries) {
                api_put_task_distributions(c, "taskMetricsDistributions", stage, &o->quantiles);
                api_put_executor_distributions(c, "executorMetricsDistributions", stage, &o->quantiles);
        }
        json_bool(j, "isShufflePushEnabled", stage->push_enabled);
        json_int(j, "shuffleMergersCount", stage->n_mergers);
        if (o->with_diagnosis)
                api_put_stage_diagnosis(c, stage);
        json_end(j);
}

/* --------------------------------------------------------------------------------------------------- resources */

/* Read before anything is written. The quantiles count only with summaries. */
static bool api_get_stage_options(struct api_call *c, bool details, struct api_stage_options *o)
{
        o->details = api_get_flag(c, "details", details);
        o->with_summaries = api_get_flag(c, "withSummaries", false);
        o->with_diagnosis = api_get_flag(c, "diagnosis", false);
        return api_get_quantiles(c, "0.0,0.25,0.5,0.75,1.0", &o->quantiles) &&
               api_get_task_statuses(c, "taskStatus", &o->task_statuses);
}

struct api_stage_key {
        int id, attempt;
};

/* Newest first. */
static int api_stage_compare(const void *a, const void *b)
{
        const struct api_stage_key *x = a, *y = b;
        if (x->id != y->id)
                return x->id < y->id ? 1 : -1;
        return (x->attempt < y->attempt) - (x->attempt > y->attempt);
}

/* Returns the keys of the stages in these states (0: all) and with this id (-1: any), newest first. */
static struct api_stage_key *api_collect_stages(const struct status *s, uint32_t states, int id, size_t *n)
{
        struct api_stage_key *keys = new_array(struct api_stage_key, s->stages.len);
        *n = 0;
        for (size_t i = 0; i < s->stages.len; i++) {
                const struct status_stage *stage = s->stages.data[i];
                if ((!states || states >> stage->state & 1) && (id < 0 || stage->id == id))
                        keys[(*n)++] = (struct api_stage_key){stage->id, stage->attempt};
        }
        qsort(keys, *n, sizeof(*keys), api_stage_compare);
        return keys;
}

/* Writes stages, one after another. */
struct api_stage_steps {
        struct api_steps steps;
        struct api_stage_options options;
        struct api_stage_key *keys;
        size_t n, at; /* of the keys */
        bool is_list;
        bool is_begun; /* the head of the stage is written */
        size_t row;    /* of the tasks of the stage */
};

static int api_stage_steps_step(struct api_steps *steps, struct api_call *c)
{
        struct api_stage_steps *w = container_of(steps, struct api_stage_steps, steps);
        for (; w->at < w->n; w->at++) {
                const struct api_stage_key *key = &w->keys[w->at];
                const struct status_stage *stage = status_find_stage(c->s, key->id, key->attempt);
                if (!stage && w->is_begun)
                        return -ENOENT;
                if (!stage)
                        continue;
                if (api_piece_is_full(c))
                        return 1;
                if (!w->is_begun) {
                        api_put_stage_head(c, stage);
                        if (w->options.details)
                                json_begin_in(&c->json, "tasks");
                        w->is_begun = true;
                        w->row = 0;
                }
                if (w->options.details) {
                        if (!api_put_tasks(c, stage, w->options.task_statuses, &w->row))
                                return 1;
                        json_end(&c->json);
                }
                api_put_stage_tail(c, stage, &w->options);
                w->is_begun = false;
        }
        if (w->is_list)
                json_list_end(&c->json);
        return 0;
}

static void api_stage_steps_free(struct api_steps *steps)
{
        struct api_stage_steps *w = container_of(steps, struct api_stage_steps, steps);
        free(w->keys);
        free(w);
}

/* Writes the stages of @keys, which it takes. Returns 0, or -ENOENT if one was removed on the way. */
static int api_put_stages(struct api_call *c, struct api_stage_key *keys, size_t n, bool is_list,
                          const struct api_stage_options *o)
{
        struct api_stage_steps *w = new0(struct api_stage_steps);
        w->steps = (struct api_steps){.step = api_stage_steps_step, .free = api_stage_steps_free};
        w->options = *o;
        w->keys = keys;
        w->n = n;
        w->is_list = is_list;
        if (is_list)
                json_list(&c->json, NULL);
        return api_run_steps(c, &w->steps);
}

static void api_serve_stage_list(struct api_call *c)
{
        struct api_stage_options o;
        uint32_t states;
        size_t n;
        if (!api_get_set(c, "status", api_stage_states, ARRAY_SIZE(api_stage_states), &states) ||
            !api_get_stage_options(c, false, &o))
                return;
        struct api_stage_key *keys = api_collect_stages(c->s, states, -1, &n);
        if (api_put_stages(c, keys, n, true, &o) < 0)
                api_fail(c, 503, "a stage was removed while it was read: ask again");
}

/* All attempts of a stage, the first one first. */
static void api_serve_stage_attempts(struct api_call *c, int id)
{
        struct api_stage_options o;
        size_t n;
        if (!api_get_stage_options(c, true, &o))
                return;
        struct api_stage_key *keys = api_collect_stages(c->s, 0, id, &n);
        for (size_t i = 0; i < n / 2; i++) {
                struct api_stage_key key = keys[i];
                keys[i] = keys[n - 1 - i];
                keys[n - 1 - i] = key;
        }
        if (n == 0)
                free(keys);
        if (n == 0 || api_put_stages(c, keys, n, true, &o) < 0)
                api_fail(c, 404, "unknown stage: %d", id);
}

static void api_fail_stage_attempt(struct api_call *c, int id)
{
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        size_t n;
        struct api_stage_key *keys = api_collect_stages(c->s, 0, id, &n);
        for (size_t i = n; i-- > 0;)
                buf_printf(&list, "%s%d", list.len ? "," : "", keys[i].attempt);
        free(keys);
        if (n)
                api_fail(c, 404, "unknown attempt for stage %d.  Found attempts: [%s]", id, buf_text(&list));
        else
                api_fail(c, 404, "unknown stage: %d", id);
}

static void api_serve_stage_attempt(struct api_call *c, int id, int attempt)
{
        struct api_stage_options o;
        if (!api_get_stage_options(c, true, &o))
                return;
        if (!status_find_stage(c->s, id, attempt))
                return api_fail_stage_attempt(c, id);
        struct api_stage_key *key = new0(struct api_stage_key);
        *key = (struct api_stage_key){id, attempt};
        if (api_put_stages(c, key, 1, false, &o) < 0)
                api_fail_stage_attempt(c, id);
}

static void api_serve_task_summary(struct api_call *c, int id, int attempt)
{
        struct api_quantiles q;
        const struct status_stage *stage = status_find_stage(c->s, id, attempt);
        if (!api_get_quantiles(c, "0.05,0.25,0.5,0.75,0.95", &q))
                return;
        if (!stage || !api_put_task_distributions(c, NULL, stage, &q))
                api_fail(c, 404, "No tasks reported metrics for %d / %d yet.", id, attempt);
}

void api_serve_stages(struct api_call *c, const char *rest)
{
        int id, attempt;
        if (!*rest)
                return api_serve_stage_list(c);
        int r = api_path_number(&rest, &id);
        if (r == 1 && !*rest)
                return api_serve_stage_attempts(c, id);
        if (r == 1)
                r = api_path_number(&rest, &attempt);
        if (r <= 0)
                api_fail_parameter(c);
        else if (!*rest)
                api_serve_stage_attempt(c, id, attempt);
        else if (strcmp(rest, "/taskSummary") == 0)
                api_serve_task_summary(c, id, attempt);
        else if (strcmp(rest, "/taskList") == 0)
                api_serve_task_list(c, id, attempt);
        else if (strcmp(rest, "/taskTable") == 0)
                api_serve_task_table(c, id, attempt);
        else
                api_fail_parameter(c);
}
