/*
 * See resume.h: outputs that an earlier driver began.
 *
 * A task's result counts if the journal has it and the file system confirms it: the committer finds the task's
 * directory (version 1) or part file (version 2). If the journal only tells that a task may commit, its attempt is
 * revoked first, because its process may be slow instead of dead. If it has committed, that counts, and the task does
 * not run again, unless updates of accumulators were lost with its driver. A job's commit that had begun has all
 * results in the journal, since the record of its beginning comes after them, so repeating it moves what is left. On an
 * object store a rename is a copy and a removal: what is left of an interrupted one cannot be told.
 *
 * If main has taken another way, an output that earlier drivers of the application began is written again from its
 * beginning. One that existed before the application is refused, as ever.
 */
#include "driver/resume/resume_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/job_runner.h"
#include "exec/actions/action.h"
#include "io/output_committer.h"
#include "journal/fields.h"
#include "journal/writer.h"

/* The result of a task that has no value, as resume_jobs.c journals it. */
static const char no_result[] = {TASK_RESULT_VERSION};

static const char *const output_state_names[] = {
        [RESUME_OUTPUT_BEGUN] = "had begun",
        [RESUME_OUTPUT_COMMITTING] = "was committing",
        [RESUME_OUTPUT_COMMITTED] = "had committed",
        [RESUME_OUTPUT_ABORTED] = "gave up",
};

/* The earlier driver's job that writes the output, NULL: another job writes it. Its preliminary jobs have run. */
static struct past_job *resume_output_job(struct resume *r, const struct job_request *request, uint64_t *number)
{
        struct resume_job job;
        resume_job_prepare(r, request, &job);
        pthread_mutex_lock(&r->lock);
        job.record.alone = r->open_jobs == 0 && !r->threaded && (!r->has_first || pthread_equal(r->first, job.thread));
        struct past_job *past = history_find(&r->history, &job.record);
        pthread_mutex_unlock(&r->lock);
        *number = job.record.job;
        return past;
}

/* Journals results of tasks of an earlier driver that had committed without its knowledge. */
static void resume_put_committed(struct resume *r, uint64_t job, const uint8_t *found, int n)
{
        size_t place;
        struct buf *b = resume_record_begin(r, RESUME_RESULTS, &place);
        fields_put_number(b, job);
        for (int i = 0; i < n; i++)
                if (found[i]) {
                        fields_put_number(b, (uint64_t)i);
                        fields_put_bytes(b, no_result, sizeof(no_result));
                        fields_put_bytes(b, "", 0);
                }
        resume_record_end(r, b, place);
}

/*
 * Revokes the attempts that may still commit. Sets found[i] if output i was committed by one of them and needs no
 * repetition.
 */
static int resume_output_revoke(struct past_job *job, const struct output_committer *committer, bool all_own,
                                uint8_t *found, struct fst_error *error)
{
        int r = 0;
        past_job_prune_commits(job);
        for (size_t i = 0; i < job->commits.len && r >= 0; i++) {
                const struct past_commit *commit = &job->commits.data[i];
                const bool done = job->done && job->done[commit->output];
                r = output_committer_revoke_task(committer, (int)commit->output, (int)commit->task_id, error);
                if (r == FST_OUTPUT_E_MOVED && !done && all_own && !commit->updates && !commit->reset)
                        found[commit->output] = 1;
        }
        return MIN(r, 0);
}

/* Finds what tasks have committed: output->committed, and the results that the journal lacks. */
static int resume_output_find(struct resume *r, const struct past_output *past, struct past_job *job, uint64_t number,
                              struct output_committer *committer, struct resume_output *output, int n,
                              struct fst_error *error)
{
        _cleanup_free_ uint8_t *found = mem_zero(MAX(job->outputs, 1u));
        const bool all_own = past->made || output_committer_identity(committer).algorithm == 1;
        int any = 0;
        int status = resume_output_revoke(job, committer, all_own, found, error);
        if (status || past->state == RESUME_OUTPUT_COMMITTING)
                return status;
        output->committed = mem_zero((size_t)MAX(n, 1));
        status = output_committer_find_tasks(committer, output->committed, n, error);
        for (int i = 0; i < n && status == 0; i++) {
                found[i] = found[i] && output->committed[i];
                any += found[i];
                if (found[i])
                        past_job_add_result(job, (uint32_t)i, (fst_bytes){no_result, sizeof(no_result)});
        }
        if (status == 0 && any) {
                log_info(RESUME_LOG, "%d tasks had committed to %s when their driver died", any, past->path);
                resume_put_committed(r, number, found, n);
        }
        return status;
}

