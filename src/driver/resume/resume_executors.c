/* See resume.h: the executors of the application, in the journal. */
#include "driver/resume/resume_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/job_runner_internal.h"
#include "journal/fields.h"
#include "journal/place.h"
#include "journal/writer.h"
#include "rdd/rdd_visit.h"

#include <string.h>

#define SECRET_KEY "spark.authenticate.secret"
#define SECRET_FILE "secret" /* in the journal's directory */
#define REMOTE_EXECUTOR_RESERVE 100 /* ids for one wait, where each write is a request to a server */

struct driver_epoch resume_driver_epoch(const struct resume *r)
{
        if (!r || !r->place)
                return (struct driver_epoch){.journal = ""};
        return (struct driver_epoch){.epoch = r->epoch,
                                     .journal = strrchr(journal_place_path(r->place), '/') + 1,
                                     .executors_wait = r->executors_wait,
                                     .earlier = r->history.executors.data,
                                     .n_earlier = (int)r->history.executors.len,
                                     .next_executor_id = r->history.next_executor_id,
                                     .registration_timeout_ms = r->registration_timeout_ms};
}

void resume_reserve_executor_ids(struct resume *r, int next)
{
        size_t place;
        if (!r || !r->writer || next <= r->reserved_executors)
                return;
        r->reserved_executors = next + (journal_place_is_remote(r->place) ? REMOTE_EXECUTOR_RESERVE : 0);
        struct buf *b = resume_record_begin(r, RESUME_EXECUTOR_IDS, &place);
        fields_put_number(b, (uint64_t)r->reserved_executors);
        resume_record_end(r, b, place);
        resume_sync(r);
}

void resume_executor_registered(struct resume *r, const struct earlier_executor *x)
{
        size_t place;
        if (!r)
                return;
        struct buf *b = resume_record_begin(r, RESUME_EXECUTOR, &place);
        fields_put_text(b, x->id);
        fields_put_text(b, x->host);
        fields_put_number(b, (uint64_t)x->cores);
        fields_put_number(b, (uint64_t)x->profile);
        fields_put_number(b, (uint64_t)x->pid);
        fields_put_number(b, x->started);
        fields_put_text(b, x->container);
        resume_record_end(r, b, place);
}

void resume_executor_lost(struct resume *r, const char *id)
{
        size_t place;
        if (!r)
                return;
        struct buf *b = resume_record_begin(r, RESUME_EXECUTOR_LOST, &place);
        fields_put_text(b, id);
        resume_record_end(r, b, place);
}

void resume_keep_io_key(struct resume *r)
{
        if (r)
                r->io_key_kept = true;
}

/* ------------------------------------------------------------------------------------------------------- holdings */

/* The backend's reports (driver/backend/scheduler_backend.h). */
bool job_runner_hold_output(struct job_runner *runner, int shuffle, int map_partition, int64_t task_id, int executor)
{
        return holdings_add_output(&runner->sc->resume->holdings, shuffle, map_partition, task_id, executor);
}

bool job_runner_hold_rdd(struct job_runner *runner, int rdd)
{
        return holdings_add_rdd(&runner->sc->resume->holdings, rdd);
}

void job_runner_earlier_executor_lost(struct job_runner *runner, const char *id)
{
        resume_executor_lost(runner->sc->resume, id);
}

struct driver_epoch job_runner_epoch(const struct job_runner *runner)
{
        return resume_driver_epoch(runner->sc->resume);
}

void job_runner_reserve_executor_ids(struct job_runner *runner, int next)
{
        resume_reserve_executor_ids(runner->sc->resume, next);
}

void job_runner_check_epoch(struct job_runner *runner)
{
        resume_check_epoch(runner->sc->resume);
}

void job_runner_publish_driver(struct job_runner *runner, const char *url)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct resume *r = runner->sc->resume;
        if (r && r->executors_wait && journal_place_publish(r->place, r->epoch, url, &error))
                log_warn(RESUME_LOG, "Executors of an earlier driver cannot find this one: %s", error_message(&error));
}

/* A job without a signature says nothing about its RDDs. */
static bool resume_names_rdds(const struct resume_job *job)
{
        return job->past && (job->record.signature.whole[0] || job->record.signature.whole[1]);
}

static void resume_close_holdings(struct resume *r, struct scheduler_backend *backend)
{
        struct holdings *h = &r->holdings;
        VEC(int) rdds = {0};
        holdings_close(h);
        resume_abandon_runs(r, r->sc->runner);
        for (size_t i = 0; i < h->outputs.len; i++)
                backend->class->remove_output(backend, h->outputs.data[i].executor, h->outputs.data[i].shuffle,
                                              h->outputs.data[i].partition, h->outputs.data[i].task_id);
        for (size_t i = 0; i < h->rdds.len; i++)
                vec_push(&rdds, h->rdds.data[i].rdd);
        if (backend->class->end_adoption)
                backend->class->end_adoption(backend, rdds.data, (int)rdds.len);
        vec_deinit(&rdds);
}

void resume_use_holdings(struct resume *r, const struct job_request *request, const struct resume_job *job,
                         struct scheduler_backend *backend)
{
        struct rdd_visit walk;
        if (!r || r->holdings.closed)
                return;
        if (!resume_names_rdds(job)) {
                resume_close_holdings(r, backend);
                return;
        }
        if (!r->holdings.rdds.len && !r->holdings.runs.len)
                return;
        rdd_visit_init(&walk, request->rdd, RDD_VISIT_ALL);
        for (uint32_t i = 0; i < walk.n; i++)
                holdings_validate_rdd(&r->holdings, walk.rdds[i]->lineage.id);
        rdd_visit_deinit(&walk);
}

void resume_drop_holdings(struct resume *r, int executor)
{
        if (r && !r->holdings.closed)
                holdings_drop_executor(&r->holdings, executor);
}

/* --------------------------------------------------------------------------------------------------------- secret */

bool job_runner_take_secret(struct job_runner *runner)
{
        struct resume *r = runner->sc->resume;
        _cleanup_(buf_deinit) struct buf secret = BUF_INIT;
        if (!r || !r->resumed || journal_place_is_remote(r->place) ||
            journal_place_get(r->place, SECRET_FILE, &secret, NULL) || !secret.len)
                return false;
        conf_set(r->sc->conf, SECRET_KEY, buf_text(&secret));
        explicit_bzero(secret.data, secret.len);
        return true;
}

void job_runner_keep_secret(struct job_runner *runner)
{
        struct resume *r = runner->sc->resume;
        const char *secret = conf_get_raw(runner->sc->conf, SECRET_KEY);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (!r || !r->executors_wait || !secret)
                return;
        if (journal_place_is_remote(r->place))
                log_warn(RESUME_LOG, "The next driver cannot use the executors of this one, because the secret of "
                                     "spark.authenticate ends with it: set spark.authenticate.secret");
        else if (journal_place_put(r->place, SECRET_FILE, secret, &error))
                log_warn(RESUME_LOG, "The next driver cannot use the executors of this one: %s", error_message(&error));
}
