/*
 * Folding: what a journal comes to, as records (history.h).
 *
 * A fold leaves out jobs and results that do not count any more, permissions to commit whose tasks have reported, map
 * outputs that are lost or removed, and all but the last of the records that replace each other. Results are kept one
 * by one and in order, because merging them again must give the same sum of floating-point numbers; equal ones of
 * neighbours share a record.
 */
#include "driver/resume/history.h"

#include "journal/fields.h"
#include "journal/frame.h"

#include <stdio.h>
#include <string.h>

#define RESULTS_OF_RECORD 4096 /* a reader reads records, and a record has 4 bytes for its length */

static void fold_put_number(struct buf *out, enum resume_record kind, uint64_t x)
{
        size_t place = journal_record_begin(out, (uint8_t)kind);
        fields_put_number(out, x);
        journal_record_end(out, place);
}

static void fold_put_range(struct buf *out, uint64_t number, const struct past_result *result)
{
        size_t place = journal_record_begin(out, RESUME_RESULT_RANGE);
        fields_put_number(out, number);
        fields_put_number(out, result->output);
        fields_put_number(out, result->count);
        fields_put_bytes(out, result->result.data, result->result.len);
        fields_put_bytes(out, result->updates.data, result->updates.len);
        journal_record_end(out, place);
}

/* Puts the results from @i on that are single, and returns the index behind them. */
static size_t fold_put_singles(struct buf *out, uint64_t number, const struct past_job *job, size_t i)
{
        const size_t end = i + RESULTS_OF_RECORD;
        size_t place = journal_record_begin(out, RESUME_RESULTS);
        fields_put_number(out, number);
        for (; i < job->results.len && i < end && job->results.data[i].count == 1; i++) {
                const struct past_result *result = &job->results.data[i];
                fields_put_number(out, result->output);
                fields_put_bytes(out, result->result.data, result->result.len);
                fields_put_bytes(out, result->updates.data, result->updates.len);
        }
        journal_record_end(out, place);
        return i;
}

static void fold_put_results(struct buf *out, uint64_t number, const struct past_job *job)
{
        for (size_t i = 0; i < job->results.len;)
                if (job->results.data[i].count > 1)
                        fold_put_range(out, number, &job->results.data[i++]);
                else
                        i = fold_put_singles(out, number, job, i);
}

static void fold_put_map_updates(struct buf *out, uint64_t number, const struct past_job *job)
{
        for (size_t i = 0; i < job->maps.len; i++) {
                size_t place = journal_record_begin(out, RESUME_MAP_UPDATES);
                fields_put_number(out, number);
                fields_put_number(out, (uint64_t)job->maps.data[i].shuffle);
                fields_put_number(out, (uint64_t)job->maps.data[i].partition);
                fields_put_bytes(out, job->maps.data[i].updates.data, job->maps.data[i].updates.len);
                journal_record_end(out, place);
        }
}

/* Puts the permissions that are @reset and were given @again. */
static void fold_put_commits(struct buf *out, uint64_t number, const struct past_job *job, bool reset, bool again)
{
        for (size_t i = 0; i < job->commits.len; i++) {
                const struct past_commit *commit = &job->commits.data[i];
                if (commit->reset != reset || (!reset && commit->again != again))
                        continue;
                size_t place = journal_record_begin(out, RESUME_COMMIT);
                fields_put_number(out, number);
                fields_put_number(out, commit->output);
                fields_put_number(out, (uint64_t)commit->task_id);
                fields_put_number(out, commit->updates);
                journal_record_end(out, place);
        }
}

static bool fold_has_reset(const struct past_job *job)
{
        for (size_t i = 0; i < job->commits.len; i++)
                if (job->commits.data[i].reset)
                        return true;
        return false;
}

static void fold_put_job(struct buf *out, const struct history *h, uint64_t number)
{
        struct past_job *job = h->jobs.data[number];
        struct resume_job_record record = {.job = number,
                                           .signature = job->signature,
                                           .outputs = job->outputs,
                                           .alone = job->alone,
                                           .call_site = {job->call_site, strlen(job->call_site)}};
        size_t place = journal_record_begin(out, RESUME_JOB);
        resume_job_put(out, &record);
        journal_record_end(out, place);
        past_job_prune_commits(job);
        if (fold_has_reset(job)) {
                fold_put_commits(out, number, job, true, false);
                fold_put_number(out, RESUME_RESET, number);
        }
        fold_put_map_updates(out, number, job);
        fold_put_commits(out, number, job, false, false);
        fold_put_results(out, number, job);
        fold_put_commits(out, number, job, false, true);
}

