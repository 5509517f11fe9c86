/* Starts and ends of tasks; see status.h. They are by far the most frequent events: nothing here allocates for most. */
#include "base/mem.h"
#include "status/status_internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

/* ------------------------------------------------------------------------------------------------- counting */

/* Sets the bit of an index. Returns false if it was set. */
static bool status_indices_add(struct status_indices *set, int32_t index)
{
        if (index < 0 || index >= 1 << 28)
                return false;
        size_t word = (size_t)index / 64;
        uint64_t bit = (uint64_t)1 << index % 64;
        if (word >= set->n_words) {
                size_t n = MAX(word + 1, set->n_words * 2);
                set->bits = mem_grow(set->bits, n * sizeof(uint64_t));
                memset(set->bits + set->n_words, 0, (n - set->n_words) * sizeof(uint64_t));
                set->n_words = n;
        }
        if (set->bits[word] & bit)
                return false;
        set->bits[word] |= bit;
        set->n++;
        return true;
}

/* Sets the bits of @n indices. Returns how many were not set. */
static int64_t status_indices_add_range(struct status_indices *set, int64_t first, size_t n)
{
        int64_t before = set->n;
        if (first < 0 || first + (int64_t)n > 1 << 28)
                return 0;
        for (size_t at = (size_t)first, end = at + n; at < end;) {
                size_t word = at / 64, bit = at % 64, k = MIN(64 - bit, end - at);
                uint64_t bits = (k == 64 ? ~(uint64_t)0 : ((uint64_t)1 << k) - 1) << bit;
                status_indices_add(set, (int32_t)at); /* makes room */
                set->n += __builtin_popcountll(bits & ~set->bits[word]);
                set->bits[word] |= bits;
                at += k;
        }
        return set->n - before;
}

static int64_t status_indices_add_batch(struct status_indices *set, const struct task_event_batch *b)
{
        int64_t n = 0;
        if (task_event_is_rising(b, TASK_EVENT_INDEX))
                return status_indices_add_range(set, b->values[TASK_EVENT_INDEX], b->n);
        for (size_t i = 0; i < b->n; i++)
                n += status_indices_add(set, (int32_t)task_event_value(b, TASK_EVENT_INDEX, i));
        return n;
}

/* Counts a killed task of @reason. Random reasons are not collected for ever. */
static void status_count_killed(struct status *s, status_killed_list *list, const char *reason)
{
        enum { MAX_REASONS = 100 };
        for (size_t i = 0; i < list->len; i++)
                if (strcmp(list->data[i].reason, reason) == 0) {
                        list->data[i].n++;
                        return;
                }
        if (list->len < MAX_REASONS)
                vec_push(list, (struct status_killed){status_text(s, reason), 1});
}

static struct status_executor_stage *status_stage_executor(struct status_stage *stage, uint32_t executor)
{
        while (unlikely(stage->places.len <= executor))
                vec_push(&stage->places, 0);
        if (unlikely(!stage->places.data[executor])) {
                vec_push(&stage->executors, (struct status_executor_stage){.executor = executor});
                stage->places.data[executor] = (uint32_t)stage->executors.len;
        }
        return &stage->executors.data[stage->places.data[executor] - 1];
}

/* Returns the stage of a task. One that no event named has no other data. */
static struct status_stage *status_stage_of_task(struct status *s, const struct task_info *info)
{
        struct status_stage *stage = status_find_stage(s, info->stage_id, info->stage_attempt);
        s->last_stage = stage;
        return stage;
}

/* ---------------------------------------------------------------------------------------------------- start */

static void status_remove_notes(void *owner, size_t row, size_t n)
{
        struct status_stage *stage = owner;
        size_t at = vec_place(&stage->notes, row, row), end = at;
        while (end < stage->notes.len && stage->notes.data[end].row < row + n)
                end++;
        memmove(&stage->notes.data[at], &stage->notes.data[end],
                (stage->notes.len - end) * sizeof(stage->notes.data[0]));
        stage->notes.len -= end - at;
}

static void status_trim_tasks(struct status *s, struct status_stage *stage)
{
        size_t excess = status_excess(stage->columns.n_retained, s->options.retained_tasks);
        if (unlikely(excess))
                task_columns_remove_oldest(&stage->columns, excess, s->options.is_live,
                                           stage->notes.len ? status_remove_notes : NULL, stage);
}

