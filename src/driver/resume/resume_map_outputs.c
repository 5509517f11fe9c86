/*
 * See resume.h: map outputs that outlive executors and drivers (shuffle/remote_shuffle.h).
 *
 * An output counts if the journal names it and its store or an executor (holdings.h) has it. Executors of each driver
 * have writer numbers of their own, so that no object is written twice, not even by executors of a driver that is stuck
 * and wakes up.
 */
#include "driver/resume/earlier_outputs.h"
#include "driver/resume/resume_internal.h"

#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/job_runner_internal.h"
#include "exec/slot.h"
#include "journal/fields.h"
#include "sched/map_outputs.h"
#include "shuffle/remote_shuffle.h"

#define WRITERS_OF_DRIVER (1 << 20)
#define DRIVERS_WITH_WRITERS (REMOTE_WRITERS / WRITERS_OF_DRIVER - 1) /* after these, numbers begin again */
#define EARLIER_EXECUTOR MAX_LISTED_EXECUTORS /* + writer: the scheduler's number of an earlier driver's executor */

_Static_assert((int64_t)EARLIER_EXECUTOR + REMOTE_WRITERS - 1 <= INT32_MAX,
               "numbers of earlier executors are too large");

static int32_t resume_first_writer(const struct resume *r)
{
        return r ? (int32_t)((r->epoch - 1) % DRIVERS_WITH_WRITERS) * WRITERS_OF_DRIVER : 0;
}

void resume_keep_writer(struct resume *r, int executor, int32_t writer)
{
        if (r)
                holdings_keep_writer(&r->holdings, executor, writer);
}

int32_t resume_writer(const struct resume *r, int executor)
{
        const int32_t kept = r ? holdings_writer(&r->holdings, executor) : -1;
        return kept >= 0 ? kept : resume_first_writer(r) + executor;
}

int resume_executor_of_writer(const struct resume *r, int32_t writer)
{
        const int32_t first = resume_first_writer(r);
        if (writer < 0 || writer >= REMOTE_WRITERS)
                return -1;
        const int kept = r ? holdings_executor_of_writer(&r->holdings, writer) : -1;
        if (kept >= 0)
                return kept;
        return !r || (writer >= first && writer < first + WRITERS_OF_DRIVER) ? writer - first
                                                                             : EARLIER_EXECUTOR + writer;
}

int32_t resume_writer_of_executor(const struct resume *r, int executor)
{
        return executor >= EARLIER_EXECUTOR ? executor - EARLIER_EXECUTOR : resume_writer(r, executor);
}

const char *resume_earlier_store(const struct resume *r)
{
        return r ? r->history.store : NULL;
}

void resume_store(struct resume *r, const char *directory)
{
        size_t place;
        if (!r)
                return;
        struct buf *b = resume_record_begin(r, RESUME_STORE, &place);
        fields_put_text(b, directory);
        resume_record_end(r, b, place);
}

const fst_bytes *resume_earlier_remote(const struct resume *r, size_t *n)
{
        *n = r ? r->history.remote.len : 0;
        return r ? r->history.remote.data : NULL;
}

void resume_put_remote(struct resume *r, const void *record, size_t size)
{
        size_t place;
        struct buf *b = resume_record_begin(r, RESUME_REMOTE, &place);
        buf_append(b, record, size);
        resume_record_end(r, b, place);
}

/* Returns the scheduler's number of an executor that has written this output to the store, if it can be read; or -1. */
static int resume_find_in_store(struct resume *r, const struct past_map_output *past)
{
        const struct remote_shuffle_driver *store = r->sc->remote_shuffle;
        if (r->encrypted && !r->io_key_kept) {
                resume_map_lost(r, past->shuffle, past->partition, past->task_id); /* a later driver may have a key */
                return -1;
        }
        if (!store || !store->class->has(store, past->shuffle, past->writer, past->place))
                return -1;
        return resume_executor_of_writer(r, past->writer);
}

void resume_find_stored(struct resume *r, struct resume_job *job)
{
        const struct remote_shuffle_driver *store = r->sc->remote_shuffle;
        size_t n;
        int held = 0;
        if (!job->past)
                return;
        const struct past_map_output *past = history_map_outputs(&r->history, job->record.job, &n);
        if (!n)
                return;
        job->stored = new_array(struct earlier_output, n);
        for (size_t i = 0; i < n; i++) {
                const int executor = past[i].place
                                             ? resume_find_in_store(r, &past[i])
                                             : holdings_take_output(&r->holdings, past[i].shuffle, past[i].partition,
                                                                    past[i].task_id);
                if (executor < 0)
                        continue;
                held += !past[i].place;
                job->stored[job->n_stored++] =
                        (struct earlier_output){.shuffle_id = past[i].shuffle,
                                                .map_partition = past[i].partition,
                                                .executor = executor,
                                                .handle = output_handle(past[i].task_id, past[i].place)};
        }
        job->n_stored = earlier_outputs_drop_incomplete(job->stored, job->n_stored, store);
        log_info(RESUME_LOG, "%s: %d of %zu map outputs of earlier drivers are in %s, %d at executors",
                 job->past->call_site, job->n_stored - held, n, store ? store->class->directory(store) : "no store",
                 held);
}

void resume_put_map_outputs(struct resume *r, const struct resume_job *job, const struct task_batch *run,
                            const bool *accepted)
{
        size_t place;
        struct buf *b = NULL;
        for (int i = 0; i < run->n; i++) {
                const struct slot_task *t = &run->tasks[i];
                if (!accepted[i] || (!t->place && !r->executors_wait))
                        continue;
                if (!b) {
                        b = resume_record_begin(r, RESUME_MAP_OUTPUTS, &place);
                        fields_put_number(b, job->record.job);
                        fields_put_number(b, (uint64_t)run->work->shuffled->shuffle.id);
                        fields_put_number(b, (uint64_t)resume_writer(r, run->executor));
                }
                fields_put_number(b, (uint64_t)t->info.partition);
                fields_put_number(b, (uint64_t)t->info.id);
                fields_put_number(b, t->place);
        }
        if (b)
                resume_record_end(r, b, place);
}

void resume_map_lost(struct resume *r, int shuffle, int partition, int64_t task_id)
{
        size_t place;
        if (!r || shuffle < 0 || partition < 0 || task_id < 0)
                return;
        struct buf *b = resume_record_begin(r, RESUME_MAP_LOST, &place);
        fields_put_number(b, (uint64_t)shuffle);
        fields_put_number(b, (uint64_t)partition);
        fields_put_number(b, (uint64_t)task_id);
        resume_record_end(r, b, place);
}

void resume_shuffle_removed(struct resume *r, int shuffle)
{
        size_t place;
        if (!r || shuffle < 0)
                return;
        struct buf *b = resume_record_begin(r, RESUME_SHUFFLE_REMOVED, &place);
        fields_put_number(b, (uint64_t)shuffle);
        resume_record_end(r, b, place);
}
