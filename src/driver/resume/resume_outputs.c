/*
 * See resume.h: outputs that an earlier driver began.
 *
 * A task's result counts if the journal has it and the file system confirms it: the committer finds the task's
 * directory (version 1) or part file (version 2). A job's commit that had begun has all results in the journal, since
 * the record of its beginning comes after them, so repeating it moves what is left. On an object store a rename is a
 * copy and a removal: what is left of an interrupted one cannot be told.
 */
#include "driver/resume/resume_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/job_runner.h"
#include "io/output_committer.h"
#include "journal/fields.h"
#include "journal/writer.h"

static const char *const output_state_names[] = {
        [RESUME_OUTPUT_BEGUN] = "had begun",
        [RESUME_OUTPUT_COMMITTING] = "was committing",
        [RESUME_OUTPUT_COMMITTED] = "had committed",
        [RESUME_OUTPUT_ABORTED] = "gave up",
};

/* Returns true if the job that writes the output is that of the earlier driver. Its preliminary jobs have run. */
static bool resume_output_has_job(struct resume *r, const struct job_request *request)
{
        struct resume_job job;
        resume_job_prepare(r, request, &job);
        pthread_mutex_lock(&r->lock);
        job.record.alone = r->open_jobs == 0 && !r->threaded && (!r->has_first || pthread_equal(r->first, job.thread));
        bool has = history_has_job(&r->history, &job.record);
        pthread_mutex_unlock(&r->lock);
        return has;
}

static int resume_output_continue(const struct past_output *past, const struct job_request *request,
                                  struct output_committer *committer, struct resume_output *output,
                                  struct fst_error *error)
{
        struct output_identity identity = output_committer_identity(committer);
        if (past->state == RESUME_OUTPUT_COMMITTING && strncmp(identity.path, "s3a:", 4) == 0)
                return error_set(
                        error, -ESTALE,
                        "an earlier driver died while it committed %s, where a rename is not atomic: remove the "
                        "directory and run the application again",
                        identity.path);
        output->resumed = true;
        output->state = past->state;
        output_committer_set_resumed(committer);
        if (past->state == RESUME_OUTPUT_COMMITTED) {
                output_committer_set_committed(committer);
                return 0;
        }
        if (past->state == RESUME_OUTPUT_COMMITTING)
                return 0;
        output->committed = mem_zero((size_t)MAX(request->n, 1));
        return output_committer_find_tasks(committer, output->committed, request->n, error);
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
        log_info(RESUME_LOG, "An earlier driver %s the output %s", output_state_names[past->state], past->path);
        _cleanup_free_ char *drawn = mem_strdup(identity.tracker);
        if (past->state != RESUME_OUTPUT_ABORTED && output_committer_set_tracker(committer, past->tracker) == 0 &&
            resume_output_has_job(r, request))
                return resume_output_continue(past, request, committer, output, error);
        output_committer_set_tracker(committer, drawn);
        log_info(RESUME_LOG, "Removing what the earlier driver left in %s", past->path);
        return output_committer_clear(committer, past->made, error);
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

void resume_output_making(struct resume *r, const struct output_committer *committer, bool made,
                          const struct resume_output *output)
{
        struct output_identity identity = output_committer_identity(committer);
        size_t place;
        if (!r || output->resumed)
                return;
        struct buf *b = resume_record_begin(r, RESUME_OUTPUT, &place);
        fields_put_number(b, output->number);
        fields_put_text(b, identity.path);
        fields_put_text(b, identity.tracker);
        fields_put_number(b, made);
        resume_record_end(r, b, place);
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