void status_on_task_start(struct status *s, const struct task_start *e)
{
        const struct task_info *info = &e->info;
        struct status_stage *stage = status_stage_of_task(s, info);
        struct status_executor *x = status_executor_of_task(s, info);
        status_see_time(s, info->launch_ms);
        x->active_tasks++;
        x->total_tasks++;
        if (!stage)
                return;
        stage->active_tasks++;
        stage->locality[MIN(info->locality, (uint8_t)LOCALITY_ANY)]++;
        if (!stage->first_launch_ms || info->launch_ms < stage->first_launch_ms)
                stage->first_launch_ms = info->launch_ms;
        stage->speculation.tasks += info->speculative;
        stage->speculation.active += info->speculative;
        for (size_t i = 0; i < stage->jobs.len; i++)
                stage->jobs.data[i].job->active_tasks++;
        if (s->options.without_details)
                return;
        status_stage_executor(stage, x->number)->active_tasks++;
        task_columns_start(&stage->columns, info, x->number);
        status_trim_tasks(s, stage);
}

void status_on_task_start_batch(struct status *s, const struct task_event_batch *b)
{
        const struct task_info info = {.executor = b->executor,
                                       .stage_id = b->stage_id,
                                       .stage_attempt = b->stage_attempt,
                                       .launch_ms = b->values[TASK_EVENT_LAUNCH]};
        struct task_event_range launch = task_event_range(b, TASK_EVENT_LAUNCH);
        struct status_stage *stage = status_stage_of_task(s, &info);
        struct status_executor *x = status_executor_of_task(s, &info);
        status_see_time(s, launch.greatest);
        x->active_tasks += b->n;
        x->total_tasks += b->n;
        if (!stage)
                return;
        stage->active_tasks += b->n;
        stage->locality[MIN(b->locality, (uint8_t)LOCALITY_ANY)] += b->n;
        if (!stage->first_launch_ms || launch.least < stage->first_launch_ms)
                stage->first_launch_ms = launch.least;
        stage->speculation.tasks += b->speculative ? b->n : 0;
        stage->speculation.active += b->speculative ? b->n : 0;
        for (size_t i = 0; i < stage->jobs.len; i++)
                stage->jobs.data[i].job->active_tasks += b->n;
        if (s->options.without_details)
                return;
        status_stage_executor(stage, x->number)->active_tasks += b->n;
        task_columns_start_batch(&stage->columns, b, x->number);
        status_trim_tasks(s, stage);
}

void status_on_task_getting_result(struct status *s, const struct task_getting_result *e)
{
        status_see_time(s, e->getting_result_ms);
        /* A line of a log does not name the stage. */
        for (size_t i = s->stages.len; i-- > 0;) {
                struct status_stage *stage = s->stages.data[i];
                if (e->info.stage_id >= 0 ? stage->id != e->info.stage_id || stage->attempt != e->info.stage_attempt
                                          : !stage->active_tasks)
                        continue;
                size_t row = task_columns_find(&stage->columns, e->info.id);
                if (row == SIZE_MAX)
                        continue;
                task_columns_getting_result(&stage->columns, row, e->getting_result_ms);
                return;
        }
}

void status_on_speculative_submitted(struct status *s, const struct speculative_submitted *e)
{
        struct status_stage *stage = status_find_stage(s, e->stage_id, e->stage_attempt);
        if (stage)
                stage->submitted_speculative++;
}

/* Spark shows nothing of it. */
void status_on_unschedulable_changed(struct status *s, const struct unschedulable_changed *e)
{
        (void)s;
        (void)e;
}

/* ------------------------------------------------------------------------------------------------- errors */

static char *status_fetch_error(const struct task_detail *d)
{
        char index[16] = "Unknown";
        _cleanup_free_ char *manager =
                d->block_manager.host ? mem_printf("BlockManagerId(%s, %s, %d, None)", d->block_manager.executor_id,
                                                   d->block_manager.host, d->block_manager.port)
                                      : mem_strdup("null");
        if (d->map_index != INT_MIN)
                snprintf(index, sizeof(index), "%d", d->map_index);
        return mem_printf("FetchFailed(%s, shuffleId=%d, mapIndex=%s, mapId=%" PRId64 ", reduceId=%d, message=\n%s\n)",
                          manager, d->shuffle_id, index, d->map_id, d->reduce_id, d->message ? d->message : "");
}

