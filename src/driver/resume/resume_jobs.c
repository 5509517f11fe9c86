/* See resume.h: jobs, their results, and what earlier drivers left of them. */
#include "driver/resume/resume_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/accumulators.h"
#include "driver/context.h"
#include "driver/job_runner.h"
#include "exec/slot.h"
#include "journal/fields.h"
#include "journal/frame.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "sched/job.h"

#include <inttypes.h>

/* A result or an update that is larger is not journaled: the task runs again. */
#define MAX_JOURNALED_RESULT ((size_t)64 << 20)

static fst_bytes resume_call_site(const struct job_request *request)
{
        return (fst_bytes){request->call_site, request->call_site ? strlen(request->call_site) : 0};
}

void resume_job_prepare(struct resume *r, const struct job_request *request, struct resume_job *job)
{
        struct fst_error error = FST_ERROR_INIT;
        if (!r)
                return;
        *job = (struct resume_job){.thread = pthread_self()};
        job->record.outputs = (uint32_t)request->n;
        job->record.call_site = resume_call_site(request);
        if (signatures_of_job(&r->signatures, request, &job->record.signature, &error) == 0)
                return;
        job->record.signature = (struct resume_signature){0};
        pthread_mutex_lock(&r->lock);
        bool warned = r->warned;
        r->warned = true;
        pthread_mutex_unlock(&r->lock);
        if (!warned)
                log_warn(RESUME_LOG,
                         "A driver that resumes this application runs %s again, whether it ended or not: %s",
                         request->call_site, error_message(&error));
        error_deinit(&error);
}

void resume_put_void(struct resume *r, uint64_t jobs, uint64_t outputs)
{
        size_t place;
        struct buf *b = resume_record_begin(r, RESUME_VOID, &place);
        fields_put_number(b, jobs);
        fields_put_number(b, outputs);
        resume_record_end(r, b, place);
}

/* Main has taken another way: from this job on, nothing of earlier drivers counts. */
static int resume_differs(struct resume *r, const struct resume_job *job, const char *why, struct fst_error *error)
{
        if (r->strict)
                return error_set(
                        error, -ESTALE,
                        "it cannot be resumed, and spark.firesteel.resume.strict is true: %s. Nothing of earlier "
                        "drivers can be used from this job on",
                        why);
        log_warn(RESUME_LOG,
                 "From this job on, nothing of earlier drivers is used, and everything is computed again: %s", why);
        resume_put_void(r, job->record.job, r->history.outputs.len);
        return 0;
}

static void resume_put_job(struct resume *r, const struct resume_job *job)
{
        size_t place;
        struct buf *b = resume_record_begin(r, RESUME_JOB, &place);
        resume_job_put(b, &job->record);
        resume_record_end(r, b, place);
}

/* Sets job->done: the results that exist, less those whose effect is gone (a part file that somebody removed). */
static void resume_find_done(struct resume_job *job, struct action *action)
{
        const struct past_job *past = job->past;
        if (!past || !past->done)
                return;
        job->done = mem_alloc(MAX(past->outputs, 1u));
        memcpy(job->done, past->done, past->outputs);
        for (uint32_t i = 0; action->kept && i < past->outputs; i++)
                job->done[i] = job->done[i] && action->kept(action, (int)i);
}

/* Under the lock: whether the order of jobs has a meaning so far. */
static bool resume_is_alone(struct resume *r, const struct resume_job *job)
{
        if (!r->has_first)
                r->first = job->thread;
        r->has_first = true;
        r->threaded = r->threaded || !pthread_equal(r->first, job->thread);
        return r->open_jobs == 0 && !r->threaded;
}

int resume_job_submit(struct resume *r, const struct job_request *request, struct resume_job *job,
                      struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf why = BUF_INIT;
        int status = 0;
        if (!r)
                return 0;
        pthread_mutex_lock(&r->lock);
        job->record.alone = resume_is_alone(r, job);
        enum history_answer answer = history_take_job(&r->history, &job->record, &job->past, &why);
        if (answer == HISTORY_DIFFERS)
                status = resume_differs(r, job, buf_text(&why), error);
        if (status == 0 && answer != HISTORY_TAKEN)
                resume_put_job(r, job);
        job->open = status == 0;
        r->open_jobs += job->open;
        pthread_mutex_unlock(&r->lock);
        if (status == 0) {
                resume_find_done(job, request->action);
                resume_find_stored(r, job);
        }
        return status;
}