static void fold_put_output(struct buf *out, const struct past_output *output, uint64_t number)
{
        size_t place = journal_record_begin(out, RESUME_OUTPUT);
        fields_put_number(out, number);
        fields_put_text(out, output->path);
        fields_put_text(out, output->tracker);
        fields_put_number(out, output->made);
        journal_record_end(out, place);
        if (output->state == RESUME_OUTPUT_BEGUN)
                return;
        place = journal_record_begin(out, RESUME_OUTPUT_STATE);
        fields_put_number(out, number);
        fields_put_number(out, output->state);
        journal_record_end(out, place);
}

/* Puts the map outputs of a job: those of one shuffle and writer that follow each other share a record. */
static void fold_put_map_outputs(struct buf *out, struct history *h, uint64_t number)
{
        size_t n, place = 0;
        const struct past_map_output *maps = history_map_outputs(h, number, &n);
        for (size_t i = 0; i < n; i++) {
                const bool same = i && maps[i].shuffle == maps[i - 1].shuffle && maps[i].writer == maps[i - 1].writer &&
                                  i % RESULTS_OF_RECORD;
                if (!same) {
                        if (i)
                                journal_record_end(out, place);
                        place = journal_record_begin(out, RESUME_MAP_OUTPUTS);
                        fields_put_number(out, number);
                        fields_put_number(out, (uint64_t)maps[i].shuffle);
                        fields_put_number(out, (uint64_t)maps[i].writer);
                }
                fields_put_number(out, (uint64_t)maps[i].partition);
                fields_put_number(out, (uint64_t)maps[i].task_id);
                fields_put_number(out, maps[i].place);
        }
        if (n)
                journal_record_end(out, place);
}

static void fold_put_executor(struct buf *out, const struct earlier_executor *x)
{
        size_t place = journal_record_begin(out, RESUME_EXECUTOR);
        fields_put_text(out, x->id);
        fields_put_text(out, x->host);
        fields_put_number(out, (uint64_t)x->cores);
        fields_put_number(out, (uint64_t)x->profile);
        fields_put_number(out, (uint64_t)x->pid);
        fields_put_number(out, x->started);
        fields_put_text(out, x->container);
        journal_record_end(out, place);
}

static void fold_put_executors(struct buf *out, const struct history *h)
{
        if (h->next_executor_id > 0)
                fold_put_number(out, RESUME_EXECUTOR_IDS, (uint64_t)h->next_executor_id);
        for (size_t i = 0; i < h->executors.len; i++)
                fold_put_executor(out, &h->executors.data[i]);
}

/* Puts the directories of void outputs, before anything that a void would remove. */
static void fold_put_abandoned(struct buf *out, const struct history *h)
{
        if (!h->abandoned.len)
                return;
        for (size_t i = 0; i < h->abandoned.len; i++)
                fold_put_output(out, h->abandoned.data[i], i);
        size_t place = journal_record_begin(out, RESUME_VOID);
        fields_put_number(out, 0);
        fields_put_number(out, 0);
        journal_record_end(out, place);
}

void history_put(struct history *h, struct buf *out)
{
        size_t place;
        fold_put_number(out, RESUME_FOLD, RESUME_RECORDS_VERSION);
        fold_put_abandoned(out, h);
        if (h->application.id) {
                place = journal_record_begin(out, RESUME_APPLICATION);
                resume_application_put(out, &h->application);
                journal_record_end(out, place);
        }
        if (h->last_task_id >= 0)
                fold_put_number(out, RESUME_TASKS, (uint64_t)h->last_task_id);
        if (h->store) {
                place = journal_record_begin(out, RESUME_STORE);
                fields_put_text(out, h->store);
                journal_record_end(out, place);
        }
        for (size_t i = 0; i < h->remote.len; i++) {
                place = journal_record_begin(out, RESUME_REMOTE);
                buf_append(out, h->remote.data[i].data, h->remote.data[i].len);
                journal_record_end(out, place);
        }
        for (size_t i = 0; i < h->jobs.len; i++)
                fold_put_job(out, h, i);
        for (size_t i = 0; i < h->jobs.len; i++)
                fold_put_map_outputs(out, h, i);
        fold_put_executors(out, h);
        for (size_t i = 0; i < h->outputs.len; i++)
                fold_put_output(out, h->outputs.data[i], i);
}
