/*
 * The jobs of a submitter, which run on a worker's thread and may block. A job completes and prepares a submission,
 * then starts a child process or hands it to the cluster manager's submission_class.
 */
#include "submit/api/submitter.h"

#include "conf/conf.h"
#include "driver/backend/cluster_manager.h"

int submission_prepare_for_cluster(fst_submission *app, bool force_legacy, struct fst_error *error)
{
        pthread_mutex_lock(&app->preparing);
        if (force_legacy && !app->prepared.force_legacy) {
                submission_deinit(&app->prepared);
                app->prepared = (struct submission){.force_legacy = true};
                app->is_prepared = false;
        }
        app->prepared.native_only = true;
        int r = submission_prepare_all(app, error);
        pthread_mutex_unlock(&app->preparing);
        return r;
}

int submission_intervals(fst_submission *app, int64_t *report_ms, int64_t *away_ms, struct fst_error *error)
{
        const struct fst_conf conf = {.set = app->prepared.conf};
        int r = conf_get_ms(&conf, "spark.firesteel.submit.reportInterval", report_ms, NULL);
        if (r == 0)
                r = conf_get_ms(&conf, "spark.firesteel.submit.masterTimeout", away_ms, NULL);
        if (r < 0)
                return error_set(
                        error, -EINVAL,
                        "spark.firesteel.submit.reportInterval and spark.firesteel.submit.masterTimeout must be "
                        "times (write 10s or 500ms)");
        if (app->watch_ms >= 0)
                *report_ms = app->watch_ms;
        return 0;
}

/* Runs --kill or --status: one request, whose reply completes the handle. */
static int submit_job_operate(fst_submission *app, struct submit_worker *worker, struct fst_error *error)
{
        const struct cluster_manager_class *manager =
                cluster_manager_for_request(submit_arguments_master(&app->args), error);
        if (!manager)
                return -ENOTSUP;
        if (!manager->submission->operate)
                return error_set(error, -ENOTSUP,
                                 "the library cannot look up applications of %s by their ids: use spark-submit --kill or "
                                 "--status, or keep the handle of the submission",
                                 manager->title);
        return manager->submission->operate(app, worker, error);
}

static int submit_job_submit_to_cluster(fst_submission *app, struct submit_worker *worker, struct fst_error *error)
{
        int r = submission_prepare_for_cluster(app, false, error);
        return r < 0 ? r : app->prepared.manager->submission->submit(app, worker, error);
}

static int submit_job_start(fst_submission *app, struct submit_worker *worker, struct fst_error *error)
{
        pthread_mutex_lock(&app->preparing);
        int r = submission_complete(app, error);
        pthread_mutex_unlock(&app->preparing);
        if (r < 0)
                return r;
        pthread_mutex_lock(&app->submitter->lock);
        bool cancelled = app->cancelled;
        if (cancelled)
                submission_set_state(app, FST_SUBMIT_KILLED);
        pthread_mutex_unlock(&app->submitter->lock);
        if (cancelled)
                return 0;
        if (app->args.action != SUBMIT_ACTION_SUBMIT)
                return submit_job_operate(app, worker, error);
        if (submit_arguments_cluster_mode(&app->args))
                return submit_job_submit_to_cluster(app, worker, error);
        pthread_mutex_lock(&app->submitter->lock);
        app->is_child = true;
        submitter_queue_command(app, COMMAND_SPAWN);
        pthread_mutex_unlock(&app->submitter->lock);
        return 0;
}

void submit_job_run(fst_submission *app, enum submit_job kind, struct submit_worker *worker)
{
        struct fst_error error = FST_ERROR_INIT;
        if (kind != JOB_START)
                app->class->job(app, kind, worker);
        else if (submit_job_start(app, worker, &error) < 0)
                submission_fail(app, &error);
}