static int resume_merge_updates(struct accumulators *accumulators, int job, fst_bytes bytes,
                                const struct past_map_updates *map, struct fst_error *error)
{
        struct accumulator_updates *updates = NULL;
        int status = bytes.len ? accumulator_updates_decode(bytes.data, bytes.len, &updates, error) : 0;
        if (status == 0 && updates)
                status = map ? accumulators_merge_map(accumulators, job, map->shuffle, map->partition, updates, error)
                             : accumulators_merge(accumulators, job, updates, error);
        accumulator_updates_free(updates);
        return status;
}

static int resume_merge_result(struct action *action, const struct past_result *past, uint32_t output,
                               struct accumulators *accumulators, int job, struct fst_error *error)
{
        struct task_result result = {0};
        int status = task_result_decode(action, past->result.data, past->result.len, &result, error);
        if (status == 0)
                status = resume_merge_updates(accumulators, job, past->updates, NULL, error);
        return status ? status : action->merge(action, (int)output, &result, error);
}

/* Merges those results of a range that the scheduler kept. */
static int resume_merge_results(struct action *action, const struct past_result *past, const struct job *started,
                                struct accumulators *accumulators, struct fst_error *error)
{
        int status = 0;
        for (uint32_t i = past->output; i < past->output + past->count && status == 0; i++)
                if (started->output_done[i])
                        status = resume_merge_result(action, past, i, accumulators, started->id, error);
        return status;
}

int resume_job_started(struct resume *r, struct resume_job *job, const struct job *started,
                       const struct job_request *request, struct accumulators *accumulators, struct fst_error *error)
{
        const struct past_job *past = r ? job->past : NULL;
        int status = 0;
        if (!past)
                return 0;
        for (size_t i = 0; i < past->maps.len && status == 0; i++)
                status = resume_merge_updates(accumulators, started->id, past->maps.data[i].updates,
                                              &past->maps.data[i], error);
        for (size_t i = 0; i < past->results.len && status == 0; i++)
                status = resume_merge_results(request->action, &past->results.data[i], started, accumulators, error);
        if (past->results.len > 0 && started->done == 0)
                resume_job_reset(r, job);
        log_info(RESUME_LOG, "Job %d (%s): %d of %d results are those of earlier drivers", started->id,
                 request->call_site, started->done, started->n);
        return status ? error_wrap(error, status, "taking the results of an earlier driver") : 0;
}

/* ----------------------------------------------------------------------------------------------------- journaling */

static void resume_put_updates(struct buf *b, const struct accumulator_updates *updates)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        if (!updates) {
                buf_putc(b, 0); /* the length */
                return;
        }
        accumulator_updates_encode(updates, &bytes);
        fields_put_bytes(b, bytes.data, bytes.len);
}

/* The result of a task. One without a value is the version alone, as if it had been encoded. */
static void resume_put_result(struct buf *b, const struct slot_task *t)
{
        static const char none[] = {TASK_RESULT_VERSION};
        if (t->is_encoded)
                fields_put_bytes(b, t->encoded.data, t->encoded.len);
        else
                fields_put_bytes(b, none, sizeof(none));
}

/* Returns true if only the end of the task is to be journaled, as for foreach and saves. */
static inline bool resume_has_no_value(const struct slot_task *t)
{
        return !t->is_encoded && !t->accumulated;
}

/*
 * Appends the results without a value. A batch has hundreds of them, so the room is reserved once. Returns the number
 * of accepted tasks that are left.
 */