static char *status_exception_error(const struct task_detail *d)
{
        if (d->reason && strcmp(d->reason, "Resubmitted") == 0)
                return mem_strdup("Resubmitted (resubmitted due to lost executor)");
        if (d->reason && strcmp(d->reason, "TaskResultLost") == 0)
                return mem_strdup("TaskResultLost (result lost from block manager)");
        if (d->reason)
                return mem_strdup(d->reason);
        if (d->full_stack_trace)
                return mem_strdup(d->full_stack_trace);
        return mem_printf("%s: %s", d->class_name ? d->class_name : "firesteel.TaskFailure",
                          d->description ? d->description : "");
}

char *status_task_error(const struct task_end *e)
{
        static const struct task_detail nothing = {0};
        const struct task_detail *d = e->detail ? e->detail : &nothing;
        switch ((enum task_state)e->state) {
        case TASK_SUCCEEDED:
                return NULL;
        case TASK_FAILED:
        case TASK_FAILED_FATAL:
                return status_exception_error(d);
        case TASK_FETCH_FAILED:
                return status_fetch_error(d);
        case TASK_KILLED:
                return mem_strdup(d->message ? d->message : "");
        case TASK_COMMIT_DENIED:
                return mem_printf("TaskCommitDenied (Driver denied task commit) for job: %d, partition: %d, "
                                  "attemptNumber: %d",
                                  d->job_id, d->commit_partition, d->commit_attempt);
        case TASK_EXECUTOR_LOST:
        case TASK_PREEMPTED:
                return mem_printf("ExecutorLostFailure (executor %s exited %s) Reason: %s",
                                  d->executor_id     ? d->executor_id
                                  : e->info.executor ? e->info.executor->id
                                                     : "Unknown",
                                  e->state == TASK_EXECUTOR_LOST ? "caused by one of the running tasks"
                                                                 : "unrelated to the running tasks",
                                  d->message ? d->message : "");
        case TASK_RUNNING:
                break;
        }
        return mem_strdup("UnknownReason");
}

/* Keeps what few tasks have: an error, accumulables. */
static void status_add_note(struct status *s, struct status_stage *stage, size_t row, const struct task_end *e,
                            const char *error)
{
        struct status_task_note note = {.row = row};
        size_t n = e->detail ? e->detail->n_accumulables : 0;
        if (!error && !n)
                return;
        if (error)
                note.error = arena_copy(&stage->texts, error, strlen(error));
        if (n) {
                struct accumulable *list = arena_alloc(&stage->texts, n * sizeof(*list));
                for (size_t i = 0; i < n; i++) {
                        const struct accumulable *a = &e->detail->accumulables[i];
                        list[i] = (struct accumulable){
                                .id = a->id,
                                .name = status_text(s, a->name),
                                .update = a->update ? arena_copy(&stage->texts, a->update, strlen(a->update)) : NULL,
                                .value = a->value ? arena_copy(&stage->texts, a->value, strlen(a->value)) : NULL};
                }
                note.accumulables = list;
                note.n_accumulables = n;
        }
        size_t at = vec_place(&stage->notes, row, row);
        if (at < stage->notes.len && stage->notes.data[at].row == row)
                stage->notes.data[at] = note;
        else
                vec_insert(&stage->notes, at, note);
}

/* --------------------------------------------------------------------------------------------------- ends */

/* Adds all metrics. peak_execution_memory is a sum, too, as in Spark. */
static void status_add_metrics(struct status_stage *stage, const struct task_end *e)
{
        const int64_t *from = (const int64_t *)&e->metrics;
        int64_t *to = (int64_t *)&stage->metrics;
        for (size_t i = 0; i < sizeof(e->metrics) / sizeof(int64_t); i++)
                to[i] += from[i];
        if (likely(!e->detail || !e->detail->push_read))
                return;
        from = (const int64_t *)e->detail->push_read;
        to = (int64_t *)&stage->push_metrics;
        for (size_t i = 0; i < sizeof(stage->push_metrics) / sizeof(int64_t); i++)
                to[i] += from[i];
}

/* How a task ended, as three counts of which one is 1. */
struct status_outcome {
        enum task_row_status status;
        int succeeded, failed, killed;
        int ended; /* 0 if it is resubmitted: another event says that it ended */
        bool resubmitted, has_metrics;
};