static int resume_output_continue(struct resume *r, const struct past_output *past, struct past_job *job,
                                  uint64_t number, struct output_committer *committer, struct resume_output *output,
                                  struct fst_error *error)
{
        output->resumed = true;
        output->state = past->state;
        output_committer_set_resumed(committer);
        if (past->state == RESUME_OUTPUT_COMMITTED) {
                output_committer_set_committed(committer);
                return 0;
        }
        return resume_output_find(r, past, job, number, committer, output, (int)job->outputs, error);
}

/* Removes what earlier drivers left of an output that is written from its beginning. */
static int resume_output_clear(struct resume *r, const struct past_output *past, struct output_committer *committer,
                               struct fst_error *error)
{
        pthread_mutex_lock(&r->lock);
        /* the driver may have died before its save came to the job that writes: then nothing differs */
        const bool job_is_new =
                past->state == RESUME_OUTPUT_BEGUN && !past->abandoned && history_jobs_taken(&r->history);
        pthread_mutex_unlock(&r->lock);
        if (r->strict && past->state != RESUME_OUTPUT_ABORTED && !job_is_new)
                return error_set(error, -ESTALE,
                                 "it cannot be resumed, and spark.firesteel.resume.strict is true: the job that wrote "
                                 "%s has changed, or main has come to this output before it came to another one",
                                 past->path);
        log_info(RESUME_LOG, "Removing what the earlier driver left in %s", past->path);
        return output_committer_clear(committer, past->made, error);
}

int resume_output_begin(struct resume *r, const struct job_request *request, struct output_committer *committer,
                        struct resume_output *output, struct fst_error *error)
{
        struct output_identity identity = output_committer_identity(committer);
        if (!r)
                return 0;
        pthread_mutex_lock(&r->lock);
        const struct past_output *past = history_take_output(&r->history, identity.path, &output->number);
        pthread_mutex_unlock(&r->lock);
        if (!past)
                return 0;
        output->numbered = !past->abandoned;
        log_info(RESUME_LOG, "An earlier driver %s the output %s", output_state_names[past->state], past->path);
        _cleanup_free_ char *drawn = mem_strdup(identity.tracker);
        uint64_t number;
        struct past_job *job = NULL;
        if (output->numbered && past->state != RESUME_OUTPUT_ABORTED &&
            output_committer_set_tracker(committer, past->tracker) == 0)
                job = resume_output_job(r, request, &number);
        if (job)
                return resume_output_continue(r, past, job, number, committer, output, error);
        output_committer_set_tracker(committer, drawn);
        return resume_output_clear(r, past, committer, error);
}

static void resume_output_put_state(struct resume *r, const struct resume_output *output,
                                    enum resume_output_state state)
{
        size_t place;
        struct buf *b = resume_record_begin(r, RESUME_OUTPUT_STATE, &place);
        fields_put_number(b, output->number);
        fields_put_number(b, state);
        resume_record_end(r, b, place);
}

/* A save that is refused before this gets no number. */
void resume_output_making(struct resume *r, const struct output_committer *committer, bool made,
                          struct resume_output *output)
{
        struct output_identity identity = output_committer_identity(committer);
        size_t place;
        bool differs = false;
        if (!r || output->resumed)
                return;
        pthread_mutex_lock(&r->lock); /* records of several threads come in the order of their numbers */
        if (!output->numbered)
                output->number = history_number_output(&r->history, &differs);
        output->numbered = true;
        if (differs)
                resume_put_void(r, r->history.jobs.len, output->number);
        struct buf *b = resume_record_begin(r, RESUME_OUTPUT, &place);
        fields_put_number(b, output->number);
        fields_put_text(b, identity.path);
        fields_put_text(b, identity.tracker);
        fields_put_number(b, made);
        resume_record_end(r, b, place);
        pthread_mutex_unlock(&r->lock);
        resume_sync(r);
}

bool resume_output_state(struct resume *r, struct resume_output *output, enum resume_output_state state)
{
        if (!r)
                return true;
        if (output->resumed && output->state == RESUME_OUTPUT_COMMITTED)
                return true;
        output->state = state;
        resume_output_put_state(r, output, state);
        resume_sync(r);
        return journal_writer_check_epoch(r->writer, 0);
}

void resume_output_deinit(struct resume_output *output)
{
        free(output->committed);
        *output = (struct resume_output){0};
}