static int resume_put_ends(struct buf *b, const struct task_batch *run, const bool *accepted)
{
        int left = 0;
        buf_reserve(b, (size_t)run->n * (MAX_VARINT + 3));
        unsigned char *at = (unsigned char *)b->data + b->len;
        for (int i = 0; i < run->n; i++) {
                if (!accepted[i])
                        continue;
                if (!resume_has_no_value(&run->tasks[i])) {
                        left++;
                        continue;
                }
                at = put_varint(at, (uint64_t)run->tasks[i].output);
                *at++ = 1; /* the length of a result that is the version alone, as if it had been encoded */
                *at++ = TASK_RESULT_VERSION;
                *at++ = 0; /* the length of the updates */
        }
        b->len = (size_t)((char *)at - b->data);
        b->data[b->len] = '\0';
        return left;
}

static void resume_put_results(struct resume *r, const struct resume_job *job, const struct task_batch *run,
                               const bool *accepted)
{
        size_t place;
        struct buf *b = resume_record_begin(r, RESUME_RESULTS, &place);
        fields_put_number(b, job->record.job);
        int left = resume_put_ends(b, run, accepted);
        for (int i = 0; i < run->n && left > 0; i++) {
                const struct slot_task *t = &run->tasks[i];
                if (!accepted[i] || resume_has_no_value(t))
                        continue;
                left--;
                if (t->encoded.len > MAX_JOURNALED_RESULT || b->len > MAX_JOURNAL_FRAME / 2)
                        continue;
                fields_put_number(b, (uint64_t)t->output);
                resume_put_result(b, t);
                resume_put_updates(b, t->accumulated);
        }
        resume_record_end(r, b, place);
}

static void resume_put_map_updates(struct resume *r, const struct resume_job *job, int shuffle,
                                   const struct slot_task *t)
{
        size_t place;
        struct buf *b = resume_record_begin(r, RESUME_MAP_UPDATES, &place);
        fields_put_number(b, job->record.job);
        fields_put_number(b, (uint64_t)shuffle);
        fields_put_number(b, (uint64_t)t->info.partition);
        resume_put_updates(b, t->accumulated);
        resume_record_end(r, b, place);
}

void resume_tasks_succeeded(struct resume *r, struct resume_job *job, const struct task_batch *run,
                            const bool *accepted)
{
        bool any = false;
        if (!r || !job || !job->open)
                return;
        for (int i = 0; i < run->n; i++)
                any |= accepted[i];
        if (!any)
                return;
        if (!run->work->shuffled) {
                resume_put_results(r, job, run, accepted);
                return;
        }
        for (int i = 0; i < run->n; i++)
                if (accepted[i] && run->tasks[i].accumulated)
                        resume_put_map_updates(r, job, run->work->shuffled->shuffle.id, &run->tasks[i]);
        resume_put_map_outputs(r, job, run, accepted); /* after their updates: an output is never without them */
}

bool resume_put_commit(struct resume *r, const struct resume_job *job, int output, int64_t task_id, bool updates)
{
        size_t place;
        if (!r || !job || !job->open)
                return false;
        struct buf *b = resume_record_begin(r, RESUME_COMMIT, &place);
        fields_put_number(b, job->record.job);
        fields_put_number(b, (uint64_t)output);
        fields_put_number(b, (uint64_t)task_id);
        fields_put_number(b, updates);
        resume_record_end(r, b, place);
        return true;
}

void resume_job_reset(struct resume *r, struct resume_job *job)
{
        size_t place;
        if (!r || !job->open)
                return;
        struct buf *b = resume_record_begin(r, RESUME_RESET, &place);
        fields_put_number(b, job->record.job);
        resume_record_end(r, b, place);
}

void resume_job_ended(struct resume *r, struct resume_job *job, bool succeeded)
{
        size_t place;
        if (!r)
                return;
        free(steal(job->done));
        free(steal(job->stored));
        if (!job->open)
                return;
        job->open = false;
        pthread_mutex_lock(&r->lock);
        r->open_jobs--;
        pthread_mutex_unlock(&r->lock);
        struct buf *b = resume_record_begin(r, RESUME_JOB_ENDED, &place);
        fields_put_number(b, job->record.job);
        fields_put_number(b, succeeded);
        resume_record_end(r, b, place);
        resume_fold_if_large(r);
}