static struct status_outcome status_outcome_of(const struct task_end *e)
{
        bool killed = e->state == TASK_KILLED || e->state == TASK_COMMIT_DENIED;
        bool succeeded = e->state == TASK_SUCCEEDED;
        bool resubmitted = e->detail && e->detail->reason && strcmp(e->detail->reason, "Resubmitted") == 0;
        return (struct status_outcome){.status = succeeded                 ? TASK_ROW_SUCCESS
                                                 : e->state == TASK_KILLED ? TASK_ROW_KILLED
                                                                           : TASK_ROW_FAILED,
                                       .succeeded = succeeded,
                                       .killed = killed,
                                       .failed = !succeeded && !killed,
                                       .ended = !resubmitted,
                                       .resubmitted = resubmitted,
                                       .has_metrics = task_end_has_metrics(e)};
}

static void status_executor_add_metrics(struct status_executor *x, const struct task_metrics *m)
{
        x->gc_ms += m->jvm_gc_ms;
        x->input_bytes += m->input_bytes;
        x->shuffle_read_bytes += m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes;
        x->shuffle_write_bytes += m->shuffle_write.bytes;
}

static void status_executor_stage_add_metrics(struct status_executor_stage *x, const struct task_metrics *m)
{
        x->input_bytes += m->input_bytes;
        x->input_records += m->input_records;
        x->output_bytes += m->output_bytes;
        x->output_records += m->output_records;
        x->shuffle_read_bytes += m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes;
        x->shuffle_read_records += m->shuffle_read.records;
        x->shuffle_write_bytes += m->shuffle_write.bytes;
        x->shuffle_write_records += m->shuffle_write.records;
        x->memory_bytes_spilled += m->memory_bytes_spilled;
        x->disk_bytes_spilled += m->disk_bytes_spilled;
}

static void status_end_on_executor(struct status_executor *x, const struct task_end *e, const struct status_outcome *o)
{
        const struct task_metrics *m = &e->metrics;
        x->active_tasks -= x->active_tasks > 0 ? o->ended : 0;
        x->completed_tasks += o->succeeded;
        x->failed_tasks += o->failed;
        x->duration_ms += e->finish_ms - e->info.launch_ms;
        x->peak_task_memory = MAX(x->peak_task_memory, m->peak_execution_memory);
        if (unlikely(e->detail && e->detail->peaks))
                status_raise_executor_peaks(x, e->detail->peaks);
        else
                x->has_peaks = true; /* all zero */
        if (!o->has_metrics || o->resubmitted)
                return;
        status_executor_add_metrics(x, m);
}

static void status_end_on_stage_executor(struct status_executor_stage *x, const struct task_end *e,
                                         const struct status_outcome *o)
{
        const struct task_metrics *m = &e->metrics;
        x->active_tasks -= x->active_tasks > 0 ? o->ended : 0;
        x->task_ms += o->resubmitted ? 0 : e->finish_ms - e->info.launch_ms;
        x->succeeded_tasks += o->succeeded;
        x->failed_tasks += o->failed;
        x->killed_tasks += o->killed;
        if (!o->has_metrics)
                return;
        status_executor_stage_add_metrics(x, m);
}

static void status_raise_stage_peaks(struct status_stage *stage, uint32_t executor, const struct executor_peaks *peaks)
{
        struct status_executor_stage *x = status_stage_executor(stage, executor);
        if (!status_peaks_are_known(peaks))
                return;
        struct executor_peaks *mine = (struct executor_peaks *)x->peaks;
        if (!mine) {
                mine = arena_alloc(&stage->texts, sizeof(*mine));
                memset(mine, 0, sizeof(*mine));
                x->peaks = mine;
        }
        status_raise_peaks(mine, peaks);
        status_raise_peaks(&stage->peaks, peaks);
        stage->has_peaks = true;
}

static void status_end_in_jobs(struct status *s, struct status_stage *stage, const struct task_end *e,
                               const struct status_outcome *o, const char *reason)
{
        for (size_t i = 0; i < stage->jobs.len; i++) {
                struct status_job *job = stage->jobs.data[i].job;
                struct status_job_stage *mine = &job->stages.data[stage->jobs.data[i].place];
                job->active_tasks -= job->active_tasks > 0 ? o->ended : 0;
                job->completed_tasks += o->succeeded;
                job->failed_tasks += o->failed;
                job->killed_tasks += o->killed;
                if (o->succeeded)
                        job->completed_indices += status_indices_add(&mine->indices, e->info.index);
                if (unlikely(o->killed))
                        status_count_killed(s, &job->killed, reason);
        }
}

/* Up to @n ends of tasks that were counted as lost have come after the application's end. */
static void status_count_late_ends(struct status *s, struct status_stage *stage, int64_t n)
{
        int64_t late = MIN(stage->lost_ends, n);
        stage->lost_ends -= late;
        s->totals.lost_ends -= late;
}

static void status_end_in_stage(struct status *s, struct status_stage *stage, const struct task_end *e,
                                const struct status_outcome *o, const char *reason)
{
        bool speculative = e->info.speculative;
        if (unlikely(stage->lost_ends))
                status_count_late_ends(s, stage, o->ended);
        stage->active_tasks -= stage->active_tasks > 0 ? o->ended : 0;
        stage->completed_tasks += o->succeeded;
        stage->failed_tasks += o->failed;
        stage->killed_tasks += o->killed;
        stage->longest_ms = MAX(stage->longest_ms, e->finish_ms - e->info.launch_ms);
        if (o->succeeded)
                status_indices_add(&stage->indices, e->info.index);
        if (unlikely(o->killed))
                status_count_killed(s, &stage->killed, reason);
        if (unlikely(speculative)) {
                stage->speculation.active -= stage->speculation.active > 0 ? o->ended : 0;
                stage->speculation.completed += o->succeeded;
                stage->speculation.failed += o->failed;
                stage->speculation.killed += o->killed;
        }
        if (o->has_metrics && !o->resubmitted)
                status_add_metrics(stage, e);
}

static void status_end_row(struct status *s, struct status_stage *stage, const struct task_end *e,
                           const struct status_outcome *o, const char *error)
{
        size_t row = task_columns_find(&stage->columns, e->info.id);
        /* A success whose output was lost later stays as it was, as in Spark, also if its own end was lost. */
        bool stays = row != SIZE_MAX && unlikely(o->resubmitted) &&
                     task_columns_value(&stage->columns, row, TASK_STATUS) >= TASK_ROW_SUCCESS;
        if (row != SIZE_MAX && !stays) {
                task_columns_end(&stage->columns, row, e, o->resubmitted ? TASK_ROW_SUCCESS : o->status);
                if (unlikely(error || e->detail))
                        status_add_note(s, stage, row, e, error);
        } else if (!stays && stage->columns.n_retained == stage->columns.n_rows) {
                s->totals.unknown_ends++;
        }
}

static void status_end_task(struct status *s, const struct task_end *e)
{
        const struct status_outcome o = status_outcome_of(e);
        struct status_stage *stage = status_stage_of_task(s, &e->info);
        struct status_executor *x = status_executor_of_task(s, &e->info);
        _cleanup_free_ char *error = NULL;
        if (unlikely(!o.succeeded))
                error = status_task_error(e);
        status_see_time(s, e->finish_ms);
        s->totals.completed_tasks += o.succeeded;
        s->totals.failed_tasks += o.failed;
        s->totals.killed_tasks += o.killed;
        status_end_on_executor(x, e, &o);
        if (!stage) {
                s->totals.unknown_ends++;
                return;
        }
        if (!s->options.without_details) {
                status_end_row(s, stage, e, &o, error);
                static const struct executor_peaks zero = {0};
                struct status_executor_stage *part = status_stage_executor(stage, x->number);
                status_end_on_stage_executor(part, e, &o);
                if (unlikely(e->detail && e->detail->peaks))
                        status_raise_stage_peaks(stage, x->number, e->detail->peaks);
                else if (unlikely(!part->peaks))
                        status_raise_stage_peaks(stage, x->number, &zero);
        }
        status_end_in_stage(s, stage, e, &o, error);
        status_end_in_jobs(s, stage, e, &o, error);
        if (!status_stage_is_live(stage) && !stage->active_tasks)
                task_columns_finish(&stage->columns);
}

void status_on_task_end(struct status *s, const struct task_end *e)
{
        if (likely(s->options.is_live || task_end_has_metrics(e)))
                return status_end_task(s, e);
        /* As in Spark's history: missing metrics are zero. */
        struct task_end with_metrics = *e;
        with_metrics.presence = METRICS_PRESENT;
        memset(&with_metrics.metrics, 0, sizeof(with_metrics.metrics));
        status_end_task(s, &with_metrics);
}

/* ------------------------------------------------------------------------------------------- batches of ends */

/* The sums over the ends of a batch of successful tasks. */
struct status_batch_sums {
        int64_t n, duration_ms, longest_ms;
        struct task_metrics metrics;
};

static struct status_batch_sums status_sum_batch(const struct task_event_batch *b,
                                                 const struct task_event_durations *durations)
{
        struct status_batch_sums sums = {.n = b->n, .longest_ms = durations->greatest};
        int64_t *metrics = (int64_t *)&sums.metrics;
        sums.duration_ms = task_event_sum(b, TASK_EVENT_FINISH) - task_event_sum(b, TASK_EVENT_LAUNCH);
        for (size_t c = TASK_EVENT_METRICS; c < TASK_END_COLUMNS; c++)
                if (b->values[c] || b->varying >> c & 1)
                        metrics[c - TASK_EVENT_METRICS] = task_event_sum(b, c);
        return sums;
}

static void status_end_batch_on_executor(struct status_executor *x, const struct task_event_batch *b,
                                         const struct status_batch_sums *sums)
{
        const struct task_metrics *m = &sums->metrics;
        int64_t peak = task_event_range(b, TASK_EVENT_METRIC(peak_execution_memory)).greatest;
        x->active_tasks = MAX(x->active_tasks - sums->n, (int64_t)0);
        x->completed_tasks += sums->n;
        x->duration_ms += sums->duration_ms;
        x->peak_task_memory = MAX(x->peak_task_memory, peak);
        x->has_peaks = true; /* all zero */
        status_executor_add_metrics(x, m);
}

static void status_end_batch_on_stage_executor(struct status_executor_stage *x, const struct status_batch_sums *sums)
{
        const struct task_metrics *m = &sums->metrics;
        x->active_tasks = MAX(x->active_tasks - sums->n, (int64_t)0);
        x->task_ms += sums->duration_ms;
        x->succeeded_tasks += sums->n;
        status_executor_stage_add_metrics(x, m);
}

static void status_end_batch_in_stage(struct status_stage *stage, const struct task_event_batch *b,
                                      const struct status_batch_sums *sums)
{
        const int64_t *from = (const int64_t *)&sums->metrics;
        int64_t *to = (int64_t *)&stage->metrics;
        stage->active_tasks = MAX(stage->active_tasks - sums->n, (int64_t)0);
        stage->completed_tasks += sums->n;
        stage->longest_ms = MAX(stage->longest_ms, sums->longest_ms);
        status_indices_add_batch(&stage->indices, b);
        if (unlikely(b->speculative)) {
                stage->speculation.active = MAX(stage->speculation.active - sums->n, (int64_t)0);
                stage->speculation.completed += sums->n;
        }
        for (size_t i = 0; i < sizeof(stage->metrics) / sizeof(int64_t); i++)
                to[i] += from[i];
        for (size_t i = 0; i < stage->jobs.len; i++) {
                struct status_job *job = stage->jobs.data[i].job;
                struct status_job_stage *mine = &job->stages.data[stage->jobs.data[i].place];
                job->active_tasks = MAX(job->active_tasks - sums->n, (int64_t)0);
                job->completed_tasks += sums->n;
                job->completed_indices += status_indices_add_batch(&mine->indices, b);
        }
}

/* Ends the rows of a batch of successful tasks: at once if they lie one behind the other and run. */
static void status_end_batch_rows(struct status *s, struct status_stage *stage, const struct task_event_batch *b,
                                  const struct task_event_durations *durations)
{
        struct task_end ends[MAX_TASK_EVENT_BATCH];
        if (task_columns_end_batch(&stage->columns, b, durations))
                return;
        task_event_batch_get_ends(b, ends);
        for (size_t i = 0; i < b->n; i++) {
                const struct status_outcome o = status_outcome_of(&ends[i]);
                status_end_row(s, stage, &ends[i], &o, NULL);
        }
}

static void status_end_batch(struct status *s, const struct task_event_batch *b)
{
        static const struct executor_peaks zero = {0};
        struct task_event_durations durations;
        task_event_durations(b, &durations);
        const struct status_batch_sums sums = status_sum_batch(b, &durations);
        const struct task_info info = {.executor = b->executor,
                                       .stage_id = b->stage_id,
                                       .stage_attempt = b->stage_attempt,
                                       .launch_ms = b->values[TASK_EVENT_LAUNCH]};
        struct status_stage *stage = status_stage_of_task(s, &info);
        struct status_executor *x = status_executor_of_task(s, &info);
        status_see_time(s, task_event_range(b, TASK_EVENT_FINISH).greatest);
        s->totals.completed_tasks += sums.n;
        status_end_batch_on_executor(x, b, &sums);
        if (!stage) {
                s->totals.unknown_ends += sums.n;
                return;
        }
        if (!s->options.without_details) {
                status_end_batch_rows(s, stage, b, &durations);
                struct status_executor_stage *part = status_stage_executor(stage, x->number);
                status_end_batch_on_stage_executor(part, &sums);
                if (unlikely(!part->peaks))
                        status_raise_stage_peaks(stage, x->number, &zero);
        }
        if (unlikely(stage->lost_ends))
                status_count_late_ends(s, stage, sums.n);
        status_end_batch_in_stage(stage, b, &sums);
        if (!status_stage_is_live(stage) && !stage->active_tasks)
                task_columns_finish(&stage->columns);
}

void status_on_task_end_batch(struct status *s, const struct task_event_batch *b)
{
        const struct task_end first = {.state = b->state, .presence = b->presence};
        if (likely(b->state == TASK_SUCCEEDED && !b->detail && task_end_has_metrics(&first))) {
                status_end_batch(s, b);
                return;
        }
        struct task_end ends[MAX_TASK_EVENT_BATCH];
        task_event_batch_get_ends(b, ends);
        for (size_t i = 0; i < b->n; i++)
                status_on_task_end(s, &ends[i]);
}

void status_on_stage_executor_metrics(struct status *s, const struct stage_executor_metrics *e)
{
        struct status_stage *stage = status_find_stage(s, e->stage_id, e->stage_attempt);
        struct status_executor *x = status_find_executor(s, e->executor_id);
        if (x)
                status_raise_executor_peaks(x, &e->peaks);
        if (stage && x)
                status_raise_stage_peaks(stage, x->number, &e->peaks);
}

/* ------------------------------------------------------------------------------------------------- reading */

void status_get_task(const struct status *s, const struct status_stage *stage, size_t row, struct status_task *out)
{
        const struct task_columns *t = &stage->columns;
        const struct executor_ref *x = &s->executor_names.data[task_columns_value(t, row, TASK_EXECUTOR)];
        size_t note = vec_place(&stage->notes, row, row);
        int64_t getting = task_columns_value(t, row, TASK_GETTING_RESULT);
        *out = (struct status_task){
                .id = task_columns_value(t, row, TASK_ID),
                .launch_ms = task_columns_value(t, row, TASK_LAUNCH),
                .index = (int)task_columns_value(t, row, TASK_INDEX),
                .attempt = (int)task_columns_value(t, row, TASK_ATTEMPT),
                .executor_id = x->id,
                .host = x->host,
                .locality = (enum task_locality)task_columns_value(t, row, TASK_LOCALITY),
                .status = (enum task_row_status)task_columns_value(t, row, TASK_STATUS),
                .speculative = task_columns_value(t, row, TASK_SPECULATIVE),
                .has_metrics = task_columns_value(t, row, TASK_HAS_METRICS),
                .scheduler_delay_ms = task_columns_value(t, row, TASK_SCHEDULER_DELAY),
                .getting_result_time_ms = task_columns_value(t, row, TASK_GETTING_RESULT_TIME),
        };
        out->partition = out->index + (int)task_columns_value(t, row, TASK_PARTITION);
        out->getting_result_ms = getting ? out->launch_ms + getting : 0;
        out->duration_ms = out->status < TASK_ROW_SUCCESS ? -1 : task_columns_value(t, row, TASK_DURATION);
        for (size_t i = 0; i < sizeof(out->metrics) / sizeof(int64_t); i++)
                ((int64_t *)&out->metrics)[i] = task_columns_value(t, row, (enum task_column)(TASK_METRICS + i));
        for (size_t i = 0; i < sizeof(out->push_metrics) / sizeof(int64_t); i++)
                ((int64_t *)&out->push_metrics)[i] =
                        task_columns_value(t, row, (enum task_column)(TASK_PUSH_METRICS + i));
        if (note < stage->notes.len && stage->notes.data[note].row == row)
                out->note = &stage->notes.data[note];
}
